#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# docs/walk.md is true: each function that it names is in the file that it names, and what it
# describes calls them in its order, on each machine.
#
#	node1 node2 mem1 -- switch p4
#
# The kernel's function tracer looks at the module, uprobes at the blade and weftctl; of each
# machine only the functions that the document names are traced.  That a step is skipped, renamed,
# moved to another file or comes in another order is a failure; that steps come several times, or
# others between them, is none.
#
#	tests/system/walk.sh
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

WALK=docs/walk.md
PROGRAM=$BUILD/tests/system-walk
LOCKS=$BUILD/tests/locks-basics
TRACING=/sys/kernel/tracing

# steps SECTION [WHERE]: "FILE FUNCTION" of each row.
steps()
{
	awk -F ' *[|] *' -v section="$1" -v where="${2-}" '
		/^## / { here = substr($0, 4) == section }
		here && $3 ~ /^`/ && (where == "" || $2 == where) {
			gsub(/`/, "")
			print $3, $4
		}' $WALK
}

functions()
{
	steps "$@" | cut -d ' ' -f 2
}

# in_files SECTION: each function is defined where its row says.
in_files()
{
	local file name n=0 bad=0

	while read -r file name; do
		n=$((n + 1))
		grep -qE "^[a-z].*\<$name\(" "$file" && continue
		echo "$WALK: $file has no function $name"
		bad=1
	done < <(steps "$1")
	[ $n -gt 0 ] && return $bad
}

# looks NODE SECTION WHERE [BINARY]: from now on, at the functions of the module that are named
# for that machine; with BINARY at those of that program.
looks()
{
	local name at

	if [ $# -lt 4 ]; then
		# shellcheck disable=SC2046  # words
		on "$1" sh -c "cd $TRACING && echo 0 >tracing_on && echo >trace && echo >set_ftrace_filter &&
			for name; do echo \"\$name\" >>set_ftrace_filter || exit 1; done &&
			echo function >current_tracer && echo 1 >tracing_on" sh $(functions "$2" "$3" | sort -u)
		return
	fi
	for name in $(functions "$2" "$3" | sort -u); do
		at=$(nm "$4" | awk -v name="$name" '$3 == name { print $1 }')
		[ -n "$at" ] || { echo "$4 has no function $name"; return 1; }
		echo "p:walk/$name $(realpath "$4"):0x$at"
	done >"$dir/probes"
	# shellcheck disable=SC2016  # for the guest's shell
	on "$1" sh -c 'cd "$1" && shift && echo 0 >tracing_on && echo >trace && echo 0 >events/enable &&
		for probe; do echo "$probe"; done >uprobe_events && echo 1 >events/walk/enable &&
		echo 1 >tracing_on' sh $TRACING "$(<"$dir/probes")"
}

# were SECTION WHERE NODE: those functions were called there, one after the other.
were()
{
	on "$3" sh -c "cd $TRACING && echo 0 >tracing_on && cat trace" >"$dir/trace" || return 1
	functions "$1" "$2" >"$dir/steps"
	awk 'FNR == NR { step[++n] = $1; next }
		/^#/ { next }
		match($0, /: [a-z_0-9]+/) && substr($0, RSTART + 2, RLENGTH - 2) == step[at + 1] { at++ }
		END {
			if (at == n && n)
				exit 0
			print "step " at + 1 " of " n + 0 " did not come: " step[at + 1]
			exit 1
		}' "$dir/steps" "$dir/trace" || { tail -n 60 "$dir/trace"; return 1; }
}

# The home has it, no node has.
misses()
{
	on node2 truncate -s 65536 /weft/missed &&
		on node1 ls -l /weft/missed &&
		looks node1 "A read miss" "node 1" && looks mem1 "A read miss" blade "$BIN/weft-memd" &&
		on node1 sh -c "echo 0 >$TRACING/tracing_on && echo >$TRACING/trace &&
			$PROGRAM /weft/missed $TRACING/tracing_on"
}

# Node 2 has it until node 1 waits for it, which node 2 hears of.
changes()
{
	local pid

	looks node1 "A lock changes nodes" "node 1" && looks node2 "A lock changes nodes" "node 2" &&
		on node2 sh -c "$LOCKS hold /weft/missed 0 w $STEP_LIMIT >/run/test-held 2>&1 </dev/null &
			echo \$! >/run/test-holder
			for i in \$(seq $((100 * SCALE))); do grep -q held /run/test-held && break; sleep 0.2; done
			grep held /run/test-held && echo >$TRACING/trace" || return 1
	on node1 "$LOCKS" take /weft/missed 0 w $((STEP_LIMIT * 1000)) >"$dir/took" &
	pid=$!
	on node2 sh -c "for i in \$(seq $((200 * SCALE))); do grep -q weft_lockres_recv $TRACING/trace && break; sleep 0.2; done
		kill -USR1 \$(cat /run/test-holder)"
	wait $pid && grep '^taken$' "$dir/took"
}

# There is a line to be listed.
command()
{
	on node1 head -c 1 /weft/missed >/dev/null && looks node1 "A command" "node 1" &&
		on node1 "$CTL" line && were "A command" "node 1" node1
}

program()
{
	on node1 head -c 1 /weft/missed >/dev/null && looks node1 "A command" weftctl "$CTL" &&
		on node1 "$CTL" line && were "A command" weftctl node1
}

CTL=$BIN/weftctl
built "$PROGRAM" "$LOCKS"
begin walk
check "a read miss: functions are in their files" in_files "A read miss"
check "a lock: functions are in their files" in_files "A lock changes nodes"
check "a command: functions are in their files" in_files "A command"
boot --nodes 2 --switch p4
for node in node1 node2 mem1; do
	check "$node can trace" on $node sh -c "[ -e $TRACING/trace ] || mount -t tracefs none $TRACING"
done
check "node 1 reads what no node has" misses
check "node 1 took those steps" were "A read miss" "node 1" node1
check "the blade took those steps" were "A read miss" blade mem1
check "a lock goes from node 2 to node 1" changes
check "node 1 took those steps" were "A lock changes nodes" "node 1" node1
check "node 2 took those steps" were "A lock changes nodes" "node 2" node2
check "weftctl asks the kernel, which took those steps" command
check "so did weftctl" program
end_rack
finish
