#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The memory blade is killed and started again while two nodes stay up:
#
#	node1 node2 mem1 -- switch
#
# What a node has modified and not written home is there for the other one afterwards;
# a lock that a program holds stays held, and another program gets it when it is left; an
# unlinked file that is open stays.  Then processes of both nodes increment records that
# locks guard (locks-hammer) while the blade is restarted again and again: no two writers
# meet, no increment is lost.
#
#	tests/system/restart.sh [SWITCH...]	(none p4)
#
# Environment: BUILD; WEFT_RESTARTS, of the blade under load (3).

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

RESTARTS=${WEFT_RESTARTS:-3}
HAMMER=$BUILD/tests/locks-hammer
GRANTS=100			# locks that each node gets between two restarts under load
SECONDS_RUN=$((RESTARTS * 100 * SCALE))	# at most, of that load
RUN_LIMIT=$((SECONDS_RUN + 120 * SCALE))
MODIFIED_KB=512			# not written home when the blade is killed
HOLD=$((100 * SCALE))		# seconds that a lock is held at most, with a restart in them

# says TEXT [TIMES]: the blade has logged it so often in all its lives, within some
# seconds.
says()
{
	local i

	for ((i = 0; i < 60 * SCALE; i++)); do
		[ "$(on mem1 grep -cF "$1" /var/log/weft-memd.log)" -lt "${2-1}" ] || return 0
		sleep 0.3
	done
	on mem1 cat /var/log/weft-memd.log
	return 1
}

written()
{
	[ "$(on "$1" sha256sum "/weft/$2" | cut -d' ' -f1)" = "${sum%% *}" ]
}

nothing_lost()
{
	local k

	for k in 1 2; do
		equal 0 "$(counters "node$k" |
			awk '$1 == "node.counters.blocks_lost" { print $2 }')" || return 1
	done
}

# A file without a name: what was written is there as long as it is open.
hidden()
{
	# shellcheck disable=SC2016  # for the guest's shell
	on node1 bash -c '
		exec 5<>/weft/hidden
		echo here >&5
		rm /weft/hidden
		touch /run/test-hidden
		for ((i = 0; i < 600; i++)); do [ ! -e /run/test-go-on ] || break; sleep 0.1; done
		[ "$(head -c 4 /proc/self/fd/5)" = here ]'
}

both_begun()
{
	local i

	for ((i = 0; i < 100; i++)); do
		! grep -q '^held' "$dir/holder" || ! on node1 test -e /run/test-hidden || return 0
		sleep 0.2
	done
	cat "$dir/holder" "$dir/hidden"
	return 1
}

refused()
{
	equal "Device or resource busy" \
		"$(on node2 "$BUILD/tests/locks-basics" take /weft/data 4096 w 0)"
}

taken()
{
	[ "$(on node2 "$BUILD/tests/locks-basics" take /weft/data 4096 w 20000)" = taken ]
}

by_hand()
{
	local holder unlinked

	check "node 1 writes $MODIFIED_KB KiB" on node1 dd if="$dir/data" of=/weft/data bs=64K \
		status=none
	check "node 2 reads some of it" on node2 dd if=/weft/data of=/dev/null bs=64K count=2 \
		status=none
	timeout -k 5 $((HOLD + 30)) "$RACK" --name "$run_name" exec node1 -- \
		"$BUILD/tests/locks-basics" hold /weft/data 4096 w "$HOLD" \
		>"$dir/holder" 2>&1 </dev/null &
	holder=$!
	hidden >"$dir/hidden" 2>&1 &
	unlinked=$!
	check "a program holds a lock, another one a file without a name" both_begun
	check "the blade is killed and started again" restart_memd
	check "all lines come home" says 'nodes are served'
	check "node 2 reads what node 1 had modified" written node2 data
	check "so does node 1" written node1 data
	check "node 2 changes it" on node2 dd if="$dir/data" of=/weft/data bs=64K conv=notrunc \
		status=none
	check "node 1 reads that" written node1 data
	check "nothing is lost" nothing_lost
	check "node 2 does not get a lock that node 1 holds" refused
	on node1 touch /run/test-go-on
	check "the program is told to leave the lock" on node1 pkill -USR1 -x locks-basics
	check "who holds a lock goes on" wait "$holder"
	check "when it is left, node 2 gets it" taken
	check "a file without a name is there" wait "$unlinked"
}

under_load()
{
	local i hammer

	on_nodes "$RUN_LIMIT" "$HAMMER" --node %K --nodes %N --timeout "$RUN_LIMIT" --pause 20000 \
		--seconds "$SECONDS_RUN" --stop /run/test-stop >"$dir/hammer" 2>&1 &
	# not $! later: what runs in a guest meanwhile is waited for in the background, too
	hammer=$!
	check "there is load" locks_granted "$GRANTS"
	for ((i = 0; i < RESTARTS; i++)); do
		check "restart $((i + 1)) under load" restart_memd
		# the first one was by hand
		check "the blade serves after restart $((i + 1))" says 'nodes are served' $((i + 2))
		check "the nodes go on after restart $((i + 1))" locks_granted "$GRANTS"
	done
	on nodes touch /run/test-stop
	wait "$hammer"
	report $? "every increment is there, every lock can be had" "$dir/hammer"
	check "nothing is lost under load" nothing_lost
}

begin restart
head -c "${MODIFIED_KB}K" /dev/urandom >"$dir/data"
sum=$(sha256sum <"$dir/data")
[ $# -gt 0 ] || set -- none p4
for switch; do
	boot --nodes 2 --switch "$switch" --mem 512M --memd-options "--backing /root/blade"
	by_hand
	under_load
	end_rack
done
finish
