#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module builds without a warning for every kernel that it is meant for,
# from one source: the long-term ones of the distribution and its backports.
# make module fails on warnings.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

KERNELS=(6.1 6.12)
DOWNLOAD_LIMIT=600	# seconds
MAKE_LIMIT=300

grep -qs '^MODULE_LICENSE' kmod/*.c || { echo 'skipped: there is no module yet'; exit 77; }

# built_for VERSION HEADERS: build the module, which then says that it is for VERSION.
built_for()
{
	timeout "$MAKE_LIMIT" make -s module B="$BUILD" KVER="$1" KDIR="$2" || return 1
	modinfo -F vermagic "$BUILD/kmod/$1/weft.ko" | grep -q "^$1 "
}

begin kernels
for kernel in "${KERNELS[@]}"; do
	found=$(timeout "$DOWNLOAD_LIMIT" tools/rack/get-kernel --headers "$kernel")
	version=$(sed -n 's/^version=//p' <<<"$found")
	headers=$(sed -n 's/^headers=//p' <<<"$found")
	if [ -z "$headers" ]; then
		not_ok "$kernel: its headers could not be had"
	else
		check "$kernel ($version)" built_for "$version" "$headers"
	fi
done
finish
