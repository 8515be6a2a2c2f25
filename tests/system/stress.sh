#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Coherence under stress, in racks of three nodes:
#
#	node1 node2 node3 mem1 -- switch
#
# Two threads on each node work on the same pages with loads, stores and atomics of
# all sizes (weft-stress); the logs come to the host, where weft-check proves the
# history right: an order of the accesses to each location that explains every
# value that was read, and the last values.  Each run has a way to be worthless
# that is checked, too: nodes that never met, faults that never happened, a cache
# that held everything, a directory that was not the one meant.
#
#	tests/system/stress.sh [PATTERN]	only runs whose names match
#
# Blocks are of 4 KiB, and of 64 KiB in one run; blocks.sh has more of those.
#
# Environment: BUILD; WEFT_STRESS_OPS, accesses of a run (clean, faults and evict
# 1000000, the others 300000); WEFT_STRESS_SEED (1).

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
. tests/system/common.sh

THREADS=2		# on each node
BURST=256		# accesses to a page in a row, on the average
RUN_LIMIT=$((400 * SCALE))	# seconds for one run
LOGS=/run/stress-logs	# in the guests
SEED=${WEFT_STRESS_SEED:-1}
wanted=${1-}

# wanted RUN...: whether the command line asks for one of these.
wanted()
{
	local run

	for run; do
		# shellcheck disable=SC2053  # the right side is a pattern
		[[ $run != *$wanted* ]] || return 0
	done
	return 1
}

judge()
{
	limited "$RUN_LIMIT" "$BIN/weft-check" --min-ops "$1" --min-foreign "$2" \
		"$dir"/logs/stress-log.* "$dir"/logs/stress-image.*
}

# clean_up: for the next run; what was in the files is gone for good.
clean_up()
{
	on node1 sh -c 'rm -f /weft/stress-*' && on nodes rm -rf "$LOGS"
}

# stress RUN ACCESSES PAGES: one run, and its judgement.
stress()
{
	local run=$1 ops=${WEFT_STRESS_OPS:-$2} pages=$3 each begin=$SECONDS

	# A thread may stop one access short of what it was told.
	each=$((ops / (3 * THREADS) + 2))
	remember
	check "$run: the guests have a place for logs" on nodes mkdir "$LOGS" || return 1
	if ! check "$run: 3 nodes x $THREADS threads work on $pages pages" \
		on_nodes "$RUN_LIMIT" "$BIN/weft-stress" --out "$LOGS" --node %K --nodes %N \
			--threads $THREADS --pages "$pages" --ops "$each" --burst $BURST \
			--seconds "$RUN_LIMIT" --timeout "$RUN_LIMIT" --seed "$SEED"; then
		show_state
		clean_up
		return 1
	fi
	look
	begin=$((SECONDS - begin))
	rm -rf "$dir/logs"
	mkdir "$dir/logs"
	check "$run: the logs come to the host" take "$LOGS" "$dir/logs" || return 1
	check "$run: the history of $ops accesses is right" judge "$ops" $((ops / 100)) || {
		mkdir -p "$BUILD/tests/stress-$run"
		cp "$dir"/logs/* "$BUILD/tests/stress-$run/"
		note "the logs are kept in $BUILD/tests/stress-$run"
	}
	note "$run: $begin s; $(tail -n 1 "$dir/check")"
	note "$run: misses $(grown miss_read_unshared miss_read_shared miss_read_modified \
		miss_write_unshared miss_write_shared miss_write_modified miss_upgrade)," \
		"blocks in $(grown blocks_in), invalidated $(grown invalidated)," \
		"retransmissions $(grown retransmissions) ($(grown needless) needless), evicted" \
		"$(grown evicted_clean evicted_modified), NACKs $(grown nacks)"
	check "$run: the nodes are ready for more" clean_up
}

# are_large: on node 2 a new file has blocks of 64 KiB.
are_large()
{
	on node1 touch /weft/large && equal 65536 "$(on node2 stat -c %o /weft/large)" &&
		on node1 rm /weft/large
}

# show_state: of nodes where a program did not come to its end.
show_state()
{
	local k

	for ((k = 1; k <= nodes; k++)); do
		note "node $k: counters that grew since the run began"
		counters "node$k" | awk 'FNR == NR { before[$1] = $2; next }
			$2 > before[$1] { printf "#   %s +%.0f\n", $1, $2 - before[$1] }' \
			"$dir/before.$k" -
	done
}

# all_by WHICH OTHER: every miss was answered by that directory.
all_by()
{
	at_least 1 "$(grown "miss_by_$1")" && [ "$(grown "miss_by_$2")" = 0 ]
}

# mostly_by WHICH OTHER
mostly_by()
{
	at_least $((10 * $(grown "miss_by_$2"))) "$(grown "miss_by_$1")"
}

# --- The runs ---------------------------------------------------------------

run_clean()
{
	stress clean 1000000 64 || return
	check "clean: the directory in the switch did the work" mostly_by switch home
}

run_faults()
{
	local fault

	check "faults: 5 % loss, 5 % repetition, 20 % reordering" \
		faults loss 0.05 dup 0.05 reorder 0.2
	stress faults 1000000 64
	for fault in lost dup reordered; do
		check "faults: frames were $fault" at_least 100 "$(wire_counted "$fault")"
	done
	check "faults: messages were sent again" at_least 100 "$(grown retransmissions)"
	check "faults: no more" faults loss 0 dup 0 reorder 0
}

run_corrupt()
{
	check "corrupt: 1 % of the frames are damaged" faults corrupt 0.01
	stress corrupt 300000 64
	check "corrupt: frames were damaged" at_least 20 "$(wire_counted damaged)"
	check "corrupt: no more" faults corrupt 0
}

# The pages are twice the cache.
run_evict()
{
	check "evict: a cache of 1 MB" on nodes mount -o remount,cache=1M /weft
	check "evict: the nodes know" on nodes grep -q "^none /weft .*cache=1024K" /proc/mounts
	stress evict 1000000 512
	check "evict: clean pages went" at_least 100 "$(grown evicted_clean)"
	check "evict: modified pages went home" at_least 100 "$(grown evicted_modified)"
	check "evict: the old cache" on nodes mount -o remount,cache=64M /weft
}

# All these pages are four blocks, which every node wants all the time.
run_large()
{
	check "large: blocks of 64 KiB from now on" on nodes mount -o remount,block=64K /weft
	check "large: they are" are_large
	stress large 300000 64
	check "large: blocks moved" at_least 20 "$(grown blocks_in)"
	check "large: blocks of 4 KiB again" on nodes mount -o remount,block=4K /weft
}

run_home()
{
	stress home 300000 64 || return
	check "home: all by the home directory" all_by home switch
}

built "$BIN"/{weft-stress,weft-check,weftctl}
begin stress
if wanted clean faults corrupt evict large; then
	boot --nodes 3 --switch p4 --seed "$SEED"
	! wanted clean || run_clean
	! wanted faults || run_faults
	! wanted corrupt || run_corrupt
	! wanted evict || run_evict
	! wanted large || run_large
	end_rack
fi
if wanted home; then
	boot --nodes 3 --switch none --seed "$SEED"
	run_home
	end_rack
fi
finish
