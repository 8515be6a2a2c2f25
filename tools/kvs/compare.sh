#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures kinds of locks against each other: the key-value store on 1, 2 and 4 nodes
# of one rack, YCSB A, B and C, and plots it.
#
#	tools/kvs/compare.sh [KIND...]	(weft central pernode service)
#
# Kinds are those of weft-kvs itself and those of weft-lockbench, but for the ones that
# have the same name (tools/bench/kvs/); service is a server on the memory blade.  A
# store for each kind, the same records in it, one process a node.  Each value is
# checked when it is seen, and the whole store after each run: no update may be lost.
#
# Results: build/kvs/results.tsv, a plot beside it (kvs.svg, kvs.png), all lines of
# JSON.  user_us, system_us: processor time per operation, as the nodes have it.
# messages: those of weft per operation; datagrams to and from the lock service, four an
# operation, are not among them.  least_share: what the node that did least has done, of
# what would be its part; a lock that its holder takes again and again is quick, and 0.
#
# Nodes of a rack share this machine's processors, and what else runs on it is taken for
# their own time by nodes that are emulated: with more nodes than processors free,
# throughput and user_us do not tell what more machines would do.  So there is cpu_us,
# the processor time of the processes that play the nodes, per operation, without what
# the same run costs if it does one operation.
#
# Environment: BUILD; WEFT_KVS_SECONDS (4), of each run, after WEFT_KVS_WARM (2) that
# do not count; WEFT_KVS_NODES (1 2 4), the largest number last, more than once for a
# machine that has other things to do; WEFT_KVS_WORKLOADS (a b c); WEFT_KVS_BUCKETS
# (128); WEFT_KVS_RECORDS (1000); WEFT_KVS_LIBRARY, a shared object with other kinds
# than weft-lockbench's.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
. tests/system/common.sh

SECONDS_RUN=${WEFT_KVS_SECONDS:-4}
read -ra COUNTS <<<"${WEFT_KVS_NODES:-1 2 4}"
read -ra WORKLOADS <<<"${WEFT_KVS_WORKLOADS:-a b c}"
WARM=${WEFT_KVS_WARM:-2}
BUCKETS=${WEFT_KVS_BUCKETS:-128}
RECORDS=${WEFT_KVS_RECORDS:-1000}
OUT=$BUILD/kvs
KVS=$BUILD/bin/weft-kvs
LIBRARY=${WEFT_KVS_LIBRARY:-$BUILD/lib/kvs-bench-locks.so}
LOCKBENCH=$BUILD/bin/weft-lockbench
SERVICE=10.87.0.101	# the memory blade
SERVICE_LIMIT=3600	# seconds
runs=0
[ $# -gt 0 ] || set -- weft central pernode service

# kvs NODE ARGUMENT...: the command, as words; on all nodes if NODE is %K.
kvs()
{
	command=(env "WEFT_LOCKS_NODE=$1" "WEFT_LOCKS_NODES=${COUNTS[-1]}"
		"WEFT_LOCKS_SERVICE=$SERVICE" "$KVS" "${@:2}" --lock-library "$LIBRARY")
}

# first ARGUMENT...: on the first node.
first()
{
	local command

	kvs 1 "$@"
	on node1 "${command[@]}"
}

# values KEY: of each node's line of JSON.
values()
{
	sed -n "s/.*\"$1\":\([0-9.e+-]*\)[,}].*/\1/p" "$dir"/out.*
}

# sum KEY, mean KEY (by operations)
sum()
{
	values "$1" | awk '{ sum += $1 } END { printf "%.6g\n", sum }'
}

mean()
{
	paste <(values "$1") <(values operations) |
		awk '{ sum += $1 * $2; n += $2 } END { if (n) printf "%.6g\n", sum / n; else print "-" }'
}

least_share()
{
	values operations | awk '
		NR == 1 || $1 < least { least = $1 }
		{ sum += $1 }
		END { if (sum) printf "%.2f\n", least * NR / sum; else print "-" }'
}

# played: processor time of the processes that play the nodes so far, microseconds.
played()
{
	local pid

	for pid in $(pgrep -f "^[^ ]*qemu-[^ ]* -name $run_name-node[1-$nodes] "); do
		cut -d' ' -f14,15 "/proc/$pid/stat"
	done | awk -v second="$(getconf CLK_TCK)" '
		{ ticks += $1 + $2 }
		END { printf "%.0f\n", ticks * 1e6 / second }'
}

# cpu_us KIND: of the run that was just made, which has taken $spent.
declare -A empty

cpu_us()
{
	paste <(values operations) <(values warmed) |
		awk -v spent="$spent" -v empty="${empty[$1.$nodes]-}" '
			{ n += $1 + $2 }
			END { if (n && empty != "") printf "%.6g\n", (spent - empty) / n; else print "-" }'
}

# bench KIND WORKLOAD OPTION...
bench()
{
	local command before rc

	kvs %K bench "/weft/$1" --meet "/weft/meet$((++runs))" --node %K --nodes %N \
		--seconds "$SECONDS_RUN" --workload "$2" --timeout 100 -j "${@:3}"
	before=$(played)
	on_nodes $((SECONDS_RUN + 150)) "${command[@]}"
	rc=$?
	spent=$(($(played) - before))
	return "$rc"
}

# exact KIND: nothing is wrong, and each change that was made is in the store.
exact()
{
	first check "/weft/$1" -j >"$dir/exact" || { cat "$dir/exact"; return 1; }
	cat "$dir/exact"
	grep -E '"versions":([0-9]+),"changes_min":\1,"changes_max":\1,' "$dir/exact" |
		grep -q '"sessions":0,"wrong":0}'
}

for file in "$KVS" "$LIBRARY" "$LOCKBENCH"; do
	[ -e "$file" ] || { echo "compare: $file is not built: run make test-programs" >&2; exit 2; }
done
mkdir -p "$OUT"
rm -f "$OUT"/*
begin kvs-compare
boot --nodes "${COUNTS[-1]}" --switch p4
timeout -k 10 "$SERVICE_LIMIT" "$RACK" --name "$run_name" exec mem1 -- \
	"$LOCKBENCH" serve --seconds "$SERVICE_LIMIT" >"$dir/serve" 2>&1 </dev/null &
printf 'locks\tworkload\tnodes\tthroughput\tuser_us\tsystem_us\tcpu_us\tmessages\tleast_share\n' >"$OUT/results.tsv"
for kind; do
	check "$kind: a store" first create "/weft/$kind" --locks "$kind" --buckets "$BUCKETS"
	check "$kind: records" first load "/weft/$kind" --records "$RECORDS" || continue
	for workload in "${WORKLOADS[@]}"; do
		for nodes in "${COUNTS[@]}"; do
			what="$kind, YCSB $workload, $nodes nodes"
			if [ -z "${empty[$kind.$nodes]-}" ]; then
				check "$kind, $nodes nodes: a run of one operation" \
					bench "$kind" c --operations 1 &&
					empty[$kind.$nodes]=$spent
			fi
			if check "$what" bench "$kind" "$workload" --warm "$WARM"; then
				cat "$dir"/out.* >>"$OUT/results.json"
				printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$kind" "$workload" \
					"$nodes" "$(sum throughput)" "$(mean user_us_per_op)" \
					"$(mean system_us_per_op)" "$(cpu_us "$kind")" \
					"$(mean messages_per_op)" "$(least_share)" |
					cat >>"$OUT/results.tsv"
			fi
			check "$what: nothing is lost" exact "$kind"
		done
	done
done
nodes=${COUNTS[-1]}
for end in svg png; do
	command -v gnuplot >/dev/null || { note "no plot: gnuplot is not installed"; break; }
	check "plot: $OUT/kvs.$end" gnuplot -e "in='$OUT/results.tsv'; out='$OUT/kvs.$end'; kinds='$*'; workloads='${WORKLOADS[*]}'" \
		tools/kvs/plot.gp
done
column -t "$OUT/results.tsv" | sed 's/^/# /'
note "load of this machine: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) processors"
end_rack
finish
