#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# weft-kvs without a rack: with POSIX locks in ordinary files, and with those of
# libweft, whose kernel's part is played by tests/common/kernel/fake.c.
#
#	tests/kvs/test-kvs.sh [PATTERN]
#
# Prints a line a test; PATTERN selects by name.  Environment: BUILD;
# WEFT_KVS_SECONDS (1), of each run.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh
. tests/tries.sh

KVS=$BUILD/bin/weft-kvs
FAKE=$BUILD/tests/libweft-fake.so
SHIM=$BUILD/lib/libweft-preload.so
LOCKS=$BUILD/tests/kvs-locks.so
SECONDS_RUN=${WEFT_KVS_SECONDS:-1}
LIMIT=$((60 * ${WEFT_TEST_SCALE:-1}))	# seconds for any one program

# kvs ARGUMENT...
kvs()
{
	timeout "$LIMIT" "$KVS" "$@"
}

# fake ARGUMENT...: the files of $dir/weft are regions.
fake()
{
	WEFT_FAKE_DIR=$dir/weft LD_PRELOAD=$FAKE timeout "$LIMIT" "$KVS" "$@"
}

# shim ARGUMENT...: the same for POSIX locks.
shim()
{
	WEFT_FAKE_DIR=$dir/weft LD_PRELOAD=$SHIM:$FAKE timeout "$LIMIT" "$KVS" "$@"
}

# library ARGUMENT...: with the kinds of locks of the tests.
library()
{
	kvs "$@" --lock-library "$LOCKS"
}

# prints TEXT COMMAND...: just that.
prints()
{
	local found

	found=$("${@:2}") || return 1
	equal "$1" "$found"
}

# make HOW OPTION...: a new store.
make()
{
	rm -f "$store"
	"$1" create "$store" "${@:2}"
}

# --- The command line -----------------------------------------------------------

commands()
{
	make kvs --locks pthread --buckets 4 &&
		kvs put "$store" colour blue && kvs put "$store" size '' &&
		prints blue kvs get "$store" colour && prints '' kvs get "$store" size &&
		kvs put "$store" colour 'light red' && prints 'light red' kvs get "$store" colour &&
		head -c 3072 /dev/zero | tr '\0' x | kvs put "$store" long - &&
		prints 3073 eval "kvs get $store long | wc -c" &&
		exits 1 'up to 3072 bytes' eval "head -c 3073 /dev/zero | kvs put $store long -" &&
		exits 1 'no such key' kvs get "$store" smell &&
		exits 1 'no such key' kvs del "$store" smell &&
		kvs del "$store" colour && exits 1 'no such key' kvs get "$store" colour &&
		exits 0 '2 keys, 0 of them' kvs check "$store" &&
		exits 0 '"keys":2,"records":0' kvs check -j "$store"
}

refusals()
{
	make kvs --locks pthread --buckets 4 || return 1
	exits 1 'remove it first' kvs create "$store" &&
		exits 1 'no such kind' kvs create "$store.2" --locks nothing &&
		exits 1 'power of two' kvs create "$store.2" --locks pthread --buckets 3 &&
		exits 1 'must be on a mounted weft' kvs create "$store.2" &&
		exits 1 'No such file' kvs get "$store.2" a &&
		exits 1 'run weft-kvs load' kvs bench "$store" &&
		exits 1 'is never free again' kvs bench "$store" --kill 10 &&
		exits 1 '--meet' kvs bench "$store" --nodes 2 &&
		exits 1 'give a, b or c' kvs bench "$store" --workload d &&
		exits 2 'usage' kvs && exits 2 'usage' kvs get "$store" &&
		exits 2 'usage' kvs check "$store" --nothing && exits 0 'usage' kvs --help &&
		echo nothing >"$dir/text" && exits 1 'it is no store' kvs check "$dir/text" &&
		truncate -s 100K "$dir/text" && exits 1 'it is no store' kvs get "$dir/text" a &&
		truncate -s -4096 "$store" && exits 1 'has been cut' kvs check "$store"
}

# number KEY: of the line of JSON in $dir/json
number()
{
	sed -n "s/.*\"$1\":\([0-9.e+-]*\)[,}].*/\1/p" "$dir/json"
}

json()
{
	make kvs --locks pthread --buckets 64 && kvs load "$store" --records 500 &&
		kvs bench "$store" --workload b --operations 10000 --processes 2 --threads 2 \
			--seed 3 -j >"$dir/json" && cat "$dir/json" || return 1
	python3 -c 'import json,sys; json.load(sys.stdin)' <"$dir/json" || return 1
	# 2000 updates are expected; 50 are more than 4 standard deviations.
	[ "$(number operations)" = 40000 ] &&
		[ $(($(number reads) + $(number updates))) = 40000 ] &&
		[ "$(number updates)" -gt 1800 ] && [ "$(number updates)" -lt 2200 ] &&
		kvs check "$store" -j >"$dir/checked" && cat "$dir/checked" &&
		grep -q "\"versions\":$((500 + $(number updates))),\"changes_min\":$((500 + $(number updates))),\"changes_max\":$((500 + $(number updates)))," "$dir/checked"
}

# What is done before the time is not in the results, but in the store.
warm()
{
	make kvs --locks pthread --buckets 64 && kvs load "$store" --records 500 &&
		kvs bench "$store" --warm 4 --seconds 1 -j >"$dir/json" && cat "$dir/json" &&
		kvs check "$store" -j >"$dir/checked" && cat "$dir/checked" || return 1
	updates=$(number updates)
	awk -v s="$(number seconds)" 'BEGIN { exit !(s >= 0.9 && s < 4.9) }' || return $UNLUCKY
	mv "$dir/checked" "$dir/json"
	[ "$updates" -gt 0 ] && [ "$(number versions)" -gt $((updates + updates / 8)) ] ||
		return $UNLUCKY
}

# The same seed does the same.
seeds()
{
	local a='' b='' c='' seed

	for seed in 1 1 2; do
		make kvs --locks pthread --buckets 16 && kvs load "$store" --records 300 &&
			kvs bench "$store" --operations 2000 --seed $seed -j >"$dir/json" || return 1
		c=$b b=$a a=$(number updates)/$(od -An -v -tx1 "$store" | sha1sum)
	done
	echo "$a; $b; $c"
	[ "$b" = "$c" ] && [ "$a" != "$b" ]
}

# --- Many processes ---------------------------------------------------------------

# run HOW OPTION...: all workloads, and everything is right.
run()
{
	local how=$1 workload

	shift
	make "$how" "$@" && "$how" load "$store" --records 1000 --threads 3 || return 1
	for workload in a b c; do
		"$how" bench "$store" --workload $workload --processes 3 --threads 2 \
			--seconds "$SECONDS_RUN" --sample 1 || return 1
	done
	"$how" check "$store"
}

# killed HOW OPTION...: processes are killed all the time.  Each may have been
# between a change and its being counted.
killed()
{
	local how=$1 k

	shift
	make "$how" "$@" && "$how" load "$store" --records 500 &&
		"$how" bench "$store" --processes 3 --kill 30 --seconds "$((SECONDS_RUN * 2))" -j \
			>"$dir/json" && cat "$dir/json" && "$how" check "$store" -j >"$dir/checked" &&
		cat "$dir/checked" || return 1
	k=$(number killed)
	cp "$dir/checked" "$dir/json"
	[ $(($(number changes_max) - $(number changes_min))) -le "$k" ] &&
		"$how" check --settle "$store" && "$how" check "$store" -j >"$dir/json" &&
		[ "$(number changes_max)" = "$(number changes_min)" ] &&
		[ "$(number sessions)" = 0 ] &&
		"$how" bench "$store" --processes 2 --seconds 1 && "$how" check "$store" || return 1
	[ "$k" -ge 5 ] || return $UNLUCKY
}

# Two that know of each other by their files only, as on two machines.
meeting()
{
	local pid rc=0

	make fake --buckets 16 && fake load "$store" --records 200 || return 1
	rm -f "$dir/weft/meet"
	fake bench "$store" --meet "$dir/weft/meet" --node 1 --nodes 2 \
		--seconds "$SECONDS_RUN" --timeout 30 &
	pid=$!
	fake bench "$store" --meet "$dir/weft/meet" --node 2 --nodes 2 \
		--seconds "$SECONDS_RUN" --timeout 30 || rc=1
	wait $pid || rc=1
	[ $rc = 0 ] && fake check "$store" &&
		exits 1 'has been here before' fake bench "$store" --meet "$dir/weft/meet" \
			--node 2 --nodes 2 --timeout 3
}

# --- What must be found -------------------------------------------------------------

# Locks that do not lock: either a process sees it, or check does.
unlocked()
{
	local i

	for ((i = 0; i < 20; i++)); do
		make kvs --lock-library "$LOCKS" --locks none --buckets 4 &&
			exits 1 'see --lock-library' kvs check "$store" &&
			library load "$store" --records 20 || return 1
		library bench "$store" --processes 4 --seconds 1 --seed $i || break
		library check "$store" || break
	done >"$dir/unlocked" 2>&1
	cat "$dir/unlocked"
	grep -q 'WRONG' "$dir/unlocked"
}

# A process in a lock that is never left: the benchmark ends, and says so.
stuck()
{
	local pid

	make kvs --locks spin --buckets 1 && kvs load "$store" --records 10 || return 1
	# Of the bucket, which is the last but one block: write-locked by process 1.
	python3 - "$store" <<-END || return 1
		import struct, sys
		f = open(sys.argv[1], "r+b")
		f.seek(0x80 + 16)
		g = struct.unpack("<16I", f.read(64))
		f.seek(g[12] * g[1] + 24)
		f.write(struct.pack("<I", 1))
		f.seek(g[12] * g[1])
		f.write(struct.pack("<I", 2))
	END
	exits 1 'a lock cannot be had' kvs bench "$store" --seconds 1 --timeout 2
}

built "$KVS" "$FAKE" "$LOCKS" "$SHIM"
begin kvs "$(in_memory)"
pattern=${1-}
mkdir "$dir/weft"
store=$dir/weft/store
check "store: functions, with locks of a library" env "KVS_LOCKS=$LOCKS" "$BUILD/tests/kvs-store"
check "commands" commands
check "refusals" refusals
check "json" json
check "warm" tries 3 warm
check "seeds" seeds
check "run: pthread" run kvs --locks pthread --buckets 64
check "run: spin" run kvs --locks spin --buckets 64
check "run: locks with an area of their own" \
	run library --locks big --buckets 64
check "run: libweft" run fake --buckets 64
check "run: libweft, long buckets" run fake --buckets 4 --overflow 2000
check "run: libweft, large blocks" run fake --buckets 64 --block 16K --bucket-blocks 2
check "run: libweft-preload" run shim --locks pthread --buckets 64
check "killed: libweft" tries 3 killed fake --buckets 16
check "killed: libweft, blocks come and go" tries 3 killed fake --buckets 8 --overflow 1000
check "killed: libweft-preload" tries 3 killed shim --locks pthread --buckets 16
check "meeting" meeting
check "unlocked: locks that do not lock are found" unlocked
check "stuck: a lock that is never left is found" stuck
finish
