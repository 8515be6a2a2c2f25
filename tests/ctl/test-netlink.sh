#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The netlink family in a kernel, driven by weftctl and by requests that make no
# sense; with a node that does nothing (tests/ctl/fakes/node), so that slow, dead
# and broken blades can be had.  One bare guest.
#
# Prints a line a check.  Environment: BUILD, the build directory; KVER, the
# kernel; WEFT_CTL_REQUESTS (100000), how many that make no sense.

set -u
cd "$(dirname "$0")/../.." || exit 2

BUILD=${BUILD:-$PWD/build}
export BUILD
RACK=tools/rack/weft-rack
NAME=ctl-netlink-$$

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
	echo "not ok 1 - there are no headers of kernel '$KVER': install them, or say KVER="
	exit 1
}

dir=$BUILD/tests/ctl-netlink-$KVER
# Links, so that nothing is built in the tree.
rm -rf "$dir"
mkdir -p "$dir"
cp -rs "$PWD/kmod" "$PWD/uapi" "$PWD"/tests/ctl/fakes/node/* "$dir/"
timeout 300 make -s -C "$kdir" M="$dir" W=1 KCFLAGS=-Werror \
	CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$dir/build.log" 2>&1 || {
	echo "not ok 1 - tests/ctl/fakes/node does not compile"
	sed 's/^/# /' "$dir/build.log"
	exit 1
}

trap 'timeout 60 "$RACK" down --name "$NAME" >/dev/null 2>&1' EXIT
timeout 300 "$RACK" up --name "$NAME" --bare --nodes 1 --blades 0 --switch none \
	--kernel "$KVER" --owner $$ || {
	echo "not ok 1 - no guest"
	exit 1
}
# The rack looks at the guest's kernel log: 125 is a complaint in it.
timeout 1200 "$RACK" exec --name "$NAME" node1 -- tests/ctl/guest-netlink.sh \
	"$dir/weft_fakenode.ko" "$BUILD/bin/weftctl" "$BUILD/tests/ctl-hammer" \
	"${WEFT_CTL_REQUESTS:-100000}"
rc=$?
if [ $rc = 125 ]; then
	echo "not ok - the kernel complains, or the guest is gone"
	"$RACK" log --name "$NAME" node1 | tail -n 60 | sed 's/^/# /'
fi
trap - EXIT
if ! timeout 120 "$RACK" down --name "$NAME"; then
	echo "not ok - the guest did not end well"
	rc=1
fi
exit $rc
