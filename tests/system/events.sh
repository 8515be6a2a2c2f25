#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs that wait for what another node does are told, and do not look all the time:
#
#	node1 node2 node3 mem1 -- switch
#
# Two nodes wake each other by futex() (tests/preload/events.c): no wake-up is lost, with a good
# network and a bad one, and it takes at most twice the messages and the time of the hand-over of
# a mutex.  Threads of all nodes wait for one condition variable: each of its broadcasts reaches
# all of them, and while they wait they neither run nor send.  What is waited for goes away with
# the end of its region, and with another node's death those who wait go on.
#
#	tests/system/events.sh [SWITCH...]	(p4 none)
#
# Environment: BUILD; WEFT_EVENT_THREADS (334), of each node; WEFT_EVENT_ROUNDS (3) of these,
# WEFT_EVENT_WAKES (300), of each of two nodes.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

THREADS=${WEFT_EVENT_THREADS:-334}
ROUNDS=${WEFT_EVENT_ROUNDS:-3}
WAKES=${WEFT_EVENT_WAKES:-300}
RUN_LIMIT=$((200 * SCALE))
SHIM=$BUILD/lib/libweft-preload.so
EVENTS=$BUILD/tests/preload-events

# sides ROLE FILE ARGUMENT...: nodes 1 and 2, which know their number.  What they say is in
# $dir/out.*, how many messages they have sent in $messages.
sides()
{
	local nodes=2

	remember
	on_nodes "$RUN_LIMIT" env "WEFT_TEST_SCALE=$SCALE" "LD_PRELOAD=$SHIM" \
		"$EVENTS" "/weft/$2" "$1" %K "${@:3}" || return 1
	look
	messages=$(grown msg_sent)
}

crowd()
{
	on_nodes "$RUN_LIMIT" env "WEFT_TEST_SCALE=$SCALE" "LD_PRELOAD=$SHIM" \
		"$EVENTS" /weft/crowd crowd %K %N "$THREADS" "$ROUNDS"
}

# events NODE FILE ROLE ARGUMENT...: on one node.
events()
{
	limited "$RUN_LIMIT" "$RACK" --name "$run_name" exec "$1" -- \
		env "WEFT_TEST_SCALE=$SCALE" "LD_PRELOAD=$SHIM" "$EVENTS" "/weft/$2" "${@:3}"
}

# One waits for another side, which cuts the file off: it looks, and finds nothing there.
cut_off()
{
	local pid i

	events node1 cut pair 1 1 >"$dir/cut" 2>&1 &
	pid=$!
	for ((i = 0; i < 200 * SCALE; i++)); do
		[ "$(on node2 od -An -tu4 -N4 /weft/cut 2>&1 | tr -d ' ')" != 1 ] || break
		sleep 0.1
	done
	on node2 truncate -s 0 /weft/cut || return 1
	wait $pid
	i=$?
	[ $i = 135 ] || { cat "$dir/cut"; echo "exit status $i, not that of SIGBUS"; return 1; }
}

# took: microseconds, as both sides found; the larger.
took()
{
	sed -n 's/.*, \([0-9]*\) us each$/\1/p' "$dir"/out.* | sort -n | tail -n 1
}

# at_most WANT FOUND
at_most()
{
	[ "$2" -le "$1" ] || { echo "wanted at most $1, found '$2'"; return 1; }
}

# How long a node takes in one run depends on what else the machine does: one of a few has to do.
TRIES=5

# compare SWITCH: a wake-up with the hand-over of a mutex.
compare()
{
	local lock_us lock_messages wake_us try

	for ((try = 1; try <= TRIES; try++)); do
		check "$1: two nodes hand a mutex to each other" sides locks "locks-$try" "$WAKES"
		lock_us=$(took) lock_messages=$messages
		check "$1: two nodes wake each other, none is lost" sides pair "pair-$try" "$WAKES"
		wake_us=$(took)
		note "a hand-over $lock_us us, a wake-up $wake_us us; messages of both for ten of" \
			"them: $((lock_messages * 5 / WAKES)), $((messages * 5 / WAKES))"
		[ $((2 * lock_us)) -lt "$wake_us" ] || break
	done
	check "$1: a wake-up takes twice the messages at most" at_most $((2 * lock_messages)) "$messages"
	check "$1: and twice the time" at_most $((2 * lock_us)) "$wake_us"
}

built "$SHIM" "$EVENTS" "$BIN/weftctl"
begin events
[ $# -gt 0 ] || set -- p4 none
for switch; do
	boot --nodes 3 --switch "$switch"
	compare "$switch"
	check "$switch: $((3 * THREADS)) threads, each broadcast reaches all" crowd
	note "$(grep -h '^crowd: ' "$dir/out.1")"
	check "$switch: faults: 5 % loss, 5 % repetition, 20 % reordering" \
		faults loss 0.05 dup 0.05 reorder 0.2
	check "$switch: two nodes wake each other, with faults" sides pair faults $((WAKES / 3))
	check "$switch: faults: no more" faults loss 0 dup 0 reorder 0
	check "$switch: what is waited for is cut off" cut_off
	check "$switch: node 3 is the last to wake" events node3 death nudge 3 1
	check "$switch: and dies" rack kill node3
	check "$switch: two nodes wake each other all the same" sides pair death $((WAKES / 10))
	check "$switch: node 3 boots" rack boot node3
	end_rack
done
finish
