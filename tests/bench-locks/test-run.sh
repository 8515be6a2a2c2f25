#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# weft-lockbench without a rack: several of it play the nodes, files in memory are
# regions, and what is preloaded (tests/common/kernel/fake.c) plays the kernel. Do they
# measure what they say, do the sums add up, and are mistakes told of?
#
#	tests/bench-locks/test-run.sh
#
# Prints a line a test. Environment: BUILD.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

LOCKBENCH=$BUILD/bin/weft-lockbench
FAKE=$BUILD/tests/libweft-fake.so
SCALE=${WEFT_TEST_SCALE:-1}
LIMIT=$((100 * SCALE))	# seconds for any one program
COUNT=100		# acquisitions of each process: luck of the machine does not change them
KINDS="weft weft-bare central mcs pernode cohort service"

PRELOAD=$BUILD/lib/libweft-preload.so

# nodes N COMMAND OPTION...: at once; output of node K in $dir/out.K. preload: for them.
preload=

nodes()
{
	local n=$1 k pids=() bad

	rm -f "$dir"/out.*
	for ((k = 1; k <= n; k++)); do
		WEFT_FAKE_DIR=$dir LD_PRELOAD=$preload:$FAKE timeout -k 5 "$LIMIT" "$LOCKBENCH" "$2" \
			--dir "$dir" --node "$k" --nodes "$n" --timeout $((50 * SCALE)) --settle 20 \
			--service "127.0.0.1:$port" "${@:3}" >"$dir/out.$k" 2>&1 &
		pids+=($!)
	done
	wait_all "${pids[@]}"
	bad=$?
	cat "$dir"/out.*
	return "$bad"
}

# value NAME: of the line on standard input.
value()
{
	sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p"
}

# of_all KIND: the line of all nodes together; of_each KIND: those of the nodes.
of_all()	{ grep -h "\"lock\":\"$1\".*\"node\":\"all\"" "$dir"/out.*; }
of_each()	{ grep -h "\"lock\":\"$1\".*\"node\":\"[0-9]" "$dir"/out.* | sort; }

# sums KIND WHAT...: what the three nodes have counted is what the first says of all.
sums()
{
	local what all each

	for what in "${@:2}"; do
		all=$(of_all "$1" | value "$what")
		each=$(of_each "$1" | value "$what" |
			awk '{ sum += $1; n++ } END { if (n == 3) print sum }')
		echo "$what: all '$all', nodes together '$each'"
		[ -n "$all" ] && [ "$all" = "$each" ] || return 1
	done
}

# add_up KIND: of both sorts there is something, too.
add_up()
{
	local what p50 max

	sums "$1" acquires reads writes || return 1
	for what in acquires reads writes; do
		[ "$(of_all "$1" | value $what)" -gt 0 ] || return 1
	done
	p50=$(of_all "$1" | value lock_p50_us)
	max=$(of_each "$1" | value lock_max_us | sort -g | tail -n 1)
	echo "p50 $p50, max $max"
	awk -v p50="$p50" -v max="$max" 'BEGIN { exit !(p50 > 0 && max >= p50) }'
}

# lasted KIND SECONDS: no less, by its own clock.
lasted()
{
	local found

	found=$(of_all "$1" | value seconds)
	echo "wanted $2 s at least, found '$found'"
	awk -v found="$found" -v least="$2" 'BEGIN { exit !(found != "" && found >= least) }'
}

# by_time SECONDS: a run of each kind lasted that long, and the sums add up.  A machine that
# stands still all the time of a kind lets nobody have its locks; not of all kinds.
by_time()
{
	local kind all=0

	for kind in $KINDS; do
		sums "$kind" acquires reads writes && lasted "$kind" "$1" || return 1
		all=$((all + $(of_all "$kind" | value acquires)))
	done
	[ $all -gt 0 ]
}

# turns_add_up KIND: of the counter; each turn is one acquisition at least, and each node
# has one at least.
turns_add_up()
{
	local turns least

	sums "$1" acquires turns || return 1
	turns=$(of_all "$1" | value turns)
	least=$(of_all "$1" | value least_turns)
	echo "turns: $turns, of the node with the least $least of the mean"
	[ "$(of_all "$1" | value acquires)" -ge "$turns" ] || return 1
	! of_each "$1" | value turns | grep -x 0 || return 1
	awk -v least="$least" 'BEGIN { exit !(least > 0 && least <= 1) }'
}

# idle_adds_up KIND: the first node took nothing, each of the other two what it was told to.
idle_adds_up()
{
	equal "0 $COUNT $COUNT" "$(of_each "$1" | value acquires | paste -s -d ' ')" &&
		equal $((2 * COUNT)) "$(of_all "$1" | value acquires)"
}

# counted KIND: so many acquisitions of each of two nodes were asked for.
counted()
{
	equal $((2 * COUNT)) "$(of_all "$1" | value acquires)"
}

# between NAME KIND LEAST MOST
between()
{
	local found

	found=$(grep -h "\"lock\":\"$2\".*\"$1\":" "$dir"/out.* | tail -n 1 | value "$1")
	echo "wanted $3 to $4, found '$found'"
	awk -v found="$found" -v least="$3" -v most="$4" \
		'BEGIN { exit !(found != "" && found >= least && found <= most) }'
}

# pauses KIND: a millisecond after each acquisition of a node but the last.
pauses()
{
	counted "$1" && lasted "$1" "$(awk -v n="$COUNT" 'BEGIN { print (n - 1) / 1000 }')"
}

# datagrams KIND: what is not answered in 50 ms is sent again, and then answered twice, by
# each of the two processes.
datagrams()
{
	local seconds

	seconds=$(of_all "$1" | value seconds)
	between datagrams_per_acquire "$1" 4 "$(awk -v s="$seconds" -v n="$COUNT" \
		'BEGIN { print 4 + 2 * int(s / 0.05) / n }')"
}

# judged JUDGE KINDS N COMMAND OPTION...: nodes run the command with locks of these kinds, and
# the judge likes each of them.
runs=0
judged()
{
	local kind

	nodes "$3" "$4" --locks "${2// /,}" --name "judged$((++runs))" "${@:5}" || return 1
	for kind in $2; do
		"$1" "$kind" || return
	done
}

# hand_overs: of each kind; took becomes the microseconds of all.
hand_overs()
{
	local bad begin=${EPOCHREALTIME/./}

	nodes 2 handover --hold 4000 --count $COUNT --name handover
	bad=$?
	took=$((${EPOCHREALTIME/./} - begin))
	return $bad
}

# ordered KIND: its latencies are named for what they are, and fit that.
ordered()
{
	local line what

	line=$(grep -h "\"bench\":\"latency\".*\"lock\":\"$1\"" "$dir"/out.*)
	echo "$line"
	for what in read write; do
		awk -v least="$(value ${what}_least_ns <<<"$line")" \
			-v p50="$(value ${what}_p50_ns <<<"$line")" \
			'BEGIN { exit !(least + 0 > 0 && p50 + 0 >= least + 0) }' || return 1
	done
	! grep -q '"read_ns"' <<<"$line"
}

built "$LOCKBENCH" "$FAKE" "$PRELOAD"
begin bench-locks "$(in_memory)"
claim_ports
timeout $((300 * SCALE)) "$LOCKBENCH" serve --port "$port" --seconds $((300 * SCALE)) &

check "all kinds, three nodes of two processes" \
	nodes 3 run --procs 2 --count $COUNT --readers 50 --name all
for kind in $KINDS; do
	check "$kind: the sums add up" add_up "$kind"
done
check "all kinds, for a time" nodes 3 run --procs 2 --seconds 0.2 --readers 50 --name time
check "they have it, and the sums add up" by_time 0.2
check "acquisitions by number" nodes 2 run --locks weft,cohort --count $COUNT --name count
check "weft: as many" counted weft
check "cohort: as many" counted cohort
check "many pages, and pauses" judged pauses central 2 run --pages 5 --think 1000 \
	--count $COUNT --readers 30
check "an acquisition at the service is four datagrams" \
	judged datagrams service 2 run --count $COUNT
check "a counter, three nodes: turns and acquisitions add up" \
	judged turns_add_up "weft mcs" 3 counter --count $COUNT
check "a counter, and a node that is idle: two nodes add, one does not" \
	judged idle_adds_up "weft mcs" 3 counter --count $COUNT --idle 1
check "all nodes cannot be idle" exits 1 "one of 1 nodes has to take the lock" \
	"$LOCKBENCH" counter --idle 1 --locks mcs --dir "$dir" --name counter-none
preload=$PRELOAD
check "a counter, with the preload library: turns and acquisitions add up" \
	judged turns_add_up pthread 3 counter --count $COUNT
preload=
check "a counter, and pauses" judged pauses weft 2 counter --count $COUNT --think 1000
check "a counter, for a time" nodes 3 counter --locks weft --seconds 0.2 --name counter-time
check "it has it, and the sums add up" eval 'sums weft acquires turns && lasted weft 0.2'
check "hand-overs" hand_overs
# Half of them take no longer than twice the mean, however slow the machine is.
for kind in $KINDS; do
	check "$kind: a hand-over takes part of the time" \
		between one_way_p50_us "$kind" 0.1 $((2 * took / COUNT))
done
check "alone" nodes 1 latency --locks weft,central,mcs --name latency
for kind in weft central mcs glibc; do
	check "$kind: a median, and the least, by their names" ordered "$kind"
done
check "glibc is as fast as glibc" between read_of_glibc glibc 1 1
check "weft is no thousand times slower" between write_of_glibc weft 0.01 1000
timeout "$LIMIT" "$LOCKBENCH" pong --port $((port + 1)) --seconds "$LIMIT" &
check "plain messages" timeout "$LIMIT" "$LOCKBENCH" ping --count 20 --hold 2000 \
	--peer "127.0.0.1:$((port + 1))"
check "a lock that there is not" exits 1 "there is no lock 'spin'" \
	"$LOCKBENCH" run --locks spin --dir "$dir"
check "a DLM that was not made ready" exits 1 "was weft-lockbench dlm run on each node" \
	"$LOCKBENCH" counter --locks dlm --dir "$dir" --name dlm
check "a service that is nowhere" exits 1 "where is it?" \
	"$LOCKBENCH" run --locks service --dir "$dir" --name "$RANDOM"
check "nobody takes part twice" exits 1 "has been here before" \
	"$LOCKBENCH" latency --locks central --dir "$dir" --name latency
finish
