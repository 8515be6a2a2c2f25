#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A memory blade's machine dies, and its twin goes on:
#
#	node1 node2 node3 mem1 twin1 witness -- switch
#
# Processes of all nodes are at work (records under mutexes: mortal.c; words and files with
# fsync(): outlast.c) when the plug of the machine that serves is pulled.  They get an answer again
# within the lease and some seconds, no add is missing, what fsync() had made safe is there, and so
# are all regions; a node that comes anew finds the blade where it is.  The machine comes back as
# the twin, gets all, and the other one is killed, until each has been twice.  Then a node dies
# together with the blade, while the twin was cut off for a moment: what was safe in a region with
# durability=mirror is there, and of one without something is not, or nothing was tested.
#
#	tests/system/standby.sh [SWITCH[-key]...]	(p4-key none)
#
# Environment: BUILD; WEFT_STANDBY_LEASE, milliseconds (3000); WEFT_STANDBY_ROUNDS, in each rack
# (2).  Prints how long nobody got anything, of each take-over, and the median.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

LEASE=$((${WEFT_STANDBY_LEASE:-3000} * SCALE))
# When a node dies with the blade it is about two of them, and a node waits for 30 s.
[ "$LEASE" -le 12000 ] || LEASE=12000
ROUNDS=${WEFT_STANDBY_ROUNDS:-2}
LATEST=$((LEASE + 10000 * SCALE))	# until who waits must have gone on
OUTLAST=$BUILD/tests/system-outlast
MORTAL=$BUILD/tests/system-mortal
PRELOAD=$BUILD/lib/libweft-preload.so
NOTES=/run/test-notes
WORK_LIMIT=$((90 * SCALE))	# seconds of a process at work, unless it is stopped
WITHOUT=1			# seconds that the twin is cut off; less than the lease
AT_1=10.87.0.101 AT_2=10.87.0.201	# mem1, twin1

# --- The blade ---------------------------------------------------------------------

# blade_of NODE: address and view of the blade as the node knows them.
blade_of()
{
	on "$1" "$BIN/weftctl" -j status | tr '{' '\n' |
		sed -n 's/.*"id":33,.*"address":"\([^"]*\)".*"view":\([0-9]*\).*/\1 \2/p'
}

# all_know ADDRESS VIEW: all nodes.
all_know()
{
	local k

	for ((k = 1; k <= nodes; k++)); do
		[ "$(blade_of "node$k")" = "$1 $2" ] || return 1
	done
}

# mem_stat NODE NAME: of the first blade, as it says to this node.
mem_stat()
{
	counters "$1" memory | awk -v name="$2" '
		substr($1, length($1) - length(name)) == "." name { print $2; exit }'
}

complete()
{
	[ "$(mem_stat node1 twin_complete)" = 1 ]
}

# finds NODE NAME: what doctor there finds of twins and witness is this, or nothing.
finds()
{
	equal "$2" "$(on "$1" "$BIN/weftctl" -j doctor | grep -oE '"name":"(twin|witness)[^"]*' |
		cut -d '"' -f 4 | tr '\n' ' ' | sed 's/ $//')"
}

# --- Processes at work -----------------------------------------------------------------

# start NODE NAME COMMAND...: there in the background; $dir/work.NAME.NODE.
start()
{
	timeout -k 5 $((WORK_LIMIT + 30)) "$RACK" --name "$run_name" exec "node$1" -- "${@:3}" \
		>"$dir/work.$2.$1" 2>&1 </dev/null &
	workers["$2.$1"]=$!
}

# at_work NODE...
at_work()
{
	local n

	for n; do
		on "node$n" rm -f /run/test-stop
		start "$n" mortal env LD_PRELOAD="$PRELOAD" "$MORTAL" work /weft/mortal "$n" \
			"$WORK_LIMIT" /run/test-stop "$RANDOM"
		start "$n" outlast "$OUTLAST" work /weft "$n" $NOTES "$WORK_LIMIT" /run/test-stop
	done
}

# noted NODE: words that it has added, what is safe in its logs.
noted()
{
	on "node$1" "$OUTLAST" notes $NOTES
}

# more_noted NUMBER NODE...: each has made so much safe since $dir/noted.NODE.
more_noted()
{
	local n more=$1

	shift
	for n; do
		[ "$(noted "$n" | cut -d ' ' -f 2)" -ge $((more + $(cut -d ' ' -f 2 "$dir/noted.$n"))) ] ||
			return 1
	done
}

# remember_noted NODE...
remember_noted()
{
	local n

	for n; do
		noted "$n" >"$dir/noted.$n" && [ -s "$dir/noted.$n" ] || return 1
	done
}

# stopped NODE...: they end well, and were not without an answer for longer than LATEST.
stopped()
{
	local n what rc=0 ms longest=0

	for n; do
		on "node$n" touch /run/test-stop
	done
	for n; do
		for what in mortal outlast; do
			wait "${workers["$what.$n"]}" ||
				{ echo "node $n: $what: exit status $?"; rc=1; }
			cat "$dir/work.$what.$n"
			ms=$(sed -n 's/.*longest_ms //p' "$dir/work.$what.$n")
			[ "${ms:-999999}" -le $LATEST ] ||
				{ echo "node $n: $what waited too long"; rc=1; }
			[ "${ms:-999999}" -le "$longest" ] || longest=${ms:-999999}
		done
	done
	waits+=("$longest")
	return $rc
}

words_are_right()
{
	local n sum=0 one

	for ((n = 1; n <= nodes; n++)); do
		one=$(noted "$n") || return 1
		sum=$((sum + ${one%% *}))
	done
	equal "$sum" "$(on node2 "$OUTLAST" words /weft)"
}

# missing READER NODE LOG SAFE: how many numbers of that log are not there.
missing()
{
	on "node$1" "$OUTLAST" check /weft "$2" "$3" "$4" | sed -n 's/^missing \([0-9]*\) .*/\1/p'
}

# all_safe: each log, read by the next node.
all_safe()
{
	local n safe

	for ((n = 1; n <= nodes; n++)); do
		read -r _ safe _ < <(noted "$n") || return 1
		equal "0 of $safe" "$(missing $((n % nodes + 1)) "$n" mirror "$safe") of $safe" ||
			return 1
	done
}

# agree: all find the same records.
agree()
{
	local n

	for ((n = 1; n <= nodes; n++)); do
		on "node$n" env LD_PRELOAD="$PRELOAD" "$MORTAL" look /weft/mortal >"$dir/look.$n" ||
			{ cat "$dir/look.$n"; return 1; }
		cmp "$dir/look.1" "$dir/look.$n" || return 1
	done
	[ "$(wc -l <"$dir/look.1")" = 16 ]
}

# regions ROUND: all that were made, one before each take-over and one after it.
regions()
{
	local i when rc=0

	for ((i = 1; i <= $1; i++)); do
		for when in before after; do
			on node3 grep -qx "$when $i" "/weft/$when-$i" && continue
			echo "$when-$i is not what it was:"
			on node3 sh -c "ls -l /weft/$when-$i; od -c /weft/$when-$i | head -n 5"
			rc=1
		done
	done
	return $rc
}

# kept ROUND: what node 1 had only in its memory when a machine died it has given back, whatever
# the durability: nobody had it read before, and so it was not at home.
kept()
{
	local i rc=0

	for ((i = 1; i <= $1; i++)); do
		on node3 grep -qx "kept $i" "/weft/kept-$i" && continue
		echo "kept-$i is not what it was:"
		on node3 sh -c "ls -l /weft/kept-$i; od -c /weft/kept-$i | head -n 5"
		rc=1
	done
	return $rc
}

# region NODE NAME TEXT: with that in it; what comes home unasked in the last moment may be lost.
region()
{
	on "$1" sh -c "echo $3 >/weft/$2" &&
		on "$1" "$BIN/weftctl" region set "$2" durability=mirror &&
		on "$1" sync "/weft/$2"
}

# --- Take-overs ------------------------------------------------------------------------

# anew NODE: it leaves the rack, and comes again as one that knows what weft.conf says.
anew()
{
	on "node$1" "$BIN/weftctl" down --unmount &&
		on "node$1" "$BIN/weftctl" up --node "$1" --interface eth0 \
			--homes "$AT_1/$AT_2" --mount /weft --cache 64M ${key:+$key}
}

# make_files: mirror.N are what their names say.
make_files()
{
	local n

	on node1 env LD_PRELOAD="$PRELOAD" "$MORTAL" make /weft/mortal &&
		on node1 "$OUTLAST" make /weft "$nodes" || return 1
	for ((n = 1; n <= nodes; n++)); do
		on node1 "$BIN/weftctl" region set "mirror.$n" durability=mirror || return 1
	done
}

# takes_over ROUND: the machine that serves dies, and comes back as the twin.
takes_over()
{
	local round=$1 victim=mem1 to=$AT_2

	((round % 2)) || { victim=twin1 to=$AT_1; }
	check "a region is made" region node1 "before-$round" "before $round"
	check "one is only in node 1's memory" on node1 sh -c "echo kept $round >/weft/kept-$round"
	at_work 1 2 3
	check "all are at work" soon 30 more_noted 20 1 2 3
	sleep "0.$((RANDOM % 900 + 100))"
	# a machine that stood still since may have made the blade go on without its twin
	check "the twin has all" soon 60 complete
	check "the plug of $victim is pulled" rack kill "$victim"
	view=$((view + 1))
	check "all nodes know where the blade goes on" soon $((LATEST / 1000)) all_know "$to" "$view"
	check "what was done until then is noted" remember_noted 1 2 3
	check "all go on" soon $((LATEST / 1000)) more_noted 20 1 2 3
	check "they end well, and in time" stopped 1 2 3
	check "no add is missing" words_are_right
	check "what was safe is there" all_safe
	check "all nodes find the same records" agree
	check "a region is made there" region node2 "after-$round" "after $round"
	check "all regions are there" regions "$round"
	check "what was only in a node's memory, too" kept "$round"
	[ "$round" != 1 ] || check "doctor finds that the blade is alone" finds node2 twin_incomplete
	check "a node comes anew" anew 3
	check "it knows where the blade is" all_know "$to" "$view"
	check "and finds all regions" regions "$round"
	check "$victim boots" limited "$BOOT_LIMIT" "$RACK" boot --name "$run_name" "$victim"
	check "it gets all that it needs to take over" soon $((60 * SCALE)) complete
	[ "$round" != 1 ] || check "doctor finds nothing of twins then" finds node2 ""
	check "what was done so far is noted" remember_noted 1 2 3
}

# Without the witness nobody takes over, and doctor says so.
no_witness()
{
	check "the plug of the witness is pulled" rack kill witness
	check "doctor finds that" soon $((LEASE / 1000 + 20)) finds node2 witness_silent
	check "the blade goes on, as its twin hears it" on node2 sh -c "echo here >/weft/here"
	check "the witness boots, with nothing" limited "$BOOT_LIMIT" "$RACK" boot \
		--name "$run_name" witness
	check "it hears who serves" soon $((LEASE / 1000 + 20)) finds node2 ""
}

# cut_shortly MACHINE: not for so long that the blade goes on without it; safe and plain are what
# node 1 has made safe at the end.
cut_shortly()
{
	local try before begun

	for try in 1 2 3; do
		soon 60 complete && read -r _ _ before < <(noted 1) || return 1
		begun=$(now_ms)
		rack wire cut "$1" || return 1
		sleep $WITHOUT
		read -r _ safe plain < <(noted 1) || return 1
		[ "$plain" -le "$before" ] || [ $(($(now_ms) - begun)) -gt $((LEASE * 2 / 3)) ] ||
			return 0
		echo "try $try: $before and $plain, after $(($(now_ms) - begun)) ms"
		rack wire heal "$1" || return 1
	done
	return 1
}

# With the node that made something safe dies the blade, which its twin could not hear.
both_die()
{
	local victim=mem1 other=twin1 to=$AT_2 safe plain

	((view % 2)) || { victim=twin1 other=mem1 to=$AT_1; }
	at_work 1
	check "node 1 is at work" soon 30 more_noted 20 1
	check "$other is cut off, while node 1 is at work" cut_shortly "$other"
	check "the plugs of $victim and node 1 are pulled" both_killed "$victim"
	view=$((view + 1))
	check "$other is connected again" rack wire heal "$other"
	wait "${workers[mortal.1]}" "${workers[outlast.1]}"
	check "node 2 hears where the blade goes on" soon $((LATEST / 1000 + 30)) \
		knows node2 "$to" "$view"
	check "all that was safe in a region with durability=mirror is there" \
		equal "0 of $safe" "$(missing 2 1 mirror "$safe") of $safe"
	lost=$(missing 2 1 plain "$plain")
	check "of one without, something is not ($lost of $plain)" [ "${lost:-0}" -gt 0 ]
	check "node 1 boots" limited "$BOOT_LIMIT" "$RACK" boot --name "$run_name" node1
	check "it finds all regions" regions "$ROUNDS"
}

both_killed()
{
	local pid rc=0

	rack kill node1 &
	pid=$!
	rack kill "$1" || rc=1
	wait $pid || rc=1
	return $rc
}

knows()
{
	[ "$(blade_of "$1")" = "$2 $3" ]
}

in_rack()
{
	local i view=1 key=

	[[ $1 != *-key ]] || key="--key $keys/rack"
	boot --nodes 3 --standby --mem 512M --blade-mem 128M --switch "${1%-key}" \
		--memd-options "--lease $LEASE $key" --node-options "$key"
	check "the twin has all" soon $((60 * SCALE)) complete
	check "the files are made" make_files
	check "nothing is noted yet" remember_noted 1 2 3
	for ((i = 1; i <= ROUNDS; i++)); do
		takes_over "$i"
	done
	if [ "$LEASE" -ge 3000 ]; then
		no_witness
		both_die
	fi
	down_rack
}

begin standby
keys=$(mktemp -d "$BUILD/tests/standby.XXXXXX") || exit 2
at_exit rm -rf "$keys"
"$BIN/weft-memd" --make-key "$keys/rack" >/dev/null || exit 2
declare -A workers
waits=()
[ $# -gt 0 ] || set -- p4-key none
for rack; do
	in_rack "$rack"
done
mapfile -t sorted < <(printf '%s\n' "${waits[@]}" | sort -n)
echo "# milliseconds without an answer, the longest of each take-over, lease $LEASE: ${waits[*]}"
echo "# median ${sorted[${#sorted[@]} / 2]}"
finish
