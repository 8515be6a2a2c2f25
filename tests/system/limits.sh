#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What programs are refused, and what they are not killed for:
#
#	node1 node2 mem1 -- switch
#
# Locks that would hold on one node only are refused on both.  The cache is charged to the
# node, not to the container that faulted first.
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

LIMITS=$BUILD/tests/system-limits
REGION_MB=48
GROUP_MB=24
CACHE_MB=64
CONTENTS_LIMIT=$((300 * SCALE))	# seconds to go through a region

# --- Locks that the kernel knows --------------------------------------------------

# refused NODE FILE: every kind, and nobody is refused to give up what nobody has.
refused()
{
	on "$1" "$LIMITS" locks "$2" >"$dir/kinds" || return 1
	cat "$dir/kinds"
	awk '
		/unlock/ { if ($2 != "ok") bad = 1; next }
		/^lease/ { if ($2 != "EINVAL") bad = 1; n++; next }
		{ if ($2 != "ENOLCK") bad = 1; n++ }
		END { exit bad || n != 15 }' "$dir/kinds"
}

# said_once NODE: one sentence that says what to do, however often it was asked.
said_once()
{
	on "$1" dmesg >"$dir/dmesg" || return 1
	grep 'asked for a lock' "$dir/dmesg"
	equal 1 "$(grep -c 'asked for a lock by flock() or fcntl(), refused with ENOLCK.*libweft-preload' \
		"$dir/dmesg")"
}

directory_refused()
{
	exits 71 'No locks available' on "$1" flock -n /weft true
}

kernel_locks()
{
	local node

	check "a region" on node1 truncate -s 4096 /weft/locked
	for node in node1 node2; do
		check "$node: no lock is granted that others would not see" \
			refused $node /weft/locked
		check "$node: nor one of the directory" directory_refused $node
		check "$node: the log says why, once" said_once $node
	done
}

# --- A container and the cache -----------------------------------------------------

# group_up: a control group on node2 that may have $GROUP_MB of memory, and no swap.
group_up()
{
	on node2 sh -c "mkdir -p /tmp/groups && mount -t cgroup2 none /tmp/groups &&
		echo +memory >/tmp/groups/cgroup.subtree_control && mkdir /tmp/groups/small &&
		echo ${GROUP_MB}M >/tmp/groups/small/memory.max &&
		{ echo 0 >/tmp/groups/small/memory.swap.max || true; }"
}

# in_group COMMAND...: on node2.
in_group()
{
	limited "$CONTENTS_LIMIT" "$RACK" --name "$run_name" exec node2 -- \
		sh -c 'echo $$ >/tmp/groups/small/cgroup.procs && exec "$@"' sh "$@"
}

# all_pages HOW: a program of the group sees every page.
all_pages()
{
	in_group "$LIMITS" "$1" /weft/large $((REGION_MB << 20)) >"$dir/pages"
	equal "$((REGION_MB * 256)) ok" "$(<"$dir/pages")"
}

# group_is KEY WANTED
group_is()
{
	on node2 cat /tmp/groups/small/memory.events >"$dir/events" || return 1
	cat "$dir/events"
	equal "$2" "$(sed -n "s/^$1 //p" "$dir/events")"
}

# cached: bytes that node2 has in its cache.
cached()
{
	counters_of_status node2 | sed -n 's/^.*cache[._]bytes //p' | head -n 1
}

counters_of_status()
{
	on "$1" "$BIN/weftctl" -j status | awk -f tools/demo/counters.awk
}

# cache_within MB: it is not empty, and not larger than mounted.
cache_within()
{
	local bytes

	bytes=$(cached)
	echo "cached: $bytes bytes"
	[ -n "$bytes" ] && [ "$bytes" -gt $(($1 << 19)) ] && [ "$bytes" -le $(($1 << 20)) ]
}

# group_uses_less MB: of what is in the cache nothing is charged to it.
group_uses_less()
{
	local bytes

	bytes=$(on node2 cat /tmp/groups/small/memory.current) || return 1
	echo "charged: $bytes bytes"
	[ "$bytes" -lt $(($1 << 20)) ]
}

container()
{
	check "node 1 fills a region of $REGION_MB MiB" limited "$CONTENTS_LIMIT" \
		"$RACK" --name "$run_name" exec node1 -- sh -c \
		"tr '\\0' x </dev/zero | head -c $((REGION_MB << 20)) >/weft/large"
	check "a group of $GROUP_MB MiB on node 2" group_up
	check "a program in it maps and reads $REGION_MB MiB" all_pages map
	check "the blocks are in the cache" cache_within "$CACHE_MB"
	check "none of them is charged to the group" group_uses_less 8
	check "nobody was killed" group_is oom_kill 0
	check "node 2 has a cache of 16 MiB" on node2 mount -o remount,cache=16M /weft
	check "a program in the group reads $REGION_MB MiB by read()" all_pages read
	check "the cache is as large as it may be, and not larger" cache_within 16
	check "a program in the group writes $REGION_MB MiB" in_group \
		dd if=/dev/zero of=/weft/large bs=1M count=$REGION_MB conv=notrunc status=none
	check "nobody was killed" group_is oom_kill 0
	check "its limit was never met" group_is max 0
}

built "$LIMITS"
begin limits
boot --nodes 2 --switch p4 --mem 512M --blade-mem 256M --cache ${CACHE_MB}M
kernel_locks
container
end_rack
finish
