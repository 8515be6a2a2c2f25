#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The netlink family in a kernel, driven by weftctl, by clients that share nothing with
# it (tests/netlink on libmnl, yamlclient.py), and by requests that make no sense; with
# a node that does nothing (tests/ctl/fakes/node), so that slow, dead and broken blades
# can be had.  One bare guest.
#
# What the guest prints is indented.  As tests/system/common.sh; KVER, the kernel;
# WEFT_CTL_REQUESTS (100000), how many requests make no sense.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

# shellcheck source=tests/system/common.sh
. tests/system/common.sh

GUEST_LIMIT=$((1200 * SCALE))

# headers VERSION: where they are.
headers()
{
	local path

	for path in "/lib/modules/$1/build" "/usr/src/linux-headers-$1" \
		    "$BUILD/kernel/$1/headers"; do
		[ -e "$path/Makefile" ] && { echo "$path"; return 0; }
	done
	return 1
}

if [ -z "${KVER-}" ]; then
	KVER=$(printf '%s\n' /usr/src/linux-headers-*-common | sort -V | tail -n 1)
	KVER=${KVER##*linux-headers-}
	KVER=${KVER%-common}-amd64
fi
kdir=$(headers "$KVER") || {
	echo "there are no headers of kernel '$KVER': install them, or say KVER=" >&2
	exit 2
}

# compile DIRECTORY: of links, so that nothing is built in the tree.
compile()
{
	rm -rf "$1"
	mkdir -p "$1"
	cp -rs "$PWD/kmod" "$PWD/uapi" "$PWD"/tests/ctl/fakes/node/* "$1/"
	timeout $((300 * SCALE)) make -s -C "$kdir" M="$1" W=1 KCFLAGS=-Werror \
		CONFIG_DEBUG_INFO_BTF_MODULES= modules
}

# details: of the guest, if there is one.
details()
{
	[ -z "$up" ] || rack log node1
}

begin netlink
fake=$BUILD/tests/ctl-netlink-$KVER
check "tests/ctl/fakes/node compiles" compile "$fake" || exit 1
boot --bare --nodes 1 --blades 0 --switch none --kernel "$KVER"
# Its kernel's log is looked at: status 125 is a complaint in it.
timeout "$GUEST_LIMIT" "$RACK" --name "$run_name" exec node1 -- \
	env WEFT_TEST_SCALE="$SCALE" tests/ctl/guest-netlink.sh \
	"$fake/weft_fakenode.ko" "$BIN/weftctl" "$BUILD/tests/ctl-hammer" \
	"$BUILD/tests/netlink" "${WEFT_CTL_REQUESTS:-100000}" | sed -u 's/^/    /'
report "${PIPESTATUS[0]}" "all of it, in the guest"
end_rack
finish
