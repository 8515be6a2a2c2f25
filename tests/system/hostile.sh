#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A million random and a million mutated messages at a node that works and at the
# memory blade, sent from the guest of another node (system-hostile):
#
#	node1 node2 (work) node3 (sends) mem1 -- switch
#
# Meanwhile node 1 writes a growing number to all blocks of a file, and node 2 reads
# it: it must never fall.  Afterwards all nodes work together, memd runs, no kernel
# has complained.
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
TOUCH=$BUILD/tests/system-budgets	# writes or reads one number in each block
BLOCKS=16
SEND_LIMIT=$((120 + PACKETS / 500))	# seconds
TARGETS=(10.87.0.1 10.87.0.101)

# region_of FILE: its number.
region_of()
{
	on node1 stat -c %i "$1"
}

# work: node 1 writes, then node 2 reads, until the file "stop" is there.
work()
{
	local k

	for ((k = 1; k < 100000; k++)); do
		[ ! -e "$dir/stop" ] || break
		on node1 "$TOUCH" write /weft/steady "$BLOCKS" "$k" || return 1
		on node2 "$TOUCH" read /weft/steady "$BLOCKS" "$k" || return 1
	done
	echo "$k rounds"
	[ "$k" -gt 3 ]
}

# send SORT: and node 1 and the blade have got most of it.
send()
{
	local before after

	before=$(arrived) || return 1
	limited "$SEND_LIMIT" "$RACK" --name "$rack_name" exec node3 -- \
		"$HOSTILE" "$1" "$PACKETS" "$SEED" "$victim" "$steady" "${TARGETS[@]}" || return 1
	after=$(arrived) || return 1
	echo "$((after - before)) of $PACKETS arrived"
	[ $((after - before)) -ge $((PACKETS / 2)) ]
}

# arrived: messages that node 1 and the blade have seen, good or bad.
arrived()
{
	{ counters node1; counters node1 memory; } | awk '
		$1 ~ /^node[.]counters[.](msg_received|msg_bad|msg_other_rack|msg_other_version)$/ ||
		$1 ~ /^memory[.]total[.](in_.*|bad_messages|other_rack|other_version)$/ {
			sum += $2; found = 1 }
		END { if (!found) exit 1; printf "%.0f\n", sum }'
}

# both: the workload ends well, while the sort is sent.
both()
{
	local sender

	rm -f "$dir/stop"
	work >"$dir/work" 2>&1 &
	local worker=$!
	sleep 2
	send "$1" >"$dir/send" 2>&1
	sender=$?
	touch "$dir/stop"
	wait "$worker" || { echo "the work failed:"; cat "$dir/work" "$dir/send"; return 1; }
	cat "$dir/work" "$dir/send"
	return "$sender"
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

memd_runs()
{
	on mem1 pgrep -x weft-memd && on mem1 cat /var/log/weft-memd.log >"$dir/memd.log" || return 1
	# sanitizers and assertions
	! grep -i 'assert\|runtime error\|AddressSanitizer' "$dir/memd.log"
}

for program in "$HOSTILE" "$TOUCH"; do
	[ -x "$program" ] || { echo "hostile: $program is not built: run make" >&2; exit 2; }
done
begin hostile
boot --nodes 3 --switch p4 --mem 512M
check "a file to work on" on node1 truncate -s $(((BLOCKS + 1) * 3 * 4096)) /weft/steady
check "a file to attack, in everybody's cache" on node1 dd if=/dev/zero of=/weft/victim \
	bs=4K count=64 status=none
check "node 2 has it" on node2 cat /weft/victim
steady=$(region_of /weft/steady)
victim=$(region_of /weft/victim)
check "they are two regions" [ "$((steady))" -ne "$((victim))" ]
for sort in random mutated; do
	check "$PACKETS $sort messages, and work meanwhile" both $sort
	note "$(tail -n 2 "$dir/check" | tr '\n' ' ')"
	check "after $sort messages all nodes work" works $sort
	check "after $sort messages memd runs" memd_runs
done
check "all can unmount" on nodes umount /weft
check "and mount" on nodes mount -t weft none /weft
check "after that all nodes work" works mounting
end_rack
finish
