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
. tests/tries.sh

LOCKBENCH=$BUILD/bin/weft-lockbench
FAKE=$BUILD/tests/libweft-fake.so
SCALE=${WEFT_TEST_SCALE:-1}
LIMIT=$((60 * SCALE))	# seconds for any one program
KINDS="weft weft-bare central mcs pernode cohort service"
PORT=$((20000 + $$ % 20000))

PRELOAD=$BUILD/lib/libweft-preload.so

# nodes N COMMAND OPTION...: at once; output of node K in $dir/out.K. preload: for them.
preload=

nodes()
{
	local n=$1 k pids=() bad

	rm -f "$dir"/out.*
	for ((k = 1; k <= n; k++)); do
		WEFT_FAKE_DIR=$dir LD_PRELOAD=$preload:$FAKE timeout -k 5 "$LIMIT" "$LOCKBENCH" "$2" \
			--dir "$dir" --node "$k" --nodes "$n" --timeout 30 --settle 20 \
			--service "127.0.0.1:$PORT" "${@:3}" >"$dir/out.$k" 2>&1 &
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

# add_up KIND: what the nodes have counted is what the first says of all, and of
# both sorts there is something.
add_up()
{
	local what all each line

	for what in acquires reads writes; do
		line=$(grep -h "\"lock\":\"$1\".*\"node\":\"all\"" "$dir"/out.*)
		all=$(value "$what" <<<"$line")
		each=$(grep -h "\"lock\":\"$1\".*\"node\":\"[0-9]" "$dir"/out.* | value "$what" |
			awk '{ sum += $1; n++ } END { if (n == 3) print sum }')
		echo "$what: all '$all', nodes together '$each'"
		[ -n "$all" ] && [ "$all" = "$each" ] && [ "$all" -gt 0 ] || return 1
	done
	all=$(value lock_p50_us <<<"$line")
	each=$(value lock_max_us <<<"$line")
	echo "p50 $all, max $each"
	awk -v p50="$all" -v max="$each" 'BEGIN { exit !(p50 > 0 && max >= p50) }'
}

# turns_add_up KIND: of the counter; each turn is one acquisition at least, and each node
# has one at least, if it was lucky.
turns_add_up()
{
	local what all nodes each least line nowhere=

	line=$(grep -h "\"lock\":\"$1\".*\"node\":\"all\"" "$dir"/out.*)
	for what in acquires turns; do
		all=$(value "$what" <<<"$line")
		nodes=$(grep -h "\"lock\":\"$1\".*\"node\":\"[0-9]" "$dir"/out.* | value "$what")
		each=$(awk '{ sum += $1; n++ } END { if (n == 3) print sum }' <<<"$nodes")
		echo "$what: all '$all', nodes together '$each'"
		[ -n "$all" ] && [ "$all" = "$each" ] || return 1
		! grep -qx 0 <<<"$nodes" || nowhere=1
	done
	least=$(value least_turns <<<"$line")
	echo "turns: $all, of the node with the least $least of the mean"
	[ "$(value acquires <<<"$line")" -ge "$all" ] || return 1
	[ -z "$nowhere" ] || return $UNLUCKY
	awk -v least="$least" 'BEGIN { exit !(least > 0 && least <= 1) }'
}

# idle_adds_up KIND: the first node took nothing, the other two what is said of all, and
# each something, if it was lucky.
idle_adds_up()
{
	local all each

	all=$(grep -h "\"lock\":\"$1\".*\"node\":\"all\"" "$dir"/out.* | value acquires)
	each=$(grep -h "\"lock\":\"$1\".*\"node\":\"[0-9]" "$dir"/out.* | sort |
		value acquires | paste -s -d ' ')
	echo "all '$all', nodes '$each'"
	awk -v all="$all" -v each="$each" -v unlucky=$UNLUCKY 'BEGIN {
		n = split(each, node, " ")
		if (n != 3 || all == "" || node[1] != 0 || node[2] + node[3] != all)
			exit 1
		exit node[2] > 0 && node[3] > 0 ? 0 : unlucky
	}'
}

# counted KIND: so many acquisitions were asked for.
counted()
{
	local all

	all=$(grep -h "\"lock\":\"$1\".*\"node\":\"all\"" "$dir"/out.* | value acquires)
	equal 200 "$all"
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

# pauses KIND: of two nodes, a millisecond each time.
pauses()
{
	between acquires "$1" 2 $((400 * SCALE + 1)) || return $UNLUCKY
}

# datagrams KIND: what is not answered in time is sent again.
datagrams()
{
	between datagrams_per_acquire "$1" 4 6 || return $UNLUCKY
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
timeout $((300 * SCALE)) "$LOCKBENCH" serve --port "$PORT" --seconds $((300 * SCALE)) &

# Six processes that spin: on a busy machine none may get anywhere for a while.
seconds=$(awk -v scale="$SCALE" 'BEGIN { print 0.5 * scale }')
some_seconds=$(awk -v scale="$SCALE" 'BEGIN { print 0.2 * scale }')
check "all kinds, three nodes of two processes" \
	nodes 3 run --procs 2 --seconds "$seconds" --readers 50 --name all
for kind in $KINDS; do
	check "$kind: the sums add up" add_up "$kind"
done
check "acquisitions by number" nodes 2 run --locks weft,cohort --count 100 --name count
check "weft: as many" counted weft
check "cohort: as many" counted cohort
check "many pages, and pauses" tries 3 judged pauses central 2 run --pages 5 --think 1000 \
	--seconds "$some_seconds" --readers 30
check "an acquisition at the service is four datagrams" \
	tries 3 judged datagrams service 2 run --count 20
check "a counter, three nodes: turns and acquisitions add up" \
	tries 3 judged turns_add_up "weft mcs" 3 counter --seconds "$seconds"
check "a counter, and a node that is idle: two nodes add, one does not" \
	tries 3 judged idle_adds_up "weft mcs" 3 counter --seconds "$seconds" --idle 1
check "all nodes cannot be idle" exits 1 "one of 1 nodes has to take the lock" \
	"$LOCKBENCH" counter --idle 1 --locks mcs --dir "$dir" --name counter-none
preload=$PRELOAD
check "a counter, with the preload library: turns and acquisitions add up" \
	tries 3 judged turns_add_up pthread 3 counter --seconds "$seconds"
preload=
check "a counter, and pauses" tries 3 judged pauses weft 2 counter \
	--seconds "$some_seconds" --think 1000
check "hand-overs" nodes 2 handover --hold 4000 --count 20 --name handover
for kind in $KINDS; do
	check "$kind: a hand-over takes less than it was held" \
		between one_way_p50_us "$kind" 0.1 100000
done
check "alone" nodes 1 latency --locks weft,central,mcs --name latency
for kind in weft central mcs glibc; do
	check "$kind: a median, and the least, by their names" ordered "$kind"
done
check "glibc is as fast as glibc" between read_of_glibc glibc 1 1
check "weft is no thousand times slower" between write_of_glibc weft 0.01 1000
timeout "$LIMIT" "$LOCKBENCH" pong --port $((PORT + 1)) --seconds "$LIMIT" &
check "plain messages" timeout "$LIMIT" "$LOCKBENCH" ping --count 20 --hold 2000 \
	--peer "127.0.0.1:$((PORT + 1))"
check "a lock that there is not" exits 1 "there is no lock 'spin'" \
	"$LOCKBENCH" run --locks spin --dir "$dir"
check "a DLM that was not made ready" exits 1 "was weft-lockbench dlm run on each node" \
	"$LOCKBENCH" counter --locks dlm --dir "$dir" --name dlm
check "a service that is nowhere" exits 1 "where is it?" \
	"$LOCKBENCH" run --locks service --dir "$dir" --name "$RANDOM"
check "nobody takes part twice" exits 1 "has been here before" \
	"$LOCKBENCH" latency --locks central --dir "$dir" --name latency
finish
