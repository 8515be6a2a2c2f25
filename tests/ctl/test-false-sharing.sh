#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The session of docs/false-sharing.md, as it stands there, in a rack: the commands
# of its console blocks are taken out of the document and run on the nodes that their
# prompts name, one after the other; what they show must be what the document says of
# them.
#
#	node1# COMMAND		until it ends
#	node1# COMMAND &	beside what follows
#	node1# wait		for the last of these on this node, and its output
#
# As tests/system/common.sh; KVER is the kernel of the module; WEFT_TRANSCRIPT, a file
# that gets all commands with their output.

# Functions are called by check; what stands in single quotes is a guest's.
# shellcheck disable=SC2016,SC2317,SC2329
set -u
cd "$(dirname "$0")/../.." || exit 2

# shellcheck source=tests/system/common.sh
. tests/system/common.sh

DOCUMENT=docs/false-sharing.md
STEP_LIMIT=$((150 * SCALE))
declare -A waiting=()		# processes that run beside, by node
commands=()			# with their nodes
outputs=()			# files of their output

# shell NODE COMMAND: a line of the document, run in the guest's shell.
shell()
{
	on "$1" env PATH="$BIN:/usr/sbin:/usr/bin:/sbin:/bin" sh -c "$2"
}

# session: the commands of the document, "NODE COMMAND" a line.
session()
{
	awk '/^```console$/ { inside = 1; next }
	     /^```/ { inside = 0 }
	     inside && /^node[0-9]+# / { sub(/#/, ""); print }' "$DOCUMENT"
}

# run NODE COMMAND: its output is in a file of "outputs"; 1 if it failed.  On a slow machine
# what works beside does so for longer.
run()
{
	local node=$1 command=$2 out=$dir/out.${#commands[@]} rc=0

	[[ ! $command =~ ^(.* --seconds )([0-9]+)(.*)$ ]] ||
		command=${BASH_REMATCH[1]}$((BASH_REMATCH[2] * SCALE))${BASH_REMATCH[3]}
	commands+=("$node# $command")
	outputs+=("$out")
	case $command in
	*' &')
		shell "$node" "${command% &}" >"$dir/beside.$node" 2>&1 &
		waiting[$node]=$!
		: >"$out"
		# It has begun, so that what follows finds it.
		sleep 2
		;;
	wait)
		wait "${waiting[$node]}"
		rc=$?
		cp "$dir/beside.$node" "$out"
		;;
	*)
		shell "$node" "$command" >"$out" 2>&1
		rc=$?
		;;
	esac
	{
		echo "$node# $command"
		cat "$out"
	} >>"$transcript"
	return "$rc"
}

# output_of N PATTERN: the output of the Nth command that matches, in "out".
output_of()
{
	local n=$1 i

	out=
	for i in "${!commands[@]}"; do
		# shellcheck disable=SC2053  # it is a pattern
		[[ ${commands[i]} == $2 ]] || continue
		n=$((n - 1))
		[ "$n" = 0 ] || continue
		out=${outputs[i]}
		return 0
	done
	echo "the document has no command $1 like $2"
	return 1
}

# shows N PATTERN EXPRESSION...: that output has a line for each of them.
shows()
{
	local expression good=0

	output_of "$1" "$2" || return 1
	for expression in "${@:3}"; do
		grep -qE -- "$expression" "$out" && continue
		echo "no line matches: $expression"
		good=1
	done
	[ "$good" = 0 ] || cat "$out"
	return "$good"
}

# rate N: what the Nth worker that was waited for has done a second.
rate()
{
	output_of "$1" 'node?# wait' >/dev/null || return
	sed -n 's/^worker [01]: [0-9]* counts, \([0-9]*\) a second$/\1/p' "$out"
}

# The hottest block moves, as often as it is taken, and more often than once in 3 s.
names_the_block()
{
	output_of 1 'node1# weftctl top*' || return 1
	cat "$out"
	awk '/^ +MISSES\/s/ && (getline) > 0 {
		good = $5 == "tally:0" && 3 * $1 >= 2 && 3 * $2 >= 2 && $1 < 3 * $2 && $2 < 3 * $1
	     }
	     END { exit !good }' "$out"
}

# Not a block of the counters is left.
names_none()
{
	output_of 2 'node1# weftctl top*' || return 1
	cat "$out"
	grep -q '^ *MISSES/s' "$out" && ! grep -q 'tally:' "$out"
}

# Its program waits for a tenth of the time at least: misses a second, by the time of each.
waits_a_lot()
{
	output_of 1 'node1# weftctl stats*' || return 1
	cat "$out"
	awk '/^  misses / { rate = $2 }
	     /^  time a miss / { us = $4 }
	     END { exit !(rate * us >= 100000) }' "$out"
}

# both OPTION...: what both workers do a second together, for 5 s.
both()
{
	local k pids=() sum=0

	for k in 0 1; do
		shell "node$((k + 1))" "weft-tally /weft/tally $k --seconds 5 $*" >"$dir/both.$k" &
		pids+=($!)
	done
	for k in 0 1; do
		wait "${pids[k]}" || return
		sum=$((sum + $(sed -n 's/^worker [01]: [0-9]* counts, \([0-9]*\) a second$/\1/p' "$dir/both.$k")))
	done
	echo "$sum"
}

# By how much depends on what else the machine has to do, which workers that do not wait for
# each other wait for: what was measured then is measured again, twice at most.  That none of
# them waits for a block any more has been shown by then.
faster()
{
	local before after turn

	before=$(($(rate 1) + $(rate 2)))
	after=$(($(rate 3) + $(rate 4)))
	for turn in 2 3 none; do
		echo "before: $before counts a second, after: $after"
		[ "$before" -gt 0 ] || return
		[ $((4 * after)) -le $((5 * before)) ] || return 0
		[ $turn != none ] || return
		before=$(both) || return
		after=$(both --stride 4096) || return
	done
}

begin false-sharing
transcript=${WEFT_TRANSCRIPT:-$dir/transcript}
: >"$transcript"
boot --nodes 2 --blades 1 --switch p4
while read -r node command; do
	check "$node# $command" run "$node" "$command"
done < <(session)
check "the document has a session" [ "${#commands[@]}" -ge 12 ]

# --- What the document says of what they show ----------------------------------------

check "the symptom: misses though nothing is shared" shows 1 'node1# weftctl stats*' \
	'^  misses +[1-9][0-9]*\.[0-9] /s$'
check "the program waits for a good part of the time" waits_a_lot
check "top names the block" names_the_block
# It reads before it writes; that it always writes then is known after a few times, and the
# read asks to write: at once, or the kernel does for it (-) when it is known that node 2 has
# got the block, for which the program is nearly always too early.
check "trace: the program has to wait for its byte, to write" shows 1 'node1# weftctl trace*' \
	'tally:0 +weft-tally\[[0-9]+\] +(read|write) of byte 0 has to wait$' \
	'tally:0 +(-|weft-tally\[[0-9]+\]) +asks to write' '  may write now, after '
check "trace: node 2 wants it, and gets it" shows 1 'node1# weftctl trace*' \
	' node 2 wants to write$' ' has given it up$'
check "trace: both have a part in it" shows 1 'node1# weftctl trace*' \
	'^tally:0 +weft-tally\[[0-9]+\] +(read|write) +[1-9][0-9]*  0$' \
	'^tally:0 +node 2 +write +[1-9][0-9]*  \(trace there\)$'
check "trace at node 2: the other byte" shows 1 'node2# weftctl trace*' \
	'^tally:0 +weft-tally\[[0-9]+\] +(read|write) +[1-9][0-9]*  64$' \
	'^tally:0 +node 1 +write +[1-9][0-9]*  \(trace there\)$'
check "the size of a block" shows 1 'node1# stat*' '^4096$'
check "with a block for each: top names none" names_none
check "nobody waits any more" shows 2 'node1# weftctl trace*' \
	'^nobody had to wait for it, and no other node wanted it$'
check "and it is faster" faster && show
for node in node1 node2; do
	check "nothing is left behind on $node" shell $node \
		'[ -d /sys/kernel/tracing/instances ] && [ -z "$(ls /sys/kernel/tracing/instances)" ]'
done

# --- Tracing that is ended from outside -------------------------------------------

# ends_at SIGNAL: status 0, and nothing is left; KILL leaves what the next one removes.
ends_at()
{
	shell node1 "weftctl trace tally >/run/test-traced & pid=\$!
		for i in \$(seq 100); do
			[ -d /sys/kernel/tracing/instances/weftctl-\$pid ] && break
			sleep 0.1
		done
		sleep 0.5
		kill -$1 \$pid; wait \$pid; rc=\$?
		[ $1 = KILL ] && { [ -d /sys/kernel/tracing/instances/weftctl-\$pid ] &&
			weftctl trace -t 0.1 tally >/run/test-traced; rc=\$?; }
		ls -A /sys/kernel/tracing/instances
		[ \$rc = 0 ] && [ -z \"\$(ls -A /sys/kernel/tracing/instances)\" ]"
}
for signal in INT TERM HUP KILL; do
	check "trace ends at SIG$signal and leaves nothing" ends_at $signal
done
# The guest's own mount of tracefs is taken away: trace makes one and removes it.
check "tracefs is mounted if it is not" shell node1 'umount /sys/kernel/tracing &&
	weftctl trace -t 0.2 tally && ! grep -q " tracefs " /proc/mounts'

end_rack
finish
