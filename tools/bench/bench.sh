#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures, each thing against its alternative in the same run, and plots it.
#
#	tools/bench/bench.sh [--quick] [-- OPTIONS OF weft-rack up]
#
# Boots a rack of two nodes with the directory in the switch. Results are lines
# of JSON in build/bench/results, a table beside it, and a plot (bench.svg,
# bench.png). Exit status 0 if everything could be measured; what was not reached
# is said, not hidden. Environment: BUILD, WEFT_RACK, as in tools/demo/demo.sh.

set -u -o pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 2

BUILD=${BUILD:-$PWD/build}
BIN=$BUILD/bin
OUT=$BUILD/bench
RACK=("${WEFT_RACK:-tools/rack/weft-rack}" --name bench)
LIMIT=240		# seconds for any one step
size=64M		# of each file
repeats=5

up_options=()
while [ $# -gt 0 ]; do
	case $1 in
	--quick) size=16M; repeats=3 ;;
	--)	shift; up_options=("$@"); break ;;
	*)	sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
	shift
done

die()
{
	echo "bench: $*" >&2
	exit 1
}

rack()
{
	timeout -k 10 "$LIMIT" "${RACK[@]}" "$@"
}

on()
{
	rack exec "$1" -- "${@:2}" </dev/null
}

# Results go to the screen as they come.
result()
{
	tee -a "$OUT/results"
}

# bench NODE COMMAND OPTION...: weft-bench there.
bench()
{
	on "$1" "$BIN/weft-bench" "${@:2}" --repeats "$repeats" | result ||
		die "weft-bench $2 failed on $1"
}

# value BENCH LABEL: the median of a result.
value()
{
	sed -n "s/^{\"bench\":\"$1\",\"label\":\"$2\",\"value\":\([^,]*\),.*/\1/p" \
		"$OUT/results" | tail -n 1
}

# ratio BENCH LABEL A B TARGET: a result that is A/B.
ratio()
{
	awk -v a="$3" -v b="$4" -v bench="$1" -v label="$2" -v target="$5" 'BEGIN {
		if (a == "" || b + 0 == 0)
			exit 1
		printf "{\"bench\":\"%s\",\"label\":\"%s\",\"value\":%.4g,\"unit\":\"ratio\",\"target\":%s}\n",
			bench, label, a / b, target
	}' | result || die "no result for $1"
}

finish()
{
	timeout -k 10 60 "${RACK[@]}" down >/dev/null 2>&1
}

rm -rf "$OUT"
mkdir -p "$OUT" || exit 1

# --- The switch, without guests ----------------------------------------------

# As machine code, if it can be compiled here; else the program is interpreted.
program=()
if BUILD=$BUILD tools/switchd/compile p4/generated/weft_pna.spec "$OUT/weft_pna.so"; then
	program=(--compiled "$OUT/weft_pna.so")
else
	echo "bench: the switch interprets its program" >&2
fi
timeout "$LIMIT" "$BIN/weft-diff" --bench -j "${program[@]}" >"$OUT/switch" ||
	die "weft-diff --bench failed"
field()
{
	sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" "$OUT/switch"
}
printf '{"bench":"switchd","label":"directory","value":%s,"unit":"messages/s","target":3000000}\n' \
	"$(field directory_per_s)" | result
ratio switchd 'directory/L2' "$(field directory_per_s)" "$(field l2_per_s)" 0.33

# --- The rack ---------------------------------------------------------------------

trap finish EXIT
trap 'exit 130' INT TERM
rack up --nodes 2 --switch p4 --cache 384M --mem 1024M "${up_options[@]}" ||
	die "the rack does not come up"

for file in scan seq rand; do
	on node1 "$BIN/weft-bench" fill --file "/weft/$file" --size "$size" ||
		die "cannot fill /weft/$file"
done

# Sequential reading of what is not cached, against what TCP makes of the wire.
on node1 iperf3 -s -D -1 || die "iperf3 does not start on node1"
on node2 iperf3 -c 10.87.0.1 -R -t 5 -J >"$OUT/iperf3" || die "iperf3 failed"
iperf=$(awk '/"sum_received"/ { on = 1 }
	on && /"bits_per_second"/ { gsub(/[^0-9.e+]/, "", $2); print $2 / 8e6; exit }' "$OUT/iperf3")
printf '{"bench":"iperf3","label":"TCP","value":%s,"unit":"MB/s"}\n' "$iperf" | result
bench node2 seqread --file /weft/seq
ratio seqread 'of iperf3' "$(value seqread mapped)" "$iperf" 0.5

# Random reading of what is not cached.
bench node2 randread --file /weft/rand --count 256 --threads 1,2,4,8

# A cached region against tmpfs.
on node2 cat /weft/scan >/dev/null || die "node2 cannot read /weft/scan"
on node2 "$BIN/weft-bench" scan --file /weft/scan --reference /dev/shm/scan \
	--repeats $((repeats * 4)) --target 0.95 | result || die "scan failed"

# Two nodes at one page, and at one counter.
for what in pingpong counter; do
	on node1 "$BIN/weft-bench" "$what" --count 300 --node 1 --nodes 2 --timeout 120 \
		--repeats "$repeats" >"$OUT/$what" &
	on node2 "$BIN/weft-bench" "$what" --count 300 --node 2 --nodes 2 --timeout 120 \
		--repeats "$repeats" >>"$OUT/$what.2" || die "$what failed on node2"
	wait $! || die "$what failed on node1"
	cat "$OUT/$what" "$OUT/$what.2" | result
done

rack status >"$OUT/status" || die "the rack has trouble: $(cat "$OUT/status")"

# --- What came of it ----------------------------------------------------------------

"$BIN/weft-bench" tsv <"$OUT/results" >"$OUT/results.tsv" || exit 1
for plot in svg png; do
	gnuplot -e "in='$OUT/results.tsv'; out='$OUT/bench.$plot'" \
		tools/bench/plot.gp || die "gnuplot failed"
done
echo
awk -F'\t' 'NR > 1 && $7 != "-" {
	printf "%-8s %-24s %12.4g %s, asked: %s\n", $3 + 0 >= $7 + 0 ? "reached" : "MISSED",
		$1 " " $2, $3, $6, $7
}' "$OUT/results.tsv"
echo "bench: table in $OUT/results.tsv, plot in $OUT/bench.svg"
