#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The key-value store on a rack of three nodes:
#
#	node1 node2 node3 mem1 -- switch
#
# Loaded on the first node; then YCSB A, B and C on all nodes at once, each record
# checked when it is seen, and the whole store after each run: no update is lost,
# each key is there once.  With a good network and a bad one, and with clients killed
# in the midst of it.
#
# Environment: BUILD; WEFT_SWITCH (p4; none: a plain switch); WEFT_KVS_SECONDS (6),
# of each run; WEFT_KVS_RUNS=few: only YCSB A, with a good network and a bad one, and clients
# killed.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
. tests/system/common.sh

SECONDS_RUN=${WEFT_KVS_SECONDS:-6}
RUN_LIMIT=$((SECONDS_RUN + 150 * SCALE))
RUNS=${WEFT_KVS_RUNS:-all}
KVS=$BUILD/bin/weft-kvs
RECORDS=1000
STORE=/weft/store
DOWN_QUICK=15		# seconds for all nodes to give back what they have; time-outs take 30
# Milliseconds between two kills on a node: as many in a short run as in one of six seconds.
KILL_MS=$((SECONDS_RUN < 6 ? SECONDS_RUN * 500 / 6 : 500))
runs=0

# bench OPTION...: on all nodes at once.
bench()
{
	on_nodes "$RUN_LIMIT" "$KVS" bench "$STORE" --meet "/weft/meet$((++runs))" \
		--node %K --nodes %N --seconds "$SECONDS_RUN" --timeout 100 -j "$@"
}

# number KEY: of all nodes' lines of JSON, the sum.
number()
{
	sed -n "s/.*\"$1\":\([0-9.e+-]*\)[,}].*/\1/p" "$dir"/out.* |
		awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

# run NAME OPTION...: a run, what came of it, and is the store as it should be?
run()
{
	local name=$1

	shift
	remember
	check "$name: all that was seen was right" bench "$@" || return 1
	look
	note "$name: $(number operations) operations, $(number throughput) a second;" \
		"locks: kernel entered $(grown lock_acquires) times, $(grown lock_handed) handed over;" \
		"$(grown retransmissions) retransmissions"
	check "$name: each node has done something" each_node
	check "$name: nothing is lost or there twice" on node2 "$KVS" check "$STORE" &&
		note "$(head -n 1 "$dir/check")"
}

# killed_runs: clients are killed, until enough of them were: a machine that stands still, or is slow,
# makes few of a run.
killed_runs()
{
	local try killed=0 operations=0

	for try in "" ", again" ", a third time" ", a fourth time"; do
		run "killed$try" --workload a --processes 2 --kill "$KILL_MS" || return
		killed=$((killed + $(number killed)))
		operations=$((operations + $(number operations)))
		[ "$killed" -lt 10 ] || [ "$operations" -lt 100 ] || break
	done
	check "killed: something was done" at_least 100 "$operations"
	check "clients were killed" at_least 10 "$killed" && note "$killed clients were killed"
}

each_node()
{
	[ "$(cat "$dir"/out.* | grep -c '"operations":[1-9]')" = "$nodes" ]
}

# exact: nobody was killed, so each change is counted.
exact()
{
	on node3 "$KVS" check "$STORE" -j |
		grep -E '"changes_min":([0-9]+),"changes_max":\1,' | grep '"sessions":0,'
}

get_there()
{
	[ "$(on node3 "$KVS" get "$STORE" greeting)" = hello ]
}

gone_here()
{
	! on node1 "$KVS" get "$STORE" greeting && on node1 "$KVS" check "$STORE"
}

# idle_holders: the other nodes have the locks, and their programs have ended, so they no longer know
# what the locks guard. They do not promise it: without that two of three requests waited in vain.
idle_holders()
{
	local requests broken

	remember
	on node1 "$KVS" bench "$STORE" --workload b --threads 1 --seconds 1 -j || return 1
	look
	requests=$(grown lock_requests)
	broken=$(grown lock_blocks_broken)
	echo "$requests requests for locks; waited $(($(grown lock_blocks_nsec) / 1000)) us for blocks, $broken of which did not come"
	[ "$requests" -ge 3 ] && [ $((5 * broken)) -le $((2 * requests)) ]
}

# go_down: whatever is still under way then, nobody waits for a node that is gone
# already, and nothing is lost.
go_down()
{
	local begin=$SECONDS

	on nodes "$BIN/weftctl" down --unmount || return 1
	echo "it took $((SECONDS - begin)) s"
	[ $((SECONDS - begin)) -le $((DOWN_QUICK * SCALE)) ] &&
		on nodes sh -c 'dmesg >/run/test-dmesg || exit
			grep " are lost" /run/test-dmesg; [ $? = 1 ]'
}

[[ $RUNS == @(all|few) ]] || { echo "$0: WEFT_KVS_RUNS=$RUNS is neither few nor all" >&2; exit 2; }
built "$KVS" "$BIN/weftctl"
begin kvs
boot --nodes 3 --switch "${WEFT_SWITCH:-p4}"
check "a store of 64 buckets" on node1 "$KVS" create "$STORE" --buckets 64 --overflow 256
check "$RECORDS records" on node1 "$KVS" load "$STORE" --records "$RECORDS" &&
	note "$(cat "$dir/check")"
run "YCSB a" --workload a --processes 2 &&
	check "YCSB a: nodes handed locks to each other" at_least 20 "$(grown lock_handed)"
check "locks of idle nodes" idle_holders && note "idle nodes: $(tail -n 1 "$dir/check")"
if [ "$RUNS" = all ]; then
	run "YCSB b" --workload b --processes 2
	run "YCSB c" --workload c --processes 2 &&
		check "YCSB c: what all read they have" at_least $((20 * $(grown lock_acquires))) \
			"$(number operations)"
fi
check "each change was counted" exact
killed_runs
check "what the dead had is settled" on node1 "$KVS" check "$STORE" --settle
check "each change is counted again" exact
check "faults: 5 % loss, 5 % repetition, 20 % reordering" \
	faults loss 0.05 dup 0.05 reorder 0.2
workloads="a b c"
[ "$RUNS" = all ] || workloads=a
for workload in $workloads; do
	run "YCSB $workload, faults" --workload "$workload" --processes 2
done
check "each change was counted, with faults" exact
[ "$RUNS" = few ] ||
	run "killed, faults" --workload a --processes 2 --kill $((KILL_MS * 7 / 5))
for fault in lost dup reordered; do
	check "frames were $fault" at_least 20 "$(wire_counted "$fault")"
done
check "no more faults" faults loss 0 dup 0 reorder 0
check "a value put on one node" on node1 "$KVS" put "$STORE" greeting hello
check "is got on another one" get_there
check "and can be taken away on a third" on node2 "$KVS" del "$STORE" greeting
check "where it was put it is gone" gone_here
check "all nodes go down at once, in $((DOWN_QUICK * SCALE)) s" go_down &&
	note "going down: $(grep '^it took' "$dir/check")"
end_rack
finish
