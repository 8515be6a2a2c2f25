#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs programs of a conformance suite that were linked with place.c.
#
#	run.sh MODE PROGRAMS REGIONS [PART OF]
#
# MODE: alone; beside: with the preload library, and a region mapped beside; inside:
# with it, and what the tests keep in variables inside a region.  PROGRAMS is their
# directory, REGIONS one that makes files regions; PART OF: only each OFth program,
# from the PARTth on.  Prints a line a program: its name, its exit status; and, after
# a #, the end of what it said if that is not 0.
#
# A test that forks (PROGRAM.forks is there) keeps its locks in files of /tmp or
# /dev/shm: inside, REGIONS is mounted there, for it alone.
#
# Environment: SHIM, what to preload; WEFT_TEST_LIMIT (60), seconds for each.

set -u
mode=$1
programs=$2
regions=$3
part=${4:-1}
of=${5:-1}
limit=${WEFT_TEST_LIMIT:-60}

# run PROGRAM FILE: FILE becomes a region.
run()
{
	case $mode in
	alone)	timeout -k 5 "$limit" "$1" ;;
	beside)	WEFT_BESIDE=$2 LD_PRELOAD=$SHIM timeout -k 5 "$limit" "$1" ;;
	inside)
		if [ -e "$1.forks" ]; then
			# shellcheck disable=SC2016  # expanded by that shell
			LD_PRELOAD=$SHIM unshare -m sh -c 'mount --bind "$1" /tmp &&
				mount --bind "$1" /dev/shm && exec timeout -k 5 "$2" "$3"' \
				sh "$regions" "$limit" "$1"
		else
			WEFT_PLACE=$2 LD_PRELOAD=$SHIM timeout -k 5 "$limit" "$1"
		fi ;;
	esac
}

out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT
i=0
for program in "$programs"/*.test; do
	[ $((i++ % of + 1)) = "$part" ] || continue
	name=$(basename "$program" .test)
	run "$program" "$regions/$name-$mode-$$" >"$out" 2>&1 </dev/null
	status=$?
	echo "$name $status"
	[ $status = 0 ] || tail -n 3 "$out" | sed "s,^,# $name: ,"
done
exit 0
