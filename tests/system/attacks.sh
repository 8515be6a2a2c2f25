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
		# what is pinned for longer than a second is left to the others, kmod/blocks/README.md
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

# --- what others have and do -----------------------------------------------------------

CTL=$BUILD/bin/weftctl
TURNS=64		# questions that a user may save up for, and
PER_S=100		# has in a second

# shown COMMAND...: what weftctl shows the attacker on node1 of the region of another user.
shown()
{
	on node1 "${NOBODY[@]}" "$CTL" -j "$@" >"$dir/shown" 2>&1
}

# entries WHAT: how many of this list are in it.
entries()
{
	python3 -c 'import json, sys
print(len([e for e in json.load(open(sys.argv[1]))[sys.argv[2]]
	if str(e.get("region", e.get("id"))) == sys.argv[3]]))' "$dir/shown" "$1" "$secret"
}

# shows N COMMAND...: N entries of the region.
shows()
{
	local n

	shown "${@:2}" || { cat "$dir/shown"; return 1; }
	n=$(entries "$2s") || { cat "$dir/shown"; return 1; }
	case $1 in
	some)	[ "$n" -gt 0 ] ;;
	*)	equal "$1" "$n" ;;
	esac
}

# no_such: he is told of it what he is told of one that was never there.
no_such()
{
	local never=16777214

	shown line show $never && return 1
	sed "s/$never/N/" "$dir/shown" >"$dir/never"
	shown line show "$secret" && return 1
	cat "$dir/shown"
	sed "s/$secret/N/" "$dir/shown" | cmp - "$dir/never"
}

not_heard()
{
	on node1 "${NOBODY[@]}" "$CTL" monitor -t 1 >"$dir/heard" 2>&1 && return 1
	grep "only root hears them" "$dir/heard"
}

# flood: he asks the blade as often as he can, and gets no more answers than he has turns.  What
# he is refused after seconds of waiting is no answer.
flood()
{
	on node1 "${NOBODY[@]}" "$ATTACK" ask 400 >"$dir/flood" || return 1
	awk -v saved=$TURNS -v rate=$PER_S '{
		most = saved + rate * $2 / 1000 + 1
		printf "%d answers in %d ms, at most %d\n", $1, $2, most
		exit !($1 > saved && $1 <= most) }' "$dir/flood"
}

sees()
{
	check "a region of another user" on node1 sh -c \
		'dd if=/dev/zero of=/weft/secret bs=4096 count=4 status=none &&
		chown 1000 /weft/secret && chmod 600 /weft/secret'
	secret=$(on node1 stat -c %i /weft/secret)
	check "he sees that it is there, as by ls" shows 1 region
	check "not its blocks" shows 0 line
	check "asked for, it is as one that is not there" no_such
	check "may he read it" on node1 chmod 644 /weft/secret
	check "then its blocks" shows some line
	check "the directory is not his to list" on node1 chmod 700 /weft
	check "he does not see the region" shows 0 region
	check "nor its blocks, though he may read it" shows 0 line
	check "root does" on node1 sh -c "$CTL -j region | grep secret"
	check "the directory is everybody's" on node1 chmod 1777 /weft
	check "what others do he does not hear" not_heard
	check "root hears it" on node1 "$CTL" monitor -t 1
	check "his questions to a blade have their turns" flood
	show
	check "the region goes" on node1 rm /weft/secret
}

# absent: what there is not is not said to be a matter of rights.
absent()
{
	check "a file" on node1 touch /weft/file
	for what in "mkdir /weft/d" "ln /weft/file /weft/l" "ln -s file /weft/l" \
			"mv /weft/file /weft/other" "mkfifo /weft/p"; do
		check "$what" on node1 sh -c "! LC_ALL=C $what 2>/run/test-said &&
			cat /run/test-said && grep 'Operation not supported' /run/test-said"
	done
	check "the file is as it was, and alone" equal /weft/file "$(on node2 sh -c 'echo /weft/*')"
	check "it goes" on node1 rm /weft/file
}

built "$ATTACK" "$SLOW"
begin attacks
boot --nodes 2 --switch p4 --mem 512M
[ $# -gt 0 ] || set -- memory refused masses sees absent
for part; do
	$part
done
end_rack
finish
