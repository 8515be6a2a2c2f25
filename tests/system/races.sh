#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What meets on a node in the wrong moment:
#
#	node1 node2 mem1 -- switch
#
# a device that writes into a block and another node that wants it; the end of an unmount
# and the next mount; a blade that does not answer a mount, and a question about the node.
#
#	tests/system/races.sh
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

PINS=$BUILD/tests/system-pins
LOCKS=$BUILD/tests/locks-basics
TRIES=5			# of a transfer, while this machine is too slow for it
REMOUNTS=10
OPTIONS=cache=16M

# pinned HOW: nothing is lost of what a device and another node write into one block.
pinned()
{
	local turn said=late other

	for ((turn = 1; turn <= TRIES; turn++)); do
		[ "$said" = late ] || break
		on node1 sh -c 'rm -f /weft/pinned && head -c 8192 /dev/zero >/weft/pinned' || return 1
		on node2 "$PINS" other /weft/pinned >"$dir/other" 2>&1 &
		other=$!
		said=$(on node1 "$PINS" device /weft/pinned "$1")
		wait "$other" || { cat "$dir/other"; return 1; }
	done
	equal ok "$said"
}

# hold_and_leave: /weft is unmounted as soon as a program that has a file open is killed.
hold_and_leave='
	exec 5<>/weft/held
	setsid sleep 600 >/dev/null 2>&1 </dev/null &
	echo $! >/run/test-holder
	exec 5>&-
	umount -l /weft || exit 1'

# remounts: the mount comes when the unmount has begun, or before, or after.
remounts()
{
	on node1 bash -c "touch /weft/held
		for ((i = 0; i < $REMOUNTS; i++)); do
			$hold_and_leave
			(sleep 0.0\$i; kill \$(</run/test-holder)) &
			sleep 0.05
			mount -t weft -o $OPTIONS none /weft || exit 1
			echo \$i >/weft/round && [ \"\$(</weft/round)\" = \$i ] || exit 1
			wait
		done"
}

# meet WHAT: the blade says nothing; an unmount waits for it, and so does a mount.  With
# blocks on their way home the mount waits for the old instance to be shut down, and goes
# on when much of it is still there; with nothing it is that far at once.
meet()
{
	local before="echo modified >/weft/round"

	[ "$1" = blocks ] || before="umount /weft && mount -t weft -o $OPTIONS none /weft"
	on node1 bash -c "$before || exit 1
		$hold_and_leave" || return 1
	on mem1 pkill -STOP -x weft-memd || return 1
	on node1 bash -c 'kill "$(</run/test-holder)"; sleep 0.3; rm -f /run/test-mounted
		setsid sh -c "mount -t weft -o $1 none /weft; echo \$? >/run/test-mounted" \
			>/run/test-mount 2>&1 </dev/null &
		sleep 0.3' bash "$OPTIONS"
}

# A question about the node is answered while the mount waits, which it does for 5 s: if that is
# over, it waits again.
told()
{
	local try

	for try in 1 2 3; do
		on node1 "$BIN/weftctl" status || return 1
		on node1 test -e /run/test-mounted || return 0
		echo "try $try: the mount does not wait any more"
		met && meet "$1" || return 1
	done
	return 1
}

# The blade is back: the mount goes on, or has given up and is tried again.
met()
{
	on mem1 pkill -CONT -x weft-memd || return 1
	on node1 bash -c 'for ((i = 0; i < 300; i++)); do [ ! -e /run/test-mounted ] || break; sleep 0.1; done
		cat /run/test-mount
		[ "$(</run/test-mounted)" = 0 ] || mount -t weft -o "$1" none /weft' bash "$OPTIONS"
}

joined()
{
	on node1 "$BIN/weftctl" -j status | grep -q '"joined": *true'
}

# works: as a node does that is in the rack.
works()
{
	local k

	turn=$((turn + 1))
	check "node 1 is in the rack" joined
	check "node 2 reads what it writes" eval '
		on node1 sh -c "echo turn $turn >/weft/turn" &&
		[ "$(on node2 cat /weft/turn)" = "turn $turn" ]'
	for k in 1 2; do
		check "node $k takes a lock" eval '
			[[ $(on node$k "$LOCKS" take /weft/locks 4096 w 20000) = taken* ]]'
	done
}

built "$PINS" "$LOCKS"
begin races
turn=0
boot --nodes 2 --switch p4 --mem 512M
check "a place for locks" on node1 truncate -s 8192 /weft/locks
for how in mapped unmapped; do
	check "a device writes into a block that is $how, and so does node 2" pinned "$how"
done
check "mounts while the unmount is under way" remounts
works
for what in blocks nothing; do
	check "a mount while an unmount waits for the blade, with $what to write home" meet $what
	check "weftctl status does not wait" told "$what"
	check "the blade is back, and the mount comes to its end" met
	works
done
end_rack
finish
