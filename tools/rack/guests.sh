# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The part of weft-rack that deals with guests: what they boot, how QEMU is started,
# waiting for them, setting up weft in them. Sourced by weft-rack, whose variables
# it uses: those of "up" (NODES, MTU, ...) and the places (DIR, BUILD, ...).

# --- Before the first boot ----------------------------------------------------

# The channel's program is small: do not make people build it first.
build_rackio()
{
	local cc=${CC:-gcc} source newer=""

	for source in "$HERE"/*.[ch]; do
		[ "$RACKIO" -nt "$source" ] || newer=$source
	done
	[ -n "$newer" ] || return 0
	mkdir -p "$BUILD/bin" || die "cannot make $BUILD/bin"
	"$cc" -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -static \
		-o "$RACKIO.$$" "$HERE"/*.c || die "cannot compile $RACKIO"
	mv "$RACKIO.$$" "$RACKIO" || die "cannot put $RACKIO in place"
}

# get_kernel PREFIX KERNEL: sets PREFIX_VERSION and so on.
get_kernel()
{
	local prefix=$1 line found

	found=$("$HERE/get-kernel" ${2:+"$2"}) || exit "$TROUBLE"
	while read -r line; do
		case $line in
		version=*)	printf -v "${prefix}_VERSION" %s "${line#*=}" ;;
		kernel=*)	printf -v "${prefix}_IMAGE" %s "${line#*=}" ;;
		vmlinuz=*)	printf -v "${prefix}_VMLINUZ" %s "${line#*=}" ;;
		initrd=*)	printf -v "${prefix}_INITRD" %s "${line#*=}" ;;
		modules=*)	printf -v "${prefix}_MODULES" %s "${line#*=}" ;;
		esac
	done <<<"$found"
}

# accel_works NAME: boot a kernel that only says hello.
accel_works()
{
	timeout -k 1 "$PROBE_LIMIT" qemu-system-x86_64 -nodefaults -no-user-config \
		-M pc,hpet=off -accel "$1" -cpu max -m 256 -no-reboot -display none \
		-serial stdio -kernel "$KERNEL_VMLINUZ" -initrd "$KERNEL_INITRD" \
		-append "console=ttyS0 panic=-1 quiet rack.probe=1" </dev/null 2>&1 |
		grep -q "weft-rack: probe passed"
}

# /dev/kvm may be there and not work, so try; once, and remember the answer.
choose_accel()
{
	local memory=$BASE/accel host answer

	[ "$ACCEL" = auto ] || return 0
	ACCEL=tcg
	[ -r /dev/kvm ] && [ -w /dev/kvm ] || return 0
	host="$(uname -r) $(qemu-system-x86_64 --version | head -n 1) $KERNEL_VERSION"
	if [ -r "$memory" ]; then
		answer=$(sed -n "s|^\\([a-z]*\\) on $host\$|\\1|p" "$memory")
		if [ -n "$answer" ]; then
			ACCEL=$answer
			return 0
		fi
	fi
	say "trying whether KVM works here (once, at most $PROBE_LIMIT s)"
	if accel_works kvm; then
		ACCEL=kvm
	else
		say "it does not: the guests will be emulated"
	fi
	echo "$ACCEL on $host" >>"$memory"
}

# --- Guests -------------------------------------------------------------------

# id_of NAME: the last byte of its address.
id_of()
{
	case $1 in
	node*)	echo "${1#node}" ;;
	mem*)	echo $((100 + ${1#mem})) ;;
	esac
}

# in_megabytes SIZE: 1G, 512M or a number of bytes; empty if it is none.
in_megabytes()
{
	case $1 in
	*[!0-9KMGkmg]*|[KMGkmg]*|*[KMGkmg]?*|"") ;;
	*[Gg])	echo $((10#${1%?} * 1024)) ;;
	*[Mm])	echo $((10#${1%?})) ;;
	*[Kk])	echo $((10#${1%?} / 1024)) ;;
	*)	echo $((10#$1 / 1048576)) ;;
	esac
}

# qemu_command NAME: sets QEMU to the command line of a guest.
qemu_command()
{
	local name=$1 id mb member dir=$DIR/$1 accel image append tsc
	local direct=$KERNEL_IMAGE packed=$KERNEL_VMLINUZ initrd=$KERNEL_INITRD
	local modules=$KERNEL_MODULES

	id=$(id_of "$name")
	mb=$(in_megabytes "$MEM")
	if [[ $name != node* ]]; then
		mb=$(($(in_megabytes "$BLADE_MEM") + 512))
		direct=$BLADE_KERNEL_IMAGE packed=$BLADE_KERNEL_VMLINUZ
		initrd=$BLADE_KERNEL_INITRD modules=$BLADE_KERNEL_MODULES
	fi
	append="console=ttyS0 panic=-1 net.ifnames=0 mitigations=off"
	# With five levels of page tables KASAN of Linux 6.1 takes good addresses for wild
	# ones while the boot processor is identified: its bounds follow a flag of the
	# processor's that is not set meanwhile. It reports once, and lockdep is off then.
	append+=" no5lvl"
	append+=" rack.name=$name rack.address=10.87.0.$id rack.tree=$TOP"
	append+=" rack.agent=$RACKIO rack.modules=$modules"
	for member in $GUEST_NAMES; do
		append+=" rack.member=10.87.0.$(id_of "$member"):$member"
	done
	case $ACCEL in
	kvm)	accel=kvm
		image=$packed ;;
	*)	# One thread for all processors of a guest: when a processor spins for a
		# lock whose holder is not running, QEMU turns to the holder, instead of
		# having both fight for its big lock for seconds.
		accel=tcg,thread=single,tb-size=256
		[ "$ACCEL" = tcg ] || accel=tcg,thread=multi,tb-size=256
		image=$direct
		# Emulated processors can stand still for long while the host is busy.
		append+=" tsc=reliable rcupdate.rcu_cpu_stall_timeout=60 watchdog_thresh=30"
		# The kernel panics if none of the timer's first ticks comes in time.
		append+=" no_timer_check"
		# Nor can they measure their clock then: it would run too fast.
		tsc=$("$RACKIO" tsc) && append+=" tsc_early_khz=$tsc" ;;
	esac
	QEMU=(qemu-system-x86_64 -name "$RACK-$name" -nodefaults -no-user-config
		-M "pc,hpet=off" -accel "$accel" -cpu max -smp "$CPUS" -m "$mb"
		-display none -no-reboot -serial "file:$dir/console.log"
		-kernel "$image" -initrd "$initrd" -append "$append$APPEND"
		-virtfs "local,path=/,mount_tag=weftroot,$VIRTFS"
		-virtfs "local,path=/usr,mount_tag=weftusr,$VIRTFS"
		-virtfs "local,path=$TOP,mount_tag=wefttree,$VIRTFS"
		-device virtio-serial-pci
		-chardev "socket,id=exec,path=$dir/channel.sock,server=off"
		-device "virtserialport,chardev=exec,name=weft.exec"
		-netdev "dgram,id=net,local.type=unix,local.path=$dir/net.sock,remote.type=unix,remote.path=$dir/port.sock"
		# One thread for all processors emulates no barrier between what a guest
		# stores and what it loads then, so a notification of the device may be lost.
		# With event_idx none of the later ones would come either: the queue fills up,
		# and the guest is cut off for good.
		-device "virtio-net-pci,event_idx=off,romfile=,netdev=net,host_mtu=$MTU,mac=$(printf '02:57:45:46:00:%02x' "$id")")
}
VIRTFS=readonly=on,security_model=none,multidevs=remap

start_guest()
{
	local name=$1 dir=$DIR/$1 QEMU

	mkdir -p "$dir" || die "cannot make $dir"
	[ ! -e "$dir/console.log" ] || mv "$dir/console.log" "$dir/console.log.old"
	: >"$dir/console.log"
	qemu_command "$name"
	"$RACKIO" keep --state "$dir/state" --lock "$dir/lock" --log "$dir/qemu.log" \
		--channel "$dir/channel.sock" --serve "$dir/exec.sock" \
		${OWNER:+--owner "$OWNER"} -- "${QEMU[@]}" 8>&- || return 1
	date +%s >"$dir/started"
}

start_switch()
{
	local dir=$DIR/switch name args=() n

	mkdir -p "$dir" || die "cannot make $dir"
	for name in $GUEST_NAMES; do
		mkdir -p "$DIR/$name" || die "cannot make $DIR/$name"
		args+=(--port "$name=unix:$DIR/$name/port.sock:$DIR/$name/net.sock")
	done
	for ((n = 1; n <= NODES; n++)); do
		args+=(--node "$n=node$n")
	done
	for ((n = 1; n <= BLADES; n++)); do
		args+=(--blade "$((32 + n))=mem$n")
	done
	case $SWITCH in
	p4)	args+=(--spec "$SPEC") ;;
	*)	args+=(--spec none) ;;
	esac
	"$RACKIO" keep --state "$dir/state" --lock "$dir/lock" --log "$dir/console.log" \
		${OWNER:+--owner "$OWNER"} -- \
		"$SWITCHD" "${args[@]}" "${FAULTS[@]}" --control "$dir/control.sock" 8>&- ||
		return 1
	# The socket appears when the switch is ready.
	for ((n = 0; n < 150; n++)); do
		[ -S "$dir/control.sock" ] && return 0
		alive switch || break
		sleep 0.1
	done
	say "the switch does not start"
	show_tail "$dir/console.log"
	return 1
}

# show_progress TEXT: one line that changes, at a terminal only.
show_progress()
{
	[ ! -t 2 ] || printf '\r\033[K%s' "$1" >&2
}

# wait_for_guests NAME...: until all are ready; tell which is not and why.
wait_for_guests()
{
	local waiting=("$@") still name begin=$SECONDS line state bad=0

	while [ ${#waiting[@]} -gt 0 ]; do
		still=() line=""
		for name in "${waiting[@]}"; do
			state=$(state "$name")
			case $state in
			ready)
				show_progress ""
				say "$name is up after $(($(date +%s) - $(<"$DIR/$name/started"))) s" ;;
			starting)
				still+=("$name")
				line+="$name: $(boot_stage "$name")  " ;;
			*)	show_progress ""
				say "$name ended while it booted ($state)"
				show_tail "$DIR/$name/qemu.log"
				show_tail "$DIR/$name/console.log"
				bad=1 ;;
			esac
		done
		waiting=("${still[@]}")
		[ $bad = 0 ] || return 1
		[ ${#waiting[@]} -gt 0 ] || break
		if [ $((SECONDS - begin)) -ge "$BOOT_LIMIT" ]; then
			show_progress ""
			for name in "${waiting[@]}"; do
				say "$name hangs: not up after $BOOT_LIMIT s"
				show_tail "$DIR/$name/qemu.log"
				show_tail "$DIR/$name/console.log"
			done
			return 1
		fi
		show_progress "$((SECONDS - begin)) s  $line"
		sleep 0.2
	done
	show_progress ""
}

boot_stage()
{
	local log=$DIR/$1/console.log

	if grep -q "weft-rack: guest-init: done" "$log"; then
		echo "agent"
	elif grep -q "Run /init" "$log"; then
		echo "file systems"
	elif [ -s "$log" ]; then
		echo "kernel"
	else
		echo "firmware"
	fi
}

# --- Setting up weft ----------------------------------------------------------

# in_guest NAME COMMAND...: run it there, without input.
in_guest()
{
	local name=$1

	shift
	"$RACKIO" run --socket "$DIR/$name/exec.sock" --name "$name" \
		--log "$DIR/$name/console.log" --no-stdin --tied -- "$@"
}

# set_up NAME: weft-memd on a blade, the module and /weft on a node.
set_up()
{
	local name=$1 n homes=""

	for ((n = 1; n <= BLADES; n++)); do
		homes+="${homes:+,}10.87.0.$((100 + n))"
	done
	# shellcheck disable=SC2086  # the options are words
	case $name in
	mem*)	in_guest "$name" timeout "$SETUP_LIMIT" "$HERE/guest-blade" \
			"$PROGRAMS" "$((32 + ${name#mem}))" "$homes" "$BLADE_MEM" \
			$MEMD_OPTIONS ;;
	node*)	in_guest "$name" timeout "$SETUP_LIMIT" "$HERE/guest-node" \
			"$BUILD" "${name#node}" "$homes" "$CACHE" $NODE_OPTIONS ;;
	esac
}

# set_up_all NAME...: all at once; what they print is shown if one fails.
set_up_all()
{
	local name pids=() bad=0 i=0

	for name; do
		set_up "$name" >"$DIR/$name/setup.log" 2>&1 &
		pids+=($!)
	done
	for name; do
		if ! wait "${pids[i]}"; then
			say "weft does not come up on $name:"
			sed 's/^/    /' "$DIR/$name/setup.log" >&2
			bad=1
		fi
		i=$((i + 1))
	done
	return $bad
}
