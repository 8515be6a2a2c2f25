#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A memory blade with an RDMA device, and a node that is played (memd-land): blocks land,
# by keys that are used once, and are read by deeds; wrong connections are refused; 100 of them
# leave nothing; the device goes and comes; the node dies, once behind the back of a second blade;
# there is none, or memory may not be locked: then it is UDP.
#
#	tests/memd/test-land.sh
#
# In a rack of user-mode kernels, for which RDMA is compiled if need be.

# What is in single quotes is for shells in guests; functions are run by "check".
# shellcheck disable=SC2016,SC2317,SC2329
set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

BLADE=10.87.0.101
BOTH=$BLADE,10.87.0.102
OWN=10.87.0.1
PLAYER=(env "WEFT_TEST_SCALE=$SCALE" "$BUILD/tests/memd-land")
LOG=/var/log/weft-memd.log
USER_ID=65534		# of who may do nothing
LEASE_MS=$((2000 * SCALE))

# gone: no blade runs.
gone()
{
	on blades sh -c '! pgrep -x weft-memd'
}

# serves [GUEST]: the blade there does.
serves()
{
	on "${1-mem1}" grep -F ' serves ' "$LOG"
}

# blade OPTION...: a new one in the place of the one that there is.
blade()
{
	end_blade && on mem1 tools/rack/guest-blade "$BIN" 33 "$BLADE" 64M --switch none \
		--verbose "$@" && soon 20 serves
}

# poor_blade: the same, of a user who may lock 2 MiB.
poor_blade()
{
	end_blade && on mem1 sh -c "setsid setpriv --reuid $USER_ID --regid $USER_ID --clear-groups \
		prlimit --memlock=2097152 $BIN/weft-memd --id 33 --interface eth0 --memory 64M \
		--switch none --verbose </dev/null >$LOG 2>&1 &" && soon 20 serves
}

# end_blade: if there is one, or both, they end well.
end_blade()
{
	if ! gone; then
		on blades sh -c '! pgrep -x weft-memd || kill -TERM $(pgrep -x weft-memd)' &&
			soon 20 gone && on mem1 grep -qF 'blade 1 ends' "$LOG" || return 1
	fi
	on blades rm -f "$LOG"
}

# two_blades: which wait for nodes, however long.
two_blades()
{
	local n

	end_blade || return 1
	for n in 1 2; do
		on "mem$n" tools/rack/guest-blade "$BIN" $((32 + n)) "$BOTH" 64M --switch none \
			--lease 0 || return 1
	done
	soon 20 serves mem2 && soon 20 joined 1
}

# joined TIMES: the second blade has, so often.
joined()
{
	equal "$1" "$(on mem1 grep -cF 'memory blade 2 joins' "$LOG")"
}

# said TEXT [TIMES]: the blade has said that, so often.
said()
{
	[ "$(on mem1 grep -cF -- "$1" "$LOG")" = "${2-1}" ] || {
		on mem1 sh -c "grep -v ': from \|: to ' $LOG | tail"
		return 1
	}
}

# play KEY TEST...: on the node.
play()
{
	on node1 "${PLAYER[@]}" "$BLADE" "$OWN" "$1" "${blades-1}" "${@:2}"
}

# kept: what the blade has open, and what the device has for its process.
kept()
{
	on mem1 sh -c 'ls "/proc/$(pgrep -x weft-memd)/fd" | wc -l; rdma resource show'
}

# is_kept WHAT: as "kept" prints it.
is_kept()
{
	equal "$1" "$(kept)"
}

# leaves_nothing KEY: the same again takes no more of anything.
leaves_nothing()
{
	local before

	before=$(kept) && play "$1" lands && soon 20 is_kept "$before"
}

# plugged: the device goes while a node is connected, and comes again.
plugged()
{
	local player rc

	play none removed >"$dir/removed" 2>&1 &
	player=$!
	soon 20 grep -q '^connected' "$dir/removed" && on mem1 rdma link del rxe0 &&
		soon 30 grep -q '^gone' "$dir/removed" &&
		on mem1 rdma link add rxe0 type rxe netdev eth0
	rc=$?
	wait "$player" || rc=1
	[ $rc = 0 ] || cat "$dir/removed"
	return $rc
}

# times_out: how often node 1 was taken out by the blade that there is.
times_out()
{
	on mem1 grep -cE 'node 1 .*is taken out of the rack' "$LOG"
}

# out_again BEFORE
out_again()
{
	[ "$(times_out)" -gt "$1" ]
}

# dies HOW: the node does, as its player is told to, and comes back when it was taken out.  By
# another one the blade knows that it is not cut off itself.
dies()
{
	local players=() rc before

	before=$(times_out)
	on nodes rm -f /run/land-healed
	on node2 "${PLAYER[@]}" "$BLADE" 10.87.0.2 none 1 stays >"$dir/stays" 2>&1 &
	players+=($!)
	play none "$1" >"$dir/$1" 2>&1 &
	players+=($!)
	soon 20 grep -q '^connected' "$dir/$1" && "$1" &&
		soon $((LEASE_MS / 1000 + 10)) out_again "$before"
	rc=$?
	rack wire heal node1 && on nodes touch /run/land-healed || rc=1
	wait_all "${players[@]}" || rc=1
	[ $rc = 0 ] || { cat "$dir/stays" "$dir/$1"; on mem1 grep -v ': from \|: to ' "$LOG"; }
	return $rc
}

# dead: its cable is cut while blocks land, for longer than its lease.
dead()
{
	soon 20 grep -q '^landed' "$dir/dead" && sleep 0.7 && rack wire cut node1 &&
		soon 20 grep -q '^cut off' "$dir/dead"
}

# silent: nothing is cut, it just says nothing more.
silent()
{
	:
}

# given_up: the second blade is.
given_up()
{
	on mem1 grep -qF 'memory blade 2 (10.87.0.102) does not answer' "$LOG"
}

# behind: the node begins another life while the second blade is cut off, which joins again.
behind()
{
	local player rc blades=2

	on node1 rm -f /run/land-cut
	play none anew >"$dir/anew" 2>&1 &
	player=$!
	soon 20 grep -q '^connected' "$dir/anew" && rack wire cut mem2 &&
		on node1 touch /run/land-cut && soon 40 given_up
	rc=$?
	rack wire heal mem2 && soon 40 joined 2 || rc=1
	wait "$player" || rc=1
	[ $rc = 0 ] || { cat "$dir/anew"; on blades cat "$LOG"; }
	return $rc
}

built "$BIN/weft-rackio" "$BIN/weft-switchd" "$BIN/weft-memd" "${PLAYER[-1]}"
if ! command -v rdma >/dev/null; then
	echo "skipped: there is no rdma(8)"
	exit 77
fi
begin memd-land
make_rdma fast
boot --bare --switch none --nodes 2 --blades 2 --rdma 1,blades
check "a blade listens" blade
check "blocks land" play none lands
check "and leave nothing" leaves_nothing none
check "the node reads by itself" play none deeds
check "which leaves nothing" leaves_nothing none
check "the device goes and comes" plugged
check "the blade has said so" said 'RDMA: the device is gone'
check "and that it is there again" said 'RDMA: nodes can connect to rxe0' 2
check "blocks land again" play none lands
check "a blade with three threads" blade --threads 3
check "blocks land" play none lands
check "the node reads by itself" play none deeds
check "a blade with --deeds off" blade --deeds off
check "lets it not" play none no-deeds
check "blocks land" play none lands
check "a blade that waits $LEASE_MS ms for nodes" blade --lease $LEASE_MS
check "a node dies while blocks land, and comes back" dies dead
check "a connection is no sign of life of its node" dies silent
check "two blades" two_blades
check "a node dies while the second one is cut off: its connection ends there, too" behind
check "a blade with --rdma off" blade --rdma off
check "sends by UDP" play none udp
check "says nothing of RDMA" said RDMA 0
"$BIN/weft-memd" --make-key "$dir/key" >"$dir/made" 2>&1
check "a key" on all sh -c "umask 077; echo $(cat "$dir/key") >/run/key"
check "a blade with a key" blade --key /run/key
check "blocks land" play /run/key lands
check "the node reads by itself" play /run/key deeds
check "a blade that may lock little memory" poor_blade
check "sends by UDP what it may not lock" play none unlocked
check "and says so once" said 'no more memory can be registered for RDMA'
check "without a device" on mem1 rdma link del rxe0
check "a blade" blade
check "sends by UDP" play none udp
check "says why" said 'no RDMA: this machine has no RDMA device'
check "it ends" end_blade
end_rack
finish
