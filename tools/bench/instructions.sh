#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Counts what the kernel does for an operation, at each end: instructions, allocations, locks
# taken, switches of context.
#
#	tools/bench/instructions.sh [--quick] [--block SIZE] [-- OPTIONS OF weft-rack up]
#
# Boots a rack of two emulated nodes whose clock advances with each instruction (weft-rack's
# --accel icount), so that the function graph tracer of the kernel, which measures time,
# counts instructions: of the functions by which the kernel enters the module, with all that
# they call in the rest of the kernel, without the time that they sleep.  The counts hardly
# depend on how busy the machine is: only by what is repeated.  What the processor does on the way to them (the
# exception, the network card's driver and IP before the port) is not in them; the tracer's
# own instructions, about 330 for each entry, are.
#
#	read, home		node 2 reads blocks that the blade has
#	read, modified		... that node 1 has modified
#	upgrade			node 1 writes to blocks that both have read
#	lock			both nodes add to a counter under a lock of libweft, in turns
#
# With --block an operation is what is done with a block of so many bytes (4096), each page of
# which is touched.
#
# Prints lines of JSON as weft-bench does.  Exit status 0 if everything could be measured.
# Environment: BUILD, WEFT_RACK, as in tools/demo/demo.sh.

set -u -o pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 2

BUILD=${BUILD:-$PWD/build}
BIN=$BUILD/bin
RACK=("${WEFT_RACK:-tools/rack/weft-rack}" --name instructions)
LIMIT=240	# seconds for any one step
blocks=256	# of each of them there is one operation
block=4096
seconds=4	# of the lock

# By which the kernel enters the module: faults, datagrams, timers, works, ioctls.
ENTRIES="weft_fault weft_page_mkwrite weft_map_pages encap_rcv timer_fire take_work weft_ioctl"
# What is counted below them.
COUNTED="kmem_cache_alloc* __kmalloc* __alloc_pages __alloc_skb _raw_spin_lock* _raw_read_lock* _raw_write_lock* mutex_lock down_read down_write folio_unlock schedule"

up_options=()
while [ $# -gt 0 ]; do
	case $1 in
	--quick) blocks=128; seconds=2 ;;
	--block) block=${2-}; shift ;;
	--)	shift; up_options=("$@"); break ;;
	*)	sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
	shift
done

die()
{
	echo "instructions: $*" >&2
	exit 1
}

rack()
{
	timeout -k 10 "$LIMIT" "${RACK[@]}" "$@"
}

on()
{
	rack exec "$1" -- "${@:2}" </dev/null
}

# both COMMAND...: on the two nodes at once.
both()
{
	local k pids=() rc=0

	for k in 1 2; do
		on node$k "$@" --node $k --nodes 2 >"$dir/both.$k" &
		pids+=($!)
	done
	for k in "${pids[@]}"; do
		wait "$k" || rc=1
	done
	return $rc
}

# shellcheck disable=SC2317,SC2329  # called by a trap
finish()
{
	timeout -k 10 60 "${RACK[@]}" down >/dev/null 2>&1
	rm -rf "$dir"
}

# --- The tracer ------------------------------------------------------------------

# In a guest: begin FUNCTION...; end
# shellcheck disable=SC2016  # the guest's shell expands it
TRACER='
	t=/sys/kernel/tracing
	[ -e $t/tracing_on ] || mount -t tracefs none $t
	cd $t || exit 1
	echo 0 >tracing_on
	if [ "$1" = end ]; then
		grep -q "^overrun: 0$" per_cpu/cpu0/stats || exit 1
		cat trace
		echo nop >current_tracer
		exit 0
	fi
	shift
	echo nop >current_tracer
	echo 96000 >buffer_size_kb
	echo 0 >options/sleep-time
	echo 1 >options/funcgraph-tail
	: >set_ftrace_filter
	for f; do
		echo "$f" >>set_ftrace_filter || exit 1
	done
	echo function_graph >current_tracer && : >trace && echo 1 >tracing_on'

# traced WHAT FUNCTIONS COMMAND...: what both nodes do meanwhile, in $dir/WHAT.NODE.
traced()
{
	local what=$1 functions=$2 k

	shift 2
	for k in 1 2; do
		# shellcheck disable=SC2086  # names
		on node$k sh -c "$TRACER" tracer begin $functions || die "node$k: no tracer"
	done
	"$@" >"$dir/out" || die "$what: failed"
	for k in 1 2; do
		on node$k sh -c "$TRACER" tracer end >"$dir/$what.$k" || die "node$k: no trace"
	done
}

# What a trace says, as "instructions N", "entries N", and "FUNCTION N" of what was counted
# below an entry.  A line of a function has its duration, two blanks for each level, and its
# name there if it calls nothing that is traced, else behind the bracket that ends it.
# shellcheck disable=SC2016  # awk's
SUM='
	/^#/ || !/\|/ { next }
	{
		at = index($0, "|")
		deep = match(substr($0, at + 3), /[^ ]/) > 1
		text = substr($0, at + 1)
		ends = text ~ /;$/ || text ~ /^ *}/
		name = text
		sub(/^ *}? *(\/\* )?/, "", name)
		sub(/[ (].*/, "", name)
		# an entry that runs in an interrupt while another one is under way is in it
		if (!deep && ends && index(entries, " " name " ")) {
			n = split(substr($0, 1, at - 1), part, " ")
			instructions += part[n - 1] * 1000
			count++
		} else if (deep && !index(entries, " " name " ") && text !~ /^ *}/) {
			below[name]++
		}
	}
	END {
		printf "instructions %d\nentries %d\n", instructions, count
		for (name in below)
			printf "%s %d\n", name, below[name]
	}'

sums()
{
	awk -v entries=" $ENTRIES " "$SUM" "$1"
}

# result WHAT LABEL TOTAL OPERATIONS UNIT
result()
{
	awk -v what="$1" -v label="$2" -v total="$3" -v n="$4" -v unit="$5" 'BEGIN {
		v = total / n
		printf "{\"bench\":\"%s\",\"label\":\"%s\",\"value\":%.6g,\"min\":%.6g,\"max\":%.6g,\"unit\":\"%s\",\"repeats\":1}\n",
			what, label, v, v, v, unit }'
}

# of PATTERN FILE: how often these functions were called.
of()
{
	awk -v pattern="^($1)" '$1 ~ pattern { n += $2 } END { print n + 0 }' "$2"
}

# measure NAME END.1 END.2 OPERATIONS PREPARE COMMAND...: OPERATIONS 0: the turns that
# the command tells of.  Twice: what is counted below the entries costs instructions itself.
measure()
{
	local name=$1 ends=("" "$2" "$3") ops=$4 prepare=$5 k end n

	shift 5
	"$prepare" || die "$name: cannot prepare it"
	traced plain "$ENTRIES" "$@"
	n=$ops
	[ "$n" != 0 ] || n=$(turns) || die "$name: no turns"
	for k in 1 2; do
		sums "$dir/plain.$k" >"$dir/sum"
		end="$name: ${ends[k]}"
		result instructions "$end" "$(of instructions "$dir/sum")" "$n" instructions
		result entries "$end" "$(of entries "$dir/sum")" "$n" entries
	done
	"$prepare" || die "$name: cannot prepare it again"
	traced below "$ENTRIES $COUNTED" "$@"
	n=$ops
	[ "$n" != 0 ] || n=$(turns) || die "$name: no turns"
	for k in 1 2; do
		sums "$dir/below.$k" >"$dir/sum"
		end="$name: ${ends[k]}"
		result allocations "$end" "$(of 'kmem_cache_|__kmalloc|__alloc_' "$dir/sum")" "$n" allocations
		result locks "$end" "$(of '_raw_|mutex_|down_' "$dir/sum")" "$n" locks
		result pages "$end" "$(of 'folio_unlock' "$dir/sum")" "$n" "locks of pages"
		result switches "$end" "$(of 'schedule' "$dir/sum")" "$n" switches
	done
}

# --- What is measured --------------------------------------------------------------

file=0

# Regions that are made from now on have such blocks.
of_size()
{
	on node1 mount -o "remount,block=$block" /weft &&
		on node2 mount -o "remount,block=$block" /weft
}

# A region that only node 1 has, modified.
# shellcheck disable=SC2317,SC2329  # given to measure()
modified()
{
	file=$((file + 1))
	on node1 "$BIN/weft-bench" fill --file /weft/$file --size $((blocks * block)) >"$dir/out"
}

# ... that nobody has.
# shellcheck disable=SC2317,SC2329
at_home()
{
	modified && on node1 sh -c 'umount /weft && mount -t weft none /weft' && of_size
}

# ... that both have, to read.
# shellcheck disable=SC2317,SC2329
shared()
{
	modified && reads >"$dir/out" && on node1 cat /weft/$file >"$dir/out"
}

# shellcheck disable=SC2317,SC2329
reads()
{
	on node2 "$BIN/weft-bench" randread --file /weft/$file --size $((blocks * block)) \
		--count $((blocks * block / 4096)) --repeats 1
}

# shellcheck disable=SC2317,SC2329
writes()
{
	on node1 "$BIN/weft-bench" fill --file /weft/$file --size $((blocks * block))
}

# shellcheck disable=SC2317,SC2329
no_lock()
{
	on node1 sh -c 'rm -f /weft/lockbench-*'
}

# shellcheck disable=SC2317,SC2329
locks()
{
	both "$BIN/weft-lockbench" counter --locks weft --seconds $seconds --timeout 60 &&
		cat "$dir/both.1"
}

# turns: of all nodes, as the first one says in its last line.
turns()
{
	tail -n 1 "$dir/out" | sed -n 's/.*"turns":\([1-9][0-9]*\),.*/\1/p' | grep .
}

dir=$(mktemp -d) || die "no place for files"
trap finish EXIT
trap 'exit 1' INT TERM
rack up --accel icount --blade-accel fast --nodes 2 --switch p4 --mem 512M "${up_options[@]}" >&2 ||
	die "no rack"
of_size || die "no blocks of $block bytes"
measure "read, home" "not concerned" "reads" $blocks at_home reads
measure "read, modified" "has modified" "reads" $blocks modified reads
measure "upgrade" "writes" "has read" $blocks shared writes
measure "lock" "node 1" "node 2" 0 no_lock locks
