# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The part of get-kernel that deals with the user-mode kernel: a package, and headers
# that are made of the sources of its version. Sourced by get-kernel, whose functions
# and variables it uses.

# source_excludes ROOT: what of the kernel's sources modules do not need to be built for
# ARCH=um, as options of tar; three quarters of them.
source_excludes()
{
	local root=$1 pattern

	for pattern in 'drivers/*.[chS]' 'drivers/*.dts*' 'sound/*.[ch]' 'fs/*.c' 'net/*.c' \
			'Documentation/*.rst' 'Documentation/*.yaml' 'Documentation/*.txt' \
			'Documentation/*.svg' 'tools/testing/*' \
			'arch/[a-tv-w]*/*.[chS]' 'arch/*.dts' 'arch/*.dtsi'; do
		echo "--exclude=$root/$pattern"
	done
}

# get_uml_headers DIRECTORY VERSION: a source tree in which modules can be built.
get_uml_headers()
{
	local dir=$1 version=$2 name source excludes

	[ -e "$dir/headers/.complete" ] && return 0
	need flex bison bc xz make gcc
	name=linux-source-${version%.*}
	source=$(apt-cache "${APT[@]}" show "$name" 2>/dev/null |
		sed -n "s/^Version: \\(${version//./\\.}-.*\\)/\\1/p" | head -n 1)
	[ -n "$source" ] ||
		die "there is no package $name of version $version, of which user-mode-linux is: apt-get update, or upgrade both"
	rm -rf "$dir/headers" "$dir/source"
	fetch "$dir/source" "$name=$source" || die "cannot get $name $source"
	mapfile -t excludes < <(source_excludes "$name")
	say "preparing headers of $version for ARCH=um"
	tar -xJf "$dir/source/usr/src/$name.tar.xz" -C "$dir/source" --anchored --wildcards \
		--wildcards-match-slash "${excludes[@]}" || die "cannot unpack $name"
	rm "$dir/source/usr/src/$name.tar.xz"
	zcat "$dir/usr/share/doc/user-mode-linux/config.gz" >"$dir/source/$name/.config" ||
		die "the package user-mode-linux has no configuration in it"
	if ! make -s -C "$dir/source/$name" ARCH=um olddefconfig modules_prepare \
			>"$dir/source/log" 2>&1 </dev/null; then
		tail -n 20 "$dir/source/log" >&2
		die "cannot prepare $name for modules"
	fi
	# Ours name the kernel that they are for; a suffix would make it another one.
	[ "$(cat "$dir/source/$name/include/config/kernel.release")" = "$version" ] ||
		die "$name makes modules for $(cat "$dir/source/$name/include/config/kernel.release"), not for $version"
	touch "$dir/source/$name/.complete"
	ln -sfn "$dir/source/$name" "$dir/headers"
}

# The distribution's user-mode kernel.
from_uml()
{
	local dir=$KERNELS/uml version

	if [ ! -e "$dir/.complete" ]; then
		need dpkg depmod
		rm -rf "$dir"
		fetch "$dir" user-mode-linux || die "cannot get the package user-mode-linux"
		[ -x "$dir/usr/bin/linux.uml" ] ||
			die "the package user-mode-linux has no kernel in it"
		mkdir -p "$dir/lib"
		ln -s ../usr/lib/uml/modules "$dir/lib/modules"
		version=$(basename "$(echo "$dir"/lib/modules/*/)")
		depmod -b "$dir" "$version" || die "depmod failed for $version"
		touch "$dir/.complete"
	fi
	version=$(basename "$(echo "$dir"/lib/modules/*/)")
	[ "$HEADERS" = no ] || get_uml_headers "$dir" "$version"
	finish "$dir" "$version" "$dir/usr/bin/linux.uml" "$dir"
	[ ! -e "$dir/headers/.complete" ] || echo "headers=$dir/headers"
}
