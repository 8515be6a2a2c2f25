#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A node is killed that had modified what nobody else has:
#
#	node1 node2 node3 mem1 -- switch
#
# The others take it for dead after the lease, and say so.  What it had modified is what it
# was at home, and is listed until somebody accepts it; in a region whose policy is
# on-loss=sigbus nobody can read it until then, whichever node asks, by read() or by a
# mapping, and whatever else the node has read meanwhile.  A node that lives and is taken
# out by hand finds that out, and joins anew.
#
#	tests/system/lost.sh [SWITCH...]	(none p4)
#
# Environment: BUILD; WEFT_LEASE, milliseconds (8000).

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

LEASE=$((${WEFT_LEASE:-8000} * SCALE))
# As long as a node waits (timeout=30) programs get SIGBUS.
[ "$LEASE" -le 20000 ] || LEASE=20000
CTL=$BIN/weftctl
BLOCKS=8			# of each region; the dead node has modified the middle ones
FROM=2
LOST=4
KEEPER=$BUILD/tests/system-keeper
PRELOAD=$BUILD/lib/libweft-preload.so

# Each region is of old blocks, of which the dead node has made some new.
write_old()
{
	head -c $((BLOCKS * 4096)) /dev/zero | tr '\0' o >"$dir/old"
	on node2 dd if="$dir/old" of="/weft/$1" bs=4096 conv=fsync status=none
}

# overwrite NODE REGION LETTER: all blocks in the middle, by it.
overwrite()
{
	# shellcheck disable=SC2016  # for the guest's shell
	on "$1" bash -c 'head -c "$4" /dev/zero | tr "\0" "$2" |
		dd of="/weft/$1" bs=4096 seek="$3" conv=notrunc iflag=fullblock status=none' \
		- "$2" "$3" $FROM $((LOST * 4096))
}

# write_new NODE REGION: as blocks that are not home.
write_new()
{
	overwrite "$1" "$2" n
}

# is_member FROM NODE: one node says that another one is.
is_member()
{
	[ "$(membership "$@")" = member ]
}

is_none()
{
	[ "$(membership "$@")" = none ]
}

membership()
{
	on "$1" "$CTL" status -j >"$dir/status" &&
		perl -MJSON::PP -e 'local $/; my $j = decode_json(<STDIN>);
			print grep({ $_ == $ARGV[0] } @{$j->{members}}) ? "member" : "none"' \
			"$2" <"$dir/status"
}

# lost_is TEXT ARGUMENT...: what is listed.
lost_is()
{
	on node2 "$CTL" line lost "${@:2}" >"$dir/lost" || return 1
	equal "$1" "$(tr -s ' ' <"$dir/lost" | sed -n '1d; s/^ *[0-9]* //p' | sort)"
}

# holds NODE TEXT FILE
holds()
{
	on "$1" grep -qF "$2" "$3"
}

same_as_old()
{
	on "$1" cat "/weft/$2" >"$dir/read" && cmp "$dir/read" "$dir/old"
}

# no_read NODE REGION BLOCK: EIO.
no_read()
{
	! on "$1" dd if="/weft/$2" of=/dev/null bs=4096 skip="$3" count=1 2>"$dir/read" &&
		grep -q 'Input/output error' "$dir/read"
}

reads()
{
	on "$1" dd if="/weft/$2" of=/dev/null bs=4096 skip="$3" count=1 status=none
}

# load_ends_in NODE REGION BLOCK STATUS: of a program that loads a byte of it by a mapping.
load_ends_in()
{
	local rc

	on "$1" "$BUILD/tests/system-load" "/weft/$2" $(($3 * 4096)) >"$dir/load" 2>&1
	rc=$?
	equal "$4" "$rc"
}

no_write()
{
	# shellcheck disable=SC2016  # for the guest's shell
	! on "$1" bash -c 'printf x | dd of="/weft/$1" bs=1 seek="$2" conv=notrunc' - "$2" \
		$(($3 * 4096)) 2>"$dir/read" && grep -q 'Input/output error' "$dir/read"
}

# A user other than the owner.
may_not_accept()
{
	! on node2 setpriv --reuid 12345 --clear-groups "$CTL" line lost strict --accept \
		>"$dir/read" 2>&1 && grep -q 'only its owner and root may accept' "$dir/read"
}

accepts()
{
	equal "$LOST blocks accepted as they are" "$(on node2 "$CTL" line lost "$1" --accept)"
}

refuses_fence()
{
	! on node2 "$CTL" node fence "$1" >"$dir/read" 2>&1 && grep -qF "$2" "$dir/read"
}

dead()
{
	local left=$((LOST * 4096)) listed

	listed=$((FROM * 4096))" $left"
	check "regions with old contents" write_old plain
	check "and one more" write_old strict
	check "of which nobody may have what is lost" on node2 "$CTL" region set strict on-loss=sigbus
	check "node 1 modifies some blocks" write_new node1 plain
	check "of both" write_new node1 strict
	check "nothing is lost yet" lost_is ''
	# shellcheck disable=SC2016  # for the guest's shell
	check "node 2 listens to events" on node2 bash -c \
		'"$1" monitor -j >/run/test-events 2>&1 </dev/null &
		for i in $(seq 300); do
			: >/weft/test-mark && rm /weft/test-mark
			! grep -q test-mark /run/test-events || exit 0
			sleep 0.1
		done
		exit 1' - "$CTL"
	check "node 1 dies" rack kill node1
	check "it is no member any more" soon 100 is_none node2 1
	check "node 2 is told that it has died" soon 100 holds node2 '"event":"node_dead"' /run/test-events
	check "counted" equal 1 "$(counters node2 | awk '$1 == "node.counters.nodes_dead" { print $2 }')"
	check "what it had modified is listed" soon 100 lost_is \
		"$(printf '%s plain\n%s strict' "$listed" "$listed")"
	check "of one region" lost_is "$listed plain" plain
	check "as JSON" on node2 bash -c "$CTL line lost strict -j >/run/test-lost && grep -q '\"offset\":8192,\"length\":16384' /run/test-lost"
	check "doctor finds that" on node2 bash -c "$CTL doctor -j --ignore switch_missing,no_key >/run/test-doctor; grep -q '\"name\":\"lines_lost\"' /run/test-doctor"
	check "node 2 reads the old contents" same_as_old node2 plain
	check "so does node 3" same_as_old node3 plain
}

strict()
{
	local k

	for k in 2 3 2; do
		check "node $k does not read a block that is lost, as its region wants it" \
			no_read node$k strict $FROM
		check "a load of node $k is SIGBUS" load_ends_in node$k strict $((FROM + 1)) 3
		check "node $k reads the others" reads node$k strict $((FROM - 1))
		check "and those behind" reads node$k strict $((FROM + LOST))
	done
	check "nobody writes into it" no_write node3 strict $FROM
	check "nor does another node read it then" no_read node2 strict $FROM
	check "fsync is no way to make it good" on node3 sync /weft/strict
	check "it is still lost" lost_is "$((FROM * 4096)) $((LOST * 4096)) strict" strict
	check "only who owns it may accept that" may_not_accept
	check "its owner accepts it" accepts strict
	check "it is listed no more" lost_is '' strict
	check "node 3 reads it as it is" same_as_old node3 strict
	check "so does node 2" same_as_old node2 strict
	check "a load is well" load_ends_in node2 strict $((FROM + 1)) 0
	check "the other region is lost as before" lost_is "$((FROM * 4096)) $((LOST * 4096)) plain"
	check "and accepted" accepts plain
	check "nothing is lost any more" lost_is ''
}

by_hand()
{
	check "a node that is no member cannot be taken out" refuses_fence 1 'the rack has no node 1'
	check "a node does not take itself out" refuses_fence 2 'node 2 is this node'
	check "node 3 is taken out" on node2 "$CTL" node fence 3
	check "node 2 is told that it is dead" soon 100 holds node2 \
		'"event":"node_dead","missed":0,"member":3,' /run/test-events
	check "it finds that, and joins anew" soon 100 holds node2 \
		'"event":"node_joined","missed":0,"member":3,' /run/test-events
	check "it is a member" is_member node2 3
	check "and reads on" soon 100 same_as_old node3 strict
}

# has NODE REGION LETTER: all blocks in the middle are of it.
has()
{
	on "$1" dd if="/weft/$2" bs=4096 skip=$FROM count=$LOST status=none >"$dir/read" || return 1
	[ "$(wc -c <"$dir/read")" = $((LOST * 4096)) ] && [ "$(tr -d "$3" <"$dir/read")" = '' ]
}

# keeps NODE REGION...: a program has them open and mapped from now on.
keeps()
{
	# shellcheck disable=SC2016  # for the guest's shell
	on "$1" env PRELOAD="$PRELOAD" bash -c 'rm -f /run/orders /run/answers; mkfifo /run/orders /run/answers && cd /weft &&
		LD_PRELOAD=$PRELOAD setsid "$0" /run/orders /run/answers "$@" >/run/test-keeper 2>&1 </dev/null &' \
		"$KEEPER" "${@:2}"
}

# answers NODE WANTED ORDER...: of that program.
answers()
{
	# shellcheck disable=SC2016  # for the guest's shell
	equal "$2" "$(on "$1" timeout 30 bash -c 'echo "$*" >/run/orders; cat /run/answers' - "${@:3}")"
}

waits_in_vain()
{
	! on "$1" dd if="/weft/$2" of=/dev/null bs=4096 count=1 2>"$dir/read" &&
		grep -q 'Connection timed out' "$dir/read"
}

cut_off()
{
	local middle="$((FROM * 4096)) $((LOST * 4096))"

	check "a region that node 3 reads" write_old read
	check "one of which it modifies blocks" write_old modified
	check "one of which it has nothing" write_old other
	check "and one of which it only holds a lock" write_old locked
	check "a program of it has them open" keeps node3 read modified other locked
	check "has read" answers node3 o load 0 "$middle"
	check "has modified" answers node3 "done" store 1 "$middle" n
	check "holds a lock" answers node3 "done" lock 3 "0 1"
	check "what its memory is went home" answers node3 "done" sync 3 "0 1"
	check "has read what that guards" answers node3 o load 3 "$middle"
	check "programs of it wait for 2 s from now on" on node3 "$CTL" set --timeout 2
	check "node 3 is cut off" rack wire cut node3
	check "it is no member any more" soon 100 is_none node2 3
	check "node 2 overwrites what it reads" overwrite node2 read x
	check "what it has modified is as it was at home" same_as_old node2 modified
	check "and becomes something else" overwrite node2 modified y
	check "and what its program has a lock for" overwrite node2 locked z
	check "node 3 still sees what it had" answers node3 o load 0 "$middle"
	check "by read(), too" answers node3 o read 0 "$middle"
	check "and what it has modified" answers node3 n load 1 "$middle"
	check "and can modify it again" answers node3 "done" store 1 "$middle" m
	check "and sees that" answers node3 m read 1 "$middle"
	check "what it does not have is an error" answers node3 'Connection timed out' read 2 "$middle"
	check "or SIGBUS" answers node3 SIGBUS load 2 "$middle"
	check "nothing can be opened" waits_in_vain node3 read
	check "it is connected again" rack wire heal node3
	check "it is a member" soon 100 is_member node2 3
	check "its program sees what node 2 has written" soon 100 answers node3 x load 0 "$middle"
	check "gets errors where it had modified something" soon 100 answers node3 SIGBUS load 1 "$middle"
	check "by read(), too" answers node3 'Input/output error' read 1 "$middle"
	check "and where it holds a lock that others have had" answers node3 SIGBUS load 3 "$middle"
	check "to write, too" answers node3 SIGBUS store 3 "$middle" n
	check "but has what it did not have" answers node3 o load 2 "$middle"
	check "the program ends" on node3 pkill -x system-keeper
	check "then what node 2 has written is there, too" soon 100 has node3 modified y
	check "nothing came of what the program would have written" has node2 locked z
}

begin lost
[ $# -gt 0 ] || set -- none p4
for switch; do
	boot --nodes 3 --switch "$switch" --memd-options "--lease $LEASE"
	dead
	strict
	by_hand
	cut_off
	down_rack
done
finish
