#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The main job: the nodes of a rack count the words of one text together.
#
#	tools/demo/demo.sh [--nodes N] [--mb N] [--keep] [-- OPTIONS OF weft-rack up]
#
# Boots a rack, copies a text into a region on node 1, has all nodes count its
# words into a table in another region at once, lets the last node print the
# result, and another one all counts, compares these with what coreutils count
# on this machine, and says what happened.  Then a plain POSIX program moves money
# between accounts on all nodes, under rwlocks, with the preload library, and a
# key-value store is read and written by all.  Exit status 0 only if all counts are
# equal, no money is lost and the store is right.  --mb takes only so much of the text,
# --keep leaves the rack running.  What guests run on is what works here (weft-rack accel);
# user-mode kernels need a module of their own (make uml).  What takes long tells how far it is,
# and how long it will take still: in one line at a terminal, else in a line every few seconds.
# Environment: BUILD, the build directory; WEFT_RACK, another weft-rack; WEFT_DEMO_OUT (BUILD/demo),
# where its files are; WEFT_TEST_SCALE, what limits are multiplied with.

set -u -o pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 2

BUILD=${BUILD:-$PWD/build}
BIN=$BUILD/bin
SHIM=$BUILD/lib/libweft-preload.so
OUT=${WEFT_DEMO_OUT:-$BUILD/demo}
RACK=("${WEFT_RACK:-tools/rack/weft-rack}" --name demo)
# Text: all licenses, and the Collaborative International Dictionary of English.
LICENSES=/usr/share/common-licenses
DICTIONARY=/usr/share/dictd/gcide.dict.dz
DICTIONARY_PACKAGE=dict-gcide
# A batch of 1 MB: each node goes through the shared table once a megabyte.
BATCH=1M
# Of each node, in the program with locks.
TRANSFERS=6000
RECORDS=500
SCALE=${WEFT_TEST_SCALE:-1}
BOOT_LIMIT=$((300 * SCALE))	# seconds
JOB_LIMIT=$((3600 * SCALE))	# while it gets on; STEP_LIMIT if it does not
STEP_LIMIT=$((200 * SCALE))
TELL_EVERY=5		# seconds between two lines of progress; at a terminal 1
[ ! -t 1 ] || TELL_EVERY=1

nodes=3
mb=
keep=
up_options=()
while [ $# -gt 0 ]; do
	case $1 in
	--nodes) nodes=${2-}; shift ;;
	--mb)	mb=${2-}; shift ;;
	--keep)	keep=1 ;;
	--)	shift; up_options=("$@"); break ;;
	*)	sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
	shift
done
[[ $nodes =~ ^[2-8]$ ]] || { echo "demo: --nodes takes 2 to 8" >&2; exit 2; }
[[ $mb =~ ^([1-9][0-9]*)?$ ]] || { echo "demo: --mb takes a number" >&2; exit 2; }

say()
{
	printf 'demo: %s\n' "$*"
}

die()
{
	echo "demo: $*" >&2
	exit 1
}

now()
{
	echo "${EPOCHREALTIME/./}"
}

# seconds SINCE: with one digit.
seconds()
{
	local tenths=$((($(now) - $1) / 100000))

	echo "$((tenths / 10)).$((tenths % 10)) s"
}

# --- Progress -----------------------------------------------------------------

# farthest FILE...: "DONE TOTAL", of all "progress" lines the one that is farthest.
farthest()
{
	cat "$@" 2>/dev/null | awk '$1 == "progress" && $2 >= done { done = $2; total = $3 }
		END { if (total) printf "%.0f %.0f\n", done, total }'
}

# in_all FILE...: the same where each file's last line counts.
in_all()
{
	awk '$1 == "progress" { done[FILENAME] = $2; total[FILENAME] = $3 }
		END { for (f in total) { d += done[f]; t += total[f] }
			if (t) printf "%.0f %.0f\n", d, t }' "$@" 2>/dev/null
}

# copied: how much of the text is in its region.
copied()
{
	local at

	# shellcheck disable=SC2016  # expanded there
	at=$(timeout 10 "${RACK[@]}" exec node1 -- sh -c \
		'sed -n "s/^pos:[[:space:]]*//p" "/proc/$(pgrep -x dd)/fdinfo/1"' \
		</dev/null 2>/dev/null)
	[ -z "$at" ] || echo "$at $size"
}

# tell WHAT COMMAND...: now and then how far it is, by the command's "DONE TOTAL".
tell()
{
	local what=$1 begin=$SECONDS told=$SECONDS
	local stop='' never made total spent text

	shift
	# Nothing that it runs may stay behind: it ends by itself when it is told to, and
	# what waits is no sleep, but the shell, for what is never written.
	trap 'stop=1' TERM
	exec {never}<> <(:)
	while [ -z "$stop" ]; do
		read -rt 0.2 -u "$never"
		[ $((SECONDS - told)) -ge "$TELL_EVERY" ] || continue
		told=$SECONDS
		made=0 total=0
		[ $# = 0 ] || read -r made total < <("$@")
		spent=$((SECONDS - begin))
		text="$what: $spent s so far"
		if [ "${made:-0}" -gt 0 ]; then
			text="$what: $((100 * made / total)) % after $spent s"
			text+=", about $((spent * (total - made) / made)) s to go"
		fi
		if [ -t 1 ]; then
			printf '\r\033[Kdemo: %s' "$text"
		else
			say "$text"
		fi
	done
}

# telling WHAT COMMAND...: from now on, until "told".
teller=
telling()
{
	tell "$@" &
	teller=$!
}

told()
{
	[ -n "$teller" ] || return 0
	kill "$teller" 2>/dev/null
	wait "$teller" 2>/dev/null
	teller=
	[ ! -t 1 ] || printf '\r\033[K'
}

# on NODE COMMAND...: run it there, not for ever.
on()
{
	timeout -k 10 "$STEP_LIMIT" "${RACK[@]}" exec "$1" -- "${@:2}" </dev/null
}

# What a failure leaves behind, for whoever looks for its cause: logs and counters.
evidence()
{
	local name dir=$OUT/failed

	mkdir -p "$dir"
	for name in $(seq -f 'node%g' "$nodes") mem1 switch; do
		timeout -k 5 20 "${RACK[@]}" log "$name" >"$dir/$name.log" 2>&1
		[[ $name != node* ]] || timeout -k 5 20 "${RACK[@]}" exec "$name" -- \
			"$BIN/weftctl" stats </dev/null >"$dir/$name.stats" 2>&1
	done
	timeout -k 5 20 "${RACK[@]}" exec mem1 -- cat /var/log/weft-memd.log </dev/null \
		>"$dir/memd.log" 2>&1
	timeout -k 5 20 "${RACK[@]}" status >"$dir/status" 2>&1
	say "logs and counters of all parts are in $dir"
}

up=
finish()
{
	local rc=$?

	told
	[ -z "$up" ] || [ $rc = 0 ] || evidence
	[ -z "$up" ] || [ -n "$keep" ] ||
		timeout -k 10 "$STEP_LIMIT" "${RACK[@]}" down >"$OUT/down" 2>&1 ||
		{ cat "$OUT/down" >&2; return 1; }
}
trap finish EXIT
trap 'exit 130' INT TERM

# --- The text ---------------------------------------------------------------

make_text()
{
	local file

	[ -f $DICTIONARY ] ||
		die "$DICTIONARY is missing: install the package $DICTIONARY_PACKAGE"
	for file in "$LICENSES"/*; do
		[ ! -f "$file" ] || cat "$file"
	done >"$OUT/text"
	gzip -dc $DICTIONARY >>"$OUT/text" || die "$DICTIONARY cannot be unpacked"
	[ -z "$mb" ] || truncate -s "<${mb}M" "$OUT/text"
	size=$(stat -c %s "$OUT/text")
	say "the text has $((size / 1000000)).$((size / 100000 % 10)) MB: licenses, and a dictionary of English"
}

# What coreutils make of it.
count_here()
{
	tr -cs 'A-Za-z' '\n' <"$OUT/text" | tr '[:upper:]' '[:lower:]' | grep . |
		sort | uniq -c | sort -k1,1nr -k2 >"$OUT/expected"
}

# --- Counters ---------------------------------------------------------------

# counters NODE WHAT: what weftctl stats knows there, "NODE path number" lines.
counters()
{
	on "$1" "$BIN/weftctl" stats "$2" -j | awk -f tools/demo/counters.awk |
		sed "s/^/$1 /" || die "$1 cannot tell its counters (weftctl stats $2 -j)"
}

# counters_to FILE: the counters of all nodes, and of the switch once.
counters_to()
{
	local k

	{
		for ((k = 1; k <= nodes; k++)); do
			counters "node$k" node
		done
		counters node1 switch
	} >"$1"
}

# counted OF NAME...: by how much these counters have grown during the job: OF
# all nodes together ("node") or of the "switch".  Nothing if there are none.
# Those of the switch have 32 bits and may have begun again at 0.
counted()
{
	awk -v of="$1" -v names="${*:2}" '
		BEGIN { n = split(names, list, " ")
			for (i = 1; i <= n; i++) want[of ".counters." list[i]] = 1 }
		!($2 in want) { next }
		FNR == NR { before[$1, $2] = $3; next }
		{ grown = $3 - before[$1, $2]
		  sum += grown < 0 ? grown + 4294967296 : grown; found = 1 }
		END { if (found) printf "%.0f\n", sum }
	' "$OUT/counters.before" "$OUT/counters.after"
}

# row LABEL OF NAME...: a line of the report.
row()
{
	local value

	value=$(counted "${@:2}")
	printf '  %-42s %12s\n' "$1" "${value:-not there}"
}

MISSES=(miss_read_unshared miss_read_shared miss_read_modified
	miss_write_unshared miss_write_shared miss_write_modified miss_upgrade)
# The switch counts one of these for each request whose line it holds.
HITS=(read fwd inv grant busy commit query abort)

report()
{
	local misses trips

	echo
	echo "What happened while they counted, all nodes together:"
	row "pages moved to nodes" node blocks_in
	row "misses" node "${MISSES[@]}"
	row "  read, no other copy" node miss_read_unshared
	row "  read, shared" node miss_read_shared
	row "  read, modified elsewhere" node miss_read_modified
	row "  write, no other copy" node miss_write_unshared
	row "  write, shared" node miss_write_shared
	row "  write, modified elsewhere" node miss_write_modified
	row "  write, own copy shared" node miss_upgrade
	row "served by the P4 directory" node miss_by_switch
	row "served by the home directory" node miss_by_home
	row "requests to the P4 directory that hit" switch "${HITS[@]}"
	row "requests to the P4 directory that missed" switch miss
	misses=$(counted node "${MISSES[@]}")
	trips=$(counted node miss_round_trips)
	printf '  %-42s %12s\n' "round trips a miss" \
		"$(awk "BEGIN { m = ${misses:-0}; printf m ? \"%.3f\" : \"none\", ${trips:-0} / (m ? m : 1) }")"
	printf '  %-42s %12s\n' "copying the text into the region" "$copy_time"
	printf '  %-42s %12s\n' "counting" "$count_time"
}

# --- The job ----------------------------------------------------------------

# get_on FILE... -- PID...: waits until these processes have ended, which write how far they are
# to the files.  Ends them when nothing has been written for STEP_LIMIT: a slow machine may take
# its time.  Looks are counted, not the clock, which may jump.
get_on()
{
	local files=() was="" now still=0

	while [ "$1" != -- ]; do
		files+=("$1")
		shift
	done
	shift
	while kill -0 "$@" 2>/dev/null; do
		now=$(cat "${files[@]}" 2>/dev/null | cksum)
		if [ "$now" != "$was" ]; then
			was=$now still=0
		elif ((++still > 2 * STEP_LIMIT)); then
			say "nothing has moved for $STEP_LIMIT s"
			kill "$@" 2>/dev/null
			return
		fi
		sleep 0.5
	done
}

# The nodes count at once; output of node K in $OUT/node.K.
count_there()
{
	local k pids=() rc=0

	for ((k = 1; k <= nodes; k++)); do
		timeout -k 10 "$JOB_LIMIT" "${RACK[@]}" exec "node$k" -- \
			"$BIN/weft-wordcount" --dir /weft --node "$k" \
			--nodes "$nodes" --batch $BATCH --timeout "$JOB_LIMIT" \
			--progress </dev/null >"$OUT/node.$k" 2>&1 &
		pids+=($!)
	done
	telling "counting words" farthest "$OUT"/node.*
	get_on "$OUT"/node.* -- "${pids[@]}"
	for k in "${!pids[@]}"; do
		wait "${pids[k]}" || { rc=1; say "node $((k + 1)) failed:"; grep -v "^progress " "$OUT/node.$((k + 1))"; }
	done
	told
	return $rc
}

compare()
{
	on node2 "$BIN/weft-wordcount" --dir /weft --report --dump \
		>"$OUT/counted" 2>"$OUT/totals" ||
		{ cat "$OUT/totals" >&2; die "node 2 cannot print the counts"; }
	head -n 20 "$OUT/expected" >"$OUT/expected.top"
	grep '^ *[0-9]' "$OUT/node.$nodes" | cmp - "$OUT/expected.top" ||
		{ say "WRONG: node $nodes printed other words than coreutils"; return 1; }
	cmp "$OUT/counted" "$OUT/expected" ||
		{ say "WRONG: the counts are not those of coreutils: compare $OUT/counted with $OUT/expected"; return 1; }
	say "all $(wc -l <"$OUT/expected") counts are equal to those of coreutils"
}

# A program that knows nothing of weft, on all nodes at once, with the preload.
ledger_there()
{
	local k pids=() rc=0

	on node1 env "LD_PRELOAD=$SHIM" "$BIN/weft-ledger" /weft/ledger --open || return 1
	for ((k = 1; k <= nodes; k++)); do
		on "node$k" env "LD_PRELOAD=$SHIM" "$BIN/weft-ledger" /weft/ledger \
			$TRANSFERS >"$OUT/ledger.$k" 2>&1 &
		pids+=($!)
	done
	telling "moving money" in_all "$OUT"/ledger.*
	for k in "${!pids[@]}"; do
		wait "${pids[k]}" || rc=1
	done
	told
	for ((k = 1; k <= nodes; k++)); do
		sed -i '/^progress /d' "$OUT/ledger.$k"
		say "ledger on node $k: $(cat "$OUT/ledger.$k")"
	done
	[ $rc = 0 ] || return 1
	say "audit on node $nodes: $(on "node$nodes" env "LD_PRELOAD=$SHIM" "$BIN/weft-ledger" \
		/weft/ledger $TRANSFERS --audit "$nodes" 2>&1 || echo failed)" | tee "$OUT/audit"
	! grep -q failed "$OUT/audit"
}

# A key-value store: loaded by the first node, read and written by all (YCSB B: 95 %
# reads, keys as unevenly asked for as in the field), checked by the last.
kvs_there()
{
	local k pids=() rc=0

	telling "filling and using the store, of which 5 s are measured"
	on node1 "$BIN/weft-kvs" create /weft/store --buckets 64 &&
		on node1 "$BIN/weft-kvs" load /weft/store --records "$RECORDS" || return 1
	for ((k = 1; k <= nodes; k++)); do
		on "node$k" "$BIN/weft-kvs" bench /weft/store --workload b --seconds 5 \
			--meet /weft/kvs-meeting --node "$k" --nodes "$nodes" --timeout $((60 * SCALE)) \
			-j >"$OUT/kvs.$k" 2>&1 &
		pids+=($!)
	done
	for k in "${!pids[@]}"; do
		wait "${pids[k]}" || { rc=1; cat "$OUT/kvs.$((k + 1))"; }
	done
	told
	[ $rc = 0 ] || return 1
	sed -n 's/.*"operations":\([0-9]*\).*/\1/p' "$OUT"/kvs.* |
		awk '{ n += $1 } END { printf "demo: %d operations in 5 s, YCSB B, zipfian 0.99\n", n }'
	say "check on node $nodes:"
	telling "checking the store"
	on "node$nodes" "$BIN/weft-kvs" check /weft/store >"$OUT/kvs.check" 2>&1
	rc=$?
	told
	cat "$OUT/kvs.check"
	return $rc
}

# How the ledger came by its locks: a transfer takes two, a look eight.
lock_report()
{
	local taken asked

	taken=$(awk '{ n += 2 * $1 + 8 * $3 } END { print n }' "$OUT"/ledger.*)
	asked=$(counted node lock_requests)
	echo
	echo "What happened to locks meanwhile, all nodes together:"
	printf '  %-42s %12s\n' "locks taken" "$taken"
	row "  by asking another machine for it" node lock_requests
	row "  handed over by who had it" node lock_handed
	printf '  %-42s %12s\n' "  from the cache, without a message" \
		"$(awk "BEGIN { printf \"%.1f %%\", 100 * (1 - ${asked:-0} / $taken) }")"
}

for program in weft-wordcount weft-ledger weft-kvs weftctl; do
	[ -x "$BIN/$program" ] || die "$BIN/$program is not built: run make first"
done
rm -rf "$OUT"
mkdir -p "$OUT"
make_text
count_here &
counting=$!

start=$(now)
owner=()
[ -n "$keep" ] || owner=(--owner $$)
# Its own lines rewrite themselves at a terminal.
[ -t 2 ] || telling "booting the rack, at most $BOOT_LIMIT s"
timeout -k 10 $BOOT_LIMIT "${RACK[@]}" up --nodes "$nodes" \
	${owner[@]+"${owner[@]}"} ${up_options[@]+"${up_options[@]}"} || die "the rack does not come up"
told
# not before: one that is up already is somebody else's
up=1
say "the rack is up after $(seconds "$start")"
wait $counting || die "coreutils could not count the words"

start=$(now)
on node1 truncate -s "$size" /weft/text || die "node 1 cannot make /weft/text"
telling "copying the text" copied
on node1 dd if="$OUT/text" of=/weft/text bs=1M conv=notrunc status=none ||
	die "node 1 cannot copy the text to /weft/text"
copy_time=$(seconds "$start")
told

counters_to "$OUT/counters.before"
start=$(now)
count_there || die "the nodes did not finish"
count_time=$(seconds "$start")
counters_to "$OUT/counters.after"

for ((k = 1; k <= nodes; k++)); do
	grep '^node' "$OUT/node.$k"
done
echo
echo "The 20 most frequent words, printed by node $nodes:"
grep '^ *[0-9]' "$OUT/node.$nodes"
grep '^total' "$OUT/node.$nodes"
report
echo
telling "comparing"
compare || exit 1
told

echo
say "a plain POSIX program with rwlocks between processes, unmodified, with libweft-preload.so:"
counters_to "$OUT/counters.before"
ledger_there || die "money was lost, or the nodes did not finish"
counters_to "$OUT/counters.after"
lock_report

echo
say "a key-value store with a lock a bucket, whose data moves with its lock:"
kvs_there || die "the store is not as it should be"
echo
[ -z "$keep" ] || say "the rack is still there: ${RACK[*]} exec node1 -- ls -l /weft"
finish || die "the rack did not go down well"
up=
