# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For measurements in a rack of their own, sourced: NAME is the rack's and what they are called
# in messages; BUILD, WEFT_RACK as in tools/demo/demo.sh.

BUILD=${BUILD:-$PWD/build}
# shellcheck disable=SC2034  # of who sources this
BIN=$BUILD/bin
RACK=("${WEFT_RACK:-tools/rack/weft-rack}" --name "${NAME:?}")
LIMIT=240		# seconds for any one step

die()
{
	echo "$NAME: $*" >&2
	exit 1
}

# rack ARGUMENT...: of weft-rack.
rack()
{
	timeout -k 10 "$LIMIT" "${RACK[@]}" "$@"
}

# on GUEST COMMAND...
on()
{
	rack exec "$1" -- "${@:2}" </dev/null
}

# rack_ends: whatever happens.
rack_ends()
{
	timeout -k 10 60 "${RACK[@]}" down >/dev/null 2>&1
}
