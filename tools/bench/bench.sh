#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures, each thing against its alternative in the same run, and plots it.
#
#	tools/bench/bench.sh [--quick] [-- OPTIONS OF weft-rack up]
#
# Boots a rack of two nodes with the directory in the switch. Results are lines
# of JSON in build/bench/results, a table beside it, and a plot (bench.svg,
# bench.png). Exit status 0 if everything could be measured and was reached, 1 if
# something could not be measured, 3 if it could and something was not reached.
# Environment: BUILD, WEFT_RACK, as in tools/demo/demo.sh.

set -u -o pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 2

NAME=bench
# shellcheck source=tools/bench/rack.sh
. tools/bench/rack.sh
OUT=$BUILD/bench
cache=256M		# of each node
repeats=5
part=$((8 << 20))	# bytes, for one repeat of reading in order
widths=1,2,4,8		# threads that read at random
widths_sum=15
scan=$((16 << 20))	# bytes
count=48		# pages that each of them reads in a repeat

up_options=()
while [ $# -gt 0 ]; do
	case $1 in
	--quick) repeats=3; part=$((2 << 20)); scan=$((4 << 20)) ;;
	--)	shift; up_options=("$@"); break ;;
	*)	sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
	shift
done

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
printf '{"bench":"switchd","label":"directory","value":%s,"unit":"messages/s","target":8000000}\n' \
	"$(field directory_per_s)" | result
ratio switchd 'directory/L2' "$(field directory_per_s)" "$(field l2_per_s)" 0.33

# --- The rack ---------------------------------------------------------------------

rack up --nodes 2 --switch p4 --cache "$cache" --mem 1024M "${up_options[@]}" ||
	die "the rack does not come up"
# not before: one that is up already is somebody else's
trap rack_ends EXIT
trap 'exit 130' INT TERM

# fill FILE BYTES: node1 does.
fill()
{
	on node1 "$BIN/weft-bench" fill --file "$1" --size "$2" --threads 32 ||
		die "cannot fill $1"
}

# empty NODE: its cache; what it has modified goes home.
empty()
{
	on "$1" umount /weft || die "cannot unmount /weft on $1"
	on "$1" mount -t weft -o "cache=$cache" none /weft || die "cannot mount /weft on $1"
}

# counter NAME: of node2.
counter()
{
	on node2 "$BIN/weftctl" -j stats | sed -n "s/.*\"counters\":{[^}]*\"$1\":\([0-9]*\).*/\1/p"
}

# Enough for the sequential reads, and for the random ones later.
pages=$((repeats * part / 4096))
[ "$pages" -ge $((repeats * count * widths_sum)) ] || pages=$((repeats * count * widths_sum))
fill /weft/data $((pages * 4096))
on node1 mount -o remount,block=64K /weft || die "cannot set the block size on node1"
fill /weft/data64 $((repeats * part))
empty node1
# What another node has modified is slow: less of it will do.
fill /weft/modified $((repeats * part / 8))
fill /weft/modified2 $((repeats * part / 8))

# Sequential reading of what is not cached, against what TCP makes of the wire. They
# take turns, and each turn gives a ratio: the machine may be busy with other things.
# From the last part to the first: what is read ahead of one was read before.
# tcp: MB/s. A server of its own for each run: one that hangs does not stop the next.
tcp()
{
	on node1 iperf3 -s -D -1 || die "iperf3 does not start on node1"
	on node2 iperf3 -c 10.87.0.1 -R -t 3 -J >"$OUT/iperf3" || die "iperf3 failed"
	awk '/"sum_received"/ { on = 1 }
		on && /"bits_per_second"/ { gsub(/[^0-9.e+]/, "", $2); print $2 / 8e6; exit }' \
		"$OUT/iperf3"
}

# seqread FILE TURN BYTES: MB/s, with the options in "how".
seqread()
{
	on node2 "$BIN/weft-bench" seqread "${how[@]}" --file "$1" --repeats 1 \
		--offset $(($2 * $3)) --size "$3" | sed -n 's/.*"value":\([^,]*\),.*/\1/p'
}

# summary BENCH LABEL UNIT TARGET VALUE...: a result of several values; TARGET may be -.
summary()
{
	local values=("${@:5}")

	[ ${#values[@]} = "$repeats" ] || die "no result for $1 $2"
	printf '%s\n' "${values[@]}" | sort -g | awk -v bench="$1" -v label="$2" -v unit="$3" \
		-v target="$4" '
	{ v[NR] = $1 }
	END {
		printf "{\"bench\":\"%s\",\"label\":\"%s\",\"value\":%.4g,\"min\":%.4g,\"max\":%.4g,\"unit\":\"%s\",\"repeats\":%d%s}\n",
			bench, label, (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2,
			v[1], v[NR], unit, NR, target == "-" ? "" : ",\"target\":" target
	}' | result
}

# over A B: their ratio.
over()
{
	awk -v a="$1" -v b="$2" 'BEGIN { if (b + 0 > 0) print a / b }'
}

# sequential MODIFIED SUFFIX [OPTION]: in order, by page faults or by what OPTION says;
# MODIFIED is the file that node1 has modified. SUFFIX is for the labels.
sequential()
{
	local modified turn before after mean home home64 one tcps=() homes=() homes64=() \
		modifieds=() ratios=() ratios64=() ratios_modified=()

	how=("${@:3}")
	modified=$(counter miss_read_modified)
	for ((turn = repeats - 1; turn >= 0; turn--)); do
		before=$(tcp) || exit 1
		home=$(seqread /weft/data "$turn" "$part")
		home64=$(seqread /weft/data64 "$turn" "$part")
		after=$(tcp) || exit 1
		mean=$(awk -v a="$before" -v b="$after" 'BEGIN { print (a + b) / 2 }')
		tcps+=("$mean")
		homes+=("$home")
		homes64+=("$home64")
		ratios+=("$(over "$home" "$mean")")
		ratios64+=("$(over "$home64" "$mean")")
	done
	[ "$(counter miss_read_modified)" = "$modified" ] ||
		die "what was read as uncached was in node1's cache"
	for ((turn = repeats - 1; turn >= 0; turn--)); do
		one=$(seqread "$1" "$turn" $((part / 8)))
		modifieds+=("$one")
		ratios_modified+=("$(over "$one" "${tcps[turn]}")")
	done
	summary iperf3 "TCP$2" MB/s - "${tcps[@]}"
	summary seqread "4 KiB blocks$2" MB/s - "${homes[@]}"
	summary seqread "64 KiB blocks$2" MB/s - "${homes64[@]}"
	summary seqread "modified elsewhere$2" MB/s - "${modifieds[@]}"
	summary seqread "4 KiB of iperf3$2" ratio 0.5 "${ratios[@]}"
	summary seqread "64 KiB of iperf3$2" ratio 0.5 "${ratios64[@]}"
	summary seqread "modified of iperf3$2" ratio - "${ratios_modified[@]}"
}

# By page faults, whose cost alone "scan faults" below tells; and by read(), which copies
# as iperf3 does.
sequential /weft/modified ''
empty node2
sequential /weft/modified2 ', read()' --read

# Random reading of what is not cached.
empty node2
bench node2 randread --file /weft/data --count "$count" --threads "$widths"

# A cached region against tmpfs. The copy is made while the region comes, so that both
# take their pages in the same circumstances.
empty node2
on node2 "$BIN/weft-bench" scan --file /weft/data --reference /dev/shm/data \
	--size "$scan" --repeats $((repeats * 4)) --target 0.95 | result || die "scan failed"

# Two nodes at one page, and at one counter.
for what in pingpong counter; do
	on node1 "$BIN/weft-bench" "$what" --count 50 --node 1 --nodes 2 --timeout 120 \
		--repeats "$repeats" >"$OUT/$what" &
	on node2 "$BIN/weft-bench" "$what" --count 50 --node 2 --nodes 2 --timeout 120 \
		--repeats "$repeats" >>"$OUT/$what.2" || die "$what failed on node2"
	wait $! || die "$what failed on node1"
	cat "$OUT/$what" "$OUT/$what.2" | result
done

rack status >"$OUT/status" || die "the rack has trouble: $(cat "$OUT/status")"
rack_ends
trap - EXIT

# Many to one, in a rack of its own.
tools/bench/incast.sh --quick | result || die "incast.sh failed"

# Data by RDMA, as well.
rc=0
tools/bench/rdma.sh --quick -- "${up_options[@]}" >"$OUT/rdma.log" 2>&1 || rc=$?
case $rc in
0|3)	result <"$OUT/rdma/results" ;;
77)	echo "bench: $(tail -n 1 "$OUT/rdma.log")" >&2 ;;
*)	die "rdma.sh failed: $(tail -n 3 "$OUT/rdma.log")" ;;
esac

# --- What came of it ----------------------------------------------------------------

"$BIN/weft-bench" tsv <"$OUT/results" >"$OUT/results.tsv" || exit 1
for plot in svg png; do
	gnuplot -e "in='$OUT/results.tsv'; out='$OUT/bench.$plot'" \
		tools/bench/plot.gp || die "gnuplot failed"
done
echo
verdict=0
awk -f tools/bench/verdict.awk "$OUT/results.tsv" || verdict=$?
echo "bench: $SECONDS s; table in $OUT/results.tsv, plot in $OUT/bench.svg"
exit "$verdict"
