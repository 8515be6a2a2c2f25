#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Memory blades among nodes that are played, on networks that lose, repeat and reorder,
# and through lives and deaths.  Nearly all of the time is waiting, for what is late and
# for who is given up: so many of them run at the same time, each in a process, with an
# address or a network namespace of its own.
#
#	tests/memd/test-rigs.sh [PATTERN]
#
# Prints a line for each; PATTERN selects by name.  Environment: BUILD.

set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

AT_ONCE=8
LIMIT=$((240 * ${WEFT_TEST_SCALE:-1}))	# seconds for any one of them

# rig NAME PROGRAM ARGUMENT...: starts it, as soon as there is room; what it prints is in
# $dir/NAME.
rig()
{
	[[ $1 == *"$pattern"* ]] || return 0
	while [ "$(jobs -pr | wc -l)" -ge $AT_ONCE ]; do
		wait -n
	done
	timeout -k 5 "$LIMIT" "$BUILD/tests/$2" "${@:3}" >"$dir/$1" 2>&1 &
	names+=("$1")
	pids+=($!)
}

# once NAME PROGRAM ARGUMENT...: a rig, but only where blades have one thread: what it looks
# at is the same with more of them, and it takes long.
once()
{
	[ "${WEFT_RIG_THREADS:-1}" != 1 ] || rig "$@"
}

# with_key NAME PROGRAM ARGUMENT...: in a rack that has a key.
with_key()
{
	WEFT_RIG_KEY=1 rig "$@"
}

# outcome NAME STATUS: what came of it.  Exit status 77 is a skip if the last line says
# why.
outcome()
{
	local reason why

	reason=$(tail -n 1 "$dir/$1" | sed -n 's/^skipped: //p')
	if [ "$2" = 77 ] && [ -n "$reason" ]; then
		skip "$1" "$reason"
	elif [ "$2" = 0 ]; then
		ok "$1"
		sed 's/^/# /' "$dir/$1"
	else
		# What was wrong comes before all that the blades said, of which the end is shown.
		why=$(grep '^not ok: ' "$dir/$1")
		printf '%s\n' "$why" "exit status $2 (124: its time was up)" >>"$dir/$1"
		not_ok "$1" "$dir/$1"
	fi
}

built "$BUILD"/tests/memd-{allow,catalog,policy,restart,power,members,coherence,locks,move,twin,death,mark,moments}
begin memd-rigs
pattern=${1-}
names=()
pids=()

# The longest first.  *-switch: the rig's switch is kmod/core/directory.c, no P4 (which
# diff, switchd-* and racks run).
rig restart-silent-node memd-restart silent_node
rig restart-dead-blade memd-restart dead_blade
once moments-boot memd-moments plain 1 boot
rig moments-boot-switch memd-moments switch 2 boot
rig moments-switch memd-moments switch 2 hand
rig moments-two memd-moments plain 2 two
rig twin-kills memd-twin kills
with_key twin-kills-key memd-twin kills 5
rig twin-switch memd-twin switch
rig twin-stale memd-twin stale
rig twin-blades memd-twin blades
with_key twin-blades-key memd-twin blades
rig twin-no-witness memd-twin no_witness
rig twin-deposed memd-twin deposed
rig twin-by-hand memd-twin by_hand
rig lives memd-coherence plain 2 50 50 200 10000 1 10
rig lives-moves memd-coherence plain 2 50 50 200 12000 1 8 8
rig lives-moves-switch memd-coherence switch 2 50 50 200 12000 1 8 8
with_key lives-moves-key memd-coherence plain 2 50 50 200 8000 2 6 6
rig plain memd-coherence plain 2 50 50 200 20000
rig switch memd-coherence switch 2 50 50 200 20000
rig locks-lives memd-locks plain 2 50 50 200 3000 1 6
rig lives-switch memd-coherence switch 2 50 50 200 10000 1 10
with_key lives-key memd-coherence switch 2 50 50 200 10000 1 10
rig restart-cuts memd-restart cuts
rig catalog memd-catalog
with_key catalog-key memd-catalog
rig restart-machine memd-restart machine
rig lock-moves memd-locks plain 2 50 50 200 3000 1 4 8
rig lock-moves-switch memd-locks switch 2 50 50 200 3000 1 4 8
rig move memd-move plain
rig move-switch memd-move switch
rig allow-switch memd-allow switch 2
rig allow memd-allow plain 1
with_key allow-key memd-allow switch 1
rig members memd-members
rig policy memd-policy
rig mark memd-mark
with_key policy-key memd-policy
once power memd-power
rig locks memd-locks plain 2 50 50 200 3000
rig death-switch memd-death switch 2
rig death memd-death plain 2
rig death-one memd-death switch 1
with_key death-key memd-death plain 1
rig restart-two-blades memd-restart two_blades
with_key locks-key memd-locks switch 2 50 50 200 3000 1 6
rig restart-full memd-restart full
once restart-files memd-restart restart
rig locks-lives-switch memd-locks switch 2 50 50 200 3000 1 6
rig locks-switch memd-locks switch 2 50 50 200 3000
for ((i = 0; i < ${#names[@]}; i++)); do
	wait "${pids[i]}"
	outcome "${names[i]}" $?
done
finish
