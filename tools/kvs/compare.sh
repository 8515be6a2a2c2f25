#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures kinds of locks against each other: the key-value store on 1, 2 and 4 nodes
# of one rack, YCSB A, B and C, and plots it.
#
#	tools/kvs/compare.sh [KIND...]	(weft spin)
#
# A store for each kind, the same records in it, one process a node.  Results:
# build/kvs/results.tsv, a plot beside it (kvs.svg, kvs.png), all lines of JSON.
# Nodes of a rack share this machine's processors: compare kinds, not numbers of
# nodes, unless there are more processors than nodes.
#
# Environment: BUILD; WEFT_KVS_SECONDS (4), of each run, after WEFT_KVS_WARM (2) that
# do not count; WEFT_KVS_NODES (1 2 4); WEFT_KVS_LIBRARY, a shared object with more
# kinds.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
. tests/system/common.sh

SECONDS_RUN=${WEFT_KVS_SECONDS:-4}
read -ra COUNTS <<<"${WEFT_KVS_NODES:-1 2 4}"
WARM=${WEFT_KVS_WARM:-2}
OUT=$BUILD/kvs
KVS=$BUILD/bin/weft-kvs
library=()
[ -z "${WEFT_KVS_LIBRARY-}" ] || library=(--lock-library "$WEFT_KVS_LIBRARY")
[ $# -gt 0 ] || set -- weft spin

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

bench()
{
	on_nodes $((SECONDS_RUN + 150)) "$KVS" bench "/weft/$1" "${library[@]}" \
		--meet "/weft/meet.$1.$2.$nodes" --node %K --nodes %N \
		--warm "$WARM" --seconds "$SECONDS_RUN" --workload "$2" --timeout 100 -j
}

[ -x "$KVS" ] || { echo "compare: $KVS is not built: run make" >&2; exit 2; }
mkdir -p "$OUT"
rm -f "$OUT"/*
begin kvs-compare
boot --nodes "${COUNTS[-1]}" --switch p4
printf 'locks\tworkload\tnodes\tthroughput\tuser_us\tsystem_us\tmessages\n' >"$OUT/results.tsv"
for kind; do
	check "$kind: a store" on node1 "$KVS" create "/weft/$kind" "${library[@]}" \
		--locks "$kind" --buckets 128
	check "$kind: records" on node1 "$KVS" load "/weft/$kind" "${library[@]}" --records 1000
	for workload in a b c; do
		for nodes in "${COUNTS[@]}"; do
			check "$kind, YCSB $workload, $nodes nodes" bench "$kind" "$workload" || continue
			cat "$dir"/out.* >>"$OUT/results.json"
			printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$kind" "$workload" "$nodes" \
				"$(sum throughput)" "$(mean user_us_per_op)" \
				"$(mean system_us_per_op)" "$(mean messages_per_op)" |
				tee -a "$OUT/results.tsv"
		done
	done
	check "$kind: all is well" on node1 "$KVS" check "/weft/$kind" "${library[@]}"
done
nodes=${COUNTS[-1]}
for end in svg png; do
	command -v gnuplot >/dev/null || { note "no plot: gnuplot is not installed"; break; }
	check "plot: $OUT/kvs.$end" gnuplot -e "in='$OUT/results.tsv'; out='$OUT/kvs.$end'; kinds='$*'" \
		tools/kvs/plot.gp
done
end_rack
finish
