#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Cycles of mount, work, unmount, weftctl down, rmmod, insmod, weftctl up leave
# nothing behind: no memory, no warning in the kernel's log, no socket, workqueue or
# slab cache; and the memory blade has the same data all the time.
#
#	node1 (cycles) node2 (looks on) mem1 -- switch
#
#	tests/system/lifecycle.sh [CYCLES]	(20; twice that if memory seems to grow)
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

CYCLES=${1:-20}
WARM_UP=4		# cycles after which nothing may grow
# A cycle goes through 520 lines (400 KB of kernel memory) and 2 MB of pages; a few
# hundredths of that may be lost.  Without a leak single values scatter by 170 KB and
# 1.5 MB, as they do with modules of the kernel's own (xfs, dummy), so that medians of
# eight may seem to grow.  More cycles tell: a leak goes on, scatter averages out.
KERNEL_LEAK=12		# KB a cycle
LEAK=100
SAME_MB=1

# cycle N
cycle()
{
	on node1 "$PWD/tests/system/lifecycle-node.sh" "$BUILD" "$1" "$sum" >"$dir/cycle" 2>&1 &&
		grep '^left ' "$dir/cycle" >>"$dir/left"
	local rc=$?

	cat "$dir/cycle"
	return "$rc"
}

# cycles N: the next N.
cycles()
{
	local last=$((done_cycles + $1))

	while [ $done_cycles -lt $last ]; do
		check "cycle $((done_cycles + 1))" cycle $((done_cycles + 1)) || return 1
		done_cycles=$((done_cycles + 1))
	done
}

# medians FIELD HALF: of the first HALF cycles after the warm-up, and of the last.
medians()
{
	local field=$1 half=$2 part

	for part in "$(sed -n "$((WARM_UP + 1)),$((WARM_UP + half))p" "$dir/left")" \
			"$(tail -n "$half" "$dir/left")"; do
		cut -d' ' -f"$field" <<<"$part" | sort -n | sed -n "$(((half + 1) / 2))p"
	done
}

# grows_not FIELD KB: not by KB a cycle.
grows_not()
{
	local before after half=$(((done_cycles - WARM_UP) / 2))

	{ read -r before; read -r after; } < <(medians "$1" "$half")
	echo "medians of $half cycles: $before KB, later $after KB; all:" \
		"$(cut -d' ' -f"$1" "$dir/left" | tr '\n' ' ')"
	[ -n "$before" ] && [ -n "$after" ] && [ $((after - before)) -le $((half * $2)) ]
}

nothing_grows()
{
	grows_not 2 "$KERNEL_LEAK" && grows_not 3 "$LEAK"
}

log_is_right()
{
	on node2 cat /weft/log >"$dir/log" && seq "$done_cycles" | cmp - "$dir/log"
}

same_is_right()
{
	[ "$(on node2 sha256sum /weft/same | cut -d' ' -f1)" = "${sum%% *}" ]
}

no_node_1()
{
	[ "$(counters node2 memory | awk '$1 == "memory.total.nodes" { print $2 }')" = 2 ]
}

[ "$CYCLES" -ge $((WARM_UP + 6)) ] || { echo "lifecycle: $((WARM_UP + 6)) cycles at least" >&2; exit 2; }
begin lifecycle
boot --nodes 2 --switch p4 --mem 512M --cache 16M
head -c "${SAME_MB}M" /dev/urandom >"$dir/same"
sum=$(sha256sum <"$dir/same")
check "node 2 writes what must stay the same" on node2 dd if="$dir/same" of=/weft/same \
	bs=64K status=none
: >"$dir/left"
done_cycles=0
if cycles "$CYCLES" && ! nothing_grows >"$dir/grows"; then
	note "memory seems to grow: more cycles tell"
	note "$(tail -n 1 "$dir/grows")"
	cycles "$CYCLES"
fi
check "kernel memory that is in use does not grow" grows_not 2 "$KERNEL_LEAK"
note "$(sed -n 1p "$dir/check")"
check "memory in use does not grow" grows_not 3 "$LEAK"
note "$(sed -n 1p "$dir/check")"
check "node 2 sees what node 1 wrote in all cycles" log_is_right
check "node 2 reads what it wrote" same_is_right
check "the memory blade knows of two nodes" no_node_1
end_rack
finish
