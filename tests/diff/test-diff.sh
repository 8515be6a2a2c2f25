#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Is the directory in P4 the directory of the core, and would the test notice if it
# were not?  The program is interpreted, and then run as machine code if it can be
# compiled here.  $BUILD is where the programs are.
#
# shellcheck disable=SC2317 # functions are arguments of check

set -u
BUILD=${BUILD:-build}
diff=$BUILD/bin/weft-diff
spec=p4/generated/weft_pna.spec
failed=0

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

check()
{
	what=$1
	shift
	if "$@"; then
		echo "ok $what"
	else
		echo "not ok $what"
		failed=1
	fi
}

# says WORDS COMMAND...: the command fails with status 2, and says so why.
says()
{
	words=$1
	shift
	"$@" >"$tmp/out" 2>&1
	status=$?
	if [ "$status" != 2 ] || ! grep -q -- "$words" "$tmp/out"; then
		cat "$tmp/out"
		return 1
	fi
}

# differs COMMAND...: the comparison finds a difference.
differs()
{
	"$@" >"$tmp/out" 2>&1
	status=$?
	if [ "$status" != 1 ] || ! grep -q '^DIFFERENCE' "$tmp/out"; then
		tail -n 3 "$tmp/out"
		return 1
	fi
}

check "a million random frames" "$diff"
check "other frames" "$diff" --frames 200000 --seed 20261121
check "errors in the core are found" "$diff" --frames 400000 --mutate all

# ... and in the program: another answer, a counter that counts by two.
sed 's/^\(.*mov h\.weft\.type\) 0x25$/\1 0x26/' "$spec" >"$tmp/answer.spec"
sed 's/^\(.*add m\.[a-zA-Z_]*count_value\) 0x1$/\1 0x2/' "$spec" >"$tmp/count.spec"
check "a wrong answer is found" differs "$diff" --frames 20000 --spec "$tmp/answer.spec"
check "a wrong counter is found" differs "$diff" --frames 20000 --spec "$tmp/count.spec"
check "no program" says "cannot read the program" "$diff" --spec "$tmp/none.spec"

if BUILD=$BUILD tools/switchd/compile "$spec" "$tmp/weft.so"; then
	check "a million random frames, compiled" "$diff" --seed 2 --compiled "$tmp/weft.so"
	check "errors in the core are found, compiled" \
		"$diff" --frames 400000 --mutate all --compiled "$tmp/weft.so"
	check "compiled from another program" says "another program" \
		"$diff" --frames 100 --spec "$tmp/count.spec" --compiled "$tmp/weft.so"
	check "no library" says "cannot load" \
		"$diff" --frames 100 --compiled "$tmp/none.so"
else
	echo "skipped: the compiled program (it needs the source package of DPDK)"
fi
exit $failed
