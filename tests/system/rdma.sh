#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Data by RDMA, in a rack of three nodes and a blade that all have a device:
#
#	node1 node2 node3 mem1, each with rxe0 -- switch
#
# Most blocks land, with the right contents; with frames that are lost, repeated and in
# another order the history of what programs did is right, and no program gets SIGBUS; so it
# is while devices, interfaces and the module come and go, and queue pairs and keys fail, and
# blocks land again afterwards. A node without a device is spoken to by UDP.
#
#	tests/system/rdma.sh [PART]
#
# Parts, all without one: usual; direct, what nodes read at the blade without its program; unload,
# the module goes while landings are open, or were to be.
#
# In a rack of user-mode kernels, for which RDMA is compiled if need be. Environment: BUILD;
# WEFT_RDMA_ROUNDS, how often each of these comes and goes, or fails, at each of three members
# (3); WEFT_RDMA_OPS, accesses of a
# run (150000).

# Functions are called by check; what is in single quotes is for shells in guests.
# shellcheck disable=SC2016,SC2317,SC2329
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

wanted=${1-}
ROUNDS=${WEFT_RDMA_ROUNDS:-3}
OPS=${WEFT_RDMA_OPS:-150000}
THREADS=2		# on each node
PAGES=64		# that they work on
BURST=64		# accesses to one of them in a row
BYTES=2000000		# of the file that is read
SMALL=512K		# a cache that does not hold it
PASSES=4		# how often it is read
MISSES=$((PASSES * BYTES / 4096))
PAUSE_US=4000		# between bursts of programs that only keep the rack at work
MOST=20000000		# accesses of theirs that are written down
RUN_LIMIT=$((200 * SCALE))	# seconds for one run
LOGS=/run/rdma-logs	# in the guests

# --- Files ------------------------------------------------------------------------

# same_everywhere NAME: node1 makes a file, the others read it, and node1 what they wrote over.
same_everywhere()
{
	local sum node

	sum=$(on node1 sh -c "head -c $BYTES /dev/urandom >/weft/$1 && sha1sum </weft/$1") ||
		return 1
	for node in node2 node3 node1; do
		equal "$sum" "$(on $node sha1sum "/weft/$1" | sed 's/ .*/  -/')" || return 1
		sum=$(on $node sh -c "head -c $BYTES /dev/urandom >/weft/$1 && sha1sum </weft/$1") ||
			return 1
	done
}

# landed PERCENT: so many of the blocks that came, and were asked for with a landing, landed.
landed()
{
	note "$(grown landings_offered) landings offered, $(grown blocks_landed) used," \
		"$(grown landings_closed) closed; $(grown blocks_in) blocks came"
	at_least 100 "$(grown blocks_landed)" &&
		at_least $(($1 * $(grown blocks_in) / 100)) "$(grown blocks_landed)"
}

# came_home: blocks that nodes' cards have written to the blade's rooms.
came_home()
{
	on node1 "$BIN/weftctl" stats memory | awk '$1 == "rdma_home" { print $2 }'
}

# goes_home: what node1 leaves does, most of it so, and is what it was.
goes_home()
{
	local before sum

	before=$(came_home)
	sum=$(on node1 sh -c "head -c $BYTES /dev/urandom >/weft/home && sha1sum </weft/home") &&
		on node1 sh -c 'umount /weft && mount -t weft none /weft' || return 1
	at_least $((BYTES / 4096 / 2)) $(($(came_home) - before)) &&
		equal "$sum" "$(on node2 sh -c 'sha1sum </weft/home')"
}

# loss_counts NODE: its device has counted losses, more than doctor lets pass; else there is some
# more for it to lose.
loss_counts()
{
	on "$1" sh -c 'cd /sys/class/infiniband/rxe0/ports/1/hw_counters &&
		echo $(($(cat rcvd_seq_err) + $(cat out_of_seq_request) + $(cat retry_exceeded_err))) \
			$(cat rcvd_pkts)' >"$dir/counts" || return 1
	cat "$dir/counts"
	awk '{ exit $1 < 30 || $1 < $2 / 150 }' "$dir/counts" && return
	same_everywhere lossy
	return 1
}

# measured AGAIN COMMAND...: a machine that stands still breaks connections, and until they are made
# again (which AGAIN waits for) data goes by UDP: it holds at one of three times.
measured()
{
	local try

	for try in 1 2 3; do
		"${@:2}" && return
		echo "not at time $try"
		soon 60 "$1" || return 1
	done
	return 1
}

# --- Programs ---------------------------------------------------------------------

# work ACCESSES SECONDS [OPTION...]: on the same pages, on all nodes, until one of both is
# reached.
work()
{
	on_nodes "$RUN_LIMIT" "$BIN/weft-stress" --out "$LOGS" --node %K --nodes %N \
		--threads $THREADS --pages "$PAGES" --ops $(($1 / (nodes * THREADS) + 2)) \
		--burst "$BURST" --seconds "$2" --timeout "$RUN_LIMIT" --seed 1 "${@:3}"
}

# judge ACCESSES: so many at least, and what was read can have been.
judge()
{
	rm -rf "$dir/logs"
	mkdir "$dir/logs" && take "$LOGS" "$dir/logs" &&
		limited "$RUN_LIMIT" "$BIN/weft-check" --min-ops "$1" --min-foreign $(($1 / 200)) \
			"$dir"/logs/stress-log.* "$dir"/logs/stress-image.*
}

# run WHAT ACCESSES SECONDS [COMMAND]: programs work, while COMMAND does something; then they
# rest between bursts, as they only keep the rack at work.
run()
{
	local what=$1 rc=0 worker

	remember
	on nodes rm -rf "$LOGS" && on nodes mkdir "$LOGS" || return 1
	if [ $# -gt 3 ]; then
		work "$2" "$3" --pause $PAUSE_US >"$dir/work" 2>&1 &
		worker=$!
		check "$what: $4" "$4"
		wait $worker || rc=1
	else
		work "$2" "$3" >"$dir/work" 2>&1 || rc=1
	fi
	look
	check "$what: no program has failed" shown $rc "$dir/work"
	# What ends after a time has done what it could.
	check "$what: the history is right" judge $(($# > 3 ? $2 / 100 : $2))
	note "$what: $(grown blocks_landed) of $(grown blocks_in) blocks landed," \
		"$(grown landings_closed) landings were closed," \
		"$(grown retransmissions) messages sent again"
	check "$what: all is taken away" on node1 sh -c 'rm -f /weft/stress-*'
}

# --- Without the blade's program ----------------------------------------------------

# direct MODE: of all nodes: 0 never, 1 if it is faster, 2 always.
direct()
{
	on nodes sh -c 'echo "$0" >/sys/module/weft_rdma/parameters/direct' "$1"
}

# caches SIZE: of all nodes; what was modified is home then.
caches()
{
	on nodes sh -c 'umount /weft && mount -t weft -o "cache=$0" none /weft' "$1"
}

# reads NODE TIMES: the file, which its cache cannot hold.
reads()
{
	local i

	for ((i = 0; i < $2; i++)); do
		equal "$file_sum" "$(on "$1" sh -c 'sha1sum </weft/direct')" || return 1
	done
}

# fill: node1 writes over all of the file, of which its cache cannot hold much.
fill()
{
	file_sum=$(on node1 sh -c "head -c $BYTES /dev/urandom >/run/direct && sha1sum </run/direct") &&
		on node1 dd if=/run/direct of=/weft/direct bs=64K conv=notrunc
}

# asked: how often nodes have asked the blade for a block.
asked()
{
	on node1 "$BIN/weftctl" stats memory | awk '$1 == "reads" { print $2 }'
}

# ticks: of a processor, that the blade's program has used.
ticks()
{
	on mem1 sh -c 'cat "/proc/$(pgrep -x weft-memd)/stat"' | awk '{ print $14 + $15 }'
}

# read_all: node2 reads the file, PASSES times; then $was_asked.
read_all()
{
	local before used

	remember
	before=$(asked)
	used=$(ticks)
	reads node2 "$PASSES" || return 1
	was_asked=$(($(asked) - before))
	look
	note "$(grown blocks_in) blocks came, $(grown blocks_read) of them read: the blade was asked" \
		"$was_asked times, and has used $(($(ticks) - used)) ticks of a processor"
}

# by_itself: nobody asks the blade, but for a few blocks whose deeds have given way to others.
by_itself()
{
	read_all && at_least "$was_asked" $((MISSES / 10)) &&
		at_least $((MISSES / 2)) "$(grown blocks_read)"
}

as_ever()
{
	read_all && at_least $((MISSES / 2)) "$was_asked"
}

# changes: what node1 writes node2 reads, though it had deeds of all that was before.
changes()
{
	local i

	for ((i = 0; i < 3; i++)); do
		fill && reads node2 2 || return 1
	done
}

# restricted NODES: the region; then keys that nodes had count no more, and contents come.
restricted()
{
	on node1 "$BIN/weftctl" region set direct "nodes=$1" && reads node2 2
}

# reads_again: blocks are read again, with connections that may have to be made first.
reads_again()
{
	remember
	reads node2 2 || return 1
	look
	at_least 100 "$(grown blocks_read)"
}

# shown STATUS FILE: it is 0; else the file.
shown()
{
	[ "$1" = 0 ] || tail -n 20 "$2"
	return "$1"
}

# --- What comes and goes ----------------------------------------------------------

# device NODE: goes, and after a second comes again.
device()
{
	on "$1" rdma link del rxe0 && sleep 1 &&
		on "$1" rdma link add rxe0 type rxe netdev eth0 && sleep 2
}

# in_turn WHAT: happens to one of them after the other, and again.
in_turn()
{
	local i node

	for ((i = 0; i < ROUNDS; i++)); do
		for node in node1 mem1 node2; do
			"$1" $node || return 1
		done
	done
}

devices_come_and_go()
{
	in_turn device
}

# interface NODE: goes down, and after a second up again; its cards see the port do so.
interface()
{
	on "$1" ip link set eth0 down && sleep 1 && on "$1" ip link set eth0 up && sleep 1
}

interfaces_go_down()
{
	in_turn interface
}

module_comes_and_goes()
{
	local i module

	module=$BUILD/kmod/$(on node3 uname -r)/weft_rdma.ko
	for ((i = 0; i < ROUNDS; i++)); do
		on node3 rmmod weft_rdma && sleep 1 && on node3 insmod "$module" &&
			sleep 2 || return 1
	done
}

# fails WHAT: queues or keys of all nodes, as often as what comes and goes does.  Each node says
# how many it has hit; those of others find out by themselves.
fails()
{
	local i

	for ((i = 0; i < 3 * ROUNDS; i++)); do
		on nodes sh -c 'p=/sys/module/weft_rdma/parameters/fail_$0; echo $(($(cat $p) + 1)) >$p' \
			"$1" && sleep 1.5 || return 1
	done
}

queue_pairs_fail()
{
	fails queues
}

# On a machine on which little moves there may be no open landing at the moment that matters.
keys_fail()
{
	local tries

	for ((tries = 0; tries < 3; tries++)); do
		fails keys || return 1
		! hit "$ROUNDS" keys || return 0
	done
	return 1
}

# hit LEAST WHAT: so many were, and each time in one node at least.
hit()
{
	on nodes dmesg | sed -n "s/.*weft_rdma: for a test \([0-9]*\) $2 fail.*/\1/p" |
		awk -v least="$1" '{ n += $1; hits += $1 > 0 } END {
			print n " were hit, " hits " of " NR " times"
			exit n < least || hits < least }'
}

# said NODE TEXT: the module, in that node's kernel.
said()
{
	on "$1" dmesg | grep -F "weft_rdma: $2"
}

# lands_again: blocks land at all nodes, with connections that may have to be made first.
lands_again()
{
	remember
	same_everywhere again || return 1
	look
	at_least 100 "$(grown blocks_landed)"
}

# way NODE MEMBER TEXT: which way data goes to it, as weftctl has it.
way()
{
	on "$1" "$BIN/weftctl" status | grep -A 1 " $2  10[.]87[.]" | grep -F "data by $3"
}

# finds NODE NAMES: of RDMA doctor finds there just these.
finds()
{
	local out

	out=$(on "$1" "$BIN/weftctl" doctor 2>&1)
	equal "$2" "$(sed -n 's/^\(rdma_[a-z]*\): .*/\1/p' <<<"$out" | sort -u | paste -sd ' ')" ||
		{ echo "$out"; return 1; }
}

# doctor_at NODE NAMES: with an interface whose MTU is worth a finding, too, or not.
doctor_at()
{
	local mtu

	mtu=$(on "$1" cat /sys/class/net/eth0/mtu) || return 1
	[ "$mtu" -ge 4200 ] || set -- "$1" "$(echo "$2 rdma_mtu" | xargs -n 1 | sort | paste -sd ' ')"
	finds "$1" "$2"
}

# --- Parts ----------------------------------------------------------------------------

part_usual()
{
	run "clean" "$OPS" "$RUN_LIMIT"
	check "clean: most blocks landed" landed 60

	check "node1's device counts anew" device node1
	check "blocks land again" soon 60 lands_again
	check "1 % of frames are lost" faults loss 0.01
	run "loss" "$OPS" "$RUN_LIMIT"
	check "loss: blocks landed" at_least 100 "$(grown blocks_landed)"
	check "2 %, 2 % come twice, 5 % in another order" faults loss 0.02 dup 0.02 reorder 0.05
	run "faults" "$OPS" "$RUN_LIMIT"
	check "node1's device has counted them" soon 120 loss_counts node1
	check "no more faults" faults loss 0 dup 0 reorder 0
	# As long as a connection that broke is not made again, that is a finding, too.
	check "doctor sees it" soon 60 doctor_at node1 rdma_loss
	check "frames were lost" at_least 100 "$(wire_counted lost)"
	check "blocks land again" soon 60 lands_again

	# Some of these devices hear no calls any more then (docs/rdma.md): they are made anew next.
	run "interfaces" $((ROUNDS < 20 ? ROUNDS * 1000000 : MOST)) $((7 * ROUNDS + 5)) interfaces_go_down

	run "devices" $((ROUNDS < 10 ? ROUNDS * 2000000 : MOST)) $((10 * ROUNDS + 5)) devices_come_and_go
	check "a node has noticed" said node1 "data of 10.87.0.1 goes by UDP: the device is gone"
	check "blocks land again" soon 60 lands_again
	run "queues" $((ROUNDS < 20 ? ROUNDS * 1000000 : MOST)) $((6 * ROUNDS + 5)) queue_pairs_fail
	check "queue pairs did" hit $((3 * ROUNDS)) 'queue pairs'
	check "blocks land again" soon 60 lands_again
	run "keys" $((ROUNDS < 10 ? ROUNDS * 2000000 : MOST)) $((12 * ROUNDS + 5)) keys_fail
	check "keys did" hit "$ROUNDS" keys
	check "blocks land again" soon 60 lands_again
	run "module" $((ROUNDS < 20 ? ROUNDS * 1000000 : MOST)) $((3 * ROUNDS + 5)) module_comes_and_goes
	check "blocks land again" soon 60 lands_again

	check "weftctl says so" soon 60 way node1 2 RDMA
	check "node3 has no device any more" on node3 rdma link del rxe0
	remember
	check "contents are the same" same_everywhere third
	look
	check "node3 is spoken to by UDP" equal 0 "$(($(counters node3 |
		awk '$1 == "node.counters.blocks_landed" { print $2 }') - $(
		awk '$1 == "node.counters.blocks_landed" { print $2 }' "$dir/before.3")))"
	check "weftctl says why" soon 60 way node3 33 "UDP: no RDMA device has the node's address"
	check "and at the others" soon 60 way node1 3 "UDP: "
	check "there doctor has nothing to look at" finds node3 ""
	check "the others by RDMA" at_least 100 "$(grown blocks_landed)"
}

part_direct()
{
	# more than the caches hold; and most of it was read before it is written again
	local PAGES=600 BURST=4

	check "nodes read by themselves, always" direct 2
	check "small caches" caches $SMALL
	check "a file" fill
	check "it is in no cache" caches $SMALL
	check "the switch has its lines, node2 deeds" reads node2 2
	check "blocks are read, the blade is not asked any more" measured reads_again by_itself
	check "never" direct 0
	check "the blade is asked" as_ever
	check "always again" direct 2
	remember
	check "node2 reads what node1 has changed" changes
	look
	check "reads were of former contents, and did not count" at_least 100 "$(grown deeds_outdated)"
	check "only for nodes 1 and 2" restricted 1,2
	remember
	check "contents are the same" reads node2 2
	look
	check "by the blade's program" equal 0 "$(grown blocks_read)"
	check "for all again" restricted all
	check "blocks are read again" soon 60 reads_again
	run "direct" "$OPS" "$RUN_LIMIT"
	check "direct: blocks were read" at_least 100 "$(grown blocks_read)"
	check "1 % of frames are lost, 2 % come twice" faults loss 0.01 dup 0.02
	run "direct, faults" "$OPS" "$RUN_LIMIT"
	check "no more faults" faults loss 0 dup 0
	check "the faster way" direct 1
	run "direct, the faster way" "$OPS" "$RUN_LIMIT"
	check "caches as large as ever" caches 64M
}

# --- The module goes ----------------------------------------------------------------------

# reads_soon: a program of node3 has the file open, and reads when it is told to.
reads_soon()
{
	on node3 sh -c 'rm -f /run/test-go /run/test-opened
		setsid sh -c "exec 3</weft/silent; : >/run/test-opened
			while [ ! -e /run/test-go ]; do sleep 0.1; done
			dd bs=4096 count=1 <&3 2>&1 | wc -c >/run/test-read" >/dev/null 2>&1 </dev/null &
		for i in $(seq 100); do [ ! -e /run/test-opened ] || exit 0; sleep 0.1; done
		exit 1'
}

offered()
{
	counters node3 | awk '$1 == "node.counters.landings_offered" { print $2 }'
}

offers_more()
{
	[ "$(offered)" -gt "$1" ]
}

closed()
{
	counters node3 | awk '$1 == "node.counters.landings_closed" { print $2 }'
}

closes_more()
{
	[ "$(closed)" -gt "$1" ]
}

set_fault()
{
	on node3 sh -c 'echo "$2" >"/sys/module/weft_rdma/parameters/$1"' sh "$@"
}

# waits_with FAULT: a program of node3 waits for a block, whose landing is as this fault makes
# it, and nobody answers.
waits_with()
{
	local before

	check "a file" on node1 sh -c "head -c 65536 /dev/urandom >/weft/silent"
	check "node3 has it open" reads_soon
	check "$1" set_fault "$1" Y
	before=$(offered)
	check "nobody answers node3" rack wire cut node3
	check "it reads" on node3 touch /run/test-go
	check "and has made a landing for that" soon 30 offers_more "$before"
}

module_goes()
{
	on node3 sh -c 'rm -f /run/test-gone
		setsid sh -c "rmmod weft_rdma; echo \$? >/run/test-gone" >/dev/null 2>&1 </dev/null &'
}

is_gone()
{
	[ "$(on node3 cat /run/test-gone)" = 0 ]
}

answered_again()
{
	check "the program has read" soon 60 on node3 sh -c '[ -s /run/test-read ]'
	check "the module comes" on node3 insmod "$BUILD/kmod/$(on node3 uname -r)/weft_rdma.ko"
	check "blocks land again" soon 60 lands_again
	check "the file goes" on node1 rm /weft/silent
}

part_unload()
{
	local before

	# Longer than this takes: nothing else ends what the block waits for.
	check "node3 is patient" on node3 "$BIN/weftctl" set --timeout 600
	# its module has just come: it is connected when they do
	check "blocks land" soon 60 lands_again

	waits_with hold_keys
	check "the module goes" module_goes
	check "a key is on its way out" soon 30 said node3 "for a test a key is held"
	before=$(closed)
	check "node3 is answered again" rack wire heal node3
	check "the block wants its landing closed" soon 60 closes_more "$before"
	check "the key ends" set_fault hold_keys N
	check "the module is gone" soon 30 is_gone
	answered_again

	waits_with fail_opens
	check "the module goes" module_goes
	check "the module is gone" soon 30 is_gone
	check "node3 is answered again" rack wire heal node3
	answered_again
}

built "$BIN/weft-rackio" "$BIN/weft-switchd" "$BIN/weft-memd" "$BIN/weft-stress" \
	"$BIN/weft-check"
if ! command -v rdma >/dev/null; then
	echo "skipped: there is no rdma(8)"
	exit 77
fi
begin rdma
make_rdma fast
boot --switch p4 --nodes 3 --rdma all
for node in node1 node2 node3; do
	check "$node has a device" soon 20 said $node "data of 10.87.0.${node#node} goes by rxe0"
done
check "connections are made, contents are the same" same_everywhere first
remember
check "contents are the same" same_everywhere second
look
check "four of five blocks landed" measured lands_again landed 80
check "and go home so" goes_home
check "doctor finds nothing" soon 60 doctor_at node1 ""
check "node3 without the module" on node3 rmmod weft_rdma
check "doctor misses it" soon 60 doctor_at node3 rdma_module
check "node3 has it again" on node3 insmod "$BUILD/kmod/$(on node3 uname -r)/weft_rdma.ko"

[[ direct != *$wanted* ]] || part_direct
[[ usual != *$wanted* ]] || part_usual
[[ unload != *$wanted* ]] || part_unload
end_rack
finish
