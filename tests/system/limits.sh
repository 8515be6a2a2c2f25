#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What programs are refused, and what they are not killed for:
#
#	node1 node2 mem1 -- switch
#
# Locks that would hold on one node only are refused on both.  The cache is charged to the
# node, not to the container that faulted first.  One user's locks and regions have an end,
# with an errno, and are not in the way of others.
#
#	tests/system/limits.sh [PART...]	(all; they are the functions called at the end)
#
# A part leaves no region behind and no limit of its own: memory that it kept, and limits
# that it set, would be another part's failure.
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

LIMITS=$BUILD/tests/system-limits
REGION_MB=24
GROUP_MB=12
CACHE_MB=32
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
	check "that region goes" on node1 rm /weft/locked
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

# looks_as_asked: who allocates memory waits for that.
looks_as_asked()
{
	local asked looked

	on node2 sh -c 'echo 2 >/proc/sys/vm/drop_caches' && counters node2 >"$dir/shrunk" || return 1
	asked=$(sed -n 's/^node[.]counters[.]shrink_asked //p' "$dir/shrunk")
	looked=$(sed -n 's/^node[.]counters[.]shrink_looked //p' "$dir/shrunk")
	echo "asked for $asked blocks, looked at $looked"
	[ "$asked" -gt 0 ] && [ "$looked" -gt 0 ] && [ "$looked" -le "$asked" ]
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
	check "node 2 has a cache of 8 MiB" on node2 mount -o remount,cache=8M /weft
	check "a program in the group reads $REGION_MB MiB by read()" all_pages read
	check "the cache is as large as it may be, and not larger" cache_within 8
	check "the kernel wants memory: no more of it is looked at than it asks for" looks_as_asked
	check "a program in the group writes $REGION_MB MiB" in_group \
		dd if=/dev/zero of=/weft/large bs=1M count=$REGION_MB conv=notrunc status=none
	check "nobody was killed" group_is oom_kill 0
	check "its limit was never met" group_is max 0
	check "node 2 has the cache that it had" on node2 mount -o "remount,cache=${CACHE_MB}M" /weft
	check "the region goes, with its memory" on node1 rm /weft/large
}

# --- Locks of a region --------------------------------------------------------------

# as USER COMMAND...: on node2, without privileges.
as()
{
	on node2 setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"
}

# slab: structures of locks in node2's kernel.
slab()
{
	on node2 sed -n 's/^weft_lock *\([0-9]*\) .*/\1/p' /proc/slabinfo
}

# keeps USER N: a program of that user opens so many locks, and keeps those it gets.
keeps()
{
	limited "$CONTENTS_LIMIT" "$RACK" --name "$run_name" exec node2 -- \
		sh -c "rm -f /tmp/go /tmp/opened.$1
		setsid setpriv --reuid $1 --regid $1 --clear-groups \
			$LIMITS open /weft/locks $2 /tmp/go >/tmp/opened.$1 2>&1 </dev/null &
		for i in \$(seq 1200); do [ ! -s /tmp/opened.$1 ] || break; sleep 0.2; done
		cat /tmp/opened.$1" >"$dir/opened"
	cat "$dir/opened"
}

# ended_within WANTED FROM TO: with that errno, after so many.
ended_within()
{
	local n what

	read -r n what <"$dir/opened" || return 1
	equal "$1" "$what" && [ "$n" -ge "$2" ] && [ "$n" -le "$3" ]
}

# few: locks are gone from node2's kernel, but for some.
few()
{
	local n

	n=$(slab)
	echo "$n structures"
	[ "$n" -le 4096 ]
}

# taken_by USER N: it opens and takes N locks, and is refused none.
taken_by()
{
	as "$1" "$LIMITS" take /weft/locks 5000000 "$2" >"$dir/taken" || return 1
	equal "$2 ok" "$(<"$dir/taken")"
}

region_locks()
{
	check "a region for all users" on node1 sh -c \
		'truncate -s 8M /weft/locks && chmod 666 /weft/locks'
	check "a user asks for a million locks" keeps 65534 1000000
	# a sixteenth of less than 512 MiB, some 900 bytes each
	check "it gets what a sixteenth of the memory holds, then EDQUOT" \
		ended_within EDQUOT 20000 60000
	note "$(<"$dir/opened"), $(slab) structures in the kernel"
	check "the kernel has no more" at_least "$(slab)" 70000
	check "the log says so" on node2 sh -c \
		'dmesg | grep "user 65534 has as many locks open on this node as it may: raise lock_user_kib"'
	check "another user opens and takes its own" taken_by 65533 100
	check "root is not limited" keeps 0 70000
	check "it gets all that it asks for" ended_within ok 70000 70000
	check "the programs end" on node2 touch /tmp/go
	check "the locks are gone" soon 60 few
	check "the limit is made smaller" on node2 sh -c \
		'echo 256 >/sys/module/weft/parameters/lock_user_kib'
	check "the user asks again" keeps 65534 10000
	check "it gets what that holds" ended_within EDQUOT 200 400
	check "that program ends" on node2 touch /tmp/go
	check "its locks are gone" soon 60 few
	check "what was taken was given back: it gets 100" taken_by 65534 100
	check "the limit is what it was" on node2 sh -c \
		'echo 0 >/sys/module/weft/parameters/lock_user_kib'
	check "that region goes" on node1 rm /weft/locks
}

# --- Regions of a user ----------------------------------------------------------------

USER_REGIONS=20
LOCKS=8192		# of the blade; a quarter for each region
BLADE_MB=256		# half of it for each user

# creates USER N BYTES WANTED: what came of it.
creates()
{
	local found

	found=$(as "$1" "$LIMITS" create /weft "$2" "$3") || return 1
	equal "$4" "$found"
}

# takes USER FILE N WANTED
takes()
{
	local found

	found=$(limited "$CONTENTS_LIMIT" "$RACK" --name "$run_name" exec node2 -- \
		setpriv --reuid "$1" --regid "$1" --clear-groups "$LIMITS" take "$2" 0 "$3") ||
		return 1
	equal "$4" "$found"
}

# memory_counts NAME: of the blade.
memory_counts()
{
	counters node2 memory | sed -n "s/^.*[.]$1 //p" | head -n 1
}

# lists N: node1 lists so many more regions than there were.
lists()
{
	on node1 ls -U /weft >"$dir/listed" || return 1
	equal "" "$(sort "$dir/listed" | uniq -d)" &&
		equal $(($(wc -l <"$dir/first") + $1)) "$(wc -l <"$dir/listed")"
}

# ends_listing: a program on node1 makes a region for each that it reads of the directory.
ends_listing()
{
	local found

	found=$(on node1 "$LIMITS" grow /weft 1000) || return 1
	equal "$(wc -l <"$dir/listed") ok" "$found"
}

user_regions()
{
	on node1 ls -U /weft >"$dir/first"
	check "a user asks for 100 regions: it gets $USER_REGIONS" \
		creates 65534 100 0 "$USER_REGIONS EDQUOT"
	check "another user gets its own" creates 65533 5 4096 "5 ok"
	check "root gets more" creates 0 $((2 * USER_REGIONS)) 0 "$((2 * USER_REGIONS)) ok"
	check "another node lists all of them, once" lists $((3 * USER_REGIONS + 5))
	check "who makes regions while it lists them comes to an end" ends_listing
	check "in a directory for all, nobody removes what is another's" \
		exits 1 'Operation not permitted' as 65533 rm -f /weft/65534.0
	check "the user removes its regions" as 65534 sh -c 'rm /weft/65534.*'
	check "it asks for 200 MB: half of the memory is for it" \
		creates 65534 10 20000000 "6 EDQUOT"
	check "writing on ends as well" exits 1 'Disk quota exceeded' as 65534 \
		dd if=/dev/zero of=/weft/65534.0 bs=1M seek=60 count=1 conv=notrunc status=none
	check "another user can work" creates 65532 1 50000000 "1 ok"
	check "root can make the region larger" on node2 truncate -s 60M /weft/65534.1
	check "the blade has counted what it refused" at_least 3 "$(memory_counts calls_over_quota)"
	check "the regions go" on node1 sh -c 'rm /weft/0.* /weft/65534.* /weft/65533.* /weft/65532.* /weft/grown.*'
}

blade_locks()
{
	check "a region of root's, for all users" on node1 sh -c \
		'for i in 1 2; do truncate -s 1M /weft/many.$i && chmod 666 /weft/many.$i; done'
	check "a user takes lock after lock: it gets a quarter of the blade's" \
		takes 65534 /weft/many.1 10000 "$((LOCKS / 4)) ENOLCK"
	check "another region has locks" takes 65533 /weft/many.2 100 "100 ok"
	check "the blade has no more" at_least "$(memory_counts locks)" "$((LOCKS / 2))"
	check "and counts" at_least 1 "$(memory_counts locks_refused)"
	check "the regions go" on node1 rm /weft/many.1 /weft/many.2
}

# empty: nothing of the parts is left, and the blade has all its memory.
empty()
{
	equal 0 "$(memory_counts regions)" && equal 0 "$(memory_counts reserved_bytes)"
}

built "$LIMITS"
begin limits
boot --nodes 2 --switch p4 --mem 512M --blade-mem ${BLADE_MB}M --cache ${CACHE_MB}M \
	--append slab_nomerge --memd-options "--user-regions $USER_REGIONS --locks $LOCKS"
[ $# -gt 0 ] || set -- kernel_locks container region_locks user_regions blade_locks
for part; do
	$part
	check "$part leaves nothing behind" soon 30 empty
done
end_rack
finish
