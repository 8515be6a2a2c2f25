#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The preload library without a rack: the kernel's part is played by what is
# preloaded behind it (tests/libweft/fake.c), regions are files of a directory in
# memory.
#
#	tests/preload/test-preload.sh [PATTERN]
#
# Prints a line a test; PATTERN selects by name.  Environment: BUILD;
# WEFT_KILL_SECONDS (10), for how long processes are killed.

set -u
cd "$(dirname "$0")/../.." || exit 2

BUILD=${BUILD:-$PWD/build}
SHIM=$BUILD/lib/libweft-preload.so
FAKE=$BUILD/tests/libweft-fake.so
LIMIT=100		# seconds for any one program
export LC_ALL=C

base=/dev/shm
[ -w $base ] || base=${TMPDIR:-/tmp}
dir=$(mktemp -d "$base/weft-preload.XXXXXX") || exit 2
trap 'rm -rf "$dir"' EXIT
out=$(mktemp) || exit 2
trap 'rm -rf "$dir" "$out"' EXIT

number=0
failures=0

# check NAME COMMAND...: it must succeed; its output tells why it does not.
check()
{
	local name=$1

	shift
	[[ $name == *"$pattern"* ]] || return 0
	if "$@" >"$out" 2>&1; then
		echo "ok $((++number)) - $name"
		grep -E '^[a-z]+: ' "$out" | grep -v '^weft: ' | sed 's/^/# /'
	else
		echo "not ok $((++number)) - $name"
		failures=$((failures + 1))
		tail -n 30 "$out" | sed 's/^/# /'
	fi
}

# alone PROGRAM ARGUMENT...: without the preload library.
alone()
{
	timeout "$LIMIT" "$BUILD/tests/preload-$1" "${@:2}"
}

# outside PROGRAM ARGUMENT...: with it, and no region.
outside()
{
	LD_PRELOAD=$SHIM timeout "$LIMIT" "$BUILD/tests/preload-$1" "${@:2}"
}

# inside PROGRAM ARGUMENT...: with it, and files of $dir are regions.
inside()
{
	WEFT_FAKE_DIR=$dir LD_PRELOAD=$SHIM:$FAKE \
		timeout "$LIMIT" "$BUILD/tests/preload-$1" "${@:2}"
}

# says TEXT COMMAND...: it is said why something was refused.
says()
{
	"${@:2}" 2>&1 | grep -F -- "$1"
}

# together: several programs that know of each other by the region only.
together()
{
	local pids=() pid bad=0

	for _ in 1 2 3; do
		inside count "$dir/together" 2 3000 6 &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || bad=1
	done
	return $bad
}

# across: two programs, one of each side.
across()
{
	local bad=0

	inside across "$dir/across" 1 &
	inside across "$dir/across" 2 || bad=1
	wait $! && return $bad
}

# A version would keep programs from calling the library: the C library's are
# called then, silently.
no_versions()
{
	! nm -D --defined-only "$SHIM" | grep '@'
}

# Nothing is visible but what is to be called.
few_symbols()
{
	nm -D --defined-only "$SHIM" "$BUILD/lib/libweft.so.0" | awk '
		NF == 3 && $3 !~ /^(__)?pthread_(rwlock|mutex|cond|barrier)_/ &&
		$3 !~ /^sem_/ && $3 !~ /^weft_(rwlock_|attach$|detach$)/ &&
		$3 !~ /^(mmap|mmap64|munmap|mremap|close|close_range|closefrom|dup2|dup3)$/ {
			print "visible: " $3
			bad = 1
		}
		END { exit bad }'
}

# header LANGUAGE: it compiles by itself, and what it defines.
header()
{
	command -v g++ >/dev/null || [ "$1" = c ] || return 0
	printf '%s\n' '#include "tools/libweft/lock.h"' 'struct money { long cents; };' \
		'WEFT_RWLOCK_OF(account, struct money);' \
		'int f(struct account *a) { return account_init(a); }' |
		gcc -x "$1" -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I. -
}

# judged FILE: no slower than it should be.
judged()
{
	inside speed "$1" 300 | tee "$dir/times"
	awk -F'[:,}]' '
		/"(outside|inside)"/ {
			inside = /"inside"/
			for (i = 1; i < NF; i++)
				if ($i ~ /_ratio"/ && $(i + 1) + 0 > (inside ? 2.5 : 1.4)) {
					print "too slow: " $0
					bad = 1
				}
			lines++
		}
		END { exit bad || lines != 4 }' "$dir/times"
}

# ratios FILE: the same, when the machine lets it: what is too slow is too slow each
# time, and what others on the machine take is not.
ratios()
{
	local turn

	for turn in 1 2 3 4 5 6; do
		judged "$1.$turn" && return
		sleep "$turn"
	done
	return 1
}

pattern=${1-}
for file in "$SHIM" "$FAKE" "$BUILD/tests/preload-posix"; do
	[ -e "$file" ] || { echo "test-preload: $file is not built: run make test-programs" >&2; exit 2; }
done

check 'symbols carry no version' no_versions
check 'symbols: only what is to be called' few_symbols
check 'lock.h compiles as C' header c
check 'lock.h compiles as C++' header c++
check 'posix: the C library alone' alone posix
check 'posix: preloaded, no region' outside posix
check 'posix: preloaded, in a region' inside posix "$dir/posix"
check 'shim: mappings, files, refusals' inside shim "$dir"
rm -f "$dir"/*shim
check 'shim: a condition variable elsewhere is refused aloud' \
	says 'weft: a condition variable outside of regions' inside shim "$dir"
check 'count: one program' inside count "$dir/count" 4 20000
check 'count: several programs' together
check 'across: two programs' across
check 'kill: holders and waiters' inside kill "$dir/kill" "${WEFT_KILL_SECONDS:-10}"
check 'torture: many locks, many who wait, many who die' \
	inside torture "$dir/torture" 1 1 20000 5
check 'steps: instructions of a cached lock, and of one outside' inside steps "$dir/steps"
check 'speed: a cached lock, and one outside' ratios "$dir/speed"
[ $failures = 0 ] || { echo "$failures of $number failed"; exit 1; }
echo "all $number passed"
