#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Data by RDMA, beside what the same devices do without weft, and beside UDP:
#
#	node1 node2 mem1, each with rxe0 -- P4 switch
#
#	tools/bench/rdma.sh [--quick] [-- OPTIONS OF weft-rack up]
#
# node2 reads what it does not have, from the blade: one block of 4 KiB after the other in
# random order, which is as long as a miss takes, and a file with blocks of 64 KiB in order.
# The same block by block a second time when node2 has lost all again: asked for as before, and
# read at the blade without its program (docs/rdma.md).
# ib_write_lat, ib_write_bw and ib_read_bw (perftest) between node2 and node1, and a plain UDP
# message there and back.  All take turns, and each turn gives a ratio.
#
# Results are lines of JSON in build/bench/rdma, with a table beside it.  Exit status 0, or 1
# if something could not be measured, 3 if something was not reached, 77 without perftest.
# Environment: BUILD, WEFT_RACK.

# shellcheck disable=SC2016  # what is in single quotes is for awk
set -u -o pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 2

NAME=bench-rdma
# shellcheck source=tools/bench/rack.sh
. tools/bench/rack.sh
OUT=$BUILD/bench/rdma
CACHE=256M
OTHER=10.87.0.1		# node1
BLOCK=65536
TRIES=5			# until what answers has begun
repeats=9
part=$((8 << 20))	# bytes of the file that are read in a turn
misses=400
writes=1000		# of perftest

up_options=()
while [ $# -gt 0 ]; do
	case $1 in
	--quick) repeats=3; part=$((2 << 20)); misses=100; writes=200 ;;
	--)	shift; up_options=("$@"); break ;;
	*)	sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
	shift
done

for program in ib_write_lat ib_write_bw ib_read_bw; do
	if ! command -v $program >/dev/null; then
		echo "skipped: there is no $program: 'apt install perftest'"
		exit 77
	fi
done

# as_machine COMMAND...: for guests.  perftest ends if there is no PCI bus, and has no times if it
# is not told a speed of the processor, which it then measures itself.  User-mode kernels have
# neither.
as_machine()
{
	cat <<-END
		[ -e /sys/bus/pci ] ||
			{ mount -t tmpfs none /sys/bus && mkdir -p /sys/bus/pci/devices; } || exit 1
		if ! grep -q "^cpu MHz" /proc/cpuinfo; then
			echo "cpu MHz : 1000.0" >/run/cpuinfo &&
				mount --bind /run/cpuinfo /proc/cpuinfo || exit 1
		fi
		exec $*
	END
}

# perftest PROGRAM COLUMN OPTION...: node1 answers, node2 asks; that column of its result.  On a
# busy machine it cannot tell how fast the processor is, and has no times: then it is run again.
perftest()
{
	local pid value='' try command="timeout 60 $1 -d rxe0 -F ${*:3}"

	for ((try = 0; try < TRIES; try++)); do
		on node1 unshare -m sh -c "$(as_machine "$command")" >"$OUT/server" 2>&1 &
		pid=$!
		sleep $((1 + try))
		on node2 unshare -m sh -c "$(as_machine "$command $OTHER")" >"$OUT/client" 2>&1
		value=$(awk -v n="$2" '/^ *[0-9]+ +[0-9]+ / && $n > 0 && $n != "inf" { print $n }' \
			"$OUT/client")
		[ -z "$value" ] || break
		# who was not asked waits
		kill $pid 2>/dev/null
		wait $pid
	done
	[ -n "$value" ] || die "$1 failed: $(tail -n 3 "$OUT/client")"
	wait $pid || die "$1 failed on node1: $(tail -n 3 "$OUT/server")"
	echo "$value"
}

# value FIELD: of the one result on the input.
value()
{
	sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p"
}

# miss FILE: microseconds, each of its pages once.
miss()
{
	local rate

	rate=$(on node2 "$BIN/weft-bench" randread --file "$1" --count $misses --repeats 1 |
		value value)
	compute 1e6/a a="${rate:-0}"
}

# in_order FILE: MB/s.
in_order()
{
	on node2 "$BIN/weft-bench" seqread --read --file "$1" --repeats 1 | value value
}

# round_trip: of a plain UDP message, microseconds.
round_trip()
{
	local us='' try

	for ((try = 0; try < TRIES && ${#us} == 0; try++)); do
		[ $try = 0 ] || sleep 1
		us=$(on node2 "$BIN/weft-lockbench" ping --peer $OTHER --count 500 --hold 1 |
			sed -n 's/.*"rest_us":0,.*"one_way_p50_us":\([0-9.]*\).*/\1/p' | tail -n 1)
	done
	compute a*2 a="${us:-0}"
}

# compute EXPRESSION NAME=VALUE...: without what it needs there is no result.
compute()
{
	local set=() one

	for one in "${@:2}"; do
		[[ $one =~ =[0-9.e+-]+$ && $one != *=0 ]] || die "no value for $one"
		set+=(-v "$one")
	done
	awk "${set[@]}" "BEGIN { printf \"%.4g\", $1 }"
}

# counter NAME: of node2.
counter()
{
	on node2 "$BIN/weftctl" -j stats | value "$1"
}

# direct MODE: of node2: 0 it asks the blade for all blocks, 2 it reads what it can by itself.
direct()
{
	on node2 sh -c 'echo "$0" >/sys/module/weft_rdma/parameters/direct' "$1" ||
		die "cannot say how node2 reads"
}

# miss_again FILE MODE: microseconds, each of its pages once, which node2 has had and has lost.
miss_again()
{
	direct "$2"
	# as if memory were short: modified blocks go home, the others are forgotten
	on node2 sh -c 'echo 2 >/proc/sys/vm/drop_caches' || die "cannot empty node2's cache"
	miss "$1"
}

# by WAY: data comes to node2 by RDMA, or UDP; blocks that are read first need not.
by()
{
	local module i

	module=$BUILD/kmod/$(on node2 uname -r)/weft_rdma.ko
	if [ "$1" = UDP ]; then
		on node2 rmmod weft_rdma || die "cannot remove weft_rdma at node2"
		return
	fi
	on node2 sh -c "grep -q ^weft_rdma /proc/modules || insmod '$module'" ||
		die "cannot insert weft_rdma at node2"
	for ((i = 0; i < 20; i++)); do
		# something has to be sent for a connection to be made
		on node1 "$BIN/weft-bench" fill --file "/weft/first$((firsts += 1))" --size 65536
		on node1 sh -c 'umount /weft && mount -t weft none /weft'
		on node2 sha256sum "/weft/first$firsts" >/dev/null || die "node2 cannot read"
		! on node2 "$BIN/weftctl" status | grep -A 1 ' 33  ' | grep -q 'data by RDMA' ||
			return 0
		sleep 1
	done
	die "node2 does not connect to the blade: $(on node2 "$BIN/weftctl" status)"
}

rm -rf "$OUT"
mkdir -p "$OUT" || exit 1
firsts=0
rack up --nodes 2 --switch p4 --cache $CACHE --mem 1024M --rdma all "${up_options[@]}" ||
	die "the rack does not come up"
trap rack_ends EXIT
trap 'exit 130' INT TERM
# it ends with the rack
on node1 "$BIN/weft-lockbench" pong --seconds 3600 >"$OUT/pong" 2>&1 &

# node1 makes all files, and has nothing of them any more: the blade's copies are current.
for ((turn = 0; turn < repeats; turn++)); do
	for way in RDMA UDP; do
		on node1 "$BIN/weft-bench" fill --file /weft/small-$way-$turn \
			--size $((misses * 4096)) || die "cannot fill"
	done
done
on node1 mount -o remount,block=64K /weft || die "cannot set the block size on node1"
for ((turn = 0; turn < repeats; turn++)); do
	for way in RDMA UDP; do
		on node1 "$BIN/weft-bench" fill --file /weft/large-$way-$turn \
			--size "$part" || die "cannot fill"
	done
done
on node1 sh -c 'umount /weft && mount -t weft none /weft' || die "cannot empty node1's cache"

for ((turn = 0; turn < repeats; turn++)); do
	trip=$(round_trip) && lat=$(perftest ib_write_lat 6 -s 4096 -n $writes) &&
		bw=$(perftest ib_write_bw 4 -s $BLOCK -n $writes --report_gbits) &&
		read_bw=$(perftest ib_read_bw 4 -s $BLOCK -n $writes --report_gbits) || exit 1
	by RDMA
	direct 0
	before=$(counter blocks_landed)
	rdma_miss=$(miss /weft/small-RDMA-$turn) || exit 1
	rdma_order=$(in_order /weft/large-RDMA-$turn)
	after=$(counter blocks_landed)
	asked_miss=$(miss_again /weft/small-RDMA-$turn 0) || exit 1
	read_before=$(counter blocks_read)
	read_miss=$(miss_again /weft/small-RDMA-$turn 2) || exit 1
	read_after=$(counter blocks_read)
	by UDP
	udp_miss=$(miss /weft/small-UDP-$turn) || exit 1
	udp_order=$(in_order /weft/large-UDP-$turn)
	echo "$trip $lat $(compute a*125 a="$bw") $(compute a*125 a="$read_bw")" \
		"$rdma_miss $rdma_order $udp_miss $udp_order" \
		"$((100 * (after - before) / (misses + part / BLOCK)))" \
		"$asked_miss $read_miss $((100 * (read_after - read_before) / misses))" |
		tee -a "$OUT/turns"
done
rack status >"$OUT/status" || die "the rack has trouble: $(cat "$OUT/status")"
rack_ends
trap - EXIT

# --- What came of it ----------------------------------------------------------------

# summary LABEL UNIT EXPRESSION [TARGET]: the median over the turns, of fields.
summary()
{
	awk "{ print $3 }" "$OUT/turns" | sort -g | awk -v label="$1" -v unit="$2" -v target="${4-}" '
	{ v[NR] = $1 }
	END {
		if (!NR)
			exit 1
		printf "{\"bench\":\"rdma\",\"label\":\"%s\",\"value\":%.4g,\"min\":%.4g,\"max\":%.4g,\"unit\":\"%s\",\"repeats\":%d%s}\n",
			label, (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[1], v[NR],
			unit, NR, target == "" ? "" : ",\"target\":" target
	}' | tee -a "$OUT/results" || die "no result for $1"
}

summary "UDP message and answer" us '$1'
summary "ib_write_lat, 4 KiB" us '$2'
summary "miss by RDMA" us '$5'
summary "miss by UDP" us '$7'
summary "miss again, blade asked" us '$10'
summary "miss again, read at the blade" us '$11'
summary "2.5 (write_lat + message)/miss" ratio '2.5 * ($1 + $2) / $5' 1
summary "miss UDP/RDMA" ratio '$7 / $5'
summary "ib_write_bw, 64 KiB" MB/s '$3'
summary "ib_read_bw, 64 KiB" MB/s '$4'
summary "in order by RDMA, 64 KiB" MB/s '$6'
summary "in order by UDP, 64 KiB" MB/s '$8'
summary "in order/ib_write_bw" ratio '$6 / $3' 0.8
summary "in order RDMA/UDP" ratio '$6 / $8'
summary "miss asked/read" ratio '$10 / $11'
summary "blocks that landed" % '$9' 95
summary "blocks that were read" % '$12' 90
"$BIN/weft-bench" tsv <"$OUT/results" >"$OUT/results.tsv" || exit 1
verdict=0
awk -f tools/bench/verdict.awk "$OUT/results.tsv" || verdict=$?
exit $verdict
