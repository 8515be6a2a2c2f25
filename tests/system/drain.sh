#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A memory blade is added to a rack, and another one emptied, while programs run:
#
#	node1 node2 node3 mem1 mem2 mem3 -- switch
#
# mem3 and node3 are not there at first.  Processes of two nodes increment records that locks
# guard (locks-hammer), one writes and syncs all the time, one holds a lock, one has a file
# without a name.  mem3 is added, and regions are spread over it, moved to it alone, and back;
# then mem2 is drained, and its machine switched off.  No increment is lost, no sync fails,
# the lock stays held, contents are what they were; node3, whose configuration names mem1
# and mem2, joins and works; all of it is known to mem1's next life.
#
#	tests/system/drain.sh [SWITCH...]	(none p4)
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

CTL=$BIN/weftctl
HAMMER=$BUILD/tests/locks-hammer
GRANTS=100			# locks that each node gets between two steps
RUN_LIMIT=$((600 * SCALE))	# seconds of load at most
DATA_KB=512
WAIT=$((90 * SCALE))		# seconds for one move
LEASE=$((SCALE < 3 ? 8000 * SCALE : 20000))
BLADE_MB=128
FIRST=10.87.0.101,10.87.0.102
ALL=$FIRST,10.87.0.103

# --- Setting up ------------------------------------------------------------------

# blade N PEERS
blade()
{
	on "mem$1" tools/rack/guest-blade "$BIN" $((32 + $1)) "$2" "${BLADE_MB}M" \
		--backing /root/blade --lease $LEASE
}

# node N
node()
{
	local version

	version=$(on "node$1" uname -r) || return 1
	on "node$1" tools/rack/guest-node "$BUILD" "$BUILD/kmod/$version/weft.ko" \
		"udp_tunnel ip6_udp_tunnel libcrc32c" "$1" "$FIRST" 16M
}

set_up()
{
	# the first one waits for all that it is told of
	blade 1 "$FIRST" && blade 2 "$FIRST" && node 1 && node 2
}

# --- Looking ----------------------------------------------------------------------

# said TEXT: the first blade has logged it, within some seconds.
said()
{
	soon 60 on mem1 grep -qF "$1" /var/log/weft-memd.log
}

# homes NODE REGION: as that node knows them, "1,2".
homes()
{
	on "$1" stat "/weft/$2" >/dev/null &&
		on "$1" "$CTL" region show "$2" | awk '$1 == "homes" { print $2 }'
}

# at_home HOMES REGION: both nodes know it.
at_home()
{
	equal "$1" "$(homes node1 "$2")" && equal "$1" "$(homes node2 "$2")"
}

# all_at HOMES REGION...
all_at()
{
	local region

	for region in "${@:2}"; do
		at_home "$1" "$region" || return 1
	done
}

# drained: the second blade, says the list.
drained()
{
	on node1 "$CTL" blade list >"$dir/blades" || return 1
	equal "drained 0" "$(awk '$1 == 2 { print $3, $NF }' "$dir/blades")"
}

written()
{
	equal "${sum%% *}" "$(on "$1" sha256sum /weft/data | cut -d' ' -f1)"
}

nothing_lost()
{
	local k

	for ((k = 1; k <= nodes; k++)); do
		equal 0 "$(counters "node$k" |
			awk '$1 == "node.counters.blocks_lost" { print $2 }')" || return 1
	done
	equal "" "$(on node1 "$CTL" line lost)"
}

# moved NODE: regions have got other homes while it was there.
moved()
{
	local n

	n=$(counters "$1" | awk '$1 == "node.counters.regions_moved" { print $2 }')
	[ "${n:-0}" -gt 4 ] || { echo "regions_moved is ${n:-not there}"; return 1; }
}

# --- What goes on meanwhile ----------------------------------------------------------

# A file without a name: what was written is there as long as it is open.
hidden()
{
	# shellcheck disable=SC2016  # for the guest's shell
	on_for "$RUN_LIMIT" node1 bash -c '
		exec 5<>/weft/hidden
		echo here >&5
		rm /weft/hidden
		touch /run/test-hidden
		for ((i = 0; i < 2 * $1; i++)); do [ ! -e /run/test-stop ] || break; sleep 0.5; done
		[ "$(head -c 4 /proc/self/fd/5)" = here ]' - "$RUN_LIMIT"
}

# Writes and syncs, again and again; each time what was written is there.
syncing()
{
	# shellcheck disable=SC2016  # for the guest's shell
	on_for "$RUN_LIMIT" node2 bash -c '
		for ((i = 1; i < 1000000; i++)); do
			[ ! -e /run/test-stop ] || break
			printf "%08d" {1..4000} | tr 0 $((i % 10)) >/run/synced
			dd if=/run/synced of=/weft/synced bs=32K conv=fsync,notrunc status=none || exit 1
			cmp /run/synced /weft/synced || exit 1
			[ $i != 3 ] || touch /run/test-synced
			sleep 0.5
		done
		echo "$i times"
		[ $i -gt 3 ]' -
}

# on_for SECONDS WHERE COMMAND...
on_for()
{
	timeout -k 20 "$1" "$RACK" --name "$run_name" exec "$2" -- "${@:3}" </dev/null
}

all_begun()
{
	grep -q '^held' "$dir/holder" && on node1 test -e /run/test-hidden &&
		on node2 test -e /run/test-synced
}

refused()
{
	equal "Device or resource busy" \
		"$(on node2 "$BUILD/tests/locks-basics" take /weft/data 4096 w 0)"
}

taken()
{
	equal taken "$(on node2 "$BUILD/tests/locks-basics" take /weft/data 4096 w 20000)"
}

# move WHAT HOMES REGION COMMAND...: by node1, while the load goes on.
move()
{
	check "$1" on node1 "$CTL" region "${@:4}" --wait "$WAIT"
	check "$1: both nodes know it" soon 20 at_home "$2" "$3"
	check "$1: what was there is there" all_right
	check "$1: programs go on" locks_granted "$GRANTS"
}

all_right()
{
	written node1 && written node2
}

# --- The test --------------------------------------------------------------------------

at_work()
{
	check "node 1 writes $DATA_KB KiB" on node1 dd if="$dir/data" of=/weft/data bs=64K \
		status=none
	check "a region is to be on the disks" on node2 bash -c \
		"touch /weft/synced && '$CTL' region set synced durability=sync"
	on_nodes "$RUN_LIMIT" "$HAMMER" --node %K --nodes %N --timeout "$RUN_LIMIT" --pause 20000 \
		--seconds "$RUN_LIMIT" --stop /run/test-stop >"$dir/hammer" 2>&1 &
	hammer=$!
	on_for "$RUN_LIMIT" node1 "$BUILD/tests/locks-basics" hold /weft/data 4096 w "$RUN_LIMIT" \
		>"$dir/holder" 2>&1 &
	holder=$!
	hidden >"$dir/hidden" 2>&1 &
	unlinked=$!
	syncing >"$dir/syncing" 2>&1 &
	syncer=$!
	check "programs are at work" soon 60 all_begun
	check "there is load" locks_granted "$GRANTS"
	check "all of it is at the two blades that there are" all_at 1,2 data synced hammer
}

come()
{
	check "a third blade may come" on node1 "$CTL" blade add 3 10.87.0.103
	check "it comes" blade 3 "$ALL"
	check "regions may use it" said "memory blade 3 (10.87.0.103) is used by regions"
	check "a new region does" on node1 dd if=/dev/zero of=/weft/new bs=4K count=300 status=none
	check "... all three" soon 20 at_home 1,2,3 new
	move "a region is spread over all" 1,2,3 data spread data
	move "it moves to the new blade alone" 3 data move data 3
	move "... and back to all" 1,2,3 data move data 1,2,3
	check "all regions are spread" on node1 "$CTL" region spread --all
	check "... over all three" soon "$WAIT" all_at 1,2,3 data synced hammer new
	check "programs go on" locks_granted "$GRANTS"
}

go()
{
	check "the second blade is drained" on node1 "$CTL" blade drain 2 --wait "$WAIT"
	check "the list says so" drained
	check "no region is there any more" soon 20 all_at 1,3 data synced hammer new
	check "what was there is there" all_right
	check "its machine is switched off" rack kill mem2
	check "programs go on" locks_granted "$GRANTS"
	check "what was there is there without it" all_right
	check "the blades that are left can be asked for what they count" \
		on node1 "$CTL" stats memory
	check "node 2 does not get a lock that node 1 holds" refused
}

at_the_end()
{
	on node1 touch /run/test-stop
	on node2 touch /run/test-stop
	wait "$hammer"
	report $? "every increment is there, every lock can be had" "$dir/hammer"
	wait "$syncer"
	report $? "no sync has failed, what was synced was there" "$dir/syncing"
	wait "$unlinked"
	report $? "a file without a name is there" "$dir/hidden"
	check "the program is told to leave the lock" on node1 pkill -USR1 -x locks-basics
	wait "$holder"
	report $? "who holds a lock goes on" "$dir/holder"
	check "when it is left, node 2 gets it" taken
	check "regions have moved" moved node1
	check "nothing is lost" nothing_lost
}

later()
{
	check "a third node joins, which is told of the first two blades" node 3
	check "it reads what is there" written node3
	check "it changes it" on node3 dd if="$dir/other" of=/weft/data bs=64K conv=notrunc \
		status=none
	sum=$(sha256sum <"$dir/other")
	check "the others see that" all_right
	check "the first blade is killed and started again" restart_memd
	check "it knows where all is" written node3
	check "... and which blades there are" soon 60 drained
}

begin drain
head -c "${DATA_KB}K" /dev/urandom >"$dir/data"
head -c "${DATA_KB}K" /dev/urandom >"$dir/other"
[ $# -gt 0 ] || set -- none p4
for switch; do
	sum=$(sha256sum <"$dir/data")
	boot --bare --nodes 3 --blades 3 --switch "$switch" --mem 512M --blade-mem "${BLADE_MB}M"
	nodes=2
	check "two nodes and two blades are a rack" set_up
	at_work
	come
	go
	at_the_end
	later
	down_rack
done
finish
