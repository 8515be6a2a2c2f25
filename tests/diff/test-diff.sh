#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Is the directory in P4 the directory of the core, and would the test notice if it
# were not?  The program is interpreted, as racks do it, and then run as machine code if it
# can be compiled here.
#
#	tests/diff/test-diff.sh [interpreted]	only that
#
# Environment: BUILD, where the programs are; WEFT_DIFF_FRAMES (1000000) of each comparison, of
# the smaller ones a fifth of that.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

diff=$BUILD/bin/weft-diff
spec=p4/generated/weft_pna.spec
FRAMES=${WEFT_DIFF_FRAMES:-1000000}
MUTATED=400000	# with fewer frames not all errors are met

# same NAME OPTION...: the comparison does well; what the frames have met is shown.
same()
{
	check "$1" "$diff" "${@:2}" && show
}

# differs OPTION...: the comparison finds a difference.
differs()
{
	exits 1 DIFFERENCE "$diff" "$@" && grep -q '^DIFFERENCE' "$dir/exits"
}

built "$diff"
begin diff
same "$FRAMES random frames" --frames "$FRAMES"
same "other frames" --frames $((FRAMES / 5)) --seed 20261121
same "errors in the core are found" --frames "$MUTATED" --mutate all

# ... and in the program: another answer, a counter that counts by two.
sed 's/^\(.*mov h\.weft\.type\) 0x25$/\1 0x26/' "$spec" >"$dir/answer.spec"
sed 's/^\(.*add m\.[a-zA-Z_]*count_value\) 0x1$/\1 0x2/' "$spec" >"$dir/count.spec"
check "a wrong answer is found" differs --frames 20000 --spec "$dir/answer.spec"
check "a wrong counter is found" differs --frames 20000 --spec "$dir/count.spec"
check "no program" exits 2 "cannot read the program" "$diff" --spec "$dir/none.spec"

# compiled SPEC LIBRARY: what the compiler said is in $dir/compiled.
compiled()
{
	tools/switchd/compile "$@" 2>"$dir/compiled"
	local code=$?

	cat "$dir/compiled" >&2
	return $code
}

translated()
{
	no_line "does not know" "$dir/compiled"
}

untranslated()
{
	compiled "$dir/dpdk.spec" "$dir/dpdk.so" && grep -q "'regprefetch'" "$dir/compiled"
}

if [ "${1-}" = interpreted ]; then
	note "as machine code: not asked for"
elif compiled "$spec" "$dir/weft.so"; then
	check "every instruction is translated" translated
	same "$FRAMES random frames, compiled" --frames "$FRAMES" --seed 2 --compiled "$dir/weft.so"
	same "errors in the core are found, compiled" --frames "$MUTATED" --mutate all --compiled "$dir/weft.so"
	# one that the translator does not know, and that does nothing
	sed 's/^\trx .*/&\n\tregprefetch tag 0x0/' "$spec" >"$dir/dpdk.spec"
	check "an instruction that is not" untranslated
	same "frames through DPDK's instructions, compiled" --frames $((FRAMES / 5)) --seed 3 \
		--spec "$dir/dpdk.spec" --compiled "$dir/dpdk.so"
	check "compiled from another program" exits 2 "another program" \
		"$diff" --frames 100 --spec "$dir/count.spec" --compiled "$dir/weft.so"
	check "no library" exits 2 "cannot load" \
		"$diff" --frames 100 --compiled "$dir/none.so"
elif grep -q "cannot compile" "$dir/compiled"; then
	check "the program is compiled" false
else
	skip "the compiled program" "it needs the source package of DPDK"
fi
finish
