# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For what is measured on a machine that may stand still, or be busy, just then.  Sourced
# after tests/tap.sh.

UNLUCKY=75		# exit status of what may have failed by that alone

# tries N COMMAND...: again while it says that it was unlucky, N times at most; what is wrong
# without luck fails at once.
tries()
{
	local left=$1 status

	while :; do
		"${@:2}" && return
		status=$?
		left=$((left - 1))
		[ $status = $UNLUCKY ] && [ $left -gt 0 ] || return $status
		echo "# once more"
	done
}
