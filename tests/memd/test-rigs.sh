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
# Prints a line for each; PATTERN selects by name.  Environment: BUILD; WEFT_RIGS=few: each
# rule once, in the form in which it meets most, so with a switch and a key where it can.

set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

AT_ONCE=8
LIMIT=$((240 * ${WEFT_TEST_SCALE:-1}))	# seconds for any one of them

# ended: waits until a rig has, and keeps how: the shell forgets a child as soon as it has another
# of the same number, which may come again within minutes.
ended()
{
	local pid rc

	wait -n -p pid
	rc=$?
	[ -n "${pid-}" ] || return 1
	[ -n "${running[$pid]-}" ] || return 0
	status[${running[$pid]}]=$rc
	unset "running[$pid]"
}

# rig NAME PROGRAM ARGUMENT...: starts it, as soon as there is room; what it prints is in
# $dir/NAME.
rig()
{
	[[ $1 == *"$pattern"* ]] || return 0
	while [ ${#running[@]} -ge $AT_ONCE ]; do
		ended || break
	done
	timeout -k 5 "$LIMIT" "$BUILD/tests/$2" "${@:3}" >"$dir/$1" 2>&1 &
	names+=("$1")
	running[$!]=$1
}

# more RIG...: not if few are wanted.
more()
{
	[ "$rigs" = few ] || "$@"
}

# once RIG...: only where blades have one thread: what it looks at is the same with more of
# them, and it takes long.
once()
{
	[ "${WEFT_RIG_THREADS:-1}" != 1 ] || "$@"
}

# with_key RIG...: in a rack that has a key.
with_key()
{
	WEFT_RIG_KEY=1 "$@"
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
rigs=${WEFT_RIGS:-all}
[[ $rigs == @(all|few) ]] || { echo "$0: WEFT_RIGS=$rigs is neither few nor all" >&2; exit 2; }
begin memd-rigs
pattern=${1-}
names=()
declare -A running=() status=()		# by number; by name

# The longest first.  *-switch: the rig's switch is tools/directory/directory.c, no P4 (which
# diff, switchd-* and racks run).
rig restart-silent-node memd-restart silent_node
rig restart-dead-blade memd-restart dead_blade
more once rig moments-boot memd-moments plain 1 boot
rig moments-boot-switch memd-moments switch 2 boot
rig moments-switch memd-moments switch 2 hand
rig moments-two memd-moments plain 2 two
more rig twin-kills memd-twin kills
with_key rig twin-kills-key memd-twin kills 5
rig twin-switch memd-twin switch
rig twin-stale memd-twin stale
more rig twin-blades memd-twin blades
with_key rig twin-blades-key memd-twin blades
rig twin-no-witness memd-twin no_witness
rig twin-deposed memd-twin deposed
rig twin-by-hand memd-twin by_hand
more rig lives memd-coherence plain 2 50 50 200 10000 1 10
more rig lives-moves memd-coherence plain 2 50 50 200 12000 1 8 8
rig lives-moves-switch memd-coherence switch 2 50 50 200 12000 1 8 8
more with_key rig lives-moves-key memd-coherence plain 2 50 50 200 8000 2 6 6
more rig plain memd-coherence plain 2 50 50 200 20000
more rig switch memd-coherence switch 2 50 50 200 20000
more rig locks-lives memd-locks plain 2 50 50 200 3000 1 6
more rig lives-switch memd-coherence switch 2 50 50 200 10000 1 10
with_key rig lives-key memd-coherence switch 2 50 50 200 10000 1 10
rig restart-cuts memd-restart cuts
rig restart-dead-borrower memd-restart dead_borrower
more rig catalog memd-catalog
with_key rig catalog-key memd-catalog
rig restart-machine memd-restart machine
more rig lock-moves memd-locks plain 2 50 50 200 3000 1 4 8
rig lock-moves-switch memd-locks switch 2 50 50 200 3000 1 4 8
more rig move memd-move plain
rig move-switch memd-move switch
more rig allow-switch memd-allow switch 2
more rig allow memd-allow plain 1
with_key rig allow-key memd-allow switch 1
rig members memd-members
more rig policy memd-policy
rig mark memd-mark
with_key rig policy-key memd-policy
once rig power memd-power
more rig locks memd-locks plain 2 50 50 200 3000
rig death-switch memd-death switch 2
more rig death memd-death plain 2
more rig death-one memd-death switch 1
more with_key rig death-key memd-death plain 1
rig restart-two-blades memd-restart two_blades
more with_key rig locks-key memd-locks switch 2 50 50 200 3000 1 6
rig restart-full memd-restart full
once rig restart-files memd-restart restart
rig locks-lives-switch memd-locks switch 2 50 50 200 3000 1 6
more rig locks-switch memd-locks switch 2 50 50 200 3000
while ended; do :; done
for name in "${names[@]}"; do
	outcome "$name" "${status[$name]}"
done
finish
