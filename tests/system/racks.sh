#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A machine that is a node of two racks, and of as many as there can be.  Node 1 of a rack
# gets another rack in its own kernel: the blade of that is in a network namespace there, at
# the other end of a cable.
#
#	node1 node2 mem1 -- switch	rack 0
#	  |
#	  +-- veth -- blade		rack 5
#
#	tests/system/racks.sh
#
# What the guest prints is indented.  Environment: BUILD.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

GUEST_LIMIT=$((300 * SCALE))

# sees FILE SUM: node 2, which is in rack 0 only, reads that of rack 0.
sees()
{
	[ "$(on node2 sha256sum "/weft/$1" | cut -d' ' -f1)" = "$2" ]
}

begin racks
boot --nodes 2 --switch p4 --mem 512M --cache 16M
head -c 2M /dev/urandom >"$dir/zero"
head -c 2M /dev/urandom >"$dir/five"
timeout "$GUEST_LIMIT" "$RACK" --name "$run_name" exec node1 -- \
	env WEFT_TEST_SCALE="$SCALE" tests/system/racks-node.sh "$BUILD" "$dir/zero" "$dir/five" | sed -u 's/^/    /'
report "${PIPESTATUS[0]}" "all of it, in the guest"
check "node 2 reads what was written in rack 0" sees same "$(sha256sum <"$dir/zero" | cut -d' ' -f1)"
check "and nothing else is in rack 0" \
	[ "$(on node2 ls /weft | sort | paste -sd ' ')" = "busy created same store" ]
end_rack
finish
