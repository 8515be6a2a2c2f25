#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The preload library's locks beside those of the C library: in turns, in one process, as
# ratios.  Without a rack, as test-preload.sh.  What else runs takes the processors' caches
# away, which the library needs more of: so this runs alone (tests/list).
#
#	tests/preload/test-speed.sh
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

SHIM=$BUILD/lib/libweft-preload.so
FAKE=$BUILD/tests/libweft-fake.so
LIMIT=$((100 * ${WEFT_TEST_SCALE:-1}))	# seconds for one process

# What each case must reach of what the C library does in the same run, as the median of
# pairs of turns.  On a machine that does nothing else more is reached: see the table of
# make bench-locks.
LEAST=(read1=0.65 write1=0.65 mutex1=0.65 write2=0.65 share2=0.65 many1=0.5 many2=0.5
	contend2=0.4 contend4=0.4 read-out=0.7 mutex-out=0.7)

# fast FILE: as many pairs of lock and unlock a second as that.  One process in some forty
# was slow from its begin to its end, with the same instructions, on a machine that did other
# things as well: so what was too slow is measured by another process then, up to three times.
fast()
{
	local left=("${LEAST[@]}") try

	for try in 1 2 3 4; do
		[ $try = 1 ] || { sleep 10; echo "# and once more:"; }
		fast_enough "$1.$try" "${left[@]}" && return
		mapfile -t left <"$dir/slow"
		[ ${#left[@]} -gt 0 ] || return 1
	done
	return 1
}

# fast_enough FILE CASE=LEAST...: those that are too slow stand in $dir/slow then; none does if
# the process has failed.
fast_enough()
{
	local cases=("${@:2}")

	: >"$dir/slow"
	WEFT_FAKE_DIR=$dir LD_PRELOAD=$SHIM:$FAKE timeout "$LIMIT" \
		"$BUILD/tests/preload-pairs" "$1" 15 "${cases[@]%=*}" >"$dir/pairs" || return 1
	cat "$dir/pairs"
	[ "$(wc -l <"$dir/pairs")" = ${#cases[@]} ] || return 1
	awk -v least="${cases[*]}" -v slow="$dir/slow" -F'"' '
		BEGIN {
			n = split(least, l, /[ =]/)
			for (i = 1; i < n; i += 2)
				limit[l[i]] = l[i + 1]
		}
		/"case"/ {
			ratio = $0
			sub(/.*"ratio": /, "", ratio)
			printf "pairs: %s: %s of glibc\n", $8, ratio + 0
			if (ratio + 0 < limit[$4]) {
				print "too slow: less than " limit[$4]
				print $4 "=" limit[$4] >slow
				bad = 1
			}
		}
		END { exit bad }' "$dir/pairs"
}

built "$SHIM" "$FAKE" "$BUILD/tests/preload-pairs"
begin preload-speed "$(in_memory)"
check 'beside the locks of the C library, in one run' fast "$dir/region"
show
finish
