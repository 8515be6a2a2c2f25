#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What locks guard, learnt: unmodified programs with the preload library, in a rack of three
# nodes:
#
#	node1 node2 node3 mem1 -- switch
#
# What the programs of tests/preload/learn.c write to under a lock comes with it after some
# turns, with no miss, as what a program says that a lock guards: the same run with learning
# switched off (lock_learn) has a miss for each page and turn. What is not written to any more
# does not come any more. What comes is mapped for the thread that gets the lock: nearly no turn
# has a page fault (lock_map), whatever mappings of it there are. A page that two locks share costs no more than without. A program
# that writes nonsense where the kernel looks for who has a lock changes nothing for others.
#
#	tests/system/learn.sh [SWITCH...]	(p4)
#
# Environment: BUILD; WEFT_LEARN_TURNS (200), of each node; WEFT_LEARN_PARTS (all that follow
# "writes": mapped reads stops two mostly liars).

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

TURNS=${WEFT_LEARN_TURNS:-200}
RUN_LIMIT=$((150 * SCALE))
SHIM=$BUILD/lib/libweft-preload.so
LEARN=$BUILD/tests/preload-learn
LIAR=$BUILD/tests/locks-liar
LOCKBENCH=$BIN/weft-lockbench
GO=/run/learn-go
PAGES="5 6"		# of tests/preload/learn.c: the counters
NEAR=15			# percent of a miss for each page and turn: as good as none. Learning
			# takes 4 to 8 turns of them
MAPPED=60		# faults in 100 turns, of 400, when what comes is mapped
LIAR_SECONDS=14
PARTS=${WEFT_LEARN_PARTS-mapped reads stops two mostly liars}

# parameter NAME VALUE: of the module, on all nodes.
parameter()
{
	on nodes sh -c "echo $2 >/sys/module/weft/parameters/$1"
}

# done_all: the programs of all nodes have said that they are through.
done_all()
{
	local k

	for ((k = 1; k <= nodes; k++)); do
		grep -q '^machine' "$dir/out.$k" 2>/dev/null || return 1
	done
}

# of_region REGION: misses of its pages $PAGES, and how often its locks came, on all nodes.
of_region()
{
	local k

	for ((k = 1; k <= nodes; k++)); do
		on "node$k" "$BIN/weftctl" -j line show "$1" >"$dir/lines.$k" &&
			on "node$k" "$BIN/weftctl" -j lock show "$1" >"$dir/locks.$k" || return 1
	done
	misses=$(cat "$dir"/lines.* | tr '{' '\n' | awk -v pages="$PAGES" '
		BEGIN { n = split(pages, p, " "); for (i = 1; i <= n; i++) want[p[i]] = 1 }
		match($0, /"index": *[0-9]+/) {
			block = substr($0, RSTART, RLENGTH)
			sub(/.*[: ]/, "", block)
			if (block in want && match($0, /"misses": *[0-9]+/)) {
				m = substr($0, RSTART, RLENGTH)
				sub(/.*[: ]/, "", m)
				sum += m
			}
		}
		END { print sum + 0 }')
	grants=$(cat "$dir"/locks.* | tr '{' '\n' | awk '
		match($0, /"grants": *[0-9]+/) {
			g = substr($0, RSTART, RLENGTH)
			sub(/.*[: ]/, "", g)
			sum += g
		}
		END { print sum + 0 }')
}

# through: all programs are, or have ended.
through()
{
	done_all || ! kill -0 "$runs"
}

# programs NAME WHAT: on all nodes, until all are through; then what that cost.
programs()
{
	local rc=0

	# those of the last run would say that this one is through
	rm -f "$dir"/out.*
	on nodes rm -f $GO || return 1
	on_nodes "$RUN_LIMIT" env "LD_PRELOAD=$SHIM" "$LEARN" "/weft/$1" %K %N "$TURNS" "$2" \
		$GO >"$dir/nodes" 2>&1 &
	runs=$!
	{ soon "$RUN_LIMIT" through && done_all && of_region "$1"; } || rc=1
	on nodes touch $GO
	wait "$runs" || rc=1
	cat "$dir/nodes"
	on node1 rm "/weft/$1"
	return $rc
}

# run ON NAME WHAT: with learning, or without; what grew then, and $misses and $grants.
run()
{
	local on=$1

	shift
	check "$1: lock_learn is $on" parameter lock_learn "$on"
	remember
	check "$1: all was counted" programs "$@" || return 1
	look
	# shellcheck disable=SC2086  # several words
	note "$1: locks came $grants times, pages were missed $misses times;" \
		"$(grown msg_sent) messages; learnt $(grown lock_learnt)," \
		"forgotten $(grown lock_forgotten), of use $(grown lock_learnt_saved)," \
		"of no use $(grown lock_learnt_useless)"
}

# percent N: of what $misses could be, if each of N pages was missed whenever a lock came.
percent()
{
	echo $((100 * misses / (grants * $1)))
}

# faulted: page faults of programs for 100 times that a lock came.
faulted()
{
	echo $((100 * ($(grown fault_read) + $(grown fault_write)) / grants))
}

at_most()
{
	echo "$2, at most $1"
	[ "$2" -le "$1" ]
}

# messages: that were sent, but for calls, and for what was sent again: those come with time.
messages()
{
	echo $(($(grown msg_sent) - $(grown sent_call retransmissions)))
}

# no_more MESSAGES GRANTS MARGIN: a lock that came took no more messages than then, but for so
# many percent. How often locks come differs from run to run: a node may have several turns.
no_more()
{
	at_most $(($1 * grants * (100 + $3) / $2)) $(($(messages) * 100))
}

# said: what pages cost whose lock says that it guards them: misses in percent of the turns.
said()
{
	local sum

	on_nodes "$RUN_LIMIT" "$LOCKBENCH" run --locks weft --pages 2 --node %K --nodes %N \
		--timeout "$RUN_LIMIT" --count "$TURNS" --think 3000 --messages --name said || return 1
	sum=$(grep -h '"node":"all"' "$dir/out.1" | awk -f tools/demo/counters.awk | awk '
		$1 == "lock_requests_per_acquire" { turns = $2 }
		$1 == "misses_per_acquire" { misses = $2 }
		END { if (turns > 0) printf "%d\n", 100 * misses / 2 / turns }')
	[ -n "$sum" ] && of_said=$sum
}

writes()
{
	local off_messages off_grants

	check "$1: locks that say what they guard" said || return
	run 0 "$1-writes-off" writes || return
	check "$1: not learnt, nearly each page is missed in each turn" at_least 80 "$(percent 2)"
	check "$1: nothing was" equal "0 0" "$(grown lock_learnt) $(grown lock_learnt_saved)"
	off_messages=$(messages) off_grants=$grants
	run 1 "$1-writes" writes || return
	check "$1: learnt, the pages come with the lock, as if it had said so ($of_said %)" \
		at_most $((of_said + NEAR)) "$(percent 2)"
	check "$1: each node has learnt both pages" at_least $((2 * nodes)) "$(grown lock_learnt)"
	check "$1: that was of use" at_least $((grants * 2 * 80 / 100)) \
		"$(grown lock_learnt_saved)"
	check "$1: nearly nothing was in vain" at_most $((grants * 2 * 3 / 100)) \
		"$(grown lock_learnt_useless)"
	check "$1: and it takes no more messages" no_more "$off_messages" "$off_grants" 0
}

# Two pages, to read and to write each, are 4 faults a turn. Until it is known that they are
# written to there are some turns more, and now and then the kernel looks.
mapped()
{
	local off_messages off_grants late

	check "$1: lock_map is 0" parameter lock_map 0
	run 1 "$1-unmapped" writes || return
	off_messages=$(messages) off_grants=$grants
	note "$1: not mapped, $(faulted) faults in 100 turns"
	check "$1: left to page faults, most turns have 4" at_least 350 "$(faulted)"
	check "$1: nothing was mapped" equal 0 "$(grown lock_blocks_mapped)"
	check "$1: lock_map is 1" parameter lock_map 1
	run 1 "$1-mapped" writes || return
	note "$1: mapped, $(faulted) faults in 100 turns; $(grown lock_blocks_mapped) blocks were," \
		"$(grown lock_blocks_unused) of them not used"
	# what is not there yet when the lock is cannot be mapped then
	late=$(grown lock_blocks_late lock_blocks_fetched)
	check "$1: mapped with the lock, few turns have any" at_most $MAPPED \
		$(($(faulted) - 200 * late / grants))
	check "$1: blocks were mapped" at_least $((grants * 2 * 75 / 100)) \
		"$(grown lock_blocks_mapped)"
	check "$1: nearly none for nothing" at_most $((grants * 2 * 3 / 100)) \
		"$(grown lock_blocks_unused)"
	check "$1: and it takes no more messages" no_more "$off_messages" "$off_grants" 5
	run 1 "$1-views" views || return
	note "$1: through views, $(faulted) faults in 100 turns; $(grown lock_blocks_mapped)" \
		"blocks were mapped, $(grown lock_blocks_unused) of them not used"
	check "$1: blocks were mapped there, too" at_least $((grants / 10)) \
		"$(grown lock_blocks_mapped)"
}

reads()
{
	local off

	run 0 "$1-reads-off" reads || return
	off=$(percent 2)
	run 1 "$1-reads" reads || return
	check "$1: what is read comes with the lock, too" at_most $((off / 3)) "$(percent 2)"
	check "$1: of use more than of no use" \
		at_least $((10 * $(grown lock_learnt_useless))) "$(grown lock_learnt_saved)"
}

# Half of the turns do not touch the pages: those come along a few times more.
stops()
{
	run 1 "$1-stops" stops || return
	check "$1: the pages had been learnt" at_least $((2 * nodes)) "$(grown lock_learnt)"
	# but where they stay in the end, where nothing has to come
	check "$1: what was learnt is forgotten" \
		at_least $((2 * (nodes - 1))) "$(grown lock_forgotten)"
	# twice each until it is forgotten, then once for each node that still passes it on
	check "$1: few came in vain" at_most $((2 * nodes * (2 + nodes))) \
		"$(grown lock_learnt_useless)"
}

# A page that is written to with two locks is not tossed between them: shared SWITCH WHAT.
two()		{ shared "$1" two; }
mostly()	{ shared "$1" mostly; }
shared()
{
	local off_misses off_messages off_grants

	run 0 "$1-$2-off" "$2" || return
	off_misses=$misses off_grants=$grants off_messages=$(messages)
	run 1 "$1-$2" "$2" || return
	check "$1: $2: no more misses" \
		at_most $((off_misses * grants * 110 / off_grants)) $((misses * 100))
	check "$1: $2: no more messages" no_more "$off_messages" "$off_grants" 10
}

liars()
{
	local pids=() k

	for ((k = 1; k <= nodes; k++)); do
		timeout -k 20 "$RUN_LIMIT" "$RACK" --name "$run_name" exec "node$k" -- \
			"$LIAR" /weft/lies "$k" "$LIAR_SECONDS" >"$dir/lies.$k" 2>&1 </dev/null &
		pids+=($!)
	done
	check "$1: liars are at it" soon 20 on nodes test -e /weft/lies
	run 1 "$1-beside" writes
	for k in "${pids[@]}"; do
		check "$1: a liar ends" wait "$k"
	done
	for ((k = 1; k <= nodes; k++)); do
		note "node $k: $(<"$dir/lies.$k")"
		check "$1: node $k was told many lies" at_least 100 \
			"$(sed -n 's/^\([0-9]*\) lies.*/\1/p' "$dir/lies.$k")"
	done
	check "$1: others' pages came with their lock all the same" \
		at_most $((of_said + NEAR)) "$(percent 2)"
}

for part in $PARTS; do
	[[ $part == @(mapped|reads|stops|two|mostly|liars) ]] ||
		{ echo "$0: there is no part '$part'" >&2; exit 2; }
done
built "$SHIM" "$LEARN" "$LIAR" "$LOCKBENCH" "$BIN/weftctl"
begin learn
for switch in "${@:-p4}"; do
	boot --nodes 3 --switch "$switch"
	writes "$switch"
	for part in $PARTS; do
		$part "$switch"
	done
	end_rack
done
finish
