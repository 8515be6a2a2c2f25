# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What debug-kernel.sh and own-kernel.sh compile a kernel with. Sourced; say is the caller's.

COMPILE_LIMIT=7200	# seconds

# kernel_make LOG ARGUMENT...: as many jobs at a time as the make that called has, or as there
# are processors. What it prints goes to the log, whose end is shown if it fails.
kernel_make()
{
	local log=$1 jobs="" status

	shift
	[[ ${MAKEFLAGS-} = *@(-j|--jobserver)* ]] || jobs=-j$(nproc)
	timeout --foreground -k 30 "$COMPILE_LIMIT" make -s ${jobs:+"$jobs"} "$@" </dev/null >"$log" 2>&1
	status=$?
	[ $status = 0 ] || tail -n 20 "$log" >&2
	return $status
}

# lost_options FRAGMENT CONFIG: print the lines of the first that are not in the second, which
# came of it: an option has gone, or needs another one.
lost_options()
{
	grep -E '^(# )?CONFIG_' "$1" | grep -vxFf "$2"
}
