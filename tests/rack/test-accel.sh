#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a rack runs on is found out by booting it: on processors that a user-mode kernel does
# not run on, which are played by what is preloaded to it (preload/xsave.c), with what was
# remembered, and with a kernel that boots once and dies the next time.
#
#	tests/rack/test-accel.sh

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded there
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

XSAVE=$BUILD/tests/rack-xsave.so
TRY_LIMIT=$((120 * SCALE))	# seconds for trying all ways, and for what they need to be fetched

# accel ARGUMENT...
accel()
{
	limited "$TRY_LIMIT" "$RACK" accel "$@"
}

# on_processor HOW COMMAND...: with user-mode kernels as on a processor whose registers are
# large, none, or as they are.
on_processor()
{
	LD_PRELOAD=$XSAVE WEFT_XSAVE=$1 "${@:2}"
}

# up_on HOW OPTION...: a rack without weft.
up_on()
{
	up=1
	on_processor "$1" limited "$BOOT_LIMIT" "$RACK" up --name "$run_name" --owner $$ --bare \
		--nodes 1 --blades 0 --switch none "${@:2}"
}

# says TEXT COMMAND...: on standard error.
says()
{
	"${@:2}" 2>"$dir/says"
	local status=$?

	cat "$dir/says"
	[ $status = 0 ] && grep -F -- "$1" "$dir/says"
}

# quiet COMMAND...: tries nothing.
quiet()
{
	"$@" 2>"$dir/quiet" || return
	cat "$dir/quiet"
	! grep "trying whether" "$dir/quiet"
}

# remembered WAY TEXT
remembered()
{
	cat "$WEFT_RACK_DIR/accel"
	grep -P "^$1\t.*\t$2" "$WEFT_RACK_DIR/accel"
}

# edit SCRIPT: of sed, for the answers that are remembered.
edit()
{
	sed -i "$1" "$WEFT_RACK_DIR/accel"
}

ways()
{
	local way

	accel >"$dir/ways" || return
	cat "$dir/ways"
	for way in kvm uml-own uml-package uml-mended tcg; do
		grep -Ec "^$way: (yes|no|not needed)[;,] .{8}" "$dir/ways" | grep -qx 1 || return
	done
}

built "$BIN/weft-rackio" "$BIN/weft-switchd" "$BUILD/tests/rack-floats" "$XSAVE"
begin accel
usual=${WEFT_RACK_DIR:-${XDG_RUNTIME_DIR:-/tmp}/weft-rack-$UID}
export WEFT_RACK_DIR=$dir/racks
mkdir -m 700 "$WEFT_RACK_DIR"
# a kernel of our own would be taken before those that are played with
export WEFT_CACHE=$dir/cache
# whether KVM works can take until the time limit, and is another suite's
[ ! -r "$usual/accel" ] || grep '^kvm' "$usual/accel" >"$WEFT_RACK_DIR/accel"

check "every way is told, with the reason" ways
check "what was tried is not tried again" quiet ways
best=$(accel --best)
check "what a rack gets is one of them" grep "^$best: yes" "$dir/ways"
check "a need that nobody knows is refused" exits 125 "takes tracing" rack up --bare --need speed

# which of them boots on this processor
kernel=$(grep -Eom 1 '^uml-(package|mended): yes' "$dir/ways")
kernel=${kernel%:*}
if ! "$BIN/weft-rackio" apart >"$dir/apart" 2>&1; then
	skip "user-mode kernels" "$(tail -n 1 "$dir/apart")"
elif [ -z "$kernel" ]; then
	skip "the distribution's user-mode kernel" "$(grep '^uml-mended' "$dir/ways")"
else
	export WEFT_RACK_ACCEL=uml
	check "a processor with large registers: the kernel is mended" on_processor large \
		equal uml-mended "$(on_processor large accel --best uml)"
	check "the package's kernel does not run there" remembered uml-package "no.*ended while it booted"
	check "the mended one does" remembered uml-mended yes
	check "a rack comes up on it" says "uml-mended" up_on large
	check "threads keep their registers" on node1 "$BUILD/tests/rack-floats"
	end_rack

	check "nothing helps: that is said" exits 125 "ended while it booted" up_on none
	edit "/^uml-mended/s/\tyes\t/\tno\t/"
	check "what was remembered counts" exits 125 "cannot be had: uml" on_processor large \
		rack up --bare
	edit "s/^\(uml-[a-z]*\t\)[0-9]*/\1 5/"
	check "not on another processor" says "trying whether" on_processor large \
		accel --best uml
	edit "/^uml-mended/{s/\tyes\t/\tno\t/;s/\t[0-9]*\tno/\t1\tno/}"
	check "and no longer than it should" says "trying whether" on_processor large \
		accel --best uml

	export WEFT_RACK_ACCEL=fast
	edit '/^uml/d'
	check "a kernel that boots" on_processor as-is accel --best uml
	check "and dies the next time leads to the next way" says "in another way" up_on none
	check "with a rack that is up" on node1 true
	check "which is no user-mode kernel" eval '! on node1 grep "User Mode Linux" /proc/cpuinfo'
	check "that is remembered" remembered "$kernel" no
	end_rack
	edit '/^uml/d'
	check "who ends the kernel by an option of the rack is told so" \
		exits 125 "ended while it booted" up_on as-is --append rdinit=/none
	check "and gets no other" eval '! grep "in another way" "$dir/exits"'
	check "the kernel is as good as before" remembered "$kernel" yes
	up=
fi
finish
