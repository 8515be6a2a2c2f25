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

	# RDMA is compiled: get_uml_rdma.
	for pattern in 'drivers/[!i]*/*.[chS]' 'drivers/i[!n]*/*.[chS]' 'drivers/in[!f]*/*.[chS]' \
			'drivers/infiniband/[!cs]*/*.[chS]' 'drivers/infiniband/sw/[!r]*/*.[chS]' \
			'drivers/infiniband/sw/rd*/*.[chS]' 'drivers/*.dts*' 'sound/*.[ch]' 'fs/*.c' 'net/*.c' \
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

	# Those that were made before there was RDMA lack its sources.
	[ -e "$dir/headers/.complete" ] &&
		[ -e "$dir/headers/drivers/infiniband/core/device.c" ] && return 0
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

# What RDMA over Ethernet is in the kernel's configuration.
UML_RDMA=(INFINIBAND=m INFINIBAND_USER_ACCESS=m INFINIBAND_USER_MEM=y INFINIBAND_ADDR_TRANS=y
	INFINIBAND_VIRT_DMA=y RDMA_RXE=m)

# uml_rdma_flags: the same for the compiler.
uml_rdma_flags()
{
	local option flags=()

	for option in "${UML_RDMA[@]}"; do
		option=${option/=m/_MODULE=1}
		flags+=("-DCONFIG_${option/=y/=1}")
	done
	echo "${flags[*]}"
}

# compile_uml_rdma DIRECTORY SOURCE VERSION: the sources are compiled as they are, by their
# own makefiles, with what uml-rdma.h says.
compile_uml_rdma()
{
	local work=$1 source=$2 version=$3 jobs=""

	rm -rf "$work"
	mkdir -p "$work/lib" || die "cannot make $work"
	cp -r "$source/drivers/infiniband/core" "$source/drivers/infiniband/sw/rxe" "$work/" &&
		cp "$source"/lib/dim/*.c "$work/core/" && cp "$source/lib/irq_poll.c" "$work/lib/" &&
		cp "$HERE/uml-rdma.h" "$work/" || die "cannot copy the sources of RDMA to $work"
	# shellcheck disable=SC2016  # make expands it
	{
		echo 'ib_core-y += dim.o net_dim.o rdma_dim.o'
		echo 'ib_uverbs-y := $(filter-out umem_dmabuf.o,$(ib_uverbs-y) umem.o)'
		echo "CFLAGS_umem.o := -include $work/uml-rdma.h"
	} >>"$work/core/Makefile"
	printf '%s\n' 'obj-m := irq_poll.o' \
		"CFLAGS_irq_poll.o := -DWEFT_IRQ_POLL -include $work/uml-rdma.h" >"$work/lib/Makefile"
	echo 'obj-m := lib/ core/ rxe/' >"$work/Kbuild"
	[[ ${MAKEFLAGS-} = *@(-j|--jobserver)* ]] || jobs=-j$(nproc)
	say "compiling RDMA for $version, ARCH=um"
	if ! make -s -C "$source" ARCH=um M="$work" ${jobs:+"$jobs"} KBUILD_MODPOST_WARN=1 \
			"${UML_RDMA[@]/#/CONFIG_}" KCFLAGS="$(uml_rdma_flags)" modules >"$work/log" 2>&1 </dev/null; then
		tail -n 20 "$work/log" >&2
		die "cannot compile RDMA for $version"
	fi
	touch "$work/.complete"
}

# uml_rdma_made DIRECTORY: of what is here now.
uml_rdma_made()
{
	[ "$1/.complete" -nt "$HERE/get-uml.sh" ] && [ "$1/.complete" -nt "$HERE/uml-rdma.h" ]
}

# get_uml_rdma DIRECTORY VERSION: modules for RDMA over Ethernet, which the package does not
# have: Linux offers RDMA to those kernels only that have memory of devices and DMA.  In
# software it needs none of that, and no structure of the kernel looks different with it.
get_uml_rdma()
{
	local dir=$1 version=$2 work modules=$1/lib/modules/$2 file name

	work=$(readlink -m "$dir/rdma")
	if ! uml_rdma_made "$work"; then
		need make gcc
		# Others may have what is there meanwhile, and one compiles.
		flock -u 9
		exec 7>"$KERNELS/.rdma-lock"
		flock -w "$DOWNLOAD_LIMIT" 7 || die "another get-kernel --rdma does not end"
		uml_rdma_made "$work" ||
			compile_uml_rdma "$work" "$(readlink -f "$dir/headers")" "$version"
		flock -w "$DOWNLOAD_LIMIT" 9 || die "another get-kernel does not end"
		exec 7>&-
	fi
	[ ! "$modules/rdma" -nt "$work/.complete" ] || return 0
	need depmod strip
	mkdir -p "$modules/rdma" || die "cannot make $modules/rdma"
	for file in "$work"/*/*.ko; do
		name=${file##*/}
		strip --strip-debug -o "$work/$name" "$file" && mv "$work/$name" "$modules/rdma/" ||
			die "cannot copy $file"
	done
	depmod -b "$dir" "$version" || die "depmod failed for $version"
	touch "$modules/rdma"
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
	[ "$HEADERS$RDMA" = nono ] || get_uml_headers "$dir" "$version"
	[ "$RDMA" = no ] || get_uml_rdma "$dir" "$version"
	finish "$dir" "$version" "$dir/usr/bin/linux.uml" "$dir"
	[ ! -e "$dir/headers/.complete" ] || echo "headers=$dir/headers"
	# For modules that use RDMA, which the configuration of the headers does not have.
	printf "rdma_settings='%s'\n" "${UML_RDMA[*]/#/CONFIG_}"
	printf "rdma_flags='%s'\n" "$(uml_rdma_flags)"
}
