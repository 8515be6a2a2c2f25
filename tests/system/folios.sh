#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Blocks that are one folio each, in a rack of two emulated nodes: user-mode kernels have no
# folios of several pages.
#
#	node1 node2 mem1 -- switch
#
# They are folios, and single pages where the kernel has none; both in one history that
# weft-check judges, with a cache that is too small; the end of a region within one; memory
# that is locked; a device that writes into one while another node wants it.
#
#	tests/system/folios.sh
#
# Environment: BUILD; WEFT_STRESS_OPS (20000).

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

FOLIO=$BUILD/tests/system-folio
PINS=$BUILD/tests/system-pins
OPS=${WEFT_STRESS_OPS:-20000}
RUN_LIMIT=$((400 * SCALE))
LOGS=/run/stress-logs	# in the guests
PAGES=512		# 2 MiB, twice the cache
TRIES=5			# of a transfer, while this machine is too slow for it

# folios PAGES: so many of a region of 1 MiB, on node 2.
folios()
{
	on node1 sh -c 'head -c 1M /dev/urandom >/weft/folios' || return 1
	equal "$1" "$(on node2 "$FOLIO" folios /weft/folios)" &&
		on node1 rm /weft/folios
}

# single NODE: blocks that it makes from now on are single pages; not single NODE: folios.
single()	{ on "$1" sh -c 'echo 0 >/sys/module/weft/parameters/block_folio'; }
one_folio()	{ on "$1" sh -c 'echo 1 >/sys/module/weft/parameters/block_folio'; }

judge()
{
	limited "$RUN_LIMIT" "$BIN/weft-check" --min-ops "$OPS" --min-foreign $((OPS / 100)) \
		"$dir"/logs/stress-log.* "$dir"/logs/stress-image.*
}

# stress RUN: two threads on each node, at pages that do not fit into the cache.
stress()
{
	remember
	check "$1: the guests have a place for logs" on nodes mkdir "$LOGS"
	check "$1: 2 nodes x 2 threads work on $PAGES pages" \
		on_nodes "$RUN_LIMIT" "$BIN/weft-stress" --out "$LOGS" --node %K --nodes %N \
			--threads 2 --pages $PAGES --ops $((OPS / 4 + 2)) --burst 64 \
			--seconds "$RUN_LIMIT" --timeout "$RUN_LIMIT"
	look
	rm -rf "$dir/logs"
	mkdir "$dir/logs"
	check "$1: the logs come to the host" take "$LOGS" "$dir/logs"
	check "$1: the history of $OPS accesses is right" judge
	note "$1: $(grown folios) folios, $(grown folios_failed) were not to be had," \
		"evicted $(grown evicted_clean evicted_modified), invalidated $(grown invalidated)"
	check "$1: blocks were evicted" at_least 20 "$(grown evicted_clean evicted_modified)"
	check "$1: folios were made" at_least 20 "$(grown folios)"
	check "$1: the nodes are ready for more" on node1 sh -c 'rm -f /weft/stress-*'
	check "$1: and have room" on nodes rm -rf "$LOGS"
}

# behind BYTES: nobody can touch what is behind the end, though the block goes on there.
behind()
{
	on node1 sh -c "head -c $1 /dev/urandom >/weft/end" || return 1
	equal SIGBUS "$(on node1 "$FOLIO" beyond /weft/end)" &&
		equal SIGBUS "$(on node2 "$FOLIO" beyond /weft/end)" && on node2 rm /weft/end
}

# shortened FROM TO: what was cut off within a block reads as zeros, and the rest as before.
shortened()
{
	on node1 sh -c "head -c $1 /dev/urandom >/weft/cut && head -c $2 /weft/cut | sha256sum" \
		>"$dir/first" || return 1
	on node2 sh -c "cat /weft/cut >/dev/null && truncate -s $2 /weft/cut && truncate -s $1 /weft/cut" ||
		return 1
	on node1 sh -c "head -c $2 /weft/cut | sha256sum" | cmp - "$dir/first" &&
		equal 0 "$(on node1 sh -c "tail -c +$(($2 + 1)) /weft/cut | tr -d '\\0' | wc -c")" &&
		on node1 rm /weft/cut
}

# kept: of a region that a program has locked in memory no block is evicted.
kept()
{
	on node2 sh -c 'head -c 512K /dev/urandom >/weft/kept' || return 1
	on node1 sh -c 'rm -f /run/test-kept
		setsid "$0" keep /weft/kept 524288 >/run/test-kept 2>&1 </dev/null &
		echo $! >/run/test-pid
		for i in $(seq 100); do [ ! -s /run/test-kept ] || break; sleep 0.3; done
		grep -qx kept /run/test-kept' "$FOLIO" || return 1
	on node2 sh -c 'head -c 4M /dev/urandom >/weft/other' || return 1
	on node1 cat /weft/other >"$dir/out"
	remember
	on node1 cat /weft/kept >"$dir/out"
	look
	on node1 sh -c 'kill "$(cat /run/test-pid)"'
	equal 0 "$(grown miss_read_unshared miss_read_shared miss_read_modified)"
}

# ... and when it is not locked any more, they are.
let_go()
{
	on node1 cat /weft/other >"$dir/out"
	remember
	on node1 cat /weft/kept >"$dir/out"
	look
	at_least 4 "$(grown miss_read_unshared miss_read_shared miss_read_modified)" &&
		on node1 rm /weft/kept /weft/other
}

# pinned HOW: see races.sh.
pinned()
{
	local turn said=late other

	for ((turn = 1; turn <= TRIES; turn++)); do
		[ "$said" = late ] || break
		on node1 sh -c 'rm -f /weft/pinned && head -c 128K /dev/zero >/weft/pinned' || return 1
		on node2 "$PINS" other /weft/pinned >"$dir/other" 2>&1 &
		other=$!
		said=$(on node1 "$PINS" device /weft/pinned "$1")
		wait "$other" || { cat "$dir/other"; return 1; }
	done
	equal ok "$said"
}

built "$BIN"/{weft-stress,weft-check,weftctl} "$FOLIO" "$PINS"
begin folios
boot --nodes 2 --switch p4 --mem 512M
if ! on node1 test -e /sys/kernel/mm/transparent_hugepage; then
	end_rack
	skip folios "these kernels have no folios of several pages"
	finish
fi
check "blocks of 4 KiB are single pages" folios 0
check "regions have blocks of 64K from now on" on nodes mount -o remount,block=64K /weft
check "then they are folios" folios 256
check "single pages, if the administrator wants that" single node2
check "then they are none" folios 0
check "a cache of 1 MB" on nodes mount -o remount,cache=1M /weft
stress mixed
check "folios again" one_folio node2
stress folios
for bytes in 4096 65535 69632 100000; do
	check "a region ends behind $bytes bytes" behind $bytes
done
check "it is cut off within a block, on a page" shortened 200000 143360
check "and within a page" shortened 200000 70001
check "what is locked in memory stays in the cache" kept
check "and nothing else does" let_go
for how in mapped unmapped; do
	check "a device writes into a block that is $how, and so does node 2" pinned $how
done
end_rack
finish
