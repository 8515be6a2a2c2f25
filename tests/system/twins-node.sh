#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The part of twins.sh that runs in the guest:
#
#	twins-node.sh BUILD BYTES
#
# BYTES is a file of 2 MiB.  The guest is a node of rack 0 before and after.  Run at the top
# of the tree.  Environment: see twins.sh.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail

. tests/tap.sh

BUILD=$1
bytes=$2
# shellcheck source=tests/system/inside.sh
. tests/system/inside.sh
begin twins-node /run

# details: of the last command.
details()
{
	cat "$dir/out" "$dir/err"
	cat "$dir/blade"; inside ip -s neigh
	ip neigh
	dmesg | tail -n 5
}

# both LIMIT COMMAND...: as both nodes at once; %K is the node's number, %D where it has weft.
both()
{
	local limit=$(($1 * SCALE)) k pids=() rc=0

	shift
	for k in 1 2; do
		timeout "$limit" "${@//%D/${where[k]}}" --node $k --nodes 2 >"$dir/both.$k" 2>&1 \
			</dev/null &
		pids+=($!)
	done
	for k in "${pids[@]}"; do
		wait "$k" || rc=1
	done
	cat "$dir/both.1" "$dir/both.2"
	return $rc
}

where=("" /weft5 /weft6)

# landings RACK: what became of those that its requests offered.
landings()
{
	echo "$(counter "$1" landings_offered) offered, $(counter "$1" blocks_landed) used, $(
		counter "$1" landings_closed) closed, $(counter "$1" blocks_landed_out) written"
}

# One that is to be closed may be used before that happens.
all_closed()
{
	local offered used closed

	offered=$(counter "$1" landings_offered)
	used=$(counter "$1" blocks_landed)
	closed=$(counter "$1" landings_closed)
	[ "$offered" -le $((used + closed)) ] && [ $((used + closed)) -le $((2 * offered)) ]
}

# waits RACK: how many of its misses took less than 16, 33, 131 us: what spinning could save.
waits()
{
	"$weftctl" --rack "$1" -j stats latency | awk -f tools/demo/counters.awk | awk '
		$1 !~ /[.]miss_.*[.]buckets[.]/ { next }
		/below_ns/ { below = $2 }
		/count/ { n += $2
			for (us = 16; us < 200; us *= 2)
				if (below && below <= 1.03 * 1000 * us)
					under[us] += $2 }
		END { printf "of %d misses %d took less than 16 us, %d 33 us, %d 131 us\n", n,
			under[16], under[32], under[128] }'
}

# stress: what both nodes have done with the same pages is one history.
stress()
{
	mkdir "$dir/logs" &&
		both 200 "$BUILD/bin/weft-stress" --dir %D --out "$dir/logs" --threads 2 --pages 16 \
			--ops "$WEFT_TWINS_OPS" --burst 64 --seconds $((150 * SCALE)) \
			--timeout $((100 * SCALE)) &&
		timeout $((100 * SCALE)) "$BUILD/bin/weft-check" --min-ops $((4 * WEFT_TWINS_OPS - 8)) \
			--min-foreign $((WEFT_TWINS_OPS / 25)) "$dir"/logs/stress-log.* \
			"$dir"/logs/stress-image.*
}

backwards()	{ tac "$bytes" | cmp - /weft5/a; }
numbers()	{ seq 100000 | cmp - /weft5/c; }
kernel_says()	{ dmesg | tail -n 5 | grep -qF -- "$1"; }

# come_and_go TIMES: node 1, while node 2 stays.
come_and_go()
{
	local i

	for ((i = 0; i < $1; i++)); do
		timeout $((60 * SCALE)) umount /weft5 || return 1
		timeout $((60 * SCALE)) "$weftctl" --rack 5 down || return 1
		cmp "$bytes" /weft6/b || return 1
		timeout $((60 * SCALE)) "$weftctl" up --rack 5 --node 1 --interface five "${homes[@]}" \
			--cache 4M --block "$WEFT_TWINS_BLOCK" --mount /weft5 || return 1
		cmp "$bytes" /weft5/b || return 1
	done
}

both_go()
{
	umount /weft5 /weft6 && "$weftctl" --rack 5 down && "$weftctl" --rack 6 down
}

# --- Two nodes of one rack ------------------------------------------------------------

inside_begin 10.5.0.101 five=10.5.0.1 six=10.5.0.2 seven=10.5.0.3
check "there is a blade" inside_blade 5 "$dir/blade"
mkdir -p /weft5 /weft6 /weft7
homes=(--homes 10.5.0.101)
ctl up --rack 5 --node 1 --interface five "${homes[@]}" --cache 4M --block "$WEFT_TWINS_BLOCK" --mount /weft5
check "up in rack 5" good
ctl up --rack 5 --joins 5 --node 2 --interface six "${homes[@]}"
check "not twice under one number" says "weftctl: the node is set up already: run 'weftctl down' first, or 'weftctl set' to tune it"
ctl up --rack 6 --joins 5 --node 2 --interface five "${homes[@]}"
check "not by one interface" says "weftctl: the module refuses: another rack of this machine uses the interface: give each rack one of its own, a VLAN or macvlan device will do"
ctl up --rack 6 --joins 5 --node 2 --interface six "${homes[@]}" --cache 4M --block "$WEFT_TWINS_BLOCK" --mount /weft6
check "up in rack 5 once more, as rack 6" good
ctl rack
check "weftctl rack" [ "$(sed 1d "$dir/out" | grep -v '^ *0 ' | tr -s ' ' | sed 's/^ //' | paste -sd ';')" = \
	"5 1 five 10.5.0.1 joined /weft5;6 2 six 10.5.0.2 joined /weft6 (rack 5 for all others)" ]
ctl --rack 6 -j status;		check "what the other one says" has '"node":2,"rack":6,"joins":5,"interface":"six"'
ctl up --rack 7 --joins 5 --node 2 --interface seven "${homes[@]}"
check "a third one, with the id of the second" good
check "gets nowhere" exits 32 "File exists" mount -t weft -o rack=7 none /weft7
check "the kernel says why" kernel_says "another node has the id 2"
ctl --rack 7 down;		check "it goes" good
# it answers ARP for the addresses of the others, and what comes by it is nobody's
ip link del seven

# --- Memory between them ----------------------------------------------------------------

# copied: what one writes the other one reads; $landed and $closed are what that took.
copied()
{
	local landed_before closed_before

	landed_before=$(counter 6 blocks_landed)
	closed_before=$(counter 6 landings_closed)
	cp "$bytes" /weft5/a && cmp "$bytes" /weft6/a || return 1
	landed=$(($(counter 6 blocks_landed) - landed_before))
	closed=$(($(counter 6 landings_closed) - closed_before))
}

landed=0 closed=0
check "what one writes the other one reads" copied
blocks=$(($(stat -c %s "$bytes") / WEFT_TWINS_BLOCK))
check "which has not left the machine: $(counter 5 msg_in_memory) messages for $blocks blocks" \
	[ "$(counter 5 msg_in_memory)" -ge "$blocks" ]
# But those whose request was repeated, as the machine had something else to do: it closes what
# it had offered, and offers another one.  If those are many, that is done again, twice at most.
for try in 1 2; do
	[ $((10 * landed)) -lt $((9 * blocks)) ] || break
	note "copy $try: $landed landed, $closed closed"
	copied || break
done
check "they were written where node 2 wanted them: $landed, $closed closed" \
	[ $((landed + closed)) -ge "$blocks" -a $((10 * landed)) -ge $((9 * blocks)) ]
check "and not by the interface: $(counter 6 msg_other_interface)" \
	[ "$(counter 6 msg_other_interface)" = 0 ]
tac "$bytes" >/weft6/a
check "and the other way round" backwards
check "nothing was lost between them" \
	[ "$(counter 5 msg_inbox_full) $(counter 6 msg_inbox_full)" = "0 0" ]

# Each tells the blade that it has the address of the other one.
inside ip neigh replace 10.5.0.2 lladdr "$(cat /sys/class/net/five/address)" dev middle nud permanent
cp "$bytes" /weft6/b
check "by the interface of the other one" cmp "$bytes" /weft5/b
inside ip neigh del 10.5.0.2 dev middle

check "litmus tests" both 200 "$BUILD/bin/weft-litmus" --dir %D --rounds "$WEFT_TWINS_ROUNDS"
check "a history of loads, stores and atomics" stress
for k in 5 6; do
	note "rack $k: $(waits $k)"
done
check "a lock that both want" both 60 "$BUILD/bin/weft-lockbench" counter --dir %D --seconds 2
check "messages went that way: $(counter 6 msg_in_memory)" [ "$(counter 6 msg_in_memory)" -gt 500 ]
for k in 5 6; do
	check "rack $k: blocks landed, as the history was made ($(landings $k))" \
		[ "$(counter $k blocks_landed)" -gt 200 ]
	check "and each landing that was offered was closed" all_closed $k
done
check "nobody sent as somebody else" [ "$(counter 5 msg_forged) $(counter 6 msg_forged)" = "0 0" ]

# --- One of them goes ------------------------------------------------------------------

seq 100000 >/weft6/c
check "unmounting one" timeout $((60 * SCALE)) umount /weft6
ctl --rack 6 down;		check "which goes" good
check "the other one has what it wrote" numbers
ctl up --rack 6 --joins 5 --node 2 --interface six "${homes[@]}" --cache 4M --block "$WEFT_TWINS_BLOCK" --mount /weft6
check "it comes back" good
check "and sees the same" cmp /weft5/c /weft6/c
check "one comes and goes 5 times" come_and_go 5
check "both go" both_go
ctl rack
check "rack 0 is left" [ "$(sed 1d "$dir/out" | awk '{ print $1 }')" = 0 ]
inside_end
finish
