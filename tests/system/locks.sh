#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Locks in racks of three nodes:
#
#	node1 node2 node3 mem1 -- switch
#
# Processes of all nodes increment records that are guarded by locks
# (locks-hammer): no record is ever seen torn, no two writers meet, every increment
# is there in the end, and every lock can be had.  With a good network and a bad one,
# and with processes killed in the midst of it.  The same with records that are
# spread over pages which the locks guard, also in a cache that is too small for
# them, and with threads that touch these pages without a lock; when the nodes take
# turns (locks-turns), the pages come with the lock.  Then by hand: what one node
# holds the others do not get, until it leaves or dies; what a killed waiter asked
# for does not stay with it; and a node can unmount and unload the module at any
# time.
#
#	tests/system/locks.sh [SWITCH...]	(p4 none)
#
# Environment: BUILD; WEFT_LOCKS_SECONDS, of each run (15); WEFT_LOCKS_RUNS=few: only those in
# which most happens at once, and nothing of pages that come with locks, which learn.sh has.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

SECONDS_RUN=${WEFT_LOCKS_SECONDS:-15}
RUNS=${WEFT_LOCKS_RUNS:-all}
RUN_LIMIT=$((4 * SECONDS_RUN + 150 * SCALE))
HAMMER=$BUILD/tests/locks-hammer
BASICS=$BUILD/tests/locks-basics
CROWD=$BUILD/tests/locks-crowd
CROWD_MS=$((8000 * SCALE))	# in an emulated guest
DIED=$BUILD/tests/locks-died
TURNS=$BUILD/tests/locks-turns
TURNS_ROUNDS=100		# of each node
TURNS_PAGES=4
MISSES="miss_read_unshared miss_read_shared miss_read_modified miss_write_unshared
	miss_write_shared miss_write_modified miss_upgrade"
MODULE_KEPT=$BUILD/kmod
HEARS="taken, and its owner has died"
AT=4096			# offset of the lock that is held by hand

# hammer RUN OPTION...: a run on all nodes, and what the counters say of it.  How much
# is done in that time depends on the machine and on what the network does to it: when
# it was too little to tell, the run is made again, and counted together.  With $evicted, so many
# blocks are to be evicted, too.
hammer()
{
	local run=$1 handed=50 quick=20 taken=0 try

	shift
	# each access to such a record is one to seven pages that others touch meanwhile
	case " $* " in *" --guard "*) handed=10 quick=3 ;; esac
	remember
	for ((try = 0; try < 4; try++)); do
		[ $try = 0 ] || on node1 rm /weft/hammer
		check "$run: every increment is there, every lock can be had" \
			on_nodes "$RUN_LIMIT" "$HAMMER" --node %K --nodes %N \
				--timeout "$RUN_LIMIT" --seconds $((SECONDS_RUN * (try + 1))) "$@" ||
				return 1
		grep -h '^node' "$dir"/out.* | sed "s/^/# $run: /"
		look
		taken=$((taken + $(quickly)))
		[ "$(grown lock_handed)" -lt "$handed" ] || [ "$taken" -lt "$quick" ] ||
			[ "$(grown evicted_clean evicted_modified)" -lt "${evicted:-0}" ] || break
	done
	note "$run: kernel entered $(grown lock_acquires) times, $(grown lock_cached)" \
		"without a request; $(grown lock_requests) requests," \
		"$(grown lock_granted) granted, $(grown lock_handed) handed over;" \
		"given back by the dead $(grown lock_releases_dead);" \
		"pages: $(grown lock_blocks_passed) passed on, $(grown lock_blocks_came) came," \
		"$(grown lock_blocks_late) late, $(grown lock_blocks_fetched) fetched;" \
		"$(grown retransmissions) retransmissions"
	check "$run: the nodes handed locks to each other" at_least "$handed" "$(grown lock_handed)"
	check "$run: locks were taken without the kernel" at_least "$quick" "$taken"
	on node1 rm /weft/hammer
}

# more COMMAND...: not if few runs are wanted.
more()
{
	[ "$RUNS" = few ] || "$@"
}

# quickly: how many locks were taken without the kernel in the last run.
quickly()
{
	sed -n 's/.* \([0-9]*\) taken without the kernel.*/\1/p' "$dir"/out.* |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# turns RUN OPTION...: the nodes take turns, and what became of the pages.
turns()
{
	local run=$1

	shift
	remember
	check "$run: all pages say the same at each turn" \
		on_nodes "$RUN_LIMIT" "$TURNS" --node %K --nodes %N --timeout "$RUN_LIMIT" \
			--rounds "$TURNS_ROUNDS" --pages "$TURNS_PAGES" "$@" || return 1
	grep -h '^node' "$dir"/out.* | sed "s/^/# $run: /"
	look
	# shellcheck disable=SC2086  # several words
	note "$run: $(grown lock_granted) granted, $(grown lock_handed) handed over; pages:" \
		"$(grown lock_blocks_passed) passed on, $(grown lock_blocks_came) came," \
		"$(grown lock_blocks_late) late, $(grown lock_blocks_fetched) fetched;" \
		"$(grown $MISSES) misses in $(grown miss_round_trips) round trips;" \
		"$(grown msg_sent) messages"
	on node1 rm /weft/turns
}

# parameter NAME VALUE: of the module, on all nodes.
parameter()
{
	on nodes sh -c "echo $2 >/sys/module/weft/parameters/$1"
}

# of_pages PERCENT FOUND: of the pages of all hand-overs it is at least PERCENT.
of_pages()
{
	at_least $(($(grown lock_handed) * TURNS_PAGES * $1 / 100)) "$2"
}

came_with_locks()
{
	of_pages 80 "$(grown lock_blocks_came)"
}

few_asked_for()
{
	at_least "$(grown lock_blocks_late lock_blocks_fetched)" \
		$(($(grown lock_handed) * TURNS_PAGES / 5))
}

# What locks guard comes with them, after them, or when it is touched.  On a machine that has
# other things to do much of it is late: that is looked at again, twice at most.
with_data()
{
	local misses try

	for try in 1 2 3; do
		turns "$1, turns${try#1}" || return 1
		! came_with_locks >/dev/null || ! few_asked_for >/dev/null || break
	done
	check "$1: what locks guard came with them" came_with_locks
	check "$1: few of these pages had to be asked for" few_asked_for
	# also those of the page on which the nodes meet, which are more if they wait long
	# shellcheck disable=SC2086  # several words
	misses=$(grown $MISSES)
	check "nothing is passed on" parameter lock_pass 0
	turns "$1, turns, nothing passed on"
	check "$1: nothing was" [ "$(grown lock_blocks_passed)" = 0 ]
	check "$1: pages were asked for when the lock had come" \
		of_pages 80 "$(grown lock_blocks_fetched)"
	check "nothing is asked for" parameter lock_fetch 0
	turns "$1, turns, by page faults alone"
	check "$1: nothing was" [ "$(grown lock_blocks_fetched)" = 0 ]
	# one at least for each page of each hand-over
	# shellcheck disable=SC2086  # several words
	check "$1: that is where misses are saved" at_least \
		$((misses + $(grown lock_handed) * TURNS_PAGES)) "$(grown $MISSES)"
	check "pages are passed on" parameter lock_pass 1
	check "pages are asked for" parameter lock_fetch 1
	check "nothing is kept" parameter lock_keep 0
	turns "$1, turns, nothing kept" --pause 1000
	check "all is kept" parameter lock_keep 1
	turns "$1, turns, of readers" --reads
}

# says WANTED COMMAND...: it prints just this line, whatever its exit status.
says()
{
	equal "$1" "$("${@:2}" 2>&1)"
}

# hold NODE SECONDS: in the background, until it is killed by its $holder.
hold()
{
	rm -f "$dir/held"
	timeout -k 20 $(($2 + 60)) "$RACK" --name "$run_name" exec "$1" -- \
		"$BASICS" hold /weft/hand "$AT" w "$2" >"$dir/held" 2>&1 </dev/null &
	holder=$!
	for ((i = 0; i < 200; i++)); do
		! grep -q '^held' "$dir/held" || return 0
		sleep 0.1
	done
	cat "$dir/held"
	return 1
}

take()
{
	on "$1" "$BASICS" take /weft/hand "$AT" "$2" "$3"
}

# heir NODE r|w [mend]: what a process there hears that takes it.
heir()
{
	on "$1" "$DIED" take /weft/hand "$AT" "$2" 20000 "${@:3}"
}

# The process of node 1 that died with the lock, told from node to node.
owner_died()
{
	local died="taken: its owner died"

	check "node 2 takes it again, and hears that its owner died" says "$died" heir node2 w
	check "node 3 hears that, too, which reads" says "$died" heir node3 r
	check "so does node 1, which writes" says "$died" heir node1 w
	check "node 1 gets the lock from nobody" says "$died" heir node1 w
	check "node 2 mends it" says "$died" heir node2 w mend
	check "node 3 hears nothing" says "taken" heir node3 w
	check "neither does node 1" says "taken" heir node1 r
	check "a process of node 2 dies with it" on node2 "$DIED" die /weft/hand "$AT"
	check "node 3 reads, and hears" says "$died" heir node3 r
	check "node 2 reads, and hears" says "$died" heir node2 r
	check "node 1 writes, hears, mends" says "$died" heir node1 w mend
	check "node 2 hears nothing" says "taken" heir node2 r
}

# waits NODE: somebody there waits for a lock; as long as nobody does, it is asked again.
waits()
{
	on "$1" "$BIN/weftctl" -j lock show | grep '"waiters":[1-9]'
}

# leave_rack NODE, join_rack NODE: unmount, unload the module, and back.
leave_rack()
{
	on "$1" umount /weft && on "$1" "$BIN/weftctl" down && on "$1" sh -c \
		'[ ! -d /sys/module/weft_rdma ] || rmmod weft_rdma; rmmod weft'
}

join_rack()
{
	on "$1" sh -c "insmod $MODULE_KEPT/\$(uname -r)/weft.ko &&
		$BIN/weftctl up --node ${1#node} --interface eth0 --homes 10.87.0.101 &&
		mount -t weft none /weft"
}

# quick SECONDS COMMAND...
quick()
{
	local begin=$SECONDS limit=$(($1 * SCALE))

	shift
	"$@" || return 1
	echo "it took $((SECONDS - begin)) s"
	[ $((SECONDS - begin)) -le "$limit" ]
}

by_hand()
{
	check "a file for locks" on node1 truncate -s 1M /weft/hand
	check "node 1 takes a lock" hold node1 1000
	check "node 2 tries it in vain" says "Device or resource busy" take node2 r 0
	check "node 2 waits for it in vain" says "Connection timed out" take node2 w 300
	take node3 w 100000 >"$dir/waiter" 2>&1 &
	waiter=$!
	check "a program on node 3 waits for it" soon 20 waits node3
	check "and is killed" on node3 pkill -KILL -x locks-basics
	wait "$waiter"
	check "it did not get it" equal "" "$(cat "$dir/waiter")"
	check "node 3 leaves the rack, though it may be in the queue" \
		quick 20 leave_rack node3
	check "node 2 still waits in vain" says "Connection timed out" take node2 r 300
	kill "$holder"
	check "node 1 dies in the lock, node 2 gets it" says "$HEARS" take node2 w 20000
	check "node 3 comes back" join_rack node3
	check "node 3 takes the lock to read" says "$HEARS" take node3 r 20000
	check "node 1 takes it to write" says "$HEARS" take node1 w 20000
	remember
	owner_died
	look
	check "the nodes counted that" at_least 4 "$(grown lock_owners_died)"

	check "node 2 takes a lock" hold node2 1000
	check "node 3 is to wait 2 s for the rack" \
		on node3 "$BIN/weftctl" set --timeout $((2 * SCALE))
	take node3 w 100000 >"$dir/waiter" 2>&1 &
	waiter=$!
	check "a program on node 3 waits for it" soon 20 waits node3
	check "the home is cut off" rack wire cut mem1
	wait "$waiter"
	check "who waits on node 3 is told" says "Input/output error" cat "$dir/waiter"
	kill "$holder"
	check "the home is back" rack wire heal mem1
	check "node 3 is to wait as long as before" \
		on node3 "$BIN/weftctl" set --timeout 30
	check "node 3 gets the lock from node 2" says "$HEARS" take node3 w 60000
}

# unmount, down, rmmod on all nodes at once: nothing stays behind.
all_leave()
{
	on nodes umount /weft && on nodes "$BIN/weftctl" down && on nodes sh -c \
		'[ ! -d /sys/module/weft_rdma ] || rmmod weft_rdma; rmmod weft'
}

[[ $RUNS == @(all|few) ]] || { echo "$0: WEFT_LOCKS_RUNS=$RUNS is neither few nor all" >&2; exit 2; }
built "$HAMMER" "$BASICS" "$DIED" "$CROWD" "$TURNS" "$BIN/weftctl"
begin locks
for switch in "${@:-p4 none}"; do
	for kind in $switch; do
		boot --nodes 3 --switch "$kind"
		check "the interface, case by case" on node1 "$BASICS" api /weft/basics
		check "locks whose owners died, case by case" on node1 "$DIED" api /weft/died
		check "many files, many locks half taken" on node1 "$CROWD" /weft/crowd "$CROWD_MS" &&
			note "$(head -n 1 "$dir/check")"
		more hammer "$kind, clean"
		hammer "$kind, many locks, mostly read" --locks 64 --readers 90
		more hammer "$kind, killed" --kill 100
		more with_data "$kind"
		more hammer "$kind, guarded" --guard --beside
		more hammer "$kind, guarded, killed" --guard --beside --kill 200
		check "small caches" on nodes mount -o remount,cache=512K /weft
		evicted=100 hammer "$kind, guarded, small caches" --guard --beside --locks 48
		check "blocks were evicted" at_least 100 \
			"$(grown evicted_clean evicted_modified)"
		check "large caches again" on nodes mount -o remount,cache=64M /weft
		by_hand
		check "5 % loss, 5 % repetition, 20 % reordering" \
			faults loss 0.05 dup 0.05 reorder 0.2
		more hammer "$kind, faults"
		hammer "$kind, faults, killed" --kill 100 --locks 2
		more hammer "$kind, faults, guarded" --guard --beside
		hammer "$kind, faults, guarded, killed" --guard --beside --kill 200
		more turns "$kind, faults, turns"
		for fault in lost dup reordered; do
			check "frames were $fault" at_least 100 "$(wire_counted "$fault")"
		done
		check "no more faults" faults loss 0 dup 0 reorder 0
		check "all nodes unmount and unload the module" quick 60 all_leave
		end_rack
	done
done
finish
