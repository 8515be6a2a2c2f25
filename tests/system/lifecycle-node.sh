#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# One cycle of lifecycle.sh, in a guest in which /weft is mounted: work, unmount,
# leave the rack, unload the module, look what is left, and all the way back.
#
#	lifecycle-node.sh BUILD CYCLE SUM
#
# SUM is that of the file "same"; this node reads it, and adds a line to "log".
# Prints "left UNRECLAIMABLE-KB USED-KB": memory in use while the module is gone.

set -u
BUILD=$1
CYCLE=$2
SUM=$3
MODULE=$BUILD/kmod/$(uname -r)/weft.ko
HOMES=10.87.0.101
ID=$(hostname)
ID=${ID#node}

die()
{
	echo "cycle $CYCLE: $*" >&2
	exit 1
}

# run COMMAND...
run()
{
	timeout -k 5 60 "$@" || die "failed with status $?: $*"
}

work()
{
	[ "$(sha256sum </weft/same)" = "$SUM" ] || die "the file 'same' has changed"
	run dd if=/dev/zero of=/weft/scratch bs=64K count=16 status=none
	run sh -c "echo $CYCLE >>/weft/log"
	[ "$(tail -n 1 /weft/log)" = "$CYCLE" ] || die "the log lacks its last line"
}

# Programs are slow to start in some guests, so what can be looked for without one is.

# has FILE TEXT: it is in the file, whatever the case of letters.
has()
{
	local text

	IFS= read -r -d '' text <"$1"
	[[ ${text^^} == *"${2^^}"* ]]
}

# has_line FILE BEGINNING: a line of the file begins so.
has_line()
{
	local text

	IFS= read -r -d '' text <"$1"
	[[ $'\n'$text == *$'\n'"$2"* ]]
}

# has_process: one with the module's name, or a rescuer of its workqueues.
has_process()
{
	local comm name

	for comm in /proc/[0-9]*/comm; do
		# it may have ended meanwhile
		read -r name 2>/dev/null <"$comm" || continue
		[[ $name != weft* && $name != *"/R-weft"* ]] || { echo "$name"; return 0; }
	done
	return 1
}

# all_there: what is looked for when the module is gone is seen while weft is mounted; else
# it would say nothing that it is not seen then.  Some kernels have no tracepoints at all.
all_there()
{
	has_line /proc/modules 'weft ' || die "the module is not in /proc/modules"
	has_line /proc/filesystems $'nodev\tweft\n' || die "the file system is not in /proc/filesystems"
	has /proc/net/udp ':12B9 ' || die "its UDP port is not in /proc/net/udp"
	has /proc/net/igmp '464557EF' || die "its multicast group is not in /proc/net/igmp"
	has_line /proc/slabinfo weft || die "no slab cache of it is in /proc/slabinfo"
	has_process >/dev/null || die "no workqueue of it is seen"
	[ ! -d /sys/kernel/tracing/events ] || [ -e /sys/kernel/tracing/events/weft ] ||
		die "its tracepoints are not seen"
	[ -e /sys/module/weft ] || die "there is no /sys/module/weft"
}

# nothing_left: of the module, which is not loaded.
nothing_left()
{
	! has_line /proc/modules 'weft ' || die "the module is still there"
	! has_line /proc/filesystems $'nodev\tweft\n' || die "the file system is still there"
	! has /proc/net/udp ':12B9 ' || die "its UDP port is still open"
	! has /proc/net/igmp '464557EF' || die "it is still in the multicast group"
	! has_line /proc/slabinfo weft || die "its slab cache is still there"
	# rescuers have their workqueue's name; other workers only show whom they
	# served last
	! has_process || die "its workqueues are still there"
	[ ! -e /sys/kernel/tracing/events/weft ] || die "its tracepoints are still there"
	[ ! -e /sys/module/weft ] || die "/sys/module/weft is still there"
}

# Without caches, and without what slabs keep for the next time, each twice: what
# goes frees other things.
memory_in_use()
{
	local slab

	sync
	# shellcheck disable=SC2034  # twice
	for again in no yes; do
		echo 3 >/proc/sys/vm/drop_caches
		for slab in /sys/kernel/slab/*/shrink; do
			echo 1 >"$slab"
		done
		sleep 0.5
	done
	awk '{ v[$1] = $2 }
		END { print "left", v["SUnreclaim:"], v["MemTotal:"] - v["MemFree:"] - \
			v["Buffers:"] - v["Cached:"] - v["SReclaimable:"] }' /proc/meminfo
}

work
all_there
run umount /weft
run "$BUILD/bin/weftctl" down
run rmmod weft
nothing_left
memory_in_use
run insmod "$MODULE"
run "$BUILD/bin/weftctl" up --node "$ID" --interface eth0 --homes "$HOMES"
run mount -t weft -o cache=16M none /weft
