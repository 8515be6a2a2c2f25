# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# weftctl in a rack: what the suites that run it there share; sourced by them at the top
# of the tree.
#
#	. tests/ctl/rack.sh
#	begin NAME
#	boot OPTION...			and all else of tests/system/common.sh
#	ctl GUEST ARGUMENT...		then tests of what came of it
#
# Environment: that of tests/system/common.sh.

# shellcheck source=tests/system/common.sh
. tests/system/common.sh

WEFTCTL=$BIN/weftctl
STEP_LIMIT=$((120 * SCALE))
rc=0

# keeping COMMAND...: output in out and err, exit status in rc.
keeping()
{
	"$@" >"$dir/out" 2>"$dir/err"
	rc=$?
}

# run GUEST COMMAND..., ctl GUEST ARGUMENT...: in the guest, the same.
run()	{ keeping on "$@"; }
ctl()	{ run "$1" "$WEFTCTL" "${@:2}"; }

details()
{
	echo "exit status $rc"
	cat "$dir/out" "$dir/err" 2>/dev/null
}

# --- What can be checked of the last of them ------------------------------------------

# good: it succeeded without a complaint.
good()	{ [ "$rc" = 0 ] && [ ! -s "$dir/err" ]; }

# holds EXPRESSION...: of its JSON, $j in Perl, and of an earlier one, $k, if "keep" has
# kept that.
holds()	{ tests/ctl/json.pl "$dir/out" "$dir/kept" "$@"; }
keep()	{ cp "$dir/out" "$dir/kept"; }

# schema DEFINITION [FILE]: its JSON is what tools/weftctl/schema.json says.
schema(){ tests/ctl/schema.pl tools/weftctl/schema.json "$1" "${2-$dir/out}"; }

# members LIST: node 1 says that these nodes are in the rack.
members()
{
	ctl node1 status -j
	# shellcheck disable=SC2016  # Perl's
	good && holds '"@{$j->{members}}" eq "'"$1"'"'
}
