#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Blocks of 64 KiB in a rack of three nodes: what is otherwise only tested with blocks of
# 4 KiB, shorter.
#
#	node1 node2 node3 mem1 -- switch
#
# Coherence under stress, judged by weft-check, on a healthy network and one that loses;
# litmus tests, whose variables now share blocks; the main job, a count of words, against
# what coreutils count.
#
#	tests/system/blocks.sh [BLOCK]		(64K)
#
# Environment: BUILD; WEFT_STRESS_OPS (60000), WEFT_LITMUS_ROUNDS (60).

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
. tests/system/common.sh

BLOCK=${1:-64K}
OPS=${WEFT_STRESS_OPS:-60000}
ROUNDS=${WEFT_LITMUS_ROUNDS:-60}
THREADS=2		# on each node
PAGES=64
RUN_LIMIT=$((400 * SCALE))
LOGS=/run/stress-logs	# in the guests
TEXT=COPYING		# whose words are counted

# are_large: files of this rack have such blocks.
are_large()
{
	local size

	on node1 touch /weft/large || return 1
	for node in node1 node2; do
		size=$(on "$node" stat -c %o /weft/large)
		equal $((${BLOCK%K} * 1024)) "$size" || return 1
	done
	on node1 rm /weft/large
}

judge()
{
	limited "$RUN_LIMIT" "$BIN/weft-check" --min-ops "$OPS" --min-foreign $((OPS / 100)) \
		"$dir"/logs/stress-log.* "$dir"/logs/stress-image.*
}

# stress RUN: two threads on each node at the same pages.
stress()
{
	remember
	check "$1: the guests have a place for logs" on nodes mkdir "$LOGS"
	check "$1: 3 nodes x $THREADS threads work on $PAGES pages" \
		on_nodes "$RUN_LIMIT" "$BIN/weft-stress" --out "$LOGS" --node %K --nodes %N \
			--threads $THREADS --pages $PAGES --ops $((OPS / 3 / THREADS + 2)) \
			--burst 256 --seconds "$RUN_LIMIT" --timeout "$RUN_LIMIT"
	look
	rm -rf "$dir/logs"
	mkdir "$dir/logs"
	check "$1: the logs come to the host" take "$LOGS" "$dir/logs"
	check "$1: the history of $OPS accesses is right" judge
	note "$1: blocks in $(grown blocks_in), invalidated $(grown invalidated)," \
		"retransmissions $(grown retransmissions)"
	check "$1: blocks moved" at_least 20 "$(grown blocks_in)"
	check "$1: the nodes are ready for more" on node1 sh -c 'rm -f /weft/stress-*'
	check "$1: and have room" on nodes rm -rf "$LOGS"
}

litmus()
{
	on_nodes "$RUN_LIMIT" "$BIN/weft-litmus" --node %K --nodes %N --rounds "$ROUNDS" \
		--series 12 --align 12 --timeout "$RUN_LIMIT" || return 1
	cat "$dir/out.$nodes"
	equal 10 "$(grep -c "^ok .*: $ROUNDS rounds" "$dir/out.$nodes")"
}

# count_words: on all nodes in one table, each word by itself; another process reports.
count_words()
{
	on node1 cp "$PWD/$TEXT" /weft/text || return 1
	on_nodes "$RUN_LIMIT" "$BIN/weft-wordcount" --dir /weft --node %K --nodes %N \
		--timeout "$RUN_LIMIT" --chunk 4K --batch 0 || return 1
	on node2 "$BIN/weft-wordcount" --dir /weft --report --dump >"$dir/found" \
		2>"$dir/totals" || { cat "$dir/totals"; return 1; }
	tr -cs 'A-Za-z' '\n' <"$TEXT" | tr '[:upper:]' '[:lower:]' | grep . | sort |
		uniq -c | sort -k1,1nr -k2 >"$dir/wanted"
	echo "$(grep -c . "$dir/wanted") words"
	[ -s "$dir/wanted" ] && cmp "$dir/wanted" "$dir/found"
}

# in_order NAME: node 2 reads in order what node 1 has written; what that took is counted.
in_order()
{
	on node1 sh -c "dd if=/dev/urandom of=/weft/$1 bs=64K count=64 status=none &&
		sha256sum </weft/$1" >"$dir/written" || return 1
	remember
	on node2 sh -c "sha256sum </weft/$1" >"$dir/read" || return 1
	look
	cmp "$dir/written" "$dir/read"
}

# homeward NODE: three programs of it write single bytes into one block, and fsync each.
homeward()
{
	# shellcheck disable=SC2016  # expanded in the guest
	on "node$1" sh -c 'for j in 1 2 3; do
		for i in $(seq 40); do
			printf x | dd of=/weft/homeward bs=1 seek=$((7 * i + 3 * ($1 - 1) + j)) \
				conv=notrunc,fsync status=none || exit 1
		done &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || exit 1
	done' sh "$1"
}

# written_home: the same on two nodes at a time, which take the block from each other: no
# fsync waits for ever, and no byte is lost.
written_home()
{
	local other rc=0

	on node1 dd if=/dev/zero of=/weft/homeward bs=4K count=1 status=none || return 1
	homeward 1 &
	other=$!
	homeward 2 || rc=1
	wait "$other" || rc=1
	[ $rc = 0 ] && equal 240 "$(on node3 sh -c 'tr -cd x </weft/homeward | wc -c')"
}

built "$BIN"/{weft-stress,weft-check,weft-litmus,weft-wordcount,weftctl}
begin blocks
boot --nodes 3 --switch p4
check "regions have blocks of $BLOCK from now on" on nodes mount -o "remount,block=$BLOCK" /weft
check "blocks are of $BLOCK" are_large
stress clean
check "litmus tests: $ROUNDS rounds of each" litmus
show
check "the main job: words are counted as coreutils count them" count_words
show
check "faults: 5 % loss, 5 % repetition, 20 % reordering" \
	faults loss 0.05 dup 0.05 reorder 0.2
# How often blocks move in it depends on how the nodes' turns overlap: until enough was lost.
for round in 1 2 3 4 5 6; do
	stress "faults, round $round"
	note "$(wire_counted lost) frames were lost"
	[ "$(wire_counted lost)" -ge 100 ] && break
done
check "faults: frames were lost" at_least 100 "$(wire_counted lost)"
check "faults: one block is written home by two nodes at a time" written_home
check "faults: what is read in order is right" in_order faults
note "windows became smaller $(grown window_cuts) times, for $(grown retransmissions) repetitions"
check "faults: windows became smaller" at_least 1 "$(grown window_cuts)"
check "faults: not for each repetition" at_least "$(grown window_cuts)" "$(grown retransmissions)"
check "faults: no more" faults loss 0 dup 0 reorder 0
# A window of one block, which is what they are now, is large again some seconds later, unless
# this machine was busy and requests were repeated.
for try in 1 2 3; do
	sleep 6
	check "then what is read in order is right" in_order "none$try"
	note "of $(grown blocks_in) blocks $(grown read_ahead) were read ahead, windows became" \
		"smaller $(grown window_cuts) times"
	[ "$(grown read_ahead)" -ge 16 ] && break
done
check "and is read ahead: the windows come back, nothing is under way for ever" \
	at_least 16 "$(grown read_ahead)"
end_rack
finish
