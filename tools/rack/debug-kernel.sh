#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Build a debug kernel for racks of emulated machines from the distribution's sources,
# with KASAN, lockdep and what else debug.config has.
#
#	debug-kernel.sh DIRECTORY
#
# DIRECTORY becomes what get-kernel and weft-rack take for WEFT_KERNELS. What is built
# already is only brought up to date. Prints how racks are booted with it; what it does
# is told on standard error.
#
# Environment: WEFT_DEBUG_SERIES (6.1), of which the newest is taken.

set -u
set -o pipefail

HERE=$(dirname "$(readlink -f "$0")")
SERIES=${WEFT_DEBUG_SERIES:-6.1}

die()
{
	echo "debug-kernel: $*" >&2
	exit 1
}

say()
{
	echo "debug-kernel: $*" >&2
}

# kernel_make ARGUMENT...: as many jobs at a time as the make that called has, or as there
# are processors.
kernel_make()
{
	local jobs="" status

	[[ ${MAKEFLAGS-} = *@(-j|--jobserver)* ]] || jobs=-j$(nproc)
	make -s -C "$tree" ARCH=x86 ${jobs:+"$jobs"} "$@" </dev/null >"$tree/log" 2>&1
	status=$?
	[ $status = 0 ] || tail -n 20 "$tree/log" >&2
	return $status
}

# configure: the options of debug.config, and nothing else. A line that is not in what
# comes of them, because the option has gone or needs another one, is told.
configure()
{
	local lost

	if [ -e "$tree/.config" ] && cmp -s "$tree/wanted" "$HERE/debug.config"; then
		return 0
	fi
	rm -f "$tree/wanted"
	make -s -C "$source" O="$tree" ARCH=x86 KCONFIG_ALLCONFIG="$HERE/debug.config" \
		allnoconfig </dev/null >"$tree/log" 2>&1 ||
		{ cat "$tree/log" >&2; die "cannot configure $version for x86"; }
	lost=$(grep -E '^(# )?CONFIG_' "$HERE/debug.config" | grep -vxFf "$tree/.config")
	[ -z "$lost" ] || die "Linux $version does not have, or not with the rest:" "$lost"
	cp "$HERE/debug.config" "$tree/wanted" || die "cannot write to $tree"
}

build()
{
	local headers dir

	configure
	say "compiling $(nproc) files at a time, for many minutes; see $tree/log"
	kernel_make bzImage modules || die "cannot compile $version"
	release=$(<"$tree/include/config/kernel.release")
	dir=$KERNELS/$release
	rm -rf "$dir"
	kernel_make INSTALL_MOD_PATH="$dir" modules_install || die "cannot install modules"
	mkdir -p "$dir/boot" || die "cannot make $dir"
	cp "$tree/arch/x86/boot/bzImage" "$dir/boot/vmlinuz-$release" || die "cannot write to $dir"
	# Where it looks for those that it has downloaded.
	headers=$KERNELS/headers/$release
	mkdir -p "$headers/usr/src" || die "cannot make $headers"
	ln -sfn "$tree" "$headers/usr/src/linux-headers-$release" || die "cannot make $headers"
	touch "$headers/.complete" "$dir/.complete" || die "cannot make $headers"
	ln -sfn "$tree" "$dir/headers" || die "cannot make $dir/headers"
}

[ $# = 1 ] || { sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 1; }
mkdir -p "$1" || die "cannot make $1"
KERNELS=$(readlink -f "$1")
export WEFT_KERNELS=$KERNELS
exec 8>"$KERNELS/.debug-lock"
flock -n 8 || die "another debug-kernel builds in $KERNELS"

found=$("$HERE/get-kernel" --source "$SERIES") || exit 1
source=$(sed -n 's/^source=//p' <<<"$found")
version=$(sed -n 's/^version=//p' <<<"$found")
tree=$KERNELS/build
mkdir -p "$tree" || die "cannot make $tree"
build
say "Linux $release after $SECONDS s"
echo "export WEFT_KERNELS=$KERNELS KVER=$release WEFT_TEST_SCALE=4"
