#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Build a debug kernel for racks of emulated machines from the distribution's sources,
# with KASAN, lockdep and what else debug.config has; or a user-mode one, which is the
# package's with what debug-uml.config has.
#
#	debug-kernel.sh DIRECTORY [uml]
#
# DIRECTORY becomes what get-kernel and weft-rack take for WEFT_KERNELS; it is another one
# for a user-mode kernel. What is built already is only brought up to date. Prints how racks
# are booted with it; what it does is told on standard error.
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

# shellcheck source=tools/rack/compile.sh
. "$HERE/compile.sh"

# compile ARGUMENT...: by the kernel's makefiles.
compile()
{
	kernel_make "$tree/log" -C "$tree" ARCH="$arch" "$@"
}

# configure_x86: the options of debug.config, and nothing else.
configure_x86()
{
	make -s -C "$source" O="$tree" ARCH=x86 KCONFIG_ALLCONFIG="$fragment" \
		allnoconfig </dev/null >"$tree/log" 2>&1
}

# configure_um: what the package has built in, and the options of debug-uml.config.
configure_um()
{
	local config=usr/share/doc/user-mode-linux/config.gz

	WEFT_KERNELS=$KERNELS/package "$HERE/get-kernel" uml >/dev/null || return 1
	{
		zcat "$KERNELS/package/uml/$config" |
			sed 's/^\(CONFIG_[A-Za-z0-9_]*\)=m$/# \1 is not set/' &&
			cat "$fragment"
	} >"$tree/.config" || die "the package user-mode-linux has no configuration in it"
	make -s -C "$source" O="$tree" ARCH=um olddefconfig </dev/null >"$tree/log" 2>&1
}

mend_x86()
{
	:
}

# mend_um: lockdep reports once, and is off then.  Two places of ARCH=um it must not report,
# where only another processor could do harm, of which there is none.
mend_um()
{
	local vector=$source/arch/um/drivers/vector_kern.c tlb=$source/arch/um/kernel/tlb.c

	# it takes this one second, and elsewhere first
	sed -i '/^static int vector_advancehead/,/^}/ {
		s/^\tspin_lock(&qi->tail_lock);/\twhile (!spin_trylock(\&qi->tail_lock))\n\t\tcpu_relax();/
	}' "$vector"
	grep -q rcu_read_lock "$tlb" ||
		sed -i '/^\tfor_each_vma(vmi, vma)$/ {
			N
			s/.*/\trcu_read_lock();\n&\n\trcu_read_unlock();/
		}' "$tlb"
	{ grep -q 'while (!spin_trylock(&qi->tail_lock))' "$vector" &&
		grep -q rcu_read_unlock "$tlb"; } ||
		die "Linux $version is otherwise than lockdep for ARCH=um was made quiet for: see mend_um"
}

# configure: a line of the options that is not in what comes of them, because the option has
# gone or needs another one, is told.
configure()
{
	local lost

	if [ -e "$tree/.config" ] && cmp -s "$tree/wanted" "$fragment"; then
		return 0
	fi
	rm -f "$tree/wanted"
	"configure_$arch" || { cat "$tree/log" >&2; die "cannot configure $version for $arch"; }
	lost=$(lost_options "$fragment" "$tree/.config")
	[ -z "$lost" ] || die "Linux $version does not have, or not with the rest:" "$lost"
	cp "$fragment" "$tree/wanted" || die "cannot write to $tree"
}

# put_x86: kernel, modules and headers to where get-kernel has those of a package.
put_x86()
{
	local dir=$KERNELS/$release headers

	rm -rf "$dir"
	compile INSTALL_MOD_PATH="$dir" modules_install || die "cannot install modules"
	mkdir -p "$dir/boot" || die "cannot make $dir"
	cp "$tree/arch/x86/boot/bzImage" "$dir/boot/vmlinuz-$release" || die "cannot write to $dir"
	# Where it looks for those that it has downloaded.
	headers=$KERNELS/headers/$release
	mkdir -p "$headers/usr/src" || die "cannot make $headers"
	ln -sfn "$tree" "$headers/usr/src/linux-headers-$release" || die "cannot make $headers"
	touch "$headers/.complete" "$dir/.complete" || die "cannot make $headers"
	ln -sfn "$tree" "$dir/headers" || die "cannot make $dir/headers"
}

# put_um: the same for a user-mode kernel.  What RDMA for it is compiled of, it looks for
# among the headers.
put_um()
{
	local dir=$KERNELS/uml

	rm -rf "$dir"
	compile INSTALL_MOD_PATH="$dir" modules_install || die "cannot install modules"
	mkdir -p "$dir/usr/bin" "$tree/drivers" "$tree/lib/dim" || die "cannot make $dir"
	cp "$tree/linux" "$dir/usr/bin/linux.uml" || die "cannot write to $dir"
	{ ln -sfn "$source/drivers/infiniband" "$tree/drivers/infiniband" &&
		ln -sf "$source"/lib/dim/*.c "$tree/lib/dim/" &&
		ln -sf "$source/lib/irq_poll.c" "$tree/lib/"; } || die "cannot write to $tree"
	ln -sfn "$tree" "$dir/headers" || die "cannot make $dir/headers"
	touch "$tree/.complete" "$dir/.complete" || die "cannot write to $dir"
}

build()
{
	local all=(bzImage modules)

	[ "$arch" = x86 ] || all=(linux modules)
	"mend_$arch"
	configure
	say "compiling $(nproc) files at a time, for many minutes; see $tree/log"
	compile "${all[@]}" || die "cannot compile $version"
	release=$(<"$tree/include/config/kernel.release")
	"put_$arch"
}

arch=x86 fragment=$HERE/debug.config
[ "${2-}" != uml ] || arch=um fragment=$HERE/debug-uml.config
[ $# = 1 ] || [ "$#:$arch" = 2:um ] || { sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 1; }
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
if [ "$arch" = um ]; then
	# KASAN takes an eighth of it, and keeps what is freed for a while
	echo "export WEFT_KERNELS=$KERNELS WEFT_TEST_SCALE=2 WEFT_RACK_OPTIONS='--mem 512M'"
else
	echo "export WEFT_KERNELS=$KERNELS KVER=$release WEFT_TEST_SCALE=4"
fi
