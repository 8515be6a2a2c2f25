#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures locks: weft's against others over the same coherent pages, in one rack.
#
#	tools/bench/locks/locks.sh [OPTION...] [-- OPTIONS OF weft-rack up]
#
#	--stages S[,S...]	native,table,latency,handover,counter,ablation,fairness (all)
#	--nodes N[,N...]	that meet at one lock, up to 8 (1,2,4)
#	--readers P[,P...]	percent of acquisitions that only read (0,50,95,100)
#	--locks L[,L...]	see weft-lockbench kinds (all)
#	--seconds S		of each measurement (1.5)
#	--think US		between leaving a lock and asking for it again, in table and
#				ablation (10000): with less, a node takes a lock many times
#				before another hears that it may, and what they share is hidden
#	--pages N		that the lock guards (1)
#	--out DIR		for the results (BUILD/bench-locks)
#
# native: pairs of lock and unlock a second inside a machine, without a rack: the preload
# library, over a kernel that is played, against the C library's process-shared locks.
# table: what lock and data cost, in coherence transactions, messages and time.
# latency: a lock that its node had last, against the C library's.
# handover: from leaving it on one node to having it on another, against a plain UDP
# message between the same two.
# counter: nodes that add to a counter, without pauses and with: how often the lock changes
# node, and how equal their turns are.  Beside weft's own calls a pthread_rwlock_t with the
# preload library, and the kernel's distributed lock manager (dlm) with the counter in its
# value block: its first user is its master, so it is measured with an idle one, too.
# Medians of several rounds.
# ablation: weft without each of the ways in which it saves, as far as the kernel
# module has a switch for it.
# fairness: eight nodes at one lock for 30 s, in a rack of their own.
#
# Results are lines of JSON in DIR/results, tables beside it, and a plot (locks.svg,
# locks.png). Exit status 0 if everything could be measured and was reached, 1 if
# something could not be measured, 3 if it could and something was not reached.
# Environment: BUILD, WEFT_RACK, as in tools/demo/demo.sh.

set -u -o pipefail
export LC_ALL=C
cd "$(dirname "$0")/../../.." || exit 2

BUILD=${BUILD:-$PWD/build}
BIN=$BUILD/bin
LOCKBENCH=$BIN/weft-lockbench
OUT=$BUILD/bench-locks
RACK=("${WEFT_RACK:-tools/rack/weft-rack}" --name "locks-$$")
LIMIT=300		# seconds for any one step
WAIT=60			# seconds that a node waits for the others, or for a lock
HOME_AT=10.87.0.101	# the memory blade: the lock service runs there
FAIR_NODES=8
FAIR_SECONDS=30
HANDOVERS=60
HOLD=40000		# microseconds that a lock is held before it is handed over
# nodes, how many of them are idle, pause in microseconds
COUNTERS="1:0:0 2:1:0 2:0:0 3:1:0 3:0:0 2:0:3000"
COUNTER_NODES=3
COUNTER_ROUNDS=3
NODE1_AT=10.87.0.1	# the other nodes follow
PARAMETERS=/sys/module/weft/parameters

stages=native,table,latency,handover,counter,ablation,fairness
nodes_list=1,2,4
readers=0,50,95,100
locks=weft,weft-bare,central,mcs,pernode,cohort,service
seconds=1.5
think=10000
pages=1
up_options=()

while [ $# -gt 0 ]; do
	case $1 in
	--stages)	stages=${2-}; shift ;;
	--nodes)	nodes_list=${2-}; shift ;;
	--readers)	readers=${2-}; shift ;;
	--locks)	locks=${2-}; shift ;;
	--seconds)	seconds=${2-}; shift ;;
	--think)	think=${2-}; shift ;;
	--pages)	pages=${2-}; shift ;;
	--out)		OUT=${2-}; shift ;;
	--)		shift; up_options=("$@"); break ;;
	*)		sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
	shift
done

die()
{
	echo "bench-locks: $*" >&2
	exit 1
}

# wanted STAGE
wanted()
{
	[[ ,$stages, == *,$1,* ]]
}

rack()
{
	timeout -k 10 "$LIMIT" "${RACK[@]}" "$@"
}

on()
{
	rack exec "$1" -- "${@:2}" </dev/null
}

# In the background of a guest, until the end.
background=()

behind()
{
	timeout -k 10 3600 "${RACK[@]}" exec "$1" -- "${@:2}" </dev/null >/dev/null 2>&1 &
	background+=($!)
}

up=

down()
{
	[ ${#background[@]} = 0 ] || kill "${background[@]}" 2>/dev/null
	background=()
	[ -z "$up" ] || timeout -k 10 60 "${RACK[@]}" down >/dev/null 2>&1
	up=
}

# boot NODES
boot()
{
	up=1
	rack up --nodes "$1" --switch p4 --mem 512M --owner $$ "${up_options[@]}" ||
		die "the rack does not come up"
	behind mem1 "$LOCKBENCH" serve --seconds 3600
}

end_rack()
{
	rack status >"$OUT/status" || die "the rack has trouble: $(cat "$OUT/status")"
	down
}

# bench NODES COMMAND OPTION...: weft-lockbench on the first nodes at once. What the
# first prints is the result, and what the others found about themselves. preload: for it.
files=0
preload=

bench()
{
	local n=$1 command=$2 k pids=() bad=

	files=$((files + 1))
	for ((k = 1; k <= n; k++)); do
		timeout -k 10 "$LIMIT" "${RACK[@]}" exec "node$k" -- \
			env LD_PRELOAD="$preload" "$LOCKBENCH" "$command" --node "$k" --nodes "$n" --timeout "$WAIT" \
			--name "$files" --service "$HOME_AT" --settle $((100 + 50 * n)) \
			--messages --pages "$pages" "${@:3}" \
			>"$OUT/out.$k" 2>"$OUT/err.$k" </dev/null &
		pids+=($!)
	done
	for k in "${!pids[@]}"; do
		wait "${pids[k]}" || bad=1
	done
	cat "$OUT"/out.* >>"$OUT/results"
	[ -z "$bad" ] || {
		cat "$OUT"/err.* >&2
		die "weft-lockbench $command failed"
	}
	rm -f "$OUT"/out.* "$OUT"/err.*
	on node1 rm -f "/weft/lockbench-$command-$files"
}

# fields NAME...: of the results on standard input, with tabs between.
fields()
{
	awk -v names="$*" '
	function field(name,    at, rest) {
		at = index($0, "\"" name "\":")
		if (!at)
			return "-"
		rest = substr($0, at + length(name) + 3)
		sub(/[,}].*/, "", rest)
		gsub(/"/, "", rest)
		return rest == "" ? "-" : rest
	}
	BEGIN { n = split(names, name, " ") }
	{ for (i = 1; i <= n; i++) printf "%s%s", field(name[i]), i < n ? "\t" : "\n" }'
}

# results BENCH [LABEL]: those of all nodes together.
results()
{
	grep "^{\"bench\":\"$1\",\"label\":\"${2-}\"" "$OUT/results" |
		grep -E '"node":"all"|"bench":"(latency|handover|ping)"'
}

# table_of FILE TITLE: a file of columns, as text.
table_of()
{
	echo
	echo "$2"
	column -t -s $'\t' "$1"
}

rm -rf "$OUT"
mkdir -p "$OUT" || exit 1
trap down EXIT
trap 'exit 130' INT TERM HUP

[ -x "$LOCKBENCH" ] || die "$LOCKBENCH is not built: run make test-programs"

# --- Without a rack ---------------------------------------------------------------

stage_native()
{
	local where

	where=$(mktemp -d "/dev/shm/weft-bench.XXXXXX") || die "no directory in memory"
	WEFT_FAKE_DIR=$where LD_PRELOAD=$BUILD/lib/libweft-preload.so:$BUILD/tests/libweft-fake.so \
		timeout -k 10 "$LIMIT" "$BUILD/tests/preload-pairs" "$where/pairs" 31 \
		>"$OUT/native"
	local bad=$?
	rm -rf "$where"
	[ "$bad" = 0 ] || die "preload-pairs failed"
	cat "$OUT/native" >>"$OUT/results"
	{
		printf 'what\tglibc\tweft\tratio\n'
		sed 's/", "/",\t"/; s/.*"what": "\([^"]*\)".*"glibc": \([0-9.]*\), "weft": \([0-9.]*\), "ratio": \([0-9.]*\).*/\1\t\2\t\3\t\4/' "$OUT/native"
	} >"$OUT/native.tsv"
	table_of "$OUT/native.tsv" "Inside a machine, million pairs of lock and unlock a second:"
}

if wanted native; then
	stage_native
fi

# --- A rack for all but fairness ---------------------------------------------------

most=2
shared=$nodes_list
wanted table || wanted ablation || shared=2
! wanted counter || shared=$shared,$COUNTER_NODES
for n in ${shared//,/ }; do
	case $n in
	[1-8])	[ "$n" -le "$most" ] || most=$n ;;
	*)	die "--nodes $shared: give numbers from 1 to 8" ;;
	esac
done

COLUMNS_RUN="lock nodes readers acquires_per_s transactions_per_acquire
	lock_requests_per_acquire misses_per_acquire round_trips_per_acquire
	messages_per_acquire blocks_with_lock_per_acquire datagrams_per_acquire
	lock_p50_us data_p50_us data_p99_us data_max_us data_mean_us least_share
	retransmissions late_ms"

stage_table()
{
	for n in ${nodes_list//,/ }; do
		bench "$n" run --locks "$locks" --readers "$readers" --seconds "$seconds" \
			--think "$think"
	done
	{
		# shellcheck disable=SC2086  # a list of words
		printf '%s\n' $COLUMNS_RUN | paste -s
		# shellcheck disable=SC2086
		results run | fields $COLUMNS_RUN
	} >"$OUT/table.tsv"
	table_of "$OUT/table.tsv" "One lock and what it guards ($pages page), each of N nodes in a loop:"
	for plot in svg png; do
		gnuplot -e "in='$OUT/table.tsv'; out='$OUT/locks.$plot'; locks='${locks//,/ }'; shares='${readers//,/ }'" \
			tools/bench/locks/plot.gp || die "gnuplot failed"
	done
}

stage_latency()
{
	bench 1 latency --locks "$locks"
	{
		printf 'lock\tread_p50_ns\twrite_p50_ns\tread_of_glibc\twrite_of_glibc\tread_least_ns\twrite_least_ns\n'
		results latency | fields lock read_p50_ns write_p50_ns read_of_glibc \
			write_of_glibc read_least_ns write_least_ns
	} >"$OUT/latency.tsv"
	table_of "$OUT/latency.tsv" "One process, taking and leaving a lock that its node has:"
}

# udp RUN: a plain message, before or after.
udp()
{
	on node1 "$LOCKBENCH" ping --peer 10.87.0.2 --count "$HANDOVERS" --hold "$HOLD" --label "$1" \
		>>"$OUT/results" || die "weft-lockbench ping failed"
}

stage_handover()
{
	behind node2 "$LOCKBENCH" pong --seconds 3600
	udp before
	bench 2 handover --locks "$locks" --count "$HANDOVERS" --hold "$HOLD"
	udp after
	{
		printf 'lock\tof_udp\twith_data_of_udp\tone_way_p50_us\twith_data_p50_us\tone_way_p99_us\twith_data_p99_us\ttransactions\tmessages\n'
		{
			results ping before
			results ping after
			results handover
		} | fields bench lock rest_us one_way_p50_us with_data_p50_us one_way_p99_us \
			with_data_p99_us transactions_per_acquire messages_per_acquire |
		awk -F'\t' -v OFS='\t' '
			$1 == "ping" && $3 > 0 { sum += $4; n++ }
			$1 == "ping" { print "udp" ($3 > 0 ? "" : ", no rests"), "-", "-", $4, "-", $6, "-", "-", "-" }
			$1 == "handover" { printf "%s\t%.2f\t%.2f\t", $2, $4 / (sum / n), $5 / (sum / n)
				print $4, $5, $6, $7, $8, $9 }'
	} >"$OUT/handover.tsv"
	table_of "$OUT/handover.tsv" "From one node to the other, one way (asked: of_udp below 3):"
	verdict "hand-over, of a plain UDP message" "$(cell "$OUT/handover.tsv" weft 2)" 3
}

# make_dlm: DLM is made ready on all nodes.  Return: whether it could be.
make_dlm()
{
	local k pids=() bad=

	on nodes modprobe dlm >/dev/null 2>&1 || {
		echo "bench-locks: the nodes' kernel has no module dlm: no comparison with it" |
			tee -a "$OUT/verdicts"
		return 1
	}
	for ((k = 1; k <= most; k++)); do
		on "node$k" "$LOCKBENCH" dlm --node "$k" --nodes "$most" --timeout "$WAIT" \
			--peer "$NODE1_AT" &
		pids+=($!)
	done
	for k in "${pids[@]}"; do
		wait "$k" || bad=1
	done
	[ -z "$bad" ] || die "DLM does not come up"
}

COLUMNS_COUNTER="lock nodes idle think_us acquires_per_s turns_per_s least_turns least_acquires
	turn_p50 turn_mean turn_max messages_per_turn packets_sent_per_turn
	lock_requests_per_acquire period_p50_us period_max_us"

# medians: of lines whose first 4 columns are the same, in the order in which they first come
medians()
{
	awk -F'\t' -v OFS='\t' '
	{
		row = $1 OFS $2 OFS $3 OFS $4
		if (!n[row]++)
			order[++rows] = row
		for (i = 5; i <= NF; i++)
			value[row, i, n[row]] = $i
		columns = NF
	}
	function median(row, i,    k, m, sorted, v) {
		for (k = 1; k <= n[row]; k++) {
			v = value[row, i, k]
			for (m = k; m > 1 && sorted[m - 1] + 0 > v + 0; m--)
				sorted[m] = sorted[m - 1]
			sorted[m] = v
		}
		return sorted[int((n[row] + 1) / 2)]
	}
	END {
		for (k = 1; k <= rows; k++) {
			line = order[k]
			for (i = 5; i <= columns; i++)
				line = line OFS median(order[k], i)
			print line
		}
	}'
}

# What counts acquisitions elsewhere counts turns here.  Where nodes begin and end a little
# apart, one has the lock alone for some milliseconds: the mean of turns shows little else.
stage_counter()
{
	local locks=pthread,weft,weft-bare,mcs round row nodes idle pause

	! make_dlm || locks=dlm,$locks
	preload=$BUILD/lib/libweft-preload.so
	for ((round = 1; round <= COUNTER_ROUNDS; round++)); do
		for row in $COUNTERS; do
			IFS=: read -r nodes idle pause <<<"$row"
			bench "$nodes" counter --locks "$locks" --seconds "$seconds" \
				--idle "$idle" --think "$pause"
		done
	done
	preload=
	{
		# shellcheck disable=SC2086  # a list of words
		printf '%s\n' ${COLUMNS_COUNTER/lock_requests_per_acquire/lock_requests_per_turn} |
			paste -s
		# shellcheck disable=SC2086
		results counter | fields $COLUMNS_COUNTER | medians
	} >"$OUT/counter.tsv"
	table_of "$OUT/counter.tsv" "Nodes that add to a counter; a turn begins when another node added last (medians of $COUNTER_ROUNDS):"
	[[ $locks != dlm,* ]] || for row in $COUNTERS; do
		IFS=: read -r nodes idle pause <<<"$row"
		[ $((nodes - idle)) -lt 2 ] ||
			verdict "$((nodes - idle)) of $nodes nodes, pause $pause us: dlm's changes, of pthread's" \
				"$(turns_of_dlm "$nodes" "$idle" "$pause")" 0.667
	done
}

# turns_of_dlm NODES IDLE PAUSE: changes of node, dlm's in units of the preload library's
turns_of_dlm()
{
	awk -F'\t' -v nodes="$1" -v idle="$2" -v pause="$3" '
		$2 == nodes && $3 == idle && $4 == pause { turns[$1] = $6 }
		END {
			if (turns["pthread"] > 0 && turns["dlm"] > 0)
				printf "%.2f", turns["dlm"] / turns["pthread"]
		}' "$OUT/counter.tsv"
}

# cell FILE LOCK COLUMN
cell()
{
	awk -F'\t' -v lock="$2" -v column="$3" '$1 == lock { print $column; exit }' "$1"
}

# verdict WHAT FOUND BELOW: said at the end.
verdict()
{
	awk -v what="$1" -v found="$2" -v below="$3" 'BEGIN {
		printf "%-8s %-52s %10s, asked: below %s\n",
			found == "" ? "UNKNOWN" : found + 0 < below + 0 ? "reached" : "MISSED",
			what, found, below }' >>"$OUT/verdicts"
}

# parameter NAME [VALUE]: of the kernel module on all nodes.
parameter()
{
	if [ $# = 1 ]; then
		on node1 cat "$PARAMETERS/$1"
	else
		on nodes sh -c "echo $2 >$PARAMETERS/$1"
	fi
}

# without NAME VALUE: weft with a parameter changed.
without()
{
	local was

	was=$(parameter "$1") || die "cannot read the parameter $1"
	[ "$was" != "$2" ] || return 0
	parameter "$1" "$2" || die "cannot set the parameter $1"
	ablate "$1=$2"
	parameter "$1" "$was" || die "cannot set the parameter $1 back"
}

ablate()
{
	local n=$most

	[ "$n" -le 4 ] || n=4
	bench "$n" run --locks weft --readers "$readers" --seconds "$seconds" \
		--think "$think" --label "$1"
}

stage_ablation()
{
	local name found=

	ablate "as it is"
	for name in $(on node1 ls "$PARAMETERS" 2>/dev/null); do
		# Switches are turned over; of numbers, only what is known to be one of these.
		case $name:$(parameter "$name") in
		lock_*:Y)		without "$name" N; found=1 ;;
		lock_*:N)		without "$name" Y; found=1 ;;
		lock_local_hands:*)	without "$name" 0; found=1 ;;
		esac
	done
	[ -n "$found" ] ||
		echo "bench-locks: the kernel module has no switches for locks ($PARAMETERS/lock_*): no ablation" |
		tee -a "$OUT/verdicts"
	{
		printf 'label\t'
		# shellcheck disable=SC2086  # a list of words
		printf '%s\n' $COLUMNS_RUN | paste -s
		# shellcheck disable=SC2086
		grep '"label":"[^"]' "$OUT/results" | grep '"bench":"run".*"node":"all"' |
			grep -v '"label":"fair' | fields label $COLUMNS_RUN
	} >"$OUT/ablation.tsv"
	table_of "$OUT/ablation.tsv" "weft, and weft without:"
}

if wanted table || wanted latency || wanted handover || wanted counter || wanted ablation; then
	boot "$most"
	for stage in table latency handover counter ablation; do
		! wanted "$stage" || "stage_$stage"
	done
	end_rack
fi

# --- Fairness ----------------------------------------------------------------------

# Twice: without pauses, where a node takes the lock again and again until it hears
# of the others; and with, where each acquisition waits for the others', and the
# median is that of waiting.
fairness()
{
	bench "$FAIR_NODES" run --locks weft --readers 0 --seconds "$FAIR_SECONDS" \
		--think "$2" --label "$1"
	grep "\"label\":\"$1\"" "$OUT/results" |
		fields think_us node acquires lock_p50_us lock_p99_us lock_max_us least_share \
			transactions_per_acquire >>"$OUT/fairness.tsv"
	read -r unfair longest < <(awk -F'\t' -v think="$2" '
		$1 == think && $2 == "all" { print ($7 > 0 ? 1 / $7 : 1e9), $6 / $4 }' "$OUT/fairness.tsv") ||
		die "no result for fairness"
	verdict "$1: mean share of the lock, of the least" "$unfair" 2
	verdict "$1: longest wait, of the median" "$longest" 100
}

if wanted fairness; then
	boot "$FAIR_NODES"
	printf 'think_us\tnode\tacquires\tlock_p50_us\tlock_p99_us\tlock_max_us\tleast_share\ttransactions_per_acquire\n' \
		>"$OUT/fairness.tsv"
	fairness "fair, with pauses" "$think"
	fairness "fair, without" 0
	end_rack
	table_of "$OUT/fairness.tsv" "$FAIR_NODES nodes write at one lock for $FAIR_SECONDS s:"
fi

[ ! -s "$OUT/verdicts" ] || { echo; cat "$OUT/verdicts"; }
echo "bench-locks: $SECONDS s; results in $OUT"
# a figure that is missing was not measured
! grep -qs '^UNKNOWN' "$OUT/verdicts" || exit 1
! grep -qs '^MISSED' "$OUT/verdicts" || exit 3
