#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A machine that is two nodes of one rack: its kernel has both, and what they tell each other
# stays in its memory (kmod/net/memory.c).  No network of virtual machines takes part.
#
#	node1: five -+
#	             +- bridge, blade	rack 5, all in one kernel
#	       six  -+
#
#	tests/system/twins.sh
#
# What the guest prints is indented.  Environment: BUILD; WEFT_TWINS_ROUNDS of each litmus
# test (300), WEFT_TWINS_OPS accesses of a thread (20000), WEFT_TWINS_BLOCK, bytes of a block
# (4096); see twins-node.sh.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

GUEST_LIMIT=$((400 * SCALE))

begin twins
boot --nodes 1 --switch none --mem 512M --cache 16M
head -c 2M /dev/urandom >"$dir/bytes"
timeout "$GUEST_LIMIT" "$RACK" --name "$run_name" exec node1 -- env WEFT_TEST_SCALE="$SCALE" \
	WEFT_TWINS_BLOCK="${WEFT_TWINS_BLOCK:-4096}" WEFT_TWINS_ROUNDS="${WEFT_TWINS_ROUNDS:-300}" \
	WEFT_TWINS_OPS="${WEFT_TWINS_OPS:-20000}" \
	tests/system/twins-node.sh "$BUILD" "$dir/bytes" | sed -u 's/^/    /'
report "${PIPESTATUS[0]}" "all of it, in the guest"
end_rack
finish
