#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a user without privileges tries on a node so that others suffer: docs/trust.md has the
# whole list, of which forge, hostile, limits, budgets, badinput and races test the rest.
#
#	node1 node2 mem1 -- switch
#
# The attacker, user 65534, is on node1.  Others are root there, another user, and node2: what
# they do has to come to an end within OTHERS_S seconds, whatever the attacker waits for.
#
#	tests/system/attacks.sh [PART...]	(all; they are the functions called at the end)
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

ATTACK=$BUILD/tests/system-attack
SLOW=$BUILD/tests/system-slow
OTHERS_S=$((15 * SCALE))
FILE=/weft/shared
NOBODY=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# others NODE COMMAND...: in time.
others()
{
	limited "$OTHERS_S" "$RACK" --name "$run_name" exec "$1" -- "${@:2}"
}

# --- memory that does not come ------------------------------------------------------

# slow_up: a file system of a user, on node1.
slow_up()
{
	on node1 sh -c 'modprobe fuse; mkdir -p /run/slow; rm -f /run/test-go
		setsid "$1" /run/slow /run/test-go >/run/test-slow 2>&1 </dev/null &
		for i in $(seq 100); do ! grep -q ready /run/test-slow || exit 0; sleep 0.1; done
		cat /run/test-slow; exit 1' sh "$SLOW"
}

slow_down()
{
	on node1 sh -c 'umount /run/slow && rm -f /run/test-go'
}

# stalls HOW: a program of the attacker is in it, and stays there.
stalls()
{
	on node1 bash -c 'rm -f "/run/test-out.$1"
		setsid "${@:3}" "$2" "$1" /run/slow/slow /weft/shared >"/run/test-out.$1" 2>&1 </dev/null &
		echo $! >"/run/test-pid.$1"
		for i in $(seq 100); do ! grep -q ready "/run/test-out.$1" || break; sleep 0.1; done
		sleep 1
		cat "/run/test-out.$1"
		[ "$(cat "/run/test-out.$1")" = ready ] && kill -0 "$(cat "/run/test-pid.$1")"' \
		sh "$1" "$ATTACK" "${NOBODY[@]}"
}

stalls_still()
{
	on node1 sh -c '[ "$(cat "/run/test-out.$1")" = ready ] && kill -0 "$(cat "/run/test-pid.$1")"' sh "$1"
}

# comes HOW N: when its memory comes, so do all bytes.  (Until then FUSE does not let it be killed.)
comes()
{
	on node1 touch /run/test-go || return 1
	on node1 sh -c 'for i in $(seq 100); do [ "$(wc -l <"/run/test-out.$1")" -lt 2 ] || break
			sleep 0.1; done; tail -n 1 "/run/test-out.$1"' sh "$1" >"$dir/came" || return 1
	on node1 rm /run/test-go && equal "$2" "$(<"$dir/came")"
}

# all_work: on both nodes they write the page that it is about, the one after it, and the end.
all_work()
{
	local node text

	for node in node1 node2; do
		for text in $node.first $node.second; do
			others $node sh -c 'printf "%s" "$2" | dd of="$1" bs=4096 conv=notrunc,fsync status=none &&
				printf "%s" "$2" | dd of="$1" bs=4096 seek=1 conv=notrunc status=none &&
				echo "$2" >>"$1" && touch "$1" && chmod 666 "$1"' sh $FILE "$text" || return 1
			equal "$text" "$(others node1 head -c ${#text} $FILE)" || return 1
			equal "$text" "$(others node2 tail -c $((${#text} + 1)) $FILE)" || return 1
		done
	done
}

memory()
{
	check "a region for all users" on node1 sh -c "truncate -s 16384 $FILE && chmod 666 $FILE"
	check "a file system of which a file does not come" slow_up
	for how in write read pin; do
		check "$how: the attacker's memory does not come" stalls $how
		check "$how: others of both nodes work with the same page" all_work
		check "$how: it waits as before" stalls_still $how
		check "$how: its memory comes, and all is done" comes $how 4096
		# what is pinned for longer than a second is left to the others, docs/kernel.md
		[ $how != write ] || check "$how: node 2 reads that" equal \
			"$(head -c 4096 /dev/zero | tr '\0' s | sha256sum)" \
			"$(on node2 sh -c "head -c 4096 $FILE | sha256sum")"
	done
	check "that file system goes" slow_down
	check "the region goes" on node1 rm $FILE
}

# --- what is refused -----------------------------------------------------------------

# gets WANTED ARGUMENT...: what the attacker is told.
gets()
{
	local found

	found=$(on node1 "${NOBODY[@]}" "$ATTACK" "${@:2}") || { echo "$found"; return 1; }
	equal "$1" "$found"
}

refused()
{
	check "a region for all users" on node1 sh -c "truncate -s 1M $FILE && chmod 666 $FILE"
	check "nobody makes others' faults wait by userfaultfd" gets EINVAL missing $FILE
	check "nor accesses to write" gets EINVAL protect $FILE
	check "numbers that make no sense" gets ok offsets $FILE
	check "mlock() of as much as the limit of the user" limit 64 ok
	check "of more: refused" limit 1024 ENOMEM
	check "the region is as it was" equal 1048576 "$(on node2 stat -c %s $FILE)"
	check "the region goes" on node1 rm $FILE
}

# limit KIB WANTED: of 64 KiB.
limit()
{
	local found wanted=$2

	[ "$wanted" != ok ] || wanted=0
	found=$(on node1 sh -c 'ulimit -l 64; exec "$@"' sh "${NOBODY[@]}" "$ATTACK" mlock $FILE $(($1 << 10))) ||
		return 1
	equal "$wanted" "$found"
}

# --- masses ------------------------------------------------------------------------

FILES=4096
MAPPINGS=65000

# crowd: a program of the attacker has it open and mapped as often as it goes.
crowd()
{
	on node1 bash -c 'rm -f /run/test-go /run/test-crowd; ulimit -n "$1"
		setsid "${@:3}" "$2" crowd /weft/shared /run/test-go >/run/test-crowd 2>&1 </dev/null &
		echo $! >/run/test-pid.crowd
		for i in $(seq 600); do [ ! -s /run/test-crowd ] || break; sleep 0.1; done
		cat /run/test-crowd' sh $FILES "$ATTACK" "${NOBODY[@]}" >"$dir/crowd"
	cat "$dir/crowd"
	awk -v files=$FILES -v mappings=$MAPPINGS '
		{ found = $1 <= files && $1 > files - 64 && $3 == "EMFILE" &&
			$4 <= mappings + 1000 && $4 > mappings / 2 && $6 == "ENOMEM" }
		END { exit !found }' "$dir/crowd"
}

# memory_kib: of node1's kernel that has no other name.
memory_kib()
{
	on node1 awk '/^Slab:|^PageTables:|^KernelStack:/ { sum += $2 } END { print sum }' /proc/meminfo
}

less_memory()
{
	local now

	now=$(memory_kib) || return 1
	echo "$now KiB"
	[ "$now" -lt $(($1 + 16384)) ]
}

masses()
{
	local before

	check "a region for all users" on node1 sh -c "truncate -s 1M $FILE && chmod 666 $FILE"
	before=$(memory_kib)
	check "the attacker opens and maps it as often as it may" crowd
	note "$(<"$dir/crowd")"
	check "others of both nodes work with it" all_work
	check "that program ends" on node1 touch /run/test-go
	check "its memory comes back" soon 60 less_memory "$before"
	check "others of both nodes work with it" all_work
	check "the region goes" on node1 rm $FILE
}

built "$ATTACK" "$SLOW"
begin attacks
boot --nodes 2 --switch p4 --mem 512M
[ $# -gt 0 ] || set -- memory refused masses
for part; do
	$part
done
end_rack
finish
