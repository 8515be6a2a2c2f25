#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A node's plug is pulled, and it boots long before its lease is over:
#
#	node1 node2 mem1 -- switch
#
# It was the only one that had some blocks as they last were, and held a lock to write.  When it
# is up again, but has not joined, nobody gets what is old, as if that were all: node 2 reads a
# block, writes to another one, and takes the lock, and waits.  When node 1 joins, which says that
# its former life is over, all three go on at once: the blocks are what they were at home, and
# are listed as lost, and of the lock node 2 hears that its owner died.  What node 1 was in the midst
# of when it died, a read, a lock that it waited for, is in nobody's way.
#
#	tests/system/reboot.sh
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

LEASE=600000			# milliseconds: nothing of this test happens because of it
CTL=$BIN/weftctl
LOCKS=$BUILD/tests/locks-basics
HOME_ADDR=10.87.0.101
WAITS=4				# seconds in which nothing comes
AT_ONCE=$((20 * SCALE))		# seconds within which it does
BLOCK=4096

# node N: its module, and that it is up; not mounted.
node()
{
	# those that this kernel has as modules
	on "node$1" sh -c "modprobe -qa udp_tunnel ip6_udp_tunnel libcrc32c; insmod $module" &&
		on "node$1" "$CTL" up --no-mount --node "$1" --interface eth0 --homes $HOME_ADDR
}

mounted()
{
	on "node$1" sh -c 'mkdir -p /weft && mount -t weft none /weft'
}

blade()
{
	on mem1 tools/rack/guest-blade "$BIN" 33 $HOME_ADDR 64M --lease $LEASE --switch none
}

# fill NODE BLOCK LETTER [CONV]: a block of /weft/r.
fill()
{
	# shellcheck disable=SC2016  # for the guest's shell
	on "$1" bash -c 'head -c "$1" /dev/zero | tr "\0" "$2" | dd of=/weft/r bs="$1" seek="$3" \
		conv="notrunc$4" iflag=fullblock status=none' - $BLOCK "$3" "$2" "${4-}"
}

# is NODE BLOCK LETTER: all of it.
is()
{
	on "$1" dd if=/weft/r bs=$BLOCK skip="$2" count=1 status=none | tr -d "$3" >"$dir/rest" &&
		[ ! -s "$dir/rest" ]
}

# begin_on NODE NAME COMMAND...: in the background; $dir/NAME.
begin_on()
{
	timeout -k 5 $((STEP_LIMIT * 2)) "$RACK" --name "$run_name" exec "$1" -- "${@:3}" \
		>"$dir/$2" 2>&1 </dev/null &
	pid[$2]=$!
}

is_over()
{
	! kill -0 "${pid[$1]}" 2>/dev/null
}

waiting()
{
	local name bad=0

	for name; do
		! is_over "$name" || { echo "$name has ended:"; cat "$dir/$name"; bad=1; }
	done
	return $bad
}

# all_want: two blocks and a lock are asked for at node 2.
all_want()
{
	[ "$(on node2 pgrep -c -x dd)" = 2 ] &&
		on node2 "$CTL" -j lock show | grep -q '"waiters":[1-9]'
}

# ends NAME: well, and soon.
ends()
{
	soon $AT_ONCE is_over "$1" && wait "${pid[$1]}" && return
	cat "$dir/$1"
	return 1
}

begun()
{
	soon 10 grep -q "$2" "$dir/$1"
}

listed()
{
	on node2 "$CTL" line lost r >"$dir/lost" &&
		equal "$1" "$(sed 1d "$dir/lost" | awk '{ n += $3 } END { print n + 0 }')"
}

says()
{
	on mem1 grep -q "$1" /var/log/weft-memd.log
}

# pulled: and it boots, as fast as it can, up to where its module is loaded.
pulled()
{
	rack kill node1 && limited "$BOOT_LIMIT" "$RACK" --name "$run_name" boot node1
}

# What it did goes on in nobody's place: node 2 had the block and the lock that it wanted.
in_the_midst()
{
	check "node 2 has a block" fill node2 5 m
	begin_on node2 other "$LOCKS" hold /weft/r $((7 * BLOCK)) w 600
	check "and a lock" begun other held
	begin_on node1 queued "$LOCKS" hold /weft/r $((7 * BLOCK)) w 600
	begin_on node1 misses sh -c 'while :; do dd if=/weft/r of=/dev/null bs=4096 status=none; done'
	sleep 1
}

begin reboot
declare -A pid=()
boot --bare --nodes 2 --blades 1 --mem 256M
version=$(on node1 uname -r)
module=$BUILD/kmod/$version/weft.ko
built "$module" "$LOCKS"
check "a blade" blade
for k in 1 2; do
	check "node $k is up" node $k
	check "and mounted" mounted $k
done
for ((k = 0; k < 8; k++)); do
	fill node2 $k o ,fsync || break
done
check "what is at home" is node1 3 o
check "node 1 modifies blocks" fill node1 0 n
check "and more" fill node1 1 n
check "and one that nobody asks for" fill node1 2 n
begin_on node1 held "$LOCKS" hold /weft/r $((6 * BLOCK)) w 600
check "and holds a lock" begun held held
in_the_midst
check "its plug is pulled, it boots" pulled
check "it is up, and has not joined" node 1
begin_on node2 read sh -c 'dd if=/weft/r bs=4096 count=1 status=none | tr -d o | wc -c'
begin_on node2 write sh -c 'printf x | dd of=/weft/r bs=1 seek=4096 conv=notrunc status=none'
begin_on node2 lock "$LOCKS" take /weft/r $((6 * BLOCK)) w $((AT_ONCE * 1000 + 60000))
check "somebody wants each of these" soon 20 all_want
sleep $WAITS
check "who wants what it had waits" waiting "read" write lock
check "node 1 joins" mounted 1
check "its former life is over" says 'it has begun another life'
check "who read goes on" ends "read"
check "with what was at home" equal 0 "$(tr -d ' ' <"$dir/read")"
check "who wrote goes on" ends write
check "who waited for the lock has it" ends lock
check "and hears why" grep -q "its owner has died" "$dir/lock"
check "what is lost is listed, also what nobody asked for" listed $((3 * BLOCK))
check "the other block is what it was" is node1 5 m
on node2 pkill -USR1 -x locks-basics
check "who held the other lock goes on" ends other
check "node 1 gets that" equal taken \
	"$(on node1 "$LOCKS" take /weft/r $((7 * BLOCK)) w $((AT_ONCE * 1000)))"
check "and finds what node 2 does" is node1 2 o
wait "${pid[held]}" "${pid[queued]}" "${pid[misses]}" 2>/dev/null
down_rack
finish
