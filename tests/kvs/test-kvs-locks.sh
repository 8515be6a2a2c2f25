#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# weft-kvs on the locks of weft-lockbench, without a rack: processes of this machine,
# that say they are on two, share an ordinary file in memory.
#
#	tests/kvs/test-kvs-locks.sh [PATTERN]
#
# Of each kind: all that is seen is right, no update is lost, whoever uses the store
# after whom; with few buckets, so that threads meet, and with thousands.
#
# Prints a line a test; PATTERN selects by name.  Environment: BUILD;
# WEFT_KVS_SECONDS (1), of each run.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

KVS=$BUILD/bin/weft-kvs
LOCKBENCH=$BUILD/bin/weft-lockbench
LOCKS=$BUILD/lib/kvs-bench-locks.so
KINDS='central mcs pernode cohort service'
SECONDS_RUN=${WEFT_KVS_SECONDS:-1}
SCALE=${WEFT_TEST_SCALE:-1}
LIMIT=$((90 * SCALE))	# seconds for any one program
NODES=2
# Of two processes of two threads on each node, each has one more that starts and
# ends them.
export WEFT_LOCKS_NODES=$NODES WEFT_LOCKS_THREADS=6
# Another run of this suite beside it has threads of its own.
export WEFT_LOCKS_NAME=$$

# kvs NODE ARGUMENT...
kvs()
{
	WEFT_LOCKS_NODE=$1 timeout -k 5 "$LIMIT" "$KVS" "${@:2}" --lock-library "$LOCKS"
}

# make KIND OPTION...: a new store.
make()
{
	rm -f "$store" "$dir"/meet.*
	kvs 1 create "$store" --locks "$@"
}

# bench OPTION...: on all nodes at once.
bench()
{
	local k pids=()

	rm -f "$dir/meet"
	for ((k = 1; k <= NODES; k++)); do
		kvs "$k" bench "$store" --meet "$dir/meet" --node "$k" --nodes $NODES \
			--seconds "$SECONDS_RUN" --timeout 60 --sample 1 "$@" &
		pids+=($!)
	done
	wait_all "${pids[@]}"
}

# exact: nothing is wrong, and each change that was made is there, as seen by a node.
exact()
{
	kvs "$1" check "$store" -j >"$dir/json" || return 1
	cat "$dir/json"
	grep -E '"versions":([0-9]+),"changes_min":\1,"changes_max":\1,' "$dir/json" |
		grep '"sessions":0,"wrong":0}'
}

run()
{
	local workload

	make "$1" --buckets 16 && kvs 2 load "$store" --records 300 --threads 3 &&
		exact 1 || return 1
	for workload in a b c; do
		bench --workload $workload --processes 2 --threads 2 && exact 2 || return 1
	done
}

many()
{
	make "$1" --buckets 4096 && kvs 1 load "$store" --records 20000 --threads 4 &&
		bench --workload a --processes 2 && exact 2 &&
		exits 0 '20000 of them' kvs 1 check "$store"
}

wrong_use()
{
	make mcs --buckets 4 && kvs 1 load "$store" --records 10 || return 1
	exits 1 'see --lock-library' timeout "$LIMIT" "$KVS" check "$store" &&
		exits 1 'WEFT_LOCKS_NODE' timeout "$LIMIT" "$KVS" check "$store" \
			--lock-library "$LOCKS" &&
		exits 1 'made for 2 nodes' kvs 3 check "$store" &&
		exits 1 'give a number' kvs 0 check "$store" &&
		exits 1 'made for 6 threads' kvs 1 bench "$store" --threads 8 --seconds 1
}

nowhere()
{
	make service --buckets 4 || return 1
	exits 1 'Set WEFT_LOCKS_SERVICE' env -u WEFT_LOCKS_SERVICE WEFT_LOCKS_NODE=1 \
		timeout "$LIMIT" "$KVS" check "$store" --lock-library "$LOCKS" &&
		exits 1 'give an IPv4 address' env WEFT_LOCKS_SERVICE=here WEFT_LOCKS_NODE=1 \
			timeout "$LIMIT" "$KVS" check "$store" --lock-library "$LOCKS"
}

# Labels that the store's header does not go with.
damaged()
{
	make pernode --buckets 4 && kvs 1 load "$store" --records 10 || return 1
	python3 - "$store" <<-END || return 1
		import struct, sys
		f = open(sys.argv[1], "r+b")
		f.seek(0x80 + 16)
		g = struct.unpack("<16I", f.read(64))
		# The first shard's lock, the second of all: its magic.
		f.seek((g[10] + g[11]) * g[1])
		assert f.read(8) == b"weftlock"
		f.seek((g[10] + g[11]) * g[1])
		f.write(b"nothing.")
	END
	exits 1 'cannot be initialised' kvs 1 check "$store"
}

built "$KVS" "$LOCKS" "$LOCKBENCH"
begin kvs-locks "$(in_memory)"
claim_ports
export WEFT_LOCKS_SERVICE=127.0.0.1:$port
pattern=${1-}
store=$dir/store
timeout $((600 * SCALE)) "$LOCKBENCH" serve --port "$port" --seconds $((600 * SCALE)) &
for kind in $KINDS; do
	check "$kind: YCSB A, B, C" run "$kind"
	check "$kind: thousands of locks" many "$kind"
done
check "users that the locks are not made for" wrong_use
check "a service that is nowhere" nowhere
check "a label that is none" damaged
finish
