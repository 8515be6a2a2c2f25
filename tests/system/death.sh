#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Nodes die, and the others go on without them:
#
#	node1 node2 node3 mem1 -- switch
#
# Processes of all nodes change records under robust mutexes (tests/system/mortal.c) when the
# plug of one is pulled, or its cable: nobody finds a record half done without being told that
# the owner of its mutex died, no two are inside at a time, the others wait for the lease and
# a moment, and what they find in the end is the same.  The node comes back, with nothing, and
# finds that, too.  With durability=release no number is ever less than one that somebody saw.
# What the first one that dies has modified, and another has read and still has, is not lost.
#
#	tests/system/death.sh [SWITCH/DURABILITY...]	(p4/release none/write-back)
#
# Environment: BUILD; WEFT_DEATHS, in each rack (4); WEFT_DEATH_LEASE, milliseconds (5000);
# WEFT_DEATH_FAULTS, of the network, options of weft-rack.  Prints how long the survivors got nothing, of each death and the median.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

DEATHS=${WEFT_DEATHS:-4}
LEASE=$((${WEFT_DEATH_LEASE:-5000} * SCALE))
# As long as a node waits (timeout=30) programs get SIGBUS.
[ "$LEASE" -le 20000 ] || LEASE=20000
LATEST=$((LEASE + 2500 * SCALE))	# until somebody who waits must have gone on
MORTAL=$BUILD/tests/system-mortal
PRELOAD=$BUILD/lib/libweft-preload.so
FILE=/weft/mortal
READ=/weft/inherited
WORK_LIMIT=$((60 * SCALE))	# seconds of a process at work, unless it is stopped

mortal()
{
	on "$1" env LD_PRELOAD="$PRELOAD" "$MORTAL" "${@:2}"
}

# at_work N...: a process on each of these nodes, until stopped; $dir/work.N.
at_work()
{
	local n

	workers=()
	began=$(now_ms)
	for n; do
		# Not below mortal(): who kills a node must know which process was its.
		timeout -k 5 $((WORK_LIMIT + 30)) "$RACK" --name "$run_name" exec "node$n" -- \
			env LD_PRELOAD="$PRELOAD" "$MORTAL" work "$FILE" "$n" "$WORK_LIMIT" \
			/run/test-stop "$RANDOM" >"$dir/work.$n" 2>&1 </dev/null &
		workers[n]=$!
	done
}

# stopped N...: they end well, and got a mutex at least every LATEST milliseconds.  If this machine
# stood still, the blade has waited for a whole lease from then on.
stopped()
{
	local n rc=0 ms latest=$LATEST stood

	stood=$(stood_since "$began")
	if [ "$stood" -gt 0 ]; then
		latest=$((LATEST + LEASE + stood))
		echo "this machine stood still for $stood ms"
	fi
	for n; do
		on "node$n" touch /run/test-stop
	done
	for n; do
		wait "${workers[n]}" || { echo "node $n: exit status $?"; rc=1; }
		cat "$dir/work.$n"
		ms=$(sed -n 's/.* longest_ms //p' "$dir/work.$n")
		[ "${ms:-999999}" -le $latest ] || { echo "node $n waited too long"; rc=1; }
		[ "$durability" != release ] || grep -q ' lost 0 ' "$dir/work.$n" ||
			{ echo "node $n saw what is not there any more"; rc=1; }
		on "node$n" rm -f /run/test-stop
		waits+=("${ms:-999999}")
	done
	return $rc
}

# agree N...: these find the same records.
agree()
{
	local n

	for n; do
		mortal "node$n" look "$FILE" >"$dir/look.$n" || { cat "$dir/look.$n"; return 1; }
		cmp "$dir/look.$1" "$dir/look.$n" || return 1
	done
	[ "$(wc -l <"$dir/look.$1")" = 16 ]
}

# fenced TIMES: so often has the blade taken a node out.
fenced()
{
	local i logged

	for ((i = 0; i < LEASE / 100 + 50 * SCALE; i++)); do
		logged=$(on mem1 grep -c 'is taken out of the rack' /var/log/weft-memd.log)
		[ "${logged:-0}" -ge "$1" ] && return
		sleep 0.1
	done
	on mem1 cat /var/log/weft-memd.log
	return 1
}

# back N: it is a member, with /weft mounted.
back()
{
	local i

	for ((i = 0; i < 100 * SCALE; i++)); do
		! on "node$1" "$BIN/weftctl" status >"$dir/status" 2>&1 ||
			! grep -q 'up, joined' "$dir/status" || return 0
		sleep 0.1
	done
	cat "$dir/status"
	return 1
}

# dies WHICH HOW: one death of a node at work, and its return.
dies()
{
	local victim=$1 how=$2 others=() n

	for n in 1 2 3; do
		[ "$n" = "$victim" ] || others+=("$n")
	done
	at_work 1 2 3
	sleep "1.$((RANDOM % 900 + 100))"
	if [ "$how" = kill ]; then
		check "the plug of node $victim is pulled" rack kill "node$victim"
	else
		check "node $victim is cut off" rack wire cut "node$victim"
	fi
	died=$((died + 1))
	check "it is taken out of the rack" fenced "$died"
	sleep 1
	check "the others went on in time, and nothing was half done" stopped "${others[@]}"
	check "they agree on what there is" agree "${others[@]}"
	if [ "$how" = kill ]; then
		wait "${workers[victim]}"
		check "node $victim boots" limited "$BOOT_LIMIT" "$RACK" boot --name "$run_name" \
			"node$victim"
	else
		check "node $victim is connected again" rack wire heal "node$victim"
		check "it is a member again" back "$victim"
		on "node$victim" touch /run/test-stop
		# It may have had records open that are lost: errors and SIGBUS are right.
		wait "${workers[victim]}"
		on "node$victim" rm -f /run/test-stop
	fi
	check "it finds what the others do" agree "${others[@]}" "$victim"
}

# read_by_another: node 1 modifies a file, and node 3 reads that.
read_by_another()
{
	on node1 sh -c "head -c 64K /dev/zero >$READ && sync $READ && yes weft | head -c 64K |
		dd of=$READ bs=64K iflag=fullblock conv=notrunc status=none" &&
		on node3 cksum "$READ" >"$dir/cksum" && cat "$dir/cksum"
}

# inherited: node 2 finds what node 3 has read of the dead node, and nothing is listed as lost.
inherited()
{
	on node2 cksum "$READ" >"$dir/found" && on node2 "$BIN/weftctl" line lost >"$dir/lost" ||
		return 1
	cmp "$dir/cksum" "$dir/found" && ! grep -w "${READ##*/}" "$dir/lost"
}

in_rack()
{
	local i

	# shellcheck disable=SC2086  # options
	boot --nodes 3 --mem 512M --memd-options "--lease $LEASE" "$@" ${WEFT_DEATH_FAULTS-}
	died=0
	check "node 1 makes the records" mortal node1 make "$FILE"
	check "their durability is $durability" on node1 "$BIN/weftctl" region set "${FILE##*/}" \
		"durability=$durability"
	check "node 1 modifies what node 3 reads" read_by_another
	for ((i = 0; i < DEATHS; i++)); do
		if ((i % 4 == 3)); then
			dies $((i % 3 + 1)) cut
		else
			dies $((i % 3 + 1)) kill
		fi
		[ $i -gt 0 ] || check "what node 3 had read is there" inherited
	done
	check "all guests are well" rack status
	down_rack
}

begin death
watch_clock
waits=()
[ $# -gt 0 ] || set -- p4/release none/write-back
for rack; do
	durability=${rack#*/}
	in_rack --switch "${rack%/*}"
done
mapfile -t sorted < <(printf '%s\n' "${waits[@]}" | sort -n)
echo "# milliseconds without a mutex, of each survivor, lease $LEASE: ${waits[*]}"
echo "# median ${sorted[${#sorted[@]} / 2]}"
finish
