#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module builds without a warning for every kernel that it is meant for,
# from one source: the long-term ones of the distribution and its backports.
# make module fails on warnings.

set -u
cd "$(dirname "$0")/../.." || exit 2

KERNELS=(6.1 6.12)
BUILD=${BUILD:-$PWD/build}
DOWNLOAD_LIMIT=600	# seconds
MAKE_LIMIT=300
bad=0

grep -qs '^MODULE_LICENSE' kmod/*.c || { echo 'there is no module yet'; exit 77; }

# built VERSION HEADERS: build the module, which then says that it is for VERSION.
built()
{
	timeout "$MAKE_LIMIT" make -s module B="$BUILD" KVER="$1" KDIR="$2" || return 1
	modinfo -F vermagic "$BUILD/kmod/$1/weft.ko" | grep -q "^$1 "
}

for kernel in "${KERNELS[@]}"; do
	found=$(timeout "$DOWNLOAD_LIMIT" tools/rack/get-kernel --headers "$kernel")
	version=$(sed -n 's/^version=//p' <<<"$found")
	headers=$(sed -n 's/^headers=//p' <<<"$found")
	if [ -z "$headers" ]; then
		echo "not ok $kernel: its headers could not be had"
		bad=1
	elif built "$version" "$headers"; then
		echo "ok $kernel ($version)"
	else
		echo "not ok $kernel ($version)"
		bad=1
	fi
done
exit $bad
