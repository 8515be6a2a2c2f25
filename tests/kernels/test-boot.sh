#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The main job on the newest kernel that there is (tests/kernels/test-kernels.sh compiles
# for it), in a rack of machines; all other tests of racks boot the distribution's, or
# user-mode kernels.  What tools/demo does, with part of the text: words are counted in
# shared memory, money is moved under locks, a key-value store is read and written, and
# all of it is checked.
#
# Environment: WEFT_BOOT_KERNEL, another kernel; "any": whatever racks run on here, as "make
# demo" does; WEFT_BOOT_MB (4), length of the text.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

KERNEL=${WEFT_BOOT_KERNEL:-newest}
MB=${WEFT_BOOT_MB:-4}
DOWNLOAD_LIMIT=900	# seconds
MAKE_LIMIT=$((300 * ${WEFT_TEST_SCALE:-1}))
JOB_LIMIT=$((900 * ${WEFT_TEST_SCALE:-1}))

# job OPTION...: in a rack with these.  A directory of racks of our own, as there may be
# another demo; what racks can run on here, which the directory of all racks remembers.
job()
{
	local all=${WEFT_RACK_DIR:-${XDG_RUNTIME_DIR:-/tmp}/weft-rack-$UID}

	mkdir -m 700 "$dir/racks" || return 1
	[ ! -r "$all/accel" ] || cp "$all/accel" "$dir/racks/" || return 1
	WEFT_RACK_DIR=$dir/racks WEFT_DEMO_OUT=$dir/demo \
	timeout -k 60 "$JOB_LIMIT" tools/demo/demo.sh --nodes 2 --mb "$MB" -- "$@"
}

begin boot
if [ "$KERNEL" = any ]; then
	check "the main job" job
	show
	finish
	exit
fi
found=$(timeout "$DOWNLOAD_LIMIT" tools/rack/get-kernel --headers "$KERNEL" 2>"$dir/get")
version=$(sed -n 's/^version=//p' <<<"$found")
headers=$(sed -n 's/^headers=//p' <<<"$found")
if [ -z "$headers" ]; then
	not_ok "kernel $KERNEL can be had" "$dir/get"
else
	# as test-kernels.sh does
	quick=(BUNDLE=1 KMOD_CFLAGS=-g0)
	[ ! -e "/lib/modules/$version/build/Makefile" ] || quick=()
	check "the module is built for $version" timeout "$MAKE_LIMIT" \
		make -s module B="$BUILD" KVER="$version" KDIR="$headers" "${quick[@]}"
	check "the main job on $version" job --kernel "$version" --accel machine
	show
fi
finish
