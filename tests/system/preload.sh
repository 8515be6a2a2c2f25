#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Plain POSIX programs on the nodes of a rack, with the preload library: what POSIX
# promises holds for locks in regions, between processes of a node and of several.
#
#	node1 node2 node3 node4 mem1 -- switch
#
# The programs are those of tests/preload.
#
# Environment: BUILD; WEFT_SWITCH (p4; none: a plain switch); WEFT_PRELOAD_ROUNDS (300),
# of each of two workers a node, a tenth of that with a bad network;
# WEFT_PRELOAD_TOTAL (20000), rounds of all workers together with fewer writers, with
# a good network and a bad one; WEFT_KILL_SECONDS (20), for processes of one node;
# WEFT_TORTURE_LOCKS (1500), WEFT_TORTURE_SECONDS (30), for those of all nodes;
# WEFT_PRELOAD_LIMIT (600), seconds for any one program.
#
# What takes longer than one wants to wait each time:
#
#	WEFT_PRELOAD_TOTAL=1000000 WEFT_PRELOAD_LIMIT=7200 tests/system/preload.sh
#	WEFT_TORTURE_LOCKS=120000 WEFT_TORTURE_SECONDS=300 WEFT_PRELOAD_LIMIT=3600 \
#		tests/system/preload.sh

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
. tests/system/common.sh

RUN_LIMIT=$((${WEFT_PRELOAD_LIMIT:-600} * SCALE))
NODES=4
ROUNDS=${WEFT_PRELOAD_ROUNDS:-300}
TOTAL=${WEFT_PRELOAD_TOTAL:-20000}
KILL_SECONDS=${WEFT_KILL_SECONDS:-20}
TORTURE_LOCKS=${WEFT_TORTURE_LOCKS:-1500}
TORTURE_SECONDS=${WEFT_TORTURE_SECONDS:-30}
SHIM=$BUILD/lib/libweft-preload.so

# program PROGRAM ARGUMENT...: on the first node.
program()
{
	limited "$RUN_LIMIT" "$RACK" --name "$run_name" exec node1 -- \
		env "WEFT_TEST_SCALE=$SCALE" "LD_PRELOAD=$SHIM" "$BUILD/tests/preload-$1" "${@:2}"
}

# programs PROGRAM ARGUMENT...: on all nodes; %K and %N as in on_nodes.
programs()
{
	on_nodes "$RUN_LIMIT" env "WEFT_TEST_SCALE=$SCALE" "LD_PRELOAD=$SHIM" \
		"$BUILD/tests/preload-$1" "${@:2}"
}

# across FILE: one side on the first node, the other one on the second.
across()
{
	local nodes=2

	programs across "$1" %K
}

# count FILE ROUNDS [EVERY]
count()
{
	programs count "$1" 2 "$2" $((2 * nodes)) "${@:3}" && cat "$dir"/out.*
}

# count_all FILE: $TOTAL rounds in all.
count_all()
{
	count "$1" $(((TOTAL + 2 * nodes - 1) / (2 * nodes))) 100
}

torture()
{
	programs torture /weft/torture %K %N "$TORTURE_LOCKS" "$TORTURE_SECONDS"
}

all_leave()
{
	on nodes umount /weft && on nodes "$BIN/weftctl" down && on nodes sh -c \
		'[ ! -d /sys/module/weft_rdma ] || rmmod weft_rdma; rmmod weft'
}

built "$SHIM" "$BUILD/tests/preload-posix" "$BIN/weftctl"
begin preload
boot --nodes $NODES --switch "${WEFT_SWITCH:-p4}"
check "posix: locks in a region, one node" program posix /weft/posix
check "shim: mappings, files, refusals" program shim /weft
check "wait: what wakes, what ends waiting" program wait /weft/wait &&
	note "$(grep '^wait: [w2]' "$dir/check")"
check "kill: holders and waiters, for $KILL_SECONDS s" program kill /weft/kill "$KILL_SECONDS" &&
	note "$(grep '^kill: [0-9]* killed' "$dir/check")"
check "across: two nodes" across /weft/across
check "count: all nodes, $ROUNDS rounds of each worker" count /weft/count "$ROUNDS" &&
	note "$(grep -h '^count: ' "$dir/out.1")"
check "count: all nodes, $TOTAL rounds in all" count_all /weft/count-all &&
	note "$(grep -h '^count: ' "$dir/out.1")"
check "torture: $TORTURE_LOCKS locks, processes of all nodes killed for $TORTURE_SECONDS s" \
	torture && grep -h '^torture: ' "$dir/out.1" | sed 's/^/# /'
check "speed: measured" program pairs /weft/pairs 3 read1 write1 mutex1 read-out &&
	note "$(grep -F '"ratio"' "$dir/check")"
check "faults: 5 % loss, 5 % repetition, 20 % reordering" \
	faults loss 0.05 dup 0.05 reorder 0.2
check "across: two nodes, with faults" across /weft/across-faults
check "count: all nodes, with faults" count /weft/count-faults $((ROUNDS / 10))
check "count: all nodes, $TOTAL rounds in all, with faults" count_all /weft/count-all-faults &&
	note "$(grep -h '^count: ' "$dir/out.1")"
check "faults: frames were lost" at_least 20 "$(wire_counted lost)"
check "faults: no more" faults loss 0 dup 0 reorder 0
check "all nodes unmount and unload the module, with locks cached" all_leave
end_rack
finish
