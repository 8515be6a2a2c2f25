#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A million random and a million mutated messages at a node that works, and as many
# at the memory blade, put on their wires in the name of another node
# (system-hostile):
#
#	node1 node2 (work) node3 (its name is used) mem1 -- switch
#
# Meanwhile node 1 writes a growing number to all blocks of a file, and node 2 reads
# it: it must never fall.  And programs on both take locks in the file that is
# attacked: no matter what becomes of them, they can be killed.  Afterwards all nodes
# work together, memd runs, no kernel has complained.
#
# A message counts if weft has looked at it.  The way there drops none without
# counting it (the wire waits for the guest), so those are the messages sent without
# those that the guest's kernel says it dropped; for the latter more are sent.  That
# as many came to the socket is checked by the kernel's count of datagrams, and
# that weft took each random one for a bad one, and no other, by weft's own.  Messages of
# the work may be torn: nodes send pages of blocks as they are, and on a slow machine a
# page gets new contents before its datagram has left the guest.  These are damaged, too,
# and are asked for again, but nobody forged them: the node counts them apart (msg_torn).
#
# weft-memd and weft-switchd run with the address and undefined behaviour sanitizers.
#
#	tests/system/hostile.sh [PACKETS]	of each sort (1000000)
#
# Environment: BUILD; WEFT_HOSTILE_SEED (1).

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

PACKETS=${1:-1000000}
SEED=${WEFT_HOSTILE_SEED:-1}
HOSTILE=$BUILD/tests/system-hostile
HAMMER=$BUILD/tests/locks-hammer
TOUCH=$BUILD/tests/system-budgets	# writes or reads one number in each block
BLOCKS=16
SEND_LIMIT=$(((120 + PACKETS / 500) * SCALE))	# seconds
ROUNDS=20		# how often more are sent for those that were dropped
FROM=10.87.0.3

# region_of FILE: its number.
region_of()
{
	on node1 stat -c %i "$1"
}

# work: node 1 writes, then node 2 reads, and both rest, until the file "stop" is there.
work()
{
	local k

	for ((k = 1; k < 100000; k++)); do
		[ ! -e "$dir/stop" ] || break
		on node1 "$TOUCH" write /weft/steady "$BLOCKS" "$k" || return 1
		on node2 "$TOUCH" read /weft/steady "$BLOCKS" "$k" || return 1
		sleep 0.5
	done
	echo "$k rounds"
	[ "$k" -gt 3 ]
}

# datagrams GUEST: how many its sockets got, how many it dropped on the way.
datagrams()
{
	on "$1" sh -c 'cat /proc/net/snmp /proc/net/dev; sed "s/^/softnet /" /proc/net/softnet_stat' |
		awk '
		($1 == "Udp:" || $1 == "Ip:") && !($1 in head) { head[$1] = $0; next }
		$1 == "Udp:" || $1 == "Ip:" {
			n = split(head[$1], name, " ")
			for (i = 2; i <= n; i++)
				v[$1 name[i]] = $i
			next
		}
		# hexadecimal, without a way to read it: any is one too many
		$1 == "softnet" && $3 !~ /^0+$/ { bad = 1 }
		$1 == "eth0:" { dropped = $4 + $5; found = 1 }
		END {
			if (!found || !("Udp:InErrors" in v) || bad)
				exit 1
			dropped += v["Udp:InErrors"] + v["Udp:NoPorts"]
			dropped += v["Ip:InDiscards"] + v["Ip:InHdrErrors"] + v["Ip:InAddrErrors"]
			printf "%.0f %.0f\n", v["Udp:InDatagrams"], dropped
		}'
}

# torn GUEST: messages of the work whose block changed while it was sent.
torn()
{
	counters "$1" | awk '$1 == "node.counters.msg_torn" { print $2; found = 1 }
		END { exit !found }'
}

# refused GUEST: messages that weft found damaged or of another version.
refused()
{
	local from=$1 what=node

	[ "$1" != mem1 ] || { from=node2; what=memory; }
	counters "$from" "$what" | awk '
		$1 ~ /^node[.]counters[.](msg_bad|msg_other_version)$/ ||
		$1 ~ /^memory[.]total[.](bad_messages|other_version)$/ { sum += $2; n++ }
		END { if (n != 2) exit 1; printf "%.0f\n", sum }'
}

# settled GUEST WANTED: its sockets have got so many datagrams, dropped ones included.
settled()
{
	local got dropped i

	for ((i = 0; i < 30; i++)); do
		read -r got dropped < <(datagrams "$1") || return 1
		[ $((got + dropped)) -lt "$2" ] || return 0
		sleep 1
	done
	echo "$1: $got datagrams and $dropped dropped, fewer than $2"
	return 1
}

# attack SORT GUEST ADDRESS: until weft has looked at PACKETS messages there.
attack()
{
	local sort=$1 guest=$2 sent=0 lost=0 need round refused_before refused_after
	local got_before lost_before got now seed=$SEED

	[ "$guest" != mem1 ] || seed=$((SEED + 1000))
	read -r got_before lost_before < <(datagrams "$guest") || return 1
	refused_before=$(refused "$guest") || return 1
	for ((round = 0; round < ROUNDS; round++)); do
		need=$((PACKETS - sent + lost))
		[ "$need" -gt 0 ] || break
		limited "$SEND_LIMIT" "$HOSTILE" "$sort" "$need" $((seed + round)) \
			"$victim" "$steady" "$wires/$guest/net.sock" "$FROM" "$3" || return 1
		sent=$((sent + need))
		settled "$guest" $((got_before + lost_before + sent)) || return 1
		# what is in the last queue yet
		sleep 3
		read -r got now < <(datagrams "$guest") || return 1
		lost=$((now - lost_before))
	done
	echo "$guest: $sent $sort sent, $lost dropped by the kernel," \
		"its sockets got $((got - got_before)) datagrams"
	if [ $((sent - lost)) -lt "$PACKETS" ] ||
			[ $((got - got_before)) -lt $((sent - lost)) ]; then
		echo "that are too few"
		return 1
	fi
	refused_after=$(refused "$guest") || return 1
	echo "$guest: weft refused $((refused_after - refused_before)) of them as damaged"
	refused_after=$((refused_after - refused_before))
	# what was lost may have been messages of the work
	[ "$sort" != random ] ||
		{ [ $refused_after -ge $((sent - lost)) ] && [ $refused_after -le "$sent" ]; }
}

# suffer NODE: programs that take locks where messages lie about them, and pages that
# these guard, until the file "stop" is there.  Each of them lives some seconds, and
# tells how many it took; those that are killed (exit status 137) do not.
suffer()
{
	local k taken

	: >"$dir/suffer.$1"
	for ((k = 1; k < 10000; k++)); do
		[ ! -e "$dir/stop" ] || break
		on "$1" timeout -s KILL $((15 * SCALE)) "$HAMMER" --alone --file /weft/victim --guard --locks 8 \
			--seconds 2 --pause 5000 --seed "$k" >>"$dir/suffer.$1" 2>&1 ||
			echo "exit status $?" >>"$dir/suffer.$1"
		# whoever is left of them can be killed, wherever it waits
		on "$1" sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do
				pkill -KILL -x locks-hammer || exit 0
				sleep 0.5
			done
			cat /proc/$(pgrep -x locks-hammer | head -n 1)/stack
			exit 1' || return 1
	done
	taken=$(awk '$1 == "node" && $4 ~ /^reads/ { sum += $3 + $5 } END { print sum + 0 }' \
		"$dir/suffer.$1")
	echo "$1: $((k - 1)) programs took $taken locks," \
		"$(grep -c '^node' "$dir/suffer.$1") of them told"
	grep -v '^node' "$dir/suffer.$1" | sort | uniq -c | sort -rn | head -n "$NOISE" |
		sed "s/^ *\([0-9]*\)/$1: \1 times/"
	[ "$k" -gt 2 ] && [ "$taken" -gt 0 ]
}

# both SORT: at node 1 and the blade; the workload goes on, and ends well.
both()
{
	local worker node_rc blade_rc blade victims=() pid

	rm -f "$dir/stop"
	work >"$dir/work" 2>&1 &
	worker=$!
	for node in node1 node2; do
		suffer "$node" >"$dir/victims.$node" 2>&1 &
		victims+=($!)
	done
	sleep 2
	attack "$1" mem1 10.87.0.101 >"$dir/send.mem1" 2>&1 &
	blade=$!
	attack "$1" node1 10.87.0.1 >"$dir/send.node1" 2>&1
	node_rc=$?
	wait "$blade"
	blade_rc=$?
	touch "$dir/stop"
	for pid in "$worker" "${victims[@]}"; do
		wait "$pid" && continue
		echo "the work failed:"
		cat "$dir/work" "$dir"/victims.* "$dir"/suffer.* "$dir"/send.*
		return 1
	done
	cat "$dir/work" "$dir"/victims.* "$dir"/send.*
	[ "$node_rc" = 0 ] && [ "$blade_rc" = 0 ]
}

works()
{
	on node1 sh -c "echo after $1 >/weft/after.$1" || return 1
	for node in node2 node3; do
		[ "$(on "$node" cat "/weft/after.$1")" = "after $1" ] || return 1
	done
	on node3 dd if=/dev/urandom of="/weft/more.$1" bs=64K count=16 status=none || return 1
	[ "$(on node3 sha256sum "/weft/more.$1")" = "$(on node2 sha256sum "/weft/more.$1")" ]
}

# no_report FILE: no sanitizer and no assertion has said anything there.
no_report()
{
	no_line '[Aa]ssert|runtime error|[Ss]anitizer' "$1"
}

memd_runs()
{
	on mem1 pgrep -x weft-memd && on mem1 cat /var/log/weft-memd.log >"$dir/memd.log" &&
		no_report "$dir/memd.log"
}

switchd_runs()
{
	rack status && no_report "$wires/switch/console.log"
}

# sanitized: both of them are; what is not there reports nothing.
sanitized()
{
	on mem1 sh -c 'grep -q libasan "/proc/$(pgrep -x weft-memd)/maps"' &&
		on mem1 sh -c 'grep -q libubsan "/proc/$(pgrep -x weft-memd)/maps"' &&
		ldd "$wires/weft-switchd" | grep libasan && ldd "$wires/weft-switchd" | grep libubsan
}

export WEFT_RACK_PROGRAMS=$BUILD/san/bin
built "$HOSTILE" "$TOUCH" "$HAMMER" "$WEFT_RACK_PROGRAMS"/weft-{memd,switchd}
begin hostile
boot --nodes 3 --switch p4 --mem 512M
check "a file to work on" on node1 truncate -s $(((BLOCKS + 1) * 3 * 4096)) /weft/steady
check "a file to attack, in everybody's cache" on node1 dd if=/dev/zero of=/weft/victim \
	bs=4K count=64 status=none
check "node 2 has it" on node2 cat /weft/victim
steady=$(region_of /weft/steady)
victim=$(region_of /weft/victim)
wires=$(rack status | sed -n '1s/.* files in //p')
check "they are two regions" [ "$((steady))" -ne "$((victim))" ]
check "blade and switch run with the sanitizers" sanitized
for sort in random mutated; do
	check "$PACKETS $sort messages, and work meanwhile" both $sort
	sed 's/^/# /' "$dir/work" "$dir"/victims.* "$dir"/send.*
	check "after $sort messages all nodes work" works $sort
	check "after $sort messages memd runs, no sanitizer has complained" memd_runs
	check "after $sort messages the switch runs, no sanitizer has complained" switchd_runs
	note "messages of the work that were torn: node 1 $(torn node1), node 2 $(torn node2)"
done
check "all can unmount" on nodes umount /weft
check "and mount" on nodes mount -t weft none /weft
check "after that all nodes work" works mounting
end_rack
finish
