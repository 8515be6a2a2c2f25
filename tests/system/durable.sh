#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the durability of a region promises, in racks:
#
#	node1 node2 mem1 -- switch
#
# release: processes of both nodes increment counters under locks, several to a block.  What a
# node has got with a lock from the other one is at the blade at any moment, as if both nodes
# had died then; and when both are killed.  With write-back it is not, or nothing was tested.
# A blade that is silent holds a lock, or a block, up for half of the time-out, and no longer.
#
# sync: fsync() and O_SYNC make the blade sync its file before they return, those that come
# together share a sync, and a blade whose machine has ended meanwhile makes fsync() fail, once
# for each open file.
#
#	tests/system/durable.sh
#
# Environment: BUILD; WEFT_MOMENTS (40), WEFT_KILLS (2).

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

MOMENTS=${WEFT_MOMENTS:-40}
KILLS=${WEFT_KILLS:-2}
# Both nodes are killed at a time: whichever comes back first does not wait for the other one.
LEASE=$((3000 * ${WEFT_TEST_SCALE:-1}))
ADD=$BUILD/tests/locks-passed
BLADE="env BUILD=$BUILD tests/system/durable-blade.sh"
FILE=/run/backing
COUNTERS="0 64 128 192 4096 4160 4224 4288"	# of locks-passed
PAUSE_US=200

stat_of()
{
	counters "$1" "${3:-node}" | awk -v name="$2" 'index($1, "." name) &&
		substr($1, length($1) - length(name)) == "." name { n += $2 } END { print n + 0 }'
}

# region NAME POLICY...: a new one.
region()
{
	on node1 sh -c "head -c 131072 /dev/zero >/weft/$1 && sync /weft/$1" &&
		on node1 "$BIN/weftctl" region set "$1" "${@:2}"
}

# adding NAME SECONDS: both nodes, in the background.
adding()
{
	local k

	adders=()
	for k in 1 2; do
		timeout -k 5 $(($2 + STEP_LIMIT)) "$RACK" --name "$run_name" exec "node$k" -- \
			"$ADD" add "/weft/$1" "/run/seen-$1" "$2" $PAUSE_US >"$dir/add.$k" 2>&1 </dev/null &
		adders+=($!)
	done
	# until something was handed over
	for ((k = 0; k < 50; k++)); do
		[ "$(seen "$1" | awk '{ for (i = 1; i <= NF; i++) s += $i } END { print s + 0 }')" -lt 20 ] ||
			return 0
		sleep 0.2
	done
	return 1
}

added()
{
	local k rc=0

	for k in "${adders[@]}"; do
		wait "$k" || rc=1
	done
	[ $rc = 0 ] || cat "$dir"/add.*
	return $rc
}

# seen NAME: what each counter was at least when a lock came from the other node.
seen()
{
	on nodes "$ADD" seen "/run/seen-$1" 2>/dev/null | sed 's/^node[0-9]*: //' |
		awk '{ for (i = 1; i <= NF; i++) if ($i > m[i]) m[i] = $i; n = NF }
		END { for (i = 1; i <= n; i++) printf "%d ", m[i]; print "" }'
}

# home NAME: what they are at the blade.
home()
{
	# shellcheck disable=SC2086  # words
	on mem1 $BLADE look $FILE "$1" $COUNTERS
}

# behind SEEN HOME: is one of the second less than that of the first?
behind()
{
	awk -v a="$1" -v b="$2" 'BEGIN { n = split(a, x); m = split(b, y); bad = n != m || !n
		for (i = 1; i <= n; i++) bad = bad || y[i] + 0 < x[i] + 0
		exit !bad }'
}

# moments NAME TIMES: not behind at any of so many.
moments()
{
	local i had is

	for ((i = 0; i < $2; i++)); do
		had=$(seen "$1") && is=$(home "$1") || return 1
		if behind "$had" "$is"; then
			echo "moment $i: handed over: $had; at home: $is"
			return 1
		fi
		sleep 0.0$((RANDOM % 10))
	done
	echo "last: handed over: $had; at home: $is"
}

lags()
{
	local i

	for ((i = 0; i < 10; i++)); do
		! behind "$(seen "$1")" "$(home "$1")" || return 0
	done
	return 1
}

# killed NAME: both at once; what was handed over is at home.
killed()
{
	local had is pid

	adding "$1" 60 || return 1
	sleep "$((RANDOM % 2)).$((RANDOM % 10))"
	had=$(seen "$1")
	rack kill node1 &
	pid=$!
	rack kill node2
	wait $pid
	is=$(home "$1") || return 1
	kill "${adders[@]}" 2>/dev/null
	wait "${adders[@]}" 2>/dev/null
	rack boot node1 &
	pid=$!
	rack boot node2
	wait $pid
	behind "$had" "$is" || return 0
	echo "handed over: $had; at home: $is"
	return 1
}

# --- release -----------------------------------------------------------------------

# unsafe: how often a lock or a block went to another node before the blade had what was modified.
unsafe()
{
	local node name n=0

	for node in node1 node2; do
		for name in lock_unsafe unsafe_blocks; do
			n=$((n + $(stat_of $node $name))) || return 1
		done
	done
	echo $n
}

nothing_unsafe()
{
	[ "$(unsafe)" = 0 ]
}

# more_unsafe COUNT: more than that.
more_unsafe()
{
	local now

	now=$(unsafe) && [ "$now" -gt "$1" ]
}

# A program that waits for a block does not give its lock up: it is chance which of the two the
# blade holds up, a lock between turns or a block in one.  The blade stays silent until one of
# them has gone: not before half of the time-out is over (less a second, which is how exactly
# the shell counts), and before all of it is, when a program would hear of that.
silent_blade()
{
	local before gone='' begun

	region silent durability=release &&
		on_nodes "$STEP_LIMIT" "$BIN/weftctl" set --timeout $((16 * SCALE)) &&
		adding silent $((16 * SCALE)) && before=$(unsafe) || return 1
	on mem1 pkill -STOP -x weft-memd
	begun=$SECONDS
	soon 15 more_unsafe "$before" && gone=$((SECONDS - begun))
	on mem1 pkill -CONT -x weft-memd
	added || return 1
	on_nodes "$STEP_LIMIT" "$BIN/weftctl" set --timeout 30
	echo "locks and blocks that went before what was modified was home: $before, then $(unsafe), after ${gone:-more than 15} s"
	[ -n "$gone" ] && [ "$gone" -ge $((8 * SCALE - 1)) ]
}

releases()
{
	local i

	check "a region" region plain durability=write-back
	adding plain 8
	check "write-back: what was handed over is not at home" lags plain
	check "all went well" added
	check "another one" region kept durability=release
	adding kept $((MOMENTS * 2 * SCALE + 10))
	check "release: what was handed over is at home, $MOMENTS moments" moments kept "$MOMENTS"
	check "locks have waited for that" test "$(stat_of node1 lock_home_first)" -gt 0
	check "blocks have, too, that went while a lock was held" \
		test "$(($(stat_of node1 home_first) + $(stat_of node2 home_first)))" -gt 0
	check "nothing went before" nothing_unsafe
	for k in 1 2; do on "node$k" pkill -x locks-passed; done
	added >/dev/null
	for ((i = 1; i <= KILLS; i++)); do
		region "killed$i" durability=release
		check "release: both nodes are killed, what was handed over is at home" killed "killed$i"
	done
}

# --- sync ---------------------------------------------------------------------------

# grows AT-LEAST COMMAND...: so many calls of the node have waited for a sync.
grows()
{
	local before

	before=$(stat_of node1 syncs)
	"${@:2}" || return 1
	[ $(($(stat_of node1 syncs) - before)) -ge "$1" ]
}

written() { on node1 dd if=/dev/zero of=/weft/table bs=4096 count=10 conv=notrunc "oflag=$1" status=none; }

together()
{
	local before syncs flushes

	before="$(stat_of node1 syncs memory) $(stat_of node1 sync_flushes memory)"
	# shellcheck disable=SC2016  # for the guest's shell
	on node1 bash -c 'for i in 1 2 3 4 5 6 7 8; do
		dd if=/dev/zero of=/weft/table bs=4096 count=25 seek=$((i * 25)) conv=notrunc \
			oflag=dsync status=none & done; wait' || return 1
	syncs=$(($(stat_of node1 syncs memory) - ${before% *}))
	flushes=$(($(stat_of node1 sync_flushes memory) - ${before#* }))
	echo "$syncs syncs, $flushes flushes"
	[ "$flushes" -lt "$syncs" ]
}

# A program that has synced, and whose blade's machine ends then, hears of it once.
told()
{
	# shellcheck disable=SC2016  # for the guest's shell
	timeout -k 5 "$STEP_LIMIT" "$RACK" --name "$run_name" exec node1 -- python3 -c '
import os, time
fd = os.open("/weft/table", os.O_RDWR)
os.pwrite(fd, b"a", 0)
os.fsync(fd)
open("/run/synced", "w")
while os.path.exists("/run/synced"):
    time.sleep(0.1)
def sync():
    try:
        os.fsync(fd)
        return 0
    except OSError as e:
        return e.errno
first = sync(), sync()
other = os.open("/weft/table", os.O_RDWR)
os.pwrite(other, b"b", 0)
os.fsync(other)
print(first)
exit(first != (5, 0))' >"$dir/told" 2>&1 </dev/null &
	local pid=$! i

	for ((i = 0; i < 100; i++)); do
		! on node1 test -e /run/synced || break
		sleep 0.2
	done
	# shellcheck disable=SC2086  # words
	on mem1 $BLADE end || return 1
	# shellcheck disable=SC2016  # for the guest's shell
	on node1 sh -c 'for i in $(seq 100); do cat /weft/table >/dev/null && break; sleep 0.2; done; rm /run/synced'
	wait $pid && return
	cat "$dir/told"
	return 1
}

syncs()
{
	check "a region to be synced" region table durability=sync
	check "node 2 knows at once" on node2 sh -c \
		"$BIN/weftctl region show table || stat /weft/table >/dev/null; $BIN/weftctl region show table | grep -q 'durability  *sync'"
	check "fsync() waits for a sync" grows 1 on node1 sync /weft/table
	check "so does O_DSYNC, at each write" grows 10 written dsync
	check "and O_SYNC" grows 10 written sync
	check "those that come together share one" together
	check "a blade whose machine has ended says so, once" told
	check "what is write-back waits for none" eval \
		'region other durability=write-back && ! grows 1 on node1 sync /weft/other'
}

begin durable
boot --nodes 2 --switch p4 --memd-options "--backing $FILE --lease $LEASE"
releases
check "a silent blade holds locks and blocks up for half of the time-out" silent_blade
syncs
down_rack
boot --nodes 1 --switch none
region ram on-loss=sigbus
refused()
{
	! on node1 "$BIN/weftctl" region set ram durability=sync >"$dir/refused" 2>&1 &&
		grep -q 'needs a disk at every memory blade' "$dir/refused"
}
check "without a disk there is no durability=sync" refused
end_rack
finish
