# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The part of weft-rack that finds out what guests can run on here.  Sourced by weft-rack,
# whose variables it uses.
#
# What works depends on the machine: /dev/kvm may be there and not work, a user-mode kernel
# may panic on a processor that is newer than it.  So each way is tried by booting a kernel
# that only says hello, with a time limit, and the answer is remembered in $BASE/accel.  An
# answer counts for this processor, this kernel of the host and this kernel of guests only;
# one that came of a time limit counts for a day, as the machine may just have been busy.
#
# The ways, fastest first:
#	kvm		QEMU with KVM
#	uml-own		a user-mode kernel of our own (make uml-kernel)
#	uml-package	the user-mode kernel of the distribution's package
#	uml-mended	the same, with xstate.so preloaded (preload/xstate.c says why)
#	tcg		QEMU, which emulates the processors: everywhere, ten times as slow
WAYS=(kvm uml-own uml-package uml-mended tcg)

FORGET_AFTER=86400	# seconds for which an answer that came of a time limit counts
FOR_GOOD=315360000	# seconds for which others do

# ways_of ACCEL: prints the ways that it means, the one to be taken first before the others.
ways_of()
{
	case $1 in
	auto|fast)	echo "${WAYS[*]}" ;;
	machine)	echo kvm tcg ;;
	uml)		echo uml-own uml-package uml-mended ;;
	*)		echo "$1" ;;
	esac
}

# of_this_machine TEXT...: prints what stands for this machine, and for the texts.
of_this_machine()
{
	{
		grep -E '^(vendor_id|cpu family|model|model name|stepping|flags)[[:space:]]*:' \
			/proc/cpuinfo | sort -u
		uname -r
		printf '%s\n' "$@"
	} | cksum | tr ' ' -
}

# recall WAY KEY: sets WORKS and WHY as remembered; fails if nothing is.
recall()
{
	local way key time

	[ -r "$BASE/accel" ] || return 1
	while IFS=$'\t' read -r way key time WORKS WHY; do
		[ "$way $key" != "$1 $2" ] || [[ $time != [0-9]* ]] ||
			[ "$time" -lt "$(date +%s)" ] || return 0
	done <"$BASE/accel"
	return 1
}

# remember WAY KEY SECONDS: WORKS and WHY, for so long.  One answer for each way and key.
remember()
{
	local new=$BASE/accel.$BASHPID

	{
		[ ! -r "$BASE/accel" ] || grep -vF "$1	$2	" "$BASE/accel"
		printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$(($(date +%s) + $3))" "$WORKS" "$WHY"
	} >"$new" && mv "$new" "$BASE/accel"
}

# boots_machine ACCEL: QEMU boots the kernel FOUND_* so.
boots_machine()
{
	timeout -k 1 "$PROBE_LIMIT" qemu-system-x86_64 -nodefaults -no-user-config \
		-M pc,hpet=off -accel "$1" -cpu max -m 256 -no-reboot -display none \
		-serial stdio -kernel "$FOUND_VMLINUZ" -initrd "$FOUND_INITRD" \
		-append "console=ttyS0 panic=-1 quiet rack.probe=1" </dev/null 2>&1 |
		grep -q "weft-rack: probe passed"
}

# boots_uml WAY: the user-mode kernel FOUND_* boots as the guests of a rack do.
boots_uml()
{
	local dir=$BASE/.try-$BASHPID begin=$SECONDS state="" number="" GUEST

	mkdir -p "$dir/memory" || die "cannot make $dir"
	uml_kernel "$1" "$FOUND_VMLINUZ" 96 "$FOUND_INITRD" "$dir"
	GUEST+=(rack.probe=1)
	: >"$dir/log"
	if "$RACKIO" keep --state "$dir/state" --lock "$dir/lock" --serve "$dir/exec.sock" \
			--log "$dir/log" --memory "$dir/memory" --owner $$ \
			-- "${GUEST[@]}" 8>&- 6>&-; then
		while [ $((SECONDS - begin)) -lt "$PROBE_LIMIT" ]; do
			{ read -r state number <"$dir/state"; } 2>/dev/null
			[[ $state != killed && $state != exited ]] || break
			sleep 0.05
		done
		"$RACKIO" stop "$dir/lock"
	fi
	case $state in
	exited|killed)
		WHY="ended while it booted ($state ${number%% *})"
		! grep -q "weft-rack: probe passed" "$dir/log" || WHY="" ;;
	*)	WHY="was not up after $PROBE_LIMIT s" ;;
	esac
	rm -rf "$dir"
	[ -z "$WHY" ]
}

# boot_alone WAY: boot the kernel FOUND_*; sets WORKS, and WHY.
boot_alone()
{
	WORKS=yes WHY="it boots"
	case $1 in
	kvm)	boots_machine kvm && return
		WHY="no kernel came up with it within $PROBE_LIMIT s" ;;
	*)	boots_uml "$1" && { WHY="it boots"; return; } ;;
	esac
	WORKS=no
}

# try_way WAY KEY: boot it once, and remember what came of it.  One tries at a time.
try_way()
{
	local begin=$SECONDS counts=$FOR_GOOD

	exec 6>"$BASE/.accel.lock"
	flock -w $((3 * PROBE_LIMIT)) 6 || die "another weft-rack tries for too long what works here"
	if ! recall "$1" "$2"; then
		say "trying whether $(called "$1") works here (once, at most $PROBE_LIMIT s)"
		boot_alone "$1"
		[ $WORKS = yes ] || [ $((SECONDS - begin)) -lt "$PROBE_LIMIT" ] ||
			counts=$FORGET_AFTER
		remember "$1" "$2" $counts
	fi
	exec 6>&-
}

# called WAY: what it is called in a sentence.
called()
{
	case $1 in
	kvm)		echo "KVM" ;;
	uml-own)	echo "our user-mode kernel" ;;
	uml-package)	echo "the distribution's user-mode kernel" ;;
	uml-mended)	echo "the distribution's user-mode kernel, mended," ;;
	tcg)		echo "emulation" ;;
	esac
}

# way_works WAY KERNEL: whether guests can run so here.  Sets WHY, a part of a sentence that
# says why not, or what is known, and FOUND_VERSION and so on to the kernel; KERNEL is one for
# QEMU, see get-kernel.
way_works()
{
	local key=""

	WHY=""
	case $1 in
	kvm)
		[ -e /dev/kvm ] || { WHY="there is no /dev/kvm"; return 1; }
		{ [ -r /dev/kvm ] && [ -w /dev/kvm ]; } ||
			{ WHY="you may not use /dev/kvm"; return 1; }
		try_kernel "$2" || return 1
		key=$(of_this_machine "$(qemu-system-x86_64 --version | head -n 1)" "$FOUND_VERSION") ;;
	uml-*)
		WHY=$("$RACKIO" apart 2>&1) ||
			{ WHY="needs to be root, or a system that lets users have namespaces ($WHY)"; return 1; }
		try_kernel "$([ "$1" = uml-own ] && echo own || echo uml)" || return 1
		[ "$1" != uml-mended ] || build_xstate
		# What is preloaded can make it fail, or work.
		key=$(of_this_machine "$FOUND_VERSION" "$(stat -Lc %s "$FOUND_VMLINUZ")" \
			"${LD_PRELOAD-}") ;;
	*)
		try_kernel "$2" || return 1
		WHY="works everywhere, and is slow"
		FOUND_KEY=""
		return 0 ;;
	esac
	recall "$1" "$key" || try_way "$1" "$key"
	FOUND_KEY=$key
	WHY="Linux $FOUND_VERSION: $WHY"
	[ "$WORKS" = yes ]
}

# try_kernel KERNEL: sets FOUND_VERSION and so on; fails, with the reason in WHY.
try_kernel()
{
	# A kernel of our own is there or not: that there is none is no news to those who have
	# not asked for one.
	if [ "$1" = own ]; then
		WHY=$("$HERE/get-kernel" own 2>&1 >/dev/null) || { WHY=${WHY#get-kernel: }; return 1; }
	fi
	get_kernel FOUND "$1" && return
	WHY="its kernel cannot be had"
	return 1
}

# possible WAY: whether this rack can be had so.  Fails, with the reason in WHY.
possible()
{
	local lacking

	# What no user-mode kernel has: asked before one is fetched.
	if [[ $1 = uml-* ]]; then
		WHY=
		[ "${CPUS_ASKED:-1}" = 1 ] || WHY="has one processor, not $CPUS_ASKED"
		[ -z "$KERNEL_ASKED$BLADE_KERNEL_ASKED" ] || WHY="is a kernel of its own: no --kernel"
		[ "$1" = uml-own ] || [[ " $NEED " != *" tracing "* ]] || WHY="has no tracefs"
		[ -z "$WHY" ] || return 1
	fi
	way_works "$1" "${KERNEL_ASKED:-${KVER-}}" || return 1
	[[ $1 = uml-* ]] || return 0
	WHY="there is no module for Linux $FOUND_VERSION: run make uml"
	[ "$BARE" = 1 ] || [ -e "$BUILD/kmod/$FOUND_VERSION/weft.ko" ] || return 1
	[ -n "$RDMA_NAMES" ] || return 0
	lacking=$(lacks_rdma "$FOUND_MODULES")
	WHY="Linux $FOUND_VERSION has no $lacking: run make uml-rdma"
	[ -z "$lacking" ]
}

# next_way: takes ways from WAYS_LEFT until one is possible, which is WAY then; REFUSED says why
# not those before it.  Fails if none is left.
next_way()
{
	while [ ${#WAYS_LEFT[@]} -gt 0 ]; do
		WAY=${WAYS_LEFT[0]}
		WAYS_LEFT=("${WAYS_LEFT[@]:1}")
		! possible "$WAY" || return 0
		refuse "$WHY"
	done
	return 1
}

# refuse WHY: WAY is not taken.
refuse()
{
	REFUSED+="$WAY: $1"$'\n'
}

# refusals: print why nothing faster was taken; of user-mode kernels one is as good as another.
refusals()
{
	[ -z "$REFUSED" ] || grep -v "^$ACCEL-" <<<"${REFUSED%?}" | sed ':a;N;$!ba;s/\n/; /g'
}

# adopt FROM TO: TO_VERSION and so on become FROM_VERSION and so on.
adopt()
{
	local name from

	for name in VERSION IMAGE VMLINUZ INITRD MODULES; do
		from=$1_$name
		printf -v "$2_$name" %s "${!from}"
	done
}

# choose_way: the next way for the nodes, and one for the blades, with their kernels.
choose_way()
{
	ACCEL=none
	next_way || die "the rack cannot be had: $(refusals)"
	ACCEL=$WAY
	[[ $WAY != uml-* ]] || ACCEL=uml
	WAY_KEY=$FOUND_KEY
	adopt FOUND KERNEL
	CPUS=$CPUS_ASKED
	[ -n "$CPUS" ] || { CPUS=2 && [[ $ACCEL != @(uml|icount) ]]; } || CPUS=1
	choose_blade_way
	need_module
	need_rdma
}

# choose_blade_way: of a memory blade what the nodes have, or, with --blade-accel fast, a
# user-mode kernel where they are emulated.
choose_blade_way()
{
	BLADE_WAY=$WAY BLADE_ACCEL=$ACCEL
	case $BLADE_ACCEL_ASKED:$WAY:$BLADES in
	*:*:0|auto:*|*:kvm:*|*:uml-*) ;;
	*)	for BLADE_WAY in $(ways_of uml); do
			[ -z "$BLADE_KERNEL_ASKED" ] && way_works "$BLADE_WAY" "" || continue
			[[ $RDMA_NAMES == *mem* ]] && [ -n "$(lacks_rdma "$FOUND_MODULES")" ] && continue
			BLADE_ACCEL=uml
			adopt FOUND BLADE_KERNEL
			return
		done
		BLADE_WAY=$WAY ;;
	esac
	if [ -n "$BLADE_KERNEL_ASKED" ]; then
		get_kernel BLADE_KERNEL "$BLADE_KERNEL_ASKED" || exit "$TROUBLE"
	else
		adopt KERNEL BLADE_KERNEL
	fi
}

# another_way NAME...: these guests ended, or hung, while they booted.  Tells whether the rack
# is to be booted in another way: if there is one, and if it was not an option of the user's
# that ended them, as far as the same kernel without it can tell.
another_way()
{
	if [ "$BLADE_ACCEL" = uml ] && [ "$ACCEL" != uml ] && [[ " $*" != *" node"* ]]; then
		say "memory blades are booted as the nodes are"
		BLADE_ACCEL_ASKED=auto
		WAYS_LEFT=("$WAY" "${WAYS_LEFT[@]}")
		return 0
	fi
	[ ${#WAYS_LEFT[@]} -gt 0 ] || return 1
	adopt KERNEL FOUND
	boot_alone "$WAY"
	[ "$WORKS" = yes ] || remember "$WAY" "$WAY_KEY" $FORGET_AFTER
	[ "$WORKS" = no ] || [ -z "$APPEND" ] || return 1
	say "the guests are booted in another way"
	refuse "$1 ended, or hung, while it booted"
}

# cmd_accel [--best [ACCEL]]: every way, whether it works here and why; or only the one that a
# rack gets that asks for ACCEL.
cmd_accel()
{
	local way best="" only="" first
	local FOUND_VERSION FOUND_IMAGE FOUND_VMLINUZ FOUND_INITRD FOUND_MODULES FOUND_KEY WHY WORKS

	case ${1-} in
	"")	;;
	--best)	only=${2:-fast} ;;
	*)	die "usage: weft-rack accel [--best [ACCEL]]" ;;
	esac
	make_base
	build_rackio
	for way in $(ways_of "${only:-fast}"); do
		if [ -n "$only" ] && [ "$way" = tcg ]; then
			# it works, and no kernel is fetched to say so
			echo tcg
			return
		fi
		if [ "$way" = uml-mended ] && [[ " $best " == *" uml-package "* ]]; then
			echo "uml-mended: not needed, and not tried"
			continue
		fi
		if way_works "$way" "${KVER-}"; then
			[ -z "$only" ] || { echo "$way"; return; }
			best+=" $way"
			echo "$way: yes; $WHY"
		elif [ -z "$only" ]; then
			echo "$way: no; $WHY"
		fi
	done
	[ -z "$only" ] || return 1
	[ -n "$best" ] || die "guests cannot run here in any way"
	first=${best# }
	echo "what asks for nothing else gets ${first%% *}"
}
