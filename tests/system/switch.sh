#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The switch is killed and started again, empty, while two nodes and the blade stay up:
#
#	node1 node2 mem1 -- weft-switchd, the P4 program
#
# What a node has modified and not written home is there for the other one afterwards,
# by the new switch.  Then processes of both nodes increment records that locks guard
# (locks-hammer) while the switch is restarted again and again: no two writers meet, no
# increment and no block is lost, and each time the new directory is in use.
#
#	tests/system/switch.sh
#
# Environment: BUILD; WEFT_RESTARTS, of the switch under load (3).

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

RESTARTS=${WEFT_RESTARTS:-3}
HAMMER=$BUILD/tests/locks-hammer
GRANTS=50				# locks that each node gets between two restarts
SECONDS_RUN=$((RESTARTS * 100 * SCALE))	# at most, of that load
RUN_LIMIT=$((SECONDS_RUN + 120 * SCALE))
MODIFIED_KB=512			# not written home when the switch is killed

# of_switch NAME: a counter of the directory in the switch, as node 1 reads it.
of_switch()
{
	counters node1 switch | awk -v name="switch.counters.$1" '$1 == name { print $2 }'
}

restart_switch()
{
	rack kill switch && rack boot switch
}

# in_use: the switch has been given lines, and has answered for them. It counts from 0
# when it starts.
in_use()
{
	local added answered i what n

	for ((i = 0; i < 60 * SCALE; i++)); do
		added=$(of_switch add)
		answered=0
		for what in read fwd inv grant; do
			n=$(of_switch $what)
			answered=$((answered + ${n:-0}))
		done
		[ "${added:-0}" -gt 0 ] && [ "$answered" -gt 0 ] && break
		sleep 0.5
	done
	echo "lines given to the switch: ${added:-none}, answered by it: $answered"
	[ "${added:-0}" -gt 0 ] && [ "$answered" -gt 0 ]
}

# began_anew BEFORE: it has lost what it had counted.
began_anew()
{
	local now

	now=$(of_switch add)
	echo "lines given to the switch: $1 before, ${now:-none} now"
	[ -n "$now" ] && [ "$now" -lt "$1" ]
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

by_hand()
{
	local before

	check "node 1 writes $MODIFIED_KB KiB" on node1 dd if="$dir/data" of=/weft/data bs=64K \
		status=none
	check "node 2 reads some of it" on node2 dd if=/weft/data of=/dev/null bs=64K count=2 \
		status=none
	check "the switch is in use" in_use
	before=$(of_switch add)
	check "the switch is killed and started again" restart_switch
	check "it has forgotten all" began_anew "${before:-0}"
	check "node 2 reads what node 1 had modified" written node2 data
	check "so does node 1" written node1 data
	check "node 2 changes it" on node2 dd if="$dir/data" of=/weft/data bs=64K conv=notrunc \
		status=none
	check "node 1 reads that" written node1 data
	check "the new switch is in use" in_use
	check "nothing is lost" nothing_lost
}

under_load()
{
	local i hammer

	on_nodes "$RUN_LIMIT" "$HAMMER" --node %K --nodes %N --timeout "$RUN_LIMIT" --pause 20000 \
		--seconds "$SECONDS_RUN" --stop /run/test-stop >"$dir/hammer" 2>&1 &
	# not $! later: what runs in a guest meanwhile is waited for in the background, too
	hammer=$!
	check "there is load" locks_granted "$GRANTS"
	for ((i = 1; i <= RESTARTS; i++)); do
		check "restart $i under load" restart_switch
		check "the directory is in the switch again after restart $i" in_use
		note "$(<"$dir/check")"
		check "the nodes go on after restart $i" locks_granted "$GRANTS"
	done
	on nodes touch /run/test-stop
	wait "$hammer"
	report $? "every increment is there, every lock can be had" "$dir/hammer"
	check "nothing is lost under load" nothing_lost
	check "what was there before is there" written node2 data
}

begin switch
head -c "${MODIFIED_KB}K" /dev/urandom >"$dir/data"
sum=$(sha256sum <"$dir/data")
boot --nodes 2 --switch p4 --mem 512M
by_hand
under_load
end_rack
finish
