# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For what is downloaded: mirrors do not answer well for a minute, now and then.  Sourced.

HOPELESS=124		# exit status of what is not to be tried again; timeout's, too

# again WHO COMMAND...: up to four times, with pauses, until it succeeds; the exit status is
# that of the last time.
again()
{
	local pause status

	for pause in 10 30 60 ''; do
		"${@:2}" && return
		status=$?
		[ -n "$pause" ] && [ $status != $HOPELESS ] || return $status
		echo "$1: that failed, and is tried again in $pause s" >&2
		sleep "$pause"
	done
}
