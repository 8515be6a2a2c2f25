#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How many instructions the switch takes for a message to its directory. Time differs
# from run to run; this does not. $BUILD is where the programs are.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

diff=$BUILD/bin/weft-diff
spec=p4/generated/weft_pna.spec
# 768 were counted (GCC 12); 1738 with what DPDK writes, 4958 interpreted.
MOST=1000

# count MESSAGES: what the pipeline executes for as many, and to get there.
count()
{
	timeout -k 10 100 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		--collect-atstart=no --toggle-collect=pipeline_work \
		"$diff" --bench --messages "$1" --compiled "$dir/weft.so" 2>&1 |
		sed -n 's/.*Collected : *\([0-9][0-9]*\)$/\1/p'
}

few()
{
	local first second each

	first=$(count 2560)
	second=$(count 12800)
	[ -n "$first" ] && [ -n "$second" ] || return
	each=$(((second - first) / 10240))
	echo "$each instructions for a message"
	[ "$each" -gt 0 ] && [ "$each" -le "$MOST" ]
}

built "$diff"
begin count
if ! command -v valgrind >/dev/null; then
	skip "instructions for a message" "there is no valgrind"
elif ! tools/switchd/compile "$spec" "$dir/weft.so"; then
	skip "instructions for a message" "it needs the source package of DPDK"
else
	check "instructions for a message" few
fi
finish
