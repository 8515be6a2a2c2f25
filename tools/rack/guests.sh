# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The part of weft-rack that deals with guests: what they boot, how QEMU or a user-mode
# kernel is started, waiting for them, setting up weft in them. Sourced by weft-rack, whose variables
# it uses: those of "up" (NODES, MTU, ...) and the places (DIR, BUILD, ...).

# --- Before the first boot ----------------------------------------------------

# The channel's program is small: do not make people build it first.
build_rackio()
{
	local cc=${CC:-gcc} source newer="" common=("$TOP"/tools/common/number.c)

	for source in "$HERE"/*.[ch] "$TOP"/tools/common/*.h "${common[@]}"; do
		[ "$RACKIO" -nt "$source" ] || newer=$source
	done
	[ -n "$newer" ] || return 0
	mkdir -p "$BUILD/bin" || die "cannot make $BUILD/bin"
	"$cc" -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -I"$TOP" -static \
		-o "$RACKIO.$$" "$HERE"/*.c "${common[@]}" || die "cannot compile $RACKIO"
	mv "$RACKIO.$$" "$RACKIO" || die "cannot put $RACKIO in place"
}

# build_xstate: what uml-mended preloads (preload/xstate.c), beside the channel's program.
build_xstate()
{
	local source=$HERE/preload/xstate.c

	[ "$XSTATE" -nt "$source" ] && return
	mkdir -p "$BUILD/bin" && "${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -fPIC \
		-shared -o "$XSTATE.$$" "$source" && mv "$XSTATE.$$" "$XSTATE" ||
		die "cannot compile $XSTATE"
}

# get_kernel PREFIX KERNEL: sets PREFIX_VERSION and so on; fails if it cannot be had.
get_kernel()
{
	local prefix=$1 line found

	found=$("$HERE/get-kernel" ${2:+"$2"}) || return
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

# need_module: nodes load it. Better said now than when they have booted.
need_module()
{
	local make="make KVER=$KERNEL_VERSION"

	[ "$BARE" = 0 ] && [ ! -e "$BUILD/kmod/$KERNEL_VERSION/weft.ko" ] || return 0
	[ "$ACCEL" != uml ] || make="make uml"
	die "there is no module for Linux $KERNEL_VERSION, $BUILD/kmod/$KERNEL_VERSION/weft.ko: run $make"
}

# choose_rdma: set RDMA_NAMES to the guests that get rxe0.
choose_rdma()
{
	local who name

	for who in ${RDMA//,/ }; do
		[[ $who != [1-9] ]] || who=node$who
		expand "$who"
		for name in "${NAMES[@]}"; do
			is_guest "$name" ||
				die "--rdma takes all, nodes, blades or guests ($GUEST_NAMES), not '$who'"
			has_rdma "$name" || RDMA_NAMES+="${RDMA_NAMES:+ }$name"
		done
	done
	[ -z "$RDMA" ] || [ -n "$RDMA_NAMES" ] ||
		die "--rdma $RDMA: none of the guests ($GUEST_NAMES) is that"
}

# has_rdma NAME: whether rxe0 is, or shall be, there.
has_rdma()
{
	[[ " $RDMA_NAMES " == *" $1 "* ]]
}

# lacks_rdma MODULES: print which ones of those that rxe0 needs a kernel has not.
lacks_rdma()
{
	local module lacking=""

	for module in $RDMA_MODULES; do
		grep -qs "^[^:]*/$module\.ko" "$1"/modules.{dep,builtin} ||
			lacking+="${lacking:+, }$module"
	done
	echo "$lacking"
}

# need_rdma: the kernels of those that get rxe0 have what it takes.
need_rdma()
{
	local name version modules lacking

	for name in $RDMA_NAMES; do
		version=$KERNEL_VERSION modules=$KERNEL_MODULES
		[[ $name == node* ]] ||
			version=$BLADE_KERNEL_VERSION modules=$BLADE_KERNEL_MODULES
		lacking=$(lacks_rdma "$modules")
		[ -z "$lacking" ] && continue
		[ "$(accel_of "$name")" != uml ] ||
			die "there is no RDMA for user-mode kernels: run make uml-rdma, or say --accel tcg or kvm"
		die "Linux $version has no $lacking, which --rdma needs"
	done
}
# The first makes /dev/infiniband/uverbs0, the second /dev/infiniband/rdma_cm.
RDMA_MODULES="ib_uverbs rdma_ucm rdma_rxe"

# --- Guests -------------------------------------------------------------------

# id_of NAME: the last byte of its address.
id_of()
{
	case $1 in
	node*)	echo "${1#node}" ;;
	mem*)	echo $((100 + ${1#mem})) ;;
	twin*)	echo $((200 + ${1#twin})) ;;
	witness) echo 250 ;;
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

# memory_of NAME: megabytes that a guest gets.
memory_of()
{
	case $1 in
	node*)	in_megabytes "$MEM" ;;
	witness) echo 256 ;;
	*)	echo $(($(in_megabytes "$BLADE_MEM") + 512)) ;;
	esac
}

# disk_of NAME: megabytes that files may take in a blade's guest, if more than the usual half of
# its memory: all that the blade can have fits into a --backing file.
disk_of()
{
	local blade

	blade=$(in_megabytes "$BLADE_MEM")
	case $1 in
	mem*|twin*) [ "$blade" -le 256 ] || echo $((blade + 128)) ;;
	esac
}

# append_of NAME MODULES: what init/init.c wants to know.
append_of()
{
	local id member disk

	id=$(id_of "$1")
	printf %s "rack.name=$1 rack.address=10.87.0.$id rack.tree=$TOP"
	printf %s " rack.agent=$RACKIO rack.modules=$2"
	disk=$(disk_of "$1")
	[ -z "$disk" ] || printf %s " rack.disk=$disk"
	for member in $GUEST_NAMES; do
		printf %s " rack.member=10.87.0.$(id_of "$member"):$member"
	done
}

mac_of()
{
	printf '02:57:45:46:00:%02x' "$(id_of "$1")"
}

# accel_of NAME: what runs it.
accel_of()
{
	case $1 in
	node*)	echo "$ACCEL" ;;
	*)	echo "$BLADE_ACCEL" ;;
	esac
}

# processor_of NAME: which processor a user-mode kernel runs on.  Those that we may use take
# turns, beginning with any of them, as other racks do; nothing if that cannot be said.
processor_of()
{
	local list range all=() name n=$$

	list=$(taskset -cp $$ 2>/dev/null) || return 0
	for range in $(tr , ' ' <<<"${list##*: }"); do
		# shellcheck disable=SC2207  # numbers
		all+=($(seq "${range%-*}" "${range#*-}"))
	done
	for name in $GUEST_NAMES; do
		[ "$name" != "$1" ] || break
		n=$((n + 1))
	done
	[ ${#all[@]} = 0 ] || echo "${all[n % ${#all[@]}]}"
}

# uml_kernel WAY VMLINUZ MEGABYTES INITRD DIRECTORY: sets GUEST to the command line of a
# user-mode kernel, without what is for one guest. File 3 is what weft-rackio gives it: see
# apart.h.
uml_kernel()
{
	GUEST=("$2" "mem=$3M" "initrd=$4" "uml_dir=$5/" umid=uml
		con=null con0=null,fd:1 ssl=null ssl0=fd:3
		console=tty0 panic=-1 rack.line=/dev/ttyS0
		# Half of the seconds that a boot takes are for what no rack needs: 512 terminals
		# of an old kind, with a process for each, and how fast this machine calculates.
		pty.legacy_count=0 lpj=10000000
		initcall_blacklist=raid6_select_algo,calibrate_xor_blocks)
	case $1 in
	# Since 6.16: programs' system calls come by seccomp and not by ptrace, where it works.
	uml-own)	GUEST+=(seccomp=auto) ;;
	uml-mended)	GUEST=(env "LD_PRELOAD=$XSTATE${LD_PRELOAD:+:$LD_PRELOAD}" "${GUEST[@]}") ;;
	esac
}

# uml_command NAME: sets GUEST to the command line of a guest that is a user-mode kernel.
uml_command()
{
	local name=$1 dir=$DIR/$1 kernel=$KERNEL_VMLINUZ initrd=$KERNEL_INITRD
	local modules=$KERNEL_MODULES way=$WAY processor

	if [[ $name != node* ]]; then
		kernel=$BLADE_KERNEL_VMLINUZ way=$BLADE_WAY
		initrd=$BLADE_KERNEL_INITRD modules=$BLADE_KERNEL_MODULES
	fi
	mkdir -p "$dir/memory" || die "cannot make $dir/memory"
	uml_kernel "$way" "$kernel" "$(memory_of "$name")" "$initrd" "$dir"
	# An interface of it takes what "mtu" says and never more.
	# shellcheck disable=SC2206  # options are words
	GUEST+=("vec0:transport=bess,dst=$dir/port.sock,depth=64,mtu=$MTU,mac=$(mac_of "$name")"
		$(append_of "$name" "$modules") $APPEND)
	# It and each program in it are processes that wait for each other at every system
	# call: what wakes another processor each time takes half as long again, and longer
	# where the processors are virtual ones.
	processor=$(processor_of "$name")
	[ -z "$processor" ] || GUEST=(taskset -c "$processor" "${GUEST[@]}")
}

# qemu_command NAME: sets GUEST to QEMU's command line for a guest.
qemu_command()
{
	local name=$1 dir=$DIR/$1 accel image append tsc cpu=max notify="" mac
	local direct=$KERNEL_IMAGE packed=$KERNEL_VMLINUZ initrd=$KERNEL_INITRD
	local modules=$KERNEL_MODULES clock=()

	if [[ $name != node* ]]; then
		direct=$BLADE_KERNEL_IMAGE packed=$BLADE_KERNEL_VMLINUZ
		initrd=$BLADE_KERNEL_INITRD modules=$BLADE_KERNEL_MODULES
	fi
	mac=$(mac_of "$name")
	append="console=ttyS0 panic=-1 net.ifnames=0 mitigations=off"
	# With five levels of page tables KASAN of Linux 6.1 takes good addresses for wild
	# ones while the boot processor is identified: its bounds follow a flag of the
	# processor's that is not set meanwhile. It reports once, and lockdep is off then.
	append+=" no5lvl"
	append+=" $(append_of "$name" "$modules")"
	case $ACCEL in
	kvm)	accel=kvm
		image=$packed ;;
	*)	# One thread for all processors of a guest: when a processor spins for a
		# lock whose holder is not running, QEMU turns to the holder, instead of
		# having both fight for its big lock for seconds.
		accel=tcg,thread=single,tb-size=256
		[ "$ACCEL" != tcg-mt ] || accel=tcg,thread=multi,tb-size=256
		image=$direct
		# Emulated processors can stand still for long while the host is busy.
		append+=" tsc=reliable rcupdate.rcu_cpu_stall_timeout=60 watchdog_thresh=30"
		# The kernel panics if none of the timer's first ticks comes in time.
		append+=" no_timer_check"
		# Enabling the devices' interrupt lines as ACPI describes it takes a second of
		# the five of a boot, for lines that nobody uses: they have MSI.
		append+=" pci=noacpi"
		# Nor is a rack there to test the kernel's ciphers.
		append+=" cryptomgr.notests"
		# Nor can they measure their clock then: it would run too fast.  Nor a delay
		# loop (lpj, at 250 ticks a second): nothing here is waited for with it.
		tsc=$("$RACKIO" tsc) || tsc=
		[ "$ACCEL" != icount ] || { tsc=1000000 && clock=(-icount "shift=0,sleep=on"); }
		[ -z "$tsc" ] || append+=" tsc_early_khz=$tsc lpj=$((tsc * 4))"
		# What copies, clears: instructions that repeat are emulated a step at a time,
		# so a step should be eight bytes and not one, and loops are faster yet.
		cpu=max,-erms,-fsrm
		append+=" clearcpuid=rep_good"
		# Every page that the kernel allocates would be cleared once more.
		append+=" init_on_alloc=0"
		# Code that comes to lie at another address is translated again: that is half
		# of what it costs to start a program.  The second node puts libraries and
		# stacks where it likes, so that nobody relies on the nodes having them at
		# the same places.
		[ "$name" = node2 ] || append+=" norandmaps"
		# The thread of a guest that notifies a device goes on to serve it, instead of
		# waking QEMU's other one, for which it would have to let go of the big lock.
		notify=",ioeventfd=off" ;;
	esac
	GUEST=(qemu-system-x86_64 -name "$RACK-$name" -nodefaults -no-user-config
		-M "pc,hpet=off" -accel "$accel" "${clock[@]}" -cpu "$cpu" -smp "$CPUS"
		-m "$(memory_of "$name")"
		-display none -no-reboot -serial "file:$dir/console.log"
		-kernel "$image" -initrd "$initrd" -append "$append$APPEND"
		-fsdev "local,id=root,path=/,$VIRTFS"
		-device "virtio-9p-pci,fsdev=root,mount_tag=weftroot$notify"
		-fsdev "local,id=usr,path=/usr,$VIRTFS"
		-device "virtio-9p-pci,fsdev=usr,mount_tag=weftusr$notify"
		-fsdev "local,id=tree,path=$TOP,$VIRTFS"
		-device "virtio-9p-pci,fsdev=tree,mount_tag=wefttree$notify"
		# One port; the first is for a console. Each costs two queues, which QEMU looks
		# at whenever it waits, and a guest sets up while it boots.
		-device "virtio-serial-pci,max_ports=2$notify"
		-chardev "socket,id=exec,path=$dir/channel.sock,server=off"
		-device "virtserialport,chardev=exec,name=weft.exec"
		-netdev "dgram,id=net,local.type=unix,local.path=$dir/net.sock,remote.type=unix,remote.path=$dir/port.sock"
		# One thread for all processors emulates no barrier between what a guest
		# stores and what it loads then, so a notification of the device may be lost.
		# With event_idx none of the later ones would come either: the queue fills up,
		# and the guest is cut off for good.
		-device "virtio-net-pci,event_idx=off$notify,romfile=,netdev=net,host_mtu=$MTU,mac=$mac")
}
VIRTFS=readonly=on,security_model=none,multidevs=remap

start_guest()
{
	local name=$1 dir=$DIR/$1 GUEST args

	mkdir -p "$dir" || die "cannot make $dir"
	[ ! -e "$dir/console.log" ] || mv "$dir/console.log" "$dir/console.log.old"
	: >"$dir/console.log"
	if [ "$(accel_of "$name")" = uml ]; then
		uml_command "$name"
		# What it prints before its console works tells why it does not.
		args=(--log "$dir/console.log" --memory "$dir/memory")
	else
		qemu_command "$name"
		args=(--log "$dir/qemu.log" --channel "$dir/channel.sock")
	fi
	"$RACKIO" keep --state "$dir/state" --lock "$dir/lock" --serve "$dir/exec.sock" \
		"${args[@]}" ${OWNER:+--owner "$OWNER"} -- "${GUEST[@]}" 8>&- || return 1
	date +%s >"$dir/started"
}

start_switch()
{
	local dir=$DIR/switch name args=() n

	mkdir -p "$dir" || die "cannot make $dir"
	for name in $GUEST_NAMES; do
		mkdir -p "$DIR/$name" || die "cannot make $DIR/$name"
		if [ "$(accel_of "$name")" = uml ]; then
			args+=(--port "$name=seq:$DIR/$name/port.sock")
		else
			args+=(--port "$name=unix:$DIR/$name/port.sock:$DIR/$name/net.sock")
		fi
	done
	for ((n = 1; n <= NODES; n++)); do
		args+=(--node "$n=node$n")
	done
	for ((n = 1; n <= BLADES; n++)); do
		name=mem$n
		# where it was last, if it has a twin
		[ ! -s "$dir/blade.$((32 + n))" ] || read -r name <"$dir/blade.$((32 + n))"
		args+=(--blade "$((32 + n))=$name")
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
		[ ! -S "$dir/control.sock" ] || { start_mover; return; }
		alive switch || break
		sleep 0.1
	done
	say "the switch does not start"
	show_tail "$dir/console.log"
	return 1
}

# kill_switch: SIGKILL, as if its power were cut; its keeper ends with it.
kill_switch()
{
	local pid args n

	for pid in $(pgrep -x weft-switchd); do
		mapfile -d "" -t args 2>/dev/null <"/proc/$pid/cmdline"
		[[ " ${args[*]} " != *" --control $DIR/switch/control.sock "* ]] || kill -KILL "$pid"
	done
	for ((n = 0; n < 100; n++)); do
		alive switch || return 0
		sleep 0.1
	done
	die "the switch does not end"
}

# show_progress TEXT: one line that changes, at a terminal only.
show_progress()
{
	[ ! -t 2 ] || printf '\r\033[K%s' "$1" >&2
}

# wait_for_guests NAME...: until all are ready; tell which is not and why. FAILED are those.
wait_for_guests()
{
	local waiting=("$@") still name begin=$SECONDS line

	FAILED=()
	while [ ${#waiting[@]} -gt 0 ]; do
		still=() line=""
		for name in "${waiting[@]}"; do
			look_at "$name"
			case $STATE in
			ready)
				show_progress ""
				say "$name is up after $(($(date +%s) - $(<"$DIR/$name/started"))) s" ;;
			starting)
				still+=("$name")
				line+="$name: $(boot_stage "$name")  " ;;
			*)	show_progress ""
				say "$name ended while it booted ($STATE)"
				show_tail "$DIR/$name/qemu.log"
				show_tail "$DIR/$name/console.log"
				FAILED+=("$name") ;;
			esac
		done
		waiting=("${still[@]}")
		[ ${#FAILED[@]} = 0 ] || return 1
		[ ${#waiting[@]} -gt 0 ] || break
		if [ $((SECONDS - begin)) -ge "$BOOT_LIMIT" ]; then
			show_progress ""
			for name in "${waiting[@]}"; do
				say "$name hangs: not up after $BOOT_LIMIT s"
				show_tail "$DIR/$name/qemu.log"
				show_tail "$DIR/$name/console.log"
			done
			FAILED=("${waiting[@]}")
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

# start_mover: it tells the switch when a blade goes on at its twin.
start_mover()
{
	local dir=$DIR/mover name logs=()

	[ "$STANDBY $SWITCH" = "1 p4" ] && ! alive mover || return 0
	mkdir -p "$dir" || die "cannot make $dir"
	for name in $GUEST_NAMES; do
		[[ $name == @(mem|twin)* ]] || continue
		# tail(1) looks once a second at what is not there when it begins, instead of
		# being told, and programs would wait for that
		mkdir -p "$DIR/$name" && : >>"$DIR/$name/console.log" ||
			die "cannot make $DIR/$name/console.log"
		logs+=("$name/console.log")
	done
	"$RACKIO" keep --state "$dir/state" --lock "$dir/lock" --log "$dir/console.log" \
		${OWNER:+--owner "$OWNER"} -- \
		"$HERE/move-blades" "$SWITCHD" "$DIR" "${logs[@]}" 8>&-
}

# --- Setting up weft ----------------------------------------------------------

# in_guest NAME COMMAND...: run it there, without input. Its time is limited from here: each
# process in the guest costs ten of one here.
in_guest()
{
	local name=$1

	shift
	timeout -k 10 "$SETUP_LIMIT" "$RACKIO" run --socket "$DIR/$name/exec.sock" --name "$name" \
		--log "$DIR/$name/console.log" --no-stdin --tied -- "$@"
}

# slim_module: set MODULE to a copy of weft.ko without what is for debuggers, a twentieth
# of it, as a guest reads all of it to load it; and NEEDED to the modules that it needs,
# which takes half a second to find out in an emulated guest.
slim_module()
{
	local built=$BUILD/kmod/$KERNEL_VERSION/weft.ko

	MODULE=$DIR/weft.ko
	[ ! "$built" -nt "$MODULE" ] || strip --strip-debug -o "$MODULE" "$built" ||
		die "cannot copy $built to $DIR"
	NEEDED=$(PATH=$PATH:/usr/sbin:/sbin modinfo -F depends "$MODULE" | tr , ' ')
	# Beside it what a guest with RDMA loads, too.
	built=${built%.ko}_rdma.ko
	[ -z "$RDMA_NAMES" ] || [ ! "$built" -nt "$DIR/weft_rdma.ko" ] ||
		strip --strip-debug -o "$DIR/weft_rdma.ko" "$built" ||
		die "cannot copy $built to $DIR"
	# Built without the kernel's list of symbols, as for user-mode kernels, it does
	# not say what it needs.
	NEEDED=${NEEDED:-udp_tunnel ip6_udp_tunnel libcrc32c}
}

# key_of OPTIONS: the one of weft-memd that says which key the rack has, for the witness.
key_of()
{
	[[ " $1 " =~ \ --key[\ =]([^\ ]+)\  ]] && echo "--key ${BASH_REMATCH[1]}"
}

# set_up NAME: weft-memd on a blade, the module and /weft on a node.
set_up()
{
	local name=$1 n homes="" standby=()

	for ((n = 1; n <= BLADES; n++)); do
		homes+="${homes:+,}10.87.0.$((100 + n))"
		[ "$STANDBY" = 0 ] || homes+=/10.87.0.$((200 + n))
	done
	# the last two words are for a shell of the guest
	# shellcheck disable=SC2016
	[ "$STANDBY" = 0 ] || standby=(--witness "10.87.0.$(id_of witness)" --backing /run/weft-backing
		--on-takeover 'echo "<4>weft-rack: blade $WEFT_BLADE='"$name"'" >/dev/kmsg')
	# shellcheck disable=SC2086  # the options are words
	case $name in
	mem*|twin*)
		n=${name#mem}
		in_guest "$name" "$HERE/guest-blade" \
			"$PROGRAMS" "$((32 + ${n#twin}))" "$homes" "$BLADE_MEM" \
			"${standby[@]}" $MEMD_OPTIONS ;;
	witness) in_guest "$name" "$HERE/guest-witness" "$PROGRAMS" \
			"10.87.0.$(id_of "$name")" $(key_of "$MEMD_OPTIONS") ;;
	node*)	in_guest "$name" "$HERE/guest-node" \
			"$BUILD" "$MODULE" "$NEEDED" "${name#node}" "$homes" "$CACHE" \
			$NODE_OPTIONS ;;
	esac
}

# all_at_once WHAT FUNCTION NAME...: FUNCTION NAME for each; what they print is shown if
# one fails.
all_at_once()
{
	local what=$1 function=$2 name pids=() bad=0 i=0

	shift 2
	for name; do
		"$function" "$name" >"$DIR/$name/setup.log" 2>&1 &
		pids+=($!)
	done
	for name; do
		if ! wait "${pids[i]}"; then
			say "$what does not come up on $name:"
			sed 's/^/    /' "$DIR/$name/setup.log" >&2
			bad=1
		fi
		i=$((i + 1))
	done
	return $bad
}

# set_up_all NAME...
set_up_all()
{
	local MODULE NEEDED

	slim_module
	all_at_once weft set_up "$@"
}

# make_rxe NAME
make_rxe()
{
	in_guest "$1" "$HERE/guest-rdma" "10.87.0.$(id_of "$1")" \
		"$RDMA_MODULES"
}

# set_up_rdma NAME...: before weft, which may use it.
set_up_rdma()
{
	all_at_once rxe0 make_rxe "$@"
}
