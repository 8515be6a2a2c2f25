# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the tests of weft-kvs without a rack share; sourced by the scripts beside it,
# which run at the top of the tree, with the pattern that selects tests:
#
#	. tests/kvs/common.sh [PATTERN]
#	check NAME COMMAND...		as often as needed
#	finish
#
# $dir is a directory in memory; it is removed, and what runs in the background is
# ended, whatever happens.  Environment: BUILD, the build directory.

# Read by the scripts that include this one.
# shellcheck disable=SC2034
BUILD=${BUILD:-$PWD/build}
KVS=$BUILD/bin/weft-kvs
export LC_ALL=C

base=/dev/shm
[ -w $base ] || base=${TMPDIR:-/tmp}
dir=$(mktemp -d "$base/weft-kvs.XXXXXX") || exit 2

# shellcheck disable=SC2317,SC2329  # called by a trap
cleanup()
{
	local pids

	mapfile -t pids < <(jobs -pr)
	[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

number=0
failures=0
pattern=${1-}

# check NAME COMMAND...: it must succeed; its output tells why it does not.
check()
{
	local name=$1

	shift
	[[ $name == *"$pattern"* ]] || return 0
	if "$@" >"$dir/output" 2>&1; then
		echo "ok $((++number)) - $name"
	else
		echo "not ok $((++number)) - $name"
		failures=$((failures + 1))
		tail -n 30 "$dir/output" | sed 's/^/# /'
	fi
}

# says STATUS TEXT COMMAND...: it ends with that exit status, and says that.
says()
{
	local rc

	"${@:3}" >"$dir/says" 2>&1
	rc=$?
	cat "$dir/says"
	echo "exit status $rc, wanted $1, with '$2'"
	[ $rc = "$1" ] && grep -qF -- "$2" "$dir/says"
}

# finish: the status of the script.
finish()
{
	echo "1..$number"
	[ "$number" -gt 0 ] && [ "$failures" = 0 ]
}
