# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The part of get-kernel that deals with a user-mode kernel of our own, compiled of the newest
# sources that can be had, as uml.config says.  Sourced by get-kernel, whose functions and
# variables it uses.
#
# It is made once for a machine: what takes minutes to compile is for all clones of this tree,
# and for all who have this home directory.  There is a directory for each version of the
# sources and each way to make it.

# shellcheck source=tools/rack/compile.sh
. "$HERE/compile.sh"

OWN_CACHE=${WEFT_CACHE:-${XDG_CACHE_HOME:-${HOME:-$KERNELS}/.cache}/weft}/uml
# Those before it do not know seccomp=on, or do not run on every processor.
OWN_OLDEST=6.16
OWN_LIMIT=$((COMPILE_LIMIT + DOWNLOAD_LIMIT + 600))	# seconds to wait for another who makes one
OWN_UNUSED=14		# days after which one that nobody has asked for goes

# own_key: what it depends on how a kernel comes out, but for the sources: the options, the
# compiler, and the functions that make it.
own_key()
{
	{
		grep -E '^(# )?CONFIG_' "$HERE/uml.config"
		gcc --version | head -n 1
		ld --version | head -n 1
		declare -f unpack_own configure_own make_own keep_own
	} 2>&1 | sha256sum | cut -c 1-8
}

# own_built KEY: print where the newest is that is complete, if there is one.
own_built()
{
	local dir

	for dir in "$OWN_CACHE/"*"-$1"; do
		[ ! -e "$dir/.complete" ] || echo "$dir"
	done | sort -V | tail -n 1
}

# own_version DIRECTORY
own_version()
{
	basename "$(echo "$1"/lib/modules/*/)"
}

# newest_source: sets SOURCE_NAME to the newest package of sources that the distribution, its
# backports or those of the next release have, and APT to where that is.
newest_source()
{
	local name options=()

	SOURCE_NAME=linux-source-0
	while :; do
		name=$(apt-cache "${APT[@]}" pkgnames linux-source- 2>/dev/null |
			grep -x 'linux-source-[0-9][0-9.]*' | sort -V | tail -n 1)
		if [ "$(printf '%s\n' "$SOURCE_NAME" "$name" | sort -V | tail -n 1)" != "$SOURCE_NAME" ]; then
			SOURCE_NAME=$name
			options=("${APT[@]}")
		fi
		widen || break
	done
	[ ${#options[@]} = 0 ] || APT=("${options[@]}")
	[ "$(printf '%s\n' "linux-source-$OWN_OLDEST" "$SOURCE_NAME" | sort -V | head -n 1)" = \
		"linux-source-$OWN_OLDEST" ] ||
		die "there are no sources of a kernel from $OWN_OLDEST on (but $SOURCE_NAME), of which a user-mode kernel could be made: is a list of backports to be had?"
}

# unpack_own DIRECTORY: the sources there, without most of what no user-mode kernel has, which
# takes longer to unpack than the rest.  No Makefile and no Kconfig may be missing.
unpack_own()
{
	local dir=$1 name=$SOURCE_NAME pattern excludes=()

	for pattern in 'drivers/gpu/*.[chS]' 'drivers/media/*.[chS]' 'drivers/staging/*.[chS]' \
			'drivers/net/ethernet/*.[chS]' 'drivers/net/wireless/*.[chS]' \
			'drivers/scsi/*.[chS]' 'drivers/usb/*.[chS]' 'drivers/iio/*.[chS]' \
			'drivers/infiniband/hw/*.[chS]' 'drivers/crypto/*.[chS]' \
			'drivers/clk/*.[chS]' 'drivers/pinctrl/*.[chS]' 'drivers/hwmon/*.[chS]' \
			'drivers/accel/*.[chS]' 'drivers/mfd/*.[chS]' 'drivers/input/*.[chS]' \
			'drivers/video/*.[chS]' 'drivers/regulator/*.[chS]' 'drivers/mtd/*.[chS]' \
			'drivers/platform/*.[chS]' 'drivers/comedi/*.[chS]' \
			'drivers/*.dts*' 'sound/*.[ch]' 'Documentation/*.[ryts]*' 'tools/testing/*' \
			'tools/perf/*' 'arch/[a-tv-w]*/*.[chS]' 'arch/*.dts' 'arch/*.dtsi' 'rust/*.rs'; do
		excludes+=("--exclude=$name/$pattern")
	done
	say "unpacking $name"
	tar -xf "$dir/usr/src/$name.tar.xz" -I 'xz -T0' -C "$dir" --anchored --wildcards \
		--wildcards-match-slash "${excludes[@]}" || die "cannot unpack $name"
	rm -rf "${dir:?}/usr"
	mv "$dir/$name" "$dir/tree" || die "cannot unpack $name"
}

# configure_own TREE: options that this series has no more, or that need others, are told, as a
# newer one that lacks something is better than none.
configure_own()
{
	local tree=$1 lost

	kernel_make "$tree/log" -C "$tree" ARCH=um CC=gcc KCONFIG_ALLCONFIG="$HERE/uml.config" \
		allnoconfig || die "cannot configure $SOURCE_NAME"
	lost=$(lost_options "$HERE/uml.config" "$tree/.config")
	[ -z "$lost" ] ||
		say "$SOURCE_NAME does not have, or not with the rest, of tools/rack/uml.config:" "$lost"
}

# make_own TREE KEY: with the key as a part of its name, modules are never taken for those of a
# kernel that was made otherwise.  The compiler is said, as who calls us with CC=clang means
# our programs.
make_own()
{
	kernel_make "$1/log" -C "$1" ARCH=um CC=gcc LOCALVERSION="-$2" linux modules
}

# keep_own TREE DIRECTORY: what racks boot, and what modules are built with.
keep_own()
{
	local tree=$1 dir=$2 version modules

	version=$(<"$tree/include/config/kernel.release")
	modules=$dir/lib/modules/$version
	mkdir -p "$modules" "$dir/headers/arch/um" "$dir/headers/arch/x86" || return 1
	strip --strip-debug -o "$dir/linux.uml" "$tree/linux" &&
		cp "$tree"/modules.{builtin,builtin.modinfo,order} "$modules/" || return 1
	# A module once, and a part of every kernel since 6.15: who asks for it is told that there
	# is nothing to load.
	echo kernel/lib/libcrc32c.ko >>"$modules/modules.builtin"
	depmod -b "$dir" "$version" || return 1
	rm -rf "$tree"/include/{dt-bindings,drm,sound,media} "$tree"/scripts/{kconfig,dtc,gcc-plugins} &&
		mv "$tree"/{Makefile,.config,Module.symvers,include,scripts} "$dir/headers/" &&
		mv "$tree"/arch/um/{Makefile*,include} "$dir/headers/arch/um/" &&
		mv "$tree"/arch/x86/{Makefile*,include,um} "$dir/headers/arch/x86/" || return 1
	find "$dir/headers" \( -name '*.[coS]' -o -name '*.a' -o -name '.*.cmd' \) \
		-not -path '*/scripts/*' -delete
	chmod -R a+rX "$dir"
}

# own_sources DIRECTORY: the package of the newest, there; one at a time reads apt's lists.
own_sources()
{
	flock -w "$DOWNLOAD_LIMIT" 9 || die "another get-kernel does not end"
	newest_source
	fetch "$1" "$SOURCE_NAME" || die "cannot get the package $SOURCE_NAME"
	flock -u 9
}

# own_cleared: what has not become complete, as its maker died, and what nobody asks for.
own_cleared()
{
	local dir

	rm -rf "$OWN_CACHE"/.work.*
	for dir in "$OWN_CACHE"/*-*; do
		[ -z "$(find "$dir/.complete" -mtime "+$OWN_UNUSED" 2>/dev/null)" ] || rm -rf "$dir"
	done
}

# own_ends: nothing is left of one that has not come out, but what the compiler said.
own_ends()
{
	[ ! -e "$OWN_WORK/tree/log" ] || mv "$OWN_WORK/tree/log" "$OWN_CACHE/log"
	rm -rf "$OWN_WORK"
}

# build_own KEY: one builds, others wait for it.
build_own()
{
	local key=$1 begin=$SECONDS work

	need gcc ld make flex bison bc xz tar strip depmod dpkg
	mkdir -p "$OWN_CACHE" || die "cannot make $OWN_CACHE, where kernels are kept: say where with WEFT_CACHE"
	exec 7>"$OWN_CACHE/.lock" || die "cannot write to $OWN_CACHE: say with WEFT_CACHE where kernels are kept"
	if ! flock -n 7; then
		say "waiting for another that compiles a user-mode kernel"
		flock -w "$OWN_LIMIT" 7 || die "another that compiles a user-mode kernel does not end"
	fi
	[ -z "$(own_built "$key")" ] || return 0
	own_cleared
	OWN_WORK=$(mktemp -d "$OWN_CACHE/.work.XXXXXX") || die "cannot write to $OWN_CACHE"
	work=$OWN_WORK
	trap own_ends EXIT
	trap 'exit 1' INT TERM HUP
	own_sources "$work"
	unpack_own "$work"
	configure_own "$work/tree"
	say "compiling a user-mode kernel of $SOURCE_NAME, for minutes: $work/tree/log"
	# Without the locks: if we are killed, and only it goes on, nobody waits for that.
	make_own "$work/tree" "$key" 7>&- 9>&- ||
		die "cannot compile $SOURCE_NAME: $OWN_CACHE/log"
	keep_own "$work/tree" "$work/kept" || die "cannot write to $work"
	touch "$work/kept/.complete"
	mv -T "$work/kept" "$OWN_CACHE/$(own_version "$work/kept")" || die "cannot write to $OWN_CACHE"
	own_ends
	trap - EXIT INT TERM HUP
	exec 7>&-
	say "a user-mode kernel of $SOURCE_NAME is there after $((SECONDS - begin)) s"
}

# from_own: without --build it is what is there; no network, and no compiler.
from_own()
{
	local key dir version

	key=$(own_key)
	[ "$BUILD" != key ] || { echo "$key"; return; }
	dir=$(own_built "$key")
	if [ -z "$dir" ]; then
		[ "$BUILD" = yes ] || die "there is no user-mode kernel of our own: make uml-kernel"
		build_own "$key"
		dir=$(own_built "$key")
		[ -n "$dir" ] || die "the user-mode kernel that was built is gone from $OWN_CACHE"
	fi
	# It is in use: see own_cleared. Somebody else's cannot be touched, and is not ours to clear.
	touch -c "$dir/.complete" 2>/dev/null
	version=$(own_version "$dir")
	flock -w "$DOWNLOAD_LIMIT" 9 || die "another get-kernel does not end"
	finish "$dir" "$version" "$dir/linux.uml" "$KERNELS/own"
	echo "headers=$dir/headers"
}
