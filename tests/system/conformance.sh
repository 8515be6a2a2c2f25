#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a conformance suite says of rwlocks and mutexes: with the preload library the
# same as without, for locks outside of regions; and the same for locks inside.
#
#	node1 node2 node3 mem1 -- switch
#
#	tests/system/conformance.sh [SUITE]
#
# SUITE (or WEFT_CONFORMANCE) is the directory open_posix_testsuite of the Linux Test
# Project's sources, nothing of which is here or is changed.  Each of its programs
# that is about rwlocks, mutexes and their attributes is linked with a main() of ours
# and runs three times: alone; with the preload library and a region mapped beside,
# both on this machine; and on a node of a rack, with what it keeps in variables
# inside a region (tests/conformance/place.c).  The whole table is left in
# BUILD/tests/conformance.table.
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
. tests/system/common.sh

NODES=3
RUN=tests/conformance/run.sh
SHIM=$BUILD/lib/libweft-preload.so
FAKE=$BUILD/tests/libweft-fake.so
PROGRAMS=$BUILD/tests/conformance
RUN_LIMIT=$((1500 * SCALE))	# seconds for all programs
TEST_LIMIT=$((60 * SCALE))	# for one
AGAIN=3		# times that a difference is looked at again: some go by the clock
JOBS=4		# at a time on this machine; they mostly sleep

# What cannot be had inside, as threads of several machines wait for one lock: that
# mutexes know priorities, and that a reader of a higher priority passes a writer who
# came first.  Of these it is known how they fail.
mutexes="weft: a mutex in a region cannot inherit or protect priorities"
declare -A impossible=(
	[pthread_mutex_getprioceiling_1-1]=$mutexes
	[pthread_mutex_getprioceiling_3-3]=$mutexes
	[pthread_mutex_setprioceiling_1-1]=$mutexes
	[pthread_rwlock_rdlock_2-3]="Test FAILED: rd_thread blocked on read lock"
)

# compile SUITE: its programs become PROGRAMS/NAME.test.
compile()
{
	local interfaces=$1/conformance/interfaces source directory name
	local strict=(-std=c99 -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700 -w)

	rm -rf "$PROGRAMS"
	mkdir -p "$PROGRAMS"
	gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -c tests/conformance/place.c \
		-o "$PROGRAMS/place.o" || return 1
	for source in "$interfaces"/pthread_{rwlock,rwlockattr,mutex,mutexattr}_*/{,speculative/}*.c; do
		grep -qs test_main "$source" || continue
		directory=$(dirname "$source")
		name=${source#"$interfaces/"}
		name=${name%.c}
		name=$PROGRAMS/${name//\//_}
		gcc "${strict[@]}" -I"$1/include" -I"$directory" -I"${directory%/speculative}" \
			-c "$source" -o "$name.o" &&
			gcc -o "$name.test" "$name.o" "$PROGRAMS/place.o" -pthread -lrt ||
			return 1
		! grep -q 'fork()' "$source" || : >"$name.test.forks"
		rm "$name.o"
	done
	[ "$(find "$PROGRAMS" -name '*.test' | wc -l)" -ge 100 ] ||
		{ echo "these are no hundred programs: is $1 the suite?"; return 1; }
}

# here MODE PROGRAMS: on this machine, where the kernel's part is played.
here()
{
	local part pids=() bad

	for ((part = 1; part <= JOBS; part++)); do
		SHIM=$SHIM:$FAKE WEFT_FAKE_DIR=$regions WEFT_TEST_LIMIT=$TEST_LIMIT \
			timeout "$RUN_LIMIT" "$RUN" "$1" "$2" "$regions" "$part" "$JOBS" \
			>"$dir/$1.$part" 2>&1 </dev/null &
		pids+=($!)
	done
	wait_all "${pids[@]}"
	bad=$?
	cat "$dir/$1".* >"$dir/said"
	rm "$dir/$1".*
	sed -n 's/^\([^# ][^ ]* [0-9]*\)$/\1/p' "$dir/said" | sort >"$dir/results.$1"
	return "$bad"
}

# In memory, where a region's size may be any.
begin_regions()
{
	regions=$(mktemp -d "$(in_memory)/weft-conformance.XXXXXX") || exit 2
	at_exit rm -rf "$regions"
}

# differ A B: programs whose results differ.
differ()
{
	join "$dir/results.$1" "$dir/results.$2" | awk '$2 != $3 { print $1 }'
}

# same: outside of regions; what differs is looked at again, by itself.
same()
{
	local turn name

	here alone "$PROGRAMS" && here beside "$PROGRAMS" || return 1
	cp "$dir/results.alone" "$dir/all.alone"
	cp "$dir/results.beside" "$dir/all.beside"
	differ alone beside >"$dir/different"
	for ((turn = 0; turn < AGAIN; turn++)); do
		[ -s "$dir/different" ] || break
		rm -rf "$dir/again"
		mkdir "$dir/again"
		while read -r name; do
			cp "$PROGRAMS/$name".* "$dir/again"
		done <"$dir/different"
		here alone "$dir/again" && here beside "$dir/again" || return 1
		differ alone beside >"$dir/different"
	done
	[ "$(wc -l <"$dir/all.alone")" = "$(find "$PROGRAMS" -name '*.test' | wc -l)" ] ||
		{ echo "not all programs have run"; return 1; }
	[ ! -s "$dir/different" ] || { cat "$dir/different"; return 1; }
}

# inside: in the rack.  The programs are copied to where /tmp does not hide them.
inside()
{
	on_nodes "$STEP_LIMIT" sh -c "mkdir -p /run/conformance/programs &&
		cp $PROGRAMS/*.test* /run/conformance/programs/ &&
		cp $SHIM $RUN /run/conformance/ && mkdir -p /dev/shm" || return 1
	on_nodes "$RUN_LIMIT" env SHIM=/run/conformance/libweft-preload.so \
		WEFT_TEST_LIMIT="$TEST_LIMIT" /run/conformance/run.sh inside \
		/run/conformance/programs /weft %K %N || return 1
	cat "$dir"/out.* >"$dir/said.inside"
	sed -n 's/^\([^# ][^ ]* [0-9]*\)$/\1/p' "$dir/said.inside" | sort >"$dir/all.inside"
	[ "$(wc -l <"$dir/all.inside")" = "$(wc -l <"$dir/all.alone")" ] ||
		{ echo "not all programs have run"; return 1; }
}

# What passes alone passes inside.
passes()
{
	local name alone in bad=0

	while read -r name alone in; do
		if [ "$alone" != 0 ] || [ -n "${impossible[$name]-}" ]; then
			continue
		elif [ "$in" != 0 ]; then
			echo "$name: exit status $in"
			sed -n "s/^# $name: //p" "$dir/said.inside"
			bad=1
		fi
	done < <(join "$dir/all.alone" "$dir/all.inside")
	return "$bad"
}

# What is said to be impossible is, and in the way that is known.
refused()
{
	local name bad=0

	for name in "${!impossible[@]}"; do
		grep -q "^# $name: ${impossible[$name]}" "$dir/said.inside" ||
			{ echo "$name does not say: ${impossible[$name]}"; bad=1; }
	done
	return "$bad"
}

# Exit statuses of the suite.
table()
{
	{
		echo "program alone beside inside"
		join "$dir/all.alone" "$dir/all.beside" | join - "$dir/all.inside"
	} | awk '
		BEGIN { word[0] = "pass"; word[1] = "FAIL"; word[2] = "unresolved"
			word[4] = "unsupported"; word[5] = "untested"; word[124] = "TIMEOUT" }
		{
			for (i = 2; i <= 4; i++)
				if ($i in word)
					$i = word[$i]
			printf "%-48s %-12s %-12s %s\n", $1, $2, $3, $4
		}'
}

suite=${1-${WEFT_CONFORMANCE-}}
if [ -z "$suite" ]; then
	echo "skipped: no suite is named with WEFT_CONFORMANCE: see tests/system/conformance.sh"
	exit 77
fi
built "$SHIM" "$FAKE" "$BIN/weftctl"
begin conformance
begin_regions
check "the suite compiles" compile "$suite" || exit 1
check "outside of regions: the same with the preload library as without" same
boot --nodes $NODES --switch p4
check "inside of regions: all programs run" inside &&
	check "inside of regions: what passes without passes" passes
check "inside of regions: priorities have no influence, and what wants them is told" refused
table >"$BUILD/tests/conformance.table"
grep -v 'pass  *pass  *pass$' "$BUILD/tests/conformance.table" | sed 's/^/# /'
note "$(grep -c 'pass  *pass  *pass$' "$BUILD/tests/conformance.table") programs pass everywhere;" \
	"all: $BUILD/tests/conformance.table"
end_rack
finish
