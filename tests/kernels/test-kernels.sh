#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module builds without a warning for every kernel that it is meant for,
# from one source: the long-term ones, and the newest whose headers the distribution,
# its backports or those of the next release have.  make module fails on warnings.
#
# Debian has had no kernel 6.6 since its release was over: that one is skipped, unless
# WEFT_KERNEL_TREES names a prepared tree of it (make modules_prepare).  All trees named
# there are compiled for; what is not exported cannot be found in them, so that symbols
# which are missing are no failure.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

KERNELS=(6.1 6.6 6.12 newest)
UNREACHABLE=" 6.6 "
DOWNLOAD_LIMIT=600	# seconds
MAKE_LIMIT=$((300 * ${WEFT_TEST_SCALE:-1}))

grep -qs '^MODULE_LICENSE' kmod/*/*.c || { echo 'skipped: there is no module yet'; exit 77; }

# built_for VERSION HEADERS: build the module, which then says that it is for VERSION.
# For kernels that are only fetched for this, without what is for debuggers and with a
# folder's files as one, in a fifth of the compiler's time; test-boot.sh builds the newest alike.
built_for()
{
	local quick=(BUNDLE=1 KMOD_CFLAGS=-g0)

	[ ! -e "/lib/modules/$1/build/Makefile" ] || quick=()
	timeout "$MAKE_LIMIT" make -s module B="$BUILD" KVER="$1" KDIR="$2" "${quick[@]}" ||
		return 1
	modinfo -F vermagic "$BUILD/kmod/$1/weft.ko" | grep -q "^$1 "
}

# compiles_for VERSION TREE: the same, without knowing what the kernel exports.
compiles_for()
{
	timeout "$MAKE_LIMIT" make -s module B="$BUILD/trees" KVER="$1" KDIR="$2" ARCH=x86 \
		CROSS_COMPILE= KBUILD_MODPOST_WARN=1 || return 1
	modinfo -F vermagic "$BUILD/trees/kmod/$1/weft.ko" | grep -q "^$1 "
}

begin kernels
done_for=" "
for tree in ${WEFT_KERNEL_TREES-}; do
	version=$(cat "$tree/include/config/kernel.release" 2>/dev/null)
	if [ -z "$version" ]; then
		not_ok "$tree is no prepared kernel tree: make modules_prepare there"
		continue
	fi
	check "$version ($tree)" compiles_for "$version" "$tree"
	done_for+="$(cut -d. -f1,2 <<<"$version") "
done
for kernel in "${KERNELS[@]}"; do
	[[ $done_for != *" $kernel "* ]] || continue
	found=$(timeout "$DOWNLOAD_LIMIT" tools/rack/get-kernel --headers-only "$kernel" 2>"$dir/get")
	version=$(sed -n 's/^version=//p' <<<"$found")
	headers=$(sed -n 's/^headers=//p' <<<"$found")
	if [ -n "$headers" ]; then
		check "$kernel ($version)" built_for "$version" "$headers"
	elif [[ $UNREACHABLE == *" $kernel "* ]] && grep -q "have a kernel $kernel" "$dir/get"; then
		skip "$kernel" "Debian has no such kernel any more; WEFT_KERNEL_TREES=DIRECTORY of a prepared tree checks it"
	else
		not_ok "$kernel: its headers could not be had" "$dir/get"
	fi
done
finish
