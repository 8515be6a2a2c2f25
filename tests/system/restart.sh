#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The memory blade is killed and started again while two nodes stay up, and so, to all that
# they can see, is the switch:
#
#	node1 node2 mem1 -- switch
#
# What a node has modified and not written home is there for the other one afterwards;
# a lock that a program holds stays held, and another program gets it when it is left; an
# unlinked file that is open stays.  Then processes of both nodes increment records that
# locks guard (locks-hammer) while the blade is restarted again and again, and a P4 switch
# forgets all that it had: no two writers meet, no increment is lost, and each time the
# switch's new directory is in use.  switch.sh kills the program that is the switch.
#
#	tests/system/restart.sh [SWITCH...]	(none p4)
#
# Environment: BUILD; WEFT_RESTARTS, of each of them under load (3).

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

RESTARTS=${WEFT_RESTARTS:-3}
HAMMER=$BUILD/tests/locks-hammer
GRANTS=100			# locks that each node gets between two restarts under load
SECONDS_RUN=$((RESTARTS * 200 * SCALE))	# at most, of that load
RUN_LIMIT=$((SECONDS_RUN + 120 * SCALE))
MODIFIED_KB=512			# not written home when the blade is killed, or the switch forgets
HOLD=$((100 * SCALE))		# seconds that a lock is held at most, with a restart in them

# says TEXT [TIMES]: the blade has logged it so often in all its lives, within some
# seconds.
says()
{
	local i logged

	for ((i = 0; i < 60 * SCALE; i++)); do
		logged=$(on mem1 grep -cF "$1" /var/log/weft-memd.log)
		[ "${logged:-0}" -ge "${2-1}" ] && return
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

# of_switch NAME: a counter of the directory in the switch, as node 1 reads it.
of_switch()
{
	counters node1 switch | awk -v name="switch.counters.$1" '$1 == name { print $2 }'
}

# answered: the switch has been given lines, and has answered for them, since it last forgot
# all: then it counts from 0.
answered()
{
	local added answers=0 what n

	added=$(of_switch add)
	for what in read fwd inv grant; do
		n=$(of_switch $what)
		answers=$((answers + ${n:-0}))
	done
	echo "lines given to the switch: ${added:-none}, answered by it: $answers"
	[ "${added:-0}" -gt 0 ] && [ "$answers" -gt 0 ]
}

# forgets: the switch does, as if it had been started again: it has lost what it had counted.
forgets()
{
	local before now

	before=$(of_switch add)
	rack wire clear || return 1
	now=$(of_switch add)
	echo "lines given to the switch: ${before:-none} before, ${now:-none} now"
	[ -n "$now" ] && [ "$now" -lt "${before:-0}" ]
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

# forgotten: what only node 1 has as it is now, through a switch that knows nothing of it.
forgotten()
{
	check "node 1 writes all of it again" on node1 dd if="$dir/data" of=/weft/data bs=64K \
		conv=notrunc status=none
	check "the switch is in use" soon 30 answered
	check "it forgets all" forgets
	check "node 2 reads what node 1 had modified" written node2 data
	check "node 2 changes it" on node2 dd if="$dir/data" of=/weft/data bs=64K conv=notrunc \
		status=none
	check "node 1 reads that" written node1 data
	check "the switch is in use again" soon 30 answered
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
	for ((i = 0; i < RESTARTS; i++)); do
		check "restart $((i + 1)) under load" restart_memd
		# the first one was by hand
		check "the blade serves after restart $((i + 1))" says 'nodes are served' $((i + 2))
		check "the nodes go on after restart $((i + 1))" locks_granted "$GRANTS"
		[ "$switch" = p4 ] || continue
		check "the switch forgets all under load" rack wire clear
		check "it is in use again" soon 30 answered
		note "$(tail -n 1 "$dir/check")"
		check "the nodes go on" locks_granted "$GRANTS"
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
	[ "$switch" != p4 ] || forgotten
	under_load
	end_rack
done
finish
