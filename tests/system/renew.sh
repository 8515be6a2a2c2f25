#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The memory blade begins a new life while a node has much that only it has modified:
#
#	node1 node2 mem1 -- switch
#
# First over the wire as it is, with many lines in the switch, which soon lets the blade begin
# all the same; then over one so slow that it takes longer than a blade waits for a node that
# makes no progress. All of it comes home both times, nothing is lost, and node2 reads it. Prints
# how much a second is given back.
#
#	tests/system/renew.sh
#
# Environment: BUILD; WEFT_RENEW_MIB (48), that are modified; WEFT_RENEW_BLOCK (4K), of the
# first region; WEFT_RENEW_MBIT (16), of the slow wire.

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

MIB=${WEFT_RENEW_MIB:-48}
MBIT=${WEFT_RENEW_MBIT:-16}
BLOCK=${WEFT_RENEW_BLOCK:-4K}
PATIENCE_MS=15000		# of a blade, without progress: RENEW_LIMIT_MS
AT_LEAST_MS=$((MIB * 8 * 1000 / MBIT))	# that the slow wire takes
WIRE_LIMIT=$((MIB * 16 / MBIT + 60))	# seconds
DATA_LIMIT=$(((MIB + 60) * SCALE))	# seconds that all of it may take to be written, or read
LOG=/var/log/weft-memd.log

# long NODE COMMAND...: what takes longer than others.
long()
{
	limited "$DATA_LIMIT" "$RACK" --name "$run_name" exec "$1" -- "${@:2}"
}

# writes SEED BLOCK: node1 modifies all of a new region; sum is what it has written.
writes()
{
	on node1 mount -o "remount,block=$2" /weft && on node1 rm -f /weft/data || return 1
	sum=$(long node1 bash -c 'set -o pipefail; { openssl enc -aes-128-ctr -nosalt -pass "pass:$1" -md sha256 </dev/zero 2>/dev/null || :; } |
		head -c "$2M" | tee /weft/data | sha256sum' - "$1" "$MIB")
}

# came_home: all blocks but a few, in this life of the blade: only node1 had them.
came_home()
{
	at_least $((MIB * 1048576 * 9 / 10)) "$(counters node1 memory |
		awk '/[.]write_back_bytes / { print $2; exit }')"
}

# served TIMES: nodes are, after so many new lives; ms is how long nodes gave back in the last one,
# life_ms the time since that began.
served()
{
	local i

	for ((i = 0; i < WIRE_LIMIT * SCALE; i++)); do
		if [ "$(on mem1 grep -c 'nodes are served' $LOG)" -ge "$1" ]; then
			read -r ms life_ms < <(on mem1 sed -n 's/.*all lines are at home after \([0-9]*\) ms, \([0-9]*\) ms after.*/\1 \2/p' $LOG |
				tail -n 1)
			return 0
		fi
		sleep 1
	done
	on mem1 tail $LOG
	return 1
}

# within MOST FOUND
within()
{
	echo "$2 ms"
	[ "$2" -ge 0 ] && [ "$2" -le "$1" ]
}

# read_by NODE: all of it, as it was written.
read_by()
{
	equal "$sum" "$(long "$1" sh -c 'sha256sum </weft/data')"
}

# life NTH WHAT BLOCK: the blade is killed and started again.
life()
{
	check "$2: node1 has modified $MIB MiB" writes "$1-$RANDOM" "$3"
	remember
	[ "$2" != slow ] || check "$2: node1 sends $MBIT Mbit/s" on node1 sh -c "modprobe sch_tbf &&
		tc qdisc add dev eth0 root tbf rate ${MBIT}mbit burst 64kb limit 1mb"
	check "$2: the blade begins a new life" restart_memd
	check "$2: all is given back" served "$1"
	note "$2: $MIB MiB in $ms ms, $((MIB * 1048576 / (ms > 0 ? ms : 1))) KB/s"
	check "$2: only node1 had it" came_home
	check "$2: it had soon begun" within $((1000 * SCALE)) $((life_ms - ms))
	look
	check "$2: nothing is lost" equal 0 "$(grown blocks_lost)"
	check "$2: no node was left out" exits 1 "" on mem1 grep -E "does not give|not come to an end" $LOG
	check "$2: node2 reads it" read_by node2
	check "$2: node1 reads it" read_by node1
}

begin renew
boot --nodes 2 --switch p4 --mem $((MIB + MIB / 4 + 384))M --cache $((MIB + MIB / 8 + 8))M \
	--blade-mem $((MIB * 5 / 4 + 32))M --memd-options "--backing /root/blade"
life 1 plain "$BLOCK"
life 2 slow 64K
check "that took longer than a blade waits without progress" at_least $PATIENCE_MS "$ms"
check "and as long as the wire needs" at_least $((AT_LEAST_MS * 9 / 10)) "$ms"
check "the blade has said whom it waits for" on mem1 grep 'waiting for node 1' $LOG
end_rack
finish
