#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The preload library without a rack: the kernel's part is played by what is
# preloaded behind it (tests/common/kernel/fake.c), regions are files of a directory in
# memory.  How fast it is: test-speed.sh.
#
#	tests/preload/test-preload.sh [PATTERN]
#
# Prints a line a test; PATTERN selects by name.  Environment: BUILD;
# WEFT_KILL_SECONDS (5), for how long processes are killed.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

SHIM=$BUILD/lib/libweft-preload.so
FAKE=$BUILD/tests/libweft-fake.so
MAPPING=$BUILD/tests/preload-mapping.so
LIMIT=$((100 * ${WEFT_TEST_SCALE:-1}))	# seconds for any one program

# measured NAME COMMAND...: a check; what the programs say of themselves is shown.
measured()
{
	check "$@" && grep -E '^[a-z]+: ' "$dir/check" | grep -v '^weft: ' | sed 's/^/# /'
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

# inside PROGRAM ARGUMENT...: with it, and files of $regions are regions.
inside()
{
	WEFT_FAKE_DIR=$regions LD_PRELOAD=$SHIM:$FAKE \
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
	local pids=()

	for _ in 1 2 3; do
		inside count "$regions/together" 2 3000 6 &
		pids+=($!)
	done
	wait_all "${pids[@]}"
}

# across: two programs, one of each side.
across()
{
	local bad=0

	inside across "$regions/across" 1 &
	inside across "$regions/across" 2 || bad=1
	wait $! && return $bad
}

# with_malloc LIBRARY: beside a malloc() that may map memory in the midst of anything.  Who waits
# for itself for ever has signals blocked.
with_malloc()
{
	timeout -s KILL "$LIMIT" env "WEFT_FAKE_DIR=$regions" "LD_PRELOAD=$SHIM:$FAKE:$1" \
		MALLOC_CONF=retain:false,dirty_decay_ms:0,muzzy_decay_ms:0 \
		"$BUILD/tests/preload-malloc" "$regions/malloc"
}

# beside PACKAGE LIBRARY: the same, if it is there.
beside()
{
	if ldconfig -p | grep -qF "$2 "; then
		measured "malloc: that of $1" with_malloc "$2"
	else
		skip "malloc: that of $1" "no $2: apt-get install $1"
	fi
}

# plugin: one whose locks are to be bound to the C library first, and a program whose linker says
# where it is, as dlopen() of that program has to look there.
plugin()
{
	mkdir -p "$dir/plugins" &&
		printf '%s\n' '#include <pthread.h>' \
			'int plugin_trylock(pthread_mutex_t *m) { return pthread_mutex_trylock(m); }' \
			'int plugin_unlock(pthread_mutex_t *m) { return pthread_mutex_unlock(m); }' |
		gcc -x c -shared -fPIC -o "$dir/plugins/plugin.so" - &&
		gcc -D_GNU_SOURCE -I. -Iuapi -pthread -Wl,--enable-new-dtags \
			"-Wl,-rpath,$dir/plugins" -o "$dir/past" tests/preload/past.c &&
		timeout "$LIMIT" env "WEFT_FAKE_DIR=$regions" "LD_PRELOAD=$SHIM:$FAKE" \
			"$dir/past" "$regions/plugin" plugin.so
}

# silent: the rack does not answer at first, and no program sees an error of it.
silent()
{
	WEFT_FAKE_SILENT=12 inside count "$regions/silent" 3 2000
}

# waited: it is through, and what it has printed.
waited()
{
	local bad=0

	wait "$waits" || bad=1
	cat "$dir/wait"
	return $bad
}

# A version would keep programs from calling the library: the C library's are
# called then, silently.
no_versions()
{
	nm -D --defined-only "$SHIM" >"$dir/symbols" && no_line '@' "$dir/symbols"
}

# Nothing is visible but what is to be called.
few_symbols()
{
	nm -D --defined-only "$SHIM" "$BUILD/lib/libweft.so.0" >"$dir/symbols" || return 1
	grep -q ' pthread_mutex_lock$' "$dir/symbols" && awk '
		NF == 3 && $3 !~ /^(__)?pthread_(rwlock|mutex|cond|barrier)_/ &&
		$3 !~ /^(sem|mtx|cnd)_/ && $3 !~ /^weft_(rwlock_|attach$|detach$|wait$|wake$)/ &&
		$3 !~ /^(syscall|dlopen|mmap|mmap64|munmap|mremap|close|close_range|closefrom|dup2|dup3)$/ {
			print "visible: " $3
			bad = 1
		}
		END { exit bad }' "$dir/symbols"
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

built "$SHIM" "$FAKE" "$MAPPING" "$BUILD/tests/preload-posix"
PATH=$PATH:/sbin:/usr/sbin	# ldconfig
begin preload "$(in_memory)"
pattern=${1-}
regions=$dir/regions
mkdir "$regions"

# Most of this is waiting: it runs beside others that compute little.
inside wait "$regions/wait" >"$dir/wait" 2>&1 &
waits=$!
check 'symbols carry no version' no_versions
check 'symbols: only what is to be called' few_symbols
check 'lock.h compiles as C' header c
check 'lock.h compiles as C++' header c++
measured 'posix: the C library alone' alone posix
measured 'posix: preloaded, no region' outside posix
measured 'posix: preloaded, in a region' inside posix "$regions/posix"
measured 'shim: mappings, files, refusals' inside shim "$regions"
rm -f "$regions"/*shim
check 'shim: a condition variable elsewhere is refused aloud' \
	says 'weft: a condition variable outside of regions' inside shim "$regions"
measured 'count: one program' inside count "$regions/count" 4 20000
measured 'count: several programs' together
measured 'across: two programs' across
check 'died: owners whose machine died, and robust mutexes' inside died "$regions/died"
measured 'malloc: one that maps each block' with_malloc "$MAPPING"
beside libjemalloc2 libjemalloc.so.2
beside libtcmalloc-minimal4 libtcmalloc_minimal.so.4
measured 'past: locks of C11, and of who goes past the library' inside past "$regions/past"
check 'past: that is told, once' [ "$(grep -c '^weft: a mutex in a region is used by' "$dir/check")" = 1 ]
check 'past: a plugin to be bound to the C library' plugin
check 'past: that it is not bound so is told, once' \
	[ "$(grep -c '^weft: a plugin is loaded without RTLD_DEEPBIND' "$dir/check")" = 1 ]
measured 'silent: a rack that does not answer at first is waited for' silent
measured 'wait: what ends waiting, and what wakes' waited
measured 'kill: holders and waiters' inside kill "$regions/kill" "${WEFT_KILL_SECONDS:-5}"
measured 'torture: many locks, many who wait, many who die' \
	inside torture "$regions/torture" 1 1 20000 5
measured 'steps: instructions of a cached lock, and of one outside' inside steps "$regions/steps"
finish
