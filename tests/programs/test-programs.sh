#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The programs that run on the nodes of a rack, proved right without one: several
# processes on this machine are the nodes, and tmpfs is the shared memory.
#
#	tests/programs/test-programs.sh [PATTERN]
#
# Prints a line a test; PATTERN selects test functions by name.  Environment:
# BUILD, the build directory.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

BIN=$BUILD/bin
LIMIT=$((100 * ${WEFT_TEST_SCALE:-1}))	# seconds for any one program

# details: the programs' output tells why a test failed.
details()
{
	cat "$dir"/out.* 2>/dev/null
}

# run PROGRAM ARGUMENT...: one process; output in out.1.
run()
{
	local program=$1

	shift
	rm -f "$dir"/out.*
	timeout "$LIMIT" "$BIN/weft-$program" "$@" >"$dir/out.1" 2>&1
}

# run_nodes N PROGRAM ARGUMENT...: N processes; %K in an argument becomes the
# node's number.  Output of node K in out.K.  Fails if one of them does.
run_nodes()
{
	local n=$1 program=$2 k pids=()

	shift 2
	rm -f "$dir"/out.*
	for ((k = 1; k <= n; k++)); do
		timeout "$LIMIT" "$BIN/weft-$program" "${@//%K/$k}" --node $k \
			--nodes "$n" --timeout 60 >"$dir/out.$k" 2>&1 &
		pids+=($!)
	done
	wait_all "${pids[@]}"
}

# says TEXT: some node said that.
says()
{
	cat "$dir"/out.* | grep -qF -- "$1"
}

# refused TEXT COMMAND...: the command must fail, with this text.
refused()
{
	local text=$1

	shift
	! "$@" && says "$text"
}

# --- weft-wordcount ---------------------------------------------------------

count_words()
{
	tr -cs 'A-Za-z' '\n' <"$1" | tr '[:upper:]' '[:lower:]' | { grep . || :; } |
		sort | uniq -c | sort -k1,1nr -k2
}

# same_count NODES OPTION...: the words of $dir/text are counted right.
same_count()
{
	rm -f "$dir/table"
	run_nodes "$1" wordcount --dir "$dir" --dump "${@:2}" || return 1
	grep -v '^node [0-9]*: \|^total: ' "$dir/out.$1" >"$dir/counted"
	count_words "$dir/text" | cmp - "$dir/counted" &&
		[ "$(count_words "$dir/text" | head -n 20)" = \
		  "$(timeout "$LIMIT" "$BIN/weft-wordcount" --dir "$dir" --report 2>/dev/null \
			"${@:2}")" ]
}

# report_alone OPTION...: another process prints a table that was made with these.
report_alone()
{
	rm -f "$dir/table"
	run_nodes 2 wordcount --dir "$dir" "$@" || return 1
	run wordcount --dir "$dir" --report --dump || return 1
	grep -v '^total: ' "$dir/out.1" >"$dir/counted"
	count_words "$dir/text" | cmp - "$dir/counted"
}

# edge NAME: the text in $dir/text, cut at all kinds of places.
edge()
{
	check "$1, 1 node" same_count 1
	check "$1, 3 nodes, 2 threads, chunks of 7 bytes" \
		same_count 3 --threads 2 --chunk 7 --batch 40
	check "$1, no batches" same_count 2 --chunk 1000 --batch 0
}

test_wordcount()
{
	local files=(/usr/share/common-licenses/*)

	# Two dozen licenses and a list of words that come once.
	cat "${files[@]}" >"$dir/licenses"
	{
		cat "$dir/licenses" "$dir/licenses" "$dir/licenses"
		seq 1 60000 | tr 0-9 a-j
	} >"$dir/text"
	check "text, 1 node" same_count 1
	check "text, 3 nodes" same_count 3
	check "text, 3 nodes, 2 threads, small chunks" \
		same_count 3 --threads 2 --chunk 4K --batch 16K
	check "text, 3 nodes, each word to the table" same_count 3 --batch 0
	check "text, 5 nodes, a full table" \
		same_count 5 --slots 65536 --chunk 10000 --batch 1

	# More different words than the least table has slots, as in a dictionary.
	seq 1 70000 | tr 0-9 a-j >"$dir/text"
	check "text of nothing but different words" same_count 2
	check "a report takes the sizes from the table" \
		report_alone --slots 131072 --heap 64M --chunk 4K --batch 0

	printf 'no end of line' >"$dir/text"
	edge "no end of line"
	printf '12 34\n\n--\n' >"$dir/text"
	edge "no words"
	printf 'A' >"$dir/text"
	edge "one letter"
	printf 'a\0b\377c\nZz{[`@ zZ' >"$dir/text"
	edge "strange bytes"
	{ head -c 70000 /dev/zero | tr '\0' q; printf ' Q '
	  head -c 70000 /dev/zero | tr '\0' Q; printf ' q'; } >"$dir/text"
	check "long words, 3 nodes" same_count 3 --chunk 100
}

test_wordcount_refuses()
{
	local pid

	cat /usr/share/common-licenses/GPL-3 >"$dir/text"
	rm -f "$dir/table"
	check "a missing node ends in a sentence" refused "never came: node 2" \
		run wordcount --dir "$dir" --node 1 --nodes 2 --timeout 1
	check "a used table is refused" refused "has been here before" \
		run wordcount --dir "$dir" --node 1 --nodes 2 --timeout 1
	check "the table of other options is refused" refused "with other options" \
		run wordcount --dir "$dir" --node 2 --nodes 2 --chunk 12345
	rm -f "$dir/table"
	check "a failing node ends the others" refused "gave up, so do I" \
		run_nodes 3 wordcount --dir "$dir" --slots 256
	check "a full table ends in a sentence" says "the table is full (256 slots)"
	rm -f "$dir/table"
	seq 1 9999 | tr 0-9 a-j >"$dir/text"
	check "a full heap ends in a sentence" refused "give a larger --heap" \
		run_nodes 2 wordcount --dir "$dir" --heap 64K
	rm -f "$dir/table"
	check "a missing text ends in a sentence" refused "cannot open" \
		run wordcount --dir "$dir/none"
	check "a node too many is refused" refused "there are only 2 nodes" \
		run wordcount --dir "$dir" --node 3 --nodes 2

	rm -f "$dir/table"
	"$BIN/weft-wordcount" --dir "$dir" --node 1 --nodes 2 >"$dir/out.1" 2>&1 &
	pid=$!
	soon 10 test -s "$dir/table"	# a signal before its program runs may be lost
	kill -TERM $pid
	check "a waiting node can be ended" exits 143 '' wait $pid

	check "counting for the next test" same_count 2
	# The first byte of the first count that is not 0 (behind 36 pages).
	dd if="$dir/table" of="$dir/slots" bs=4096 skip=36 count=16 status=none
	check "a lost count is noticed" exits 1 '' lose_count
}

lose_count()
{
	local at

	# Slots are {key, count}: the first count with a low byte of 1 becomes 2.
	at=$(od -An -v -tu1 -w16 "$dir/slots" | awk '$9 == 1 { print (NR - 1) * 16 + 8; exit }')
	[ -n "$at" ] || return 99
	printf '\002' | dd of="$dir/table" bs=1 seek=$((36 * 4096 + at)) conv=notrunc \
		status=none
	run wordcount --dir "$dir" --report
}

# --- weft-ledger --------------------------------------------------------------

ledgers()
{
	local k pids=()

	rm -f "$dir"/out.* "$dir/ledger"
	timeout "$LIMIT" "$BIN/weft-ledger" "$dir/ledger" --open || return 1
	for k in 1 2 3; do
		timeout "$LIMIT" "$BIN/weft-ledger" "$dir/ledger" 20000 >"$dir/out.$k" 2>&1 &
		pids+=($!)
	done
	wait_all "${pids[@]}"
}

# poke OFFSET: a byte of the ledger becomes another one.
poke()
{
	printf '\377' | dd of="$dir/ledger" bs=1 seek="$1" conv=notrunc status=none
}

test_ledger()
{
	check "ledger: three processes" ledgers
	check "ledger: audit" run ledger "$dir/ledger" 20000 --audit 3
	check "ledger: all transfers are there" says "60000 transfers, no money lost"
	check "ledger: transfers that are missing are noticed" refused "were made" \
		run ledger "$dir/ledger" 20000 --audit 4
	# The first account is on the second page, its balance behind the lock.
	poke $((4096 + 56 + 2))
	check "ledger: money that is missing is noticed" refused "WRONG: there is" \
		run ledger "$dir/ledger" 20000 --audit 3
	check "ledger: a branch that does not add up is noticed" refused "WRONG: a branch" \
		run ledger "$dir/ledger" 100000
}

# --- weft-stress and weft-check ---------------------------------------------

# stress NODES OPTION...: logs go to $dir/stress.
stress()
{
	rm -rf "$dir/stress"
	mkdir "$dir/stress"
	run_nodes "$1" stress --dir "$dir/stress" --out "$dir/stress" "${@:2}"
}

judge()
{
	run check "$@" "$dir"/stress/stress-log.* "$dir"/stress/stress-image.*
}

test_check_selftest()
{
	run check --selftest
	sed -n "s/^\(not \)\{0,1\}ok [0-9]* - /\1/p" "$dir/out.1" >"$dir/names"
	while read -r name; do
		case $name in
		"not "*) not_ok "weft-check --selftest: ${name#not }" ;;
		*)	ok "weft-check --selftest: $name" ;;
		esac
	done <"$dir/names"
	check "weft-check --selftest is complete" \
		[ "$(sed -n 's/^1\.\.//p' "$dir/out.1")" = "$(grep -c . "$dir/names")" ]
}

test_stress()
{
	local log

	check "3 nodes x 2 threads work" stress 3
	check "their history of 1 million accesses is right" judge --min-ops 1000000
	[ "$(nproc)" = 1 ] ||
		check "and the nodes did meet" judge --min-foreign 10000
	check "too small a run is told" exits 2 '' judge --min-ops 100000000

	log=$dir/stress/stress-log.3
	cp "$log" "$dir/log"
	truncate -s -32 "$log"
	check "a cut log is refused" exits 2 '' judge
	cp "$dir/log" "$log"
	printf x | dd of="$log" bs=1 seek=5000 conv=notrunc status=none
	check "a damaged log is refused" exits 2 '' judge
	rm "$log"
	check "a missing log is refused" exits 2 '' judge
	check "that is said" says "thread 3 of 6 is missing"
	cp "$dir/log" "$log"

	check "8 nodes on 1 page work" stress 8 --threads 1 --pages 1 --ops 10000
	check "their history is right" judge
	cp "$dir/log" "$dir/stress/stress-log.3"
	check "a log of another run is refused" exits 2 '' judge
}

# broken_memory: node 2 has data of its own.
broken_memory()
{
	mkdir -p "$dir/broken/1" "$dir/broken/2"
	: >"$dir/broken/1/stress-meeting"
	ln "$dir/broken/1/stress-meeting" "$dir/broken/2/stress-meeting"
	rm -rf "$dir/stress"
	mkdir "$dir/stress"
	run_nodes 2 stress --dir "$dir/broken/%K" --out "$dir/stress" \
		--ops 20000 --pages 4
}

test_stress_finds()
{
	check "two nodes without shared memory" broken_memory
	check "are found wrong" exits 1 '' judge
	check "which is said" says "WRONG"
	rm "$dir/stress/stress-image.2"
	check "a missing image is refused" exits 2 '' judge
}

# --- weft-litmus ------------------------------------------------------------

litmus()
{
	rm -f "$dir/litmus"
	run_nodes "$1" litmus --dir "$dir" "${@:2}" &&
		[ "$(grep -c '^ok ' "$dir/out.$1")" -ge 1 ] &&
		no_line '^not ok ' "$dir/out.$1"
}

test_litmus()
{
	check "weft-litmus --selftest" run litmus --selftest
	check "litmus tests, 3 nodes, 10000 rounds each" litmus 3
	check "all ten of them" [ "$(grep -c '^ok .*: 10000 rounds' "$dir/out.3")" = 10 ]
	check "litmus tests, 4 nodes, in step" litmus 4 --align 1 --delay 1 --rounds 2000
	check "litmus tests, 2 nodes, 17000 rounds" litmus 2 --rounds 17000 --tests MP,2+2W
	check "litmus tests, 1 node" litmus 1 --rounds 500
	check "an unknown test is refused" refused "there is no test XY" \
		run litmus --dir "$dir" --tests XY
	check "a used file is refused" refused "has been here before" \
		run litmus --dir "$dir" --rounds 500
}

# forbidden TEST...: the forbidden outcome of each of them was found.
forbidden()
{
	local test

	cat "$dir/found"
	for test; do
		grep -q "^not ok [0-9]* - ${test//+/[+]}: .*(FORBIDDEN)" "$dir/found" || return 1
	done
}

# broken WHAT TEST...: a run in which that is broken fails.  The rarest outcome comes once
# in a hundred rounds: until that of each test has been found there are more runs, each
# with other pauses.
broken()
{
	local seed

	: >"$dir/found"
	for seed in {1..5}; do
		rm -f "$dir/litmus"
		! run_nodes 3 litmus --dir "$dir" --break "$1" --rounds 1000 --delay 1000 \
			--seed "$seed" || return 1
		cat "$dir/out.3" >>"$dir/found"
		! forbidden "${@:2}" || break
	done
}

# The control: what happens although it is forbidden is found.
test_litmus_control()
{
	local stale=(SB+mfence MP IRIW CoRR CoRR2 WRC)
	local order=(SB+mfence MP LB IRIW 2+2W CoRR CoRR2 WRC S)

	check "loads that see stale copies are an error" broken stale "${stale[@]}"
	check "of each test that can tell" forbidden "${stale[@]}"
	check "threads in the wrong order are an error" broken order "${order[@]}"
	check "of each test" forbidden "${order[@]}"
}

# This machine's own store buffers show: the rounds do overlap.  Each node on a
# processor of its own, since a busy machine may let two share one for long.
test_litmus_sharp()
{
	local name="the weak outcome of SB is seen on this machine"
	local try cpu cpus=() pid

	for cpu in {0..1023}; do
		taskset -c "$cpu" true 2>/dev/null && cpus+=("$cpu")
		[ ${#cpus[@]} -lt 2 ] || break
	done
	if [ ${#cpus[@]} -lt 2 ]; then
		skip "$name" "there is one processor"
		return
	fi
	for try in {1..30}; do
		rm -f "$dir/litmus"
		timeout "$LIMIT" taskset -c "${cpus[0]}" "$BIN/weft-litmus" --dir "$dir" \
			--node 1 --nodes 2 --align 1 --delay $((try % 2)) \
			--rounds 20000 --tests SB >"$dir/out.1" 2>&1 &
		pid=$!
		timeout "$LIMIT" taskset -c "${cpus[1]}" "$BIN/weft-litmus" --dir "$dir" \
			--node 2 --nodes 2 --align 1 --delay $((try % 2)) \
			--rounds 20000 --tests SB >"$dir/out.2" 2>&1 ||
			break
		wait $pid || break
		grep -q 'both loads 0: [0-9]* times.*(allowed)' "$dir/out.2" || continue
		ok "$name"
		return
	done
	not_ok "$name"
}

# --- weft-bench -------------------------------------------------------------

# results N COMMAND...: N lines of JSON with a value come out.
results()
{
	local n=$1

	shift
	"$@" && [ "$(cat "$dir"/out.* | grep -c '^{"bench":"[a-z]*","label":"[^"]*","value":[0-9.e+]*,.*}$')" = "$n" ] &&
		cat "$dir"/out.* >>"$dir/results"
}

test_bench()
{
	: >"$dir/results"
	check "fill" run bench fill --file "$dir/data" --size 16M
	check "scan" results 6 run bench scan --file "$dir/data" --reference "$dir/copy" \
		--repeats 3 --target 0.95
	check "scan with read()" results 3 run bench scan --read --file "$dir/data" \
		--reference "$dir/copy"
	check "seqread" results 1 run bench seqread --file "$dir/data"
	check "seqread with read()" results 1 run bench seqread --read --file "$dir/data"
	check "randread" results 4 run bench randread --file "$dir/data" --count 50 \
		--threads 1,2,4,8
	check "randread wants fresh pages" refused "are needed" \
		run bench randread --file "$dir/data" --count 5000
	check "pingpong" results 1 run_nodes 2 bench pingpong --dir "$dir" --count 200
	check "counter" results 2 run_nodes 3 bench counter --dir "$dir" --threads 1,2
	check "contend" results 3 run_nodes 3 bench contend --dir "$dir" --count 20 --repeats 2
	check "table" bench_table
	printf x | dd of="$dir/data" bs=1 seek=8000000 conv=notrunc status=none
	check "wrong contents are noticed in order" refused "wrong contents" \
		run bench seqread --file "$dir/data"
	check "and against the copy" refused "differ" \
		run bench scan --file "$dir/data" --reference "$dir/copy"
	check "and in random order" refused "wrong contents" bench_all_wrong
	check "no results, no table" exits 1 '' run bench tsv </dev/null
	check "histograms become tables" bench_hist
	check "no histograms, no table" refused 'no histograms' run bench hist <"$dir/asked.json"
	check "all is reached: exit status 0" verdict 0 'reached  scan mapped' 0.97 0.96
	check "a goal is missed: exit status 3" verdict 3 'MISSED   scan mapped' 0.97 0.94
	check "nothing is asked for: exit status 1" verdict 1 'asks for nothing'
}

# verdict STATUS TEXT RATIO...: bench.sh's last step, of results with a target of 0.95.
verdict()
{
	local ratio

	for ratio in "${@:3}"; do
		echo "{\"bench\":\"scan\",\"label\":\"mapped\",\"value\":$ratio,\"unit\":\"ratio\",\"target\":0.95}"
	done >"$dir/asked"
	echo '{"bench":"scan","label":"mapped file","value":900,"unit":"MB/s"}' >>"$dir/asked"
	timeout "$LIMIT" "$BIN/weft-bench" tsv <"$dir/asked" >"$dir/asked.tsv" || return 1
	exits "$1" "$2" awk -f tools/bench/verdict.awk "$dir/asked.tsv"
}

bench_table()
{
	timeout "$LIMIT" "$BIN/weft-bench" tsv <"$dir/results" >"$dir/tsv" || return 1
	# 21 results and a heading; all lines have seven columns.
	[ "$(awk -F'\t' 'NF == 7' "$dir/tsv" | grep -c .)" = 22 ] &&
		grep -q "^scan	mapped	.*	ratio	0.95$" "$dir/tsv" || return 1
	command -v gnuplot >/dev/null || return 0
	gnuplot -e "in='$dir/tsv'; out='$dir/plot.svg'" tools/bench/plot.gp \
		>"$dir/out.9" 2>&1 && grep -q 'scan mapped' "$dir/plot.svg" &&
		! [ -s "$dir/out.9" ]
}

# Of a node, as weftctl tells them, and of a program; one is empty, one has no end.
bench_hist()
{
	echo '{"node":2,"latency":{"miss":{"count":4,"sum_ns":9,"mean_ns":2.250,"p50_below_ns":2,"p99_below_ns":8,"buckets":[{"below_ns":2,"count":3},{"below_ns":8,"count":1}]},"none":{"count":0,"sum_ns":0,"mean_ns":null,"p50_below_ns":null,"p99_below_ns":null,"buckets":[]}}}' >"$dir/asked"
	echo '{"bench":"run","lock":"mcs","count":7,"data":{"count":2,"sum_ns":9,"mean_ns":4.500,"p50_below_ns":64,"p99_below_ns":null,"buckets":[{"below_ns":64,"count":1},{"below_ns":null,"count":1}]}}' >>"$dir/asked"
	echo '{"bench":"run","lock":"mcs","count":7}' | tee "$dir/asked.json" >>"$dir/asked"
	timeout "$LIMIT" "$BIN/weft-bench" hist <"$dir/asked" >"$dir/table" || return 1
	equal "$(printf '%s\n' 'node 2 miss	count	share' '2	3	0.75' '8	1	1' '' '' \
		'mcs data	count	share' '64	1	0.5')" "$(cat "$dir/table")" || return 1
	command -v gnuplot >/dev/null || return 0
	gnuplot -e "in='$dir/table'; out='$dir/hist.svg'" tools/bench/hist.gp \
		>"$dir/out.9" 2>&1 && grep -q 'node 2 miss' "$dir/hist.svg" &&
		grep -q 'mcs data' "$dir/hist.svg" && ! [ -s "$dir/out.9" ]
}

bench_all_wrong()
{
	truncate -s 0 "$dir/data"
	truncate -s 1M "$dir/data"
	run bench randread --file "$dir/data" --count 10 --repeats 1
}

built "$BIN"/weft-{wordcount,ledger,stress,check,litmus,bench}
begin programs "$(in_memory)"
for name in $(compgen -A function test_); do
	[[ $name == *${1-}* ]] || continue
	"$name"
done
finish
