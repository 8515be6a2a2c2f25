#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The disk of a memory blade is full, cannot be read, or does not take what is to be on it, while
# nodes work:
#
#	node1 node2 mem1 -- switch
#
# Full: what the nodes have modified meanwhile does not get home.  Calls that promise that it has
# fail, and so do accesses for which there is no room in a cache that cannot be emptied; what one
# node has written is there for the other one.  When there is room again all gets home, without
# anything being started anew.  Not read: accesses that need the blade fail, and succeed later.
# Not synced: what waits for that fails until the blade is started again, everything else goes on.
# Started anew while it is full: nodes are waited for until there is room.
# Nothing is lost, and the blade's log and doctor say what to do.
#
#	tests/system/disk.sh
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

FILE=/run/backing
BAD=$BUILD/tests/system-baddisk.so
CACHE_MB=8
MB=4			# of the regions that both nodes use
KB=16			# of what is read while it cannot get home: soon a second a block
PATIENCE=20		# seconds: longer than RENEW_LIMIT_MS
TIMEOUT=4		# seconds, of the nodes, while there is no room

# small_disk: the blade's file moves to a file system of its own, that nobody would miss, and
# which fails as it is told to.
small_disk()
{
	on mem1 bash -c '
		pid=$(pgrep -x weft-memd) || exit 1
		mapfile -d "" -t args <"/proc/$pid/cmdline"
		exe=$(readlink "/proc/$pid/exe")
		kill "$pid"
		while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
		mkdir /run/small && mount -t tmpfs -o size=64M none /run/small &&
			cp --sparse=always "$0" /run/small/backing && rm "$0" &&
			ln -s /run/small/backing "$0" || exit 1
		LD_PRELOAD=$1 "$exe" "${args[@]:1}" --background \
			>>/var/log/weft-memd.log 2>&1' $FILE "$BAD"
}

# again: the blade is killed and started again, with the same disk.
again()
{
	on mem1 bash -c '
		pid=$(pgrep -x weft-memd) || exit 1
		mapfile -d "" -t args <"/proc/$pid/cmdline"
		exe=$(readlink "/proc/$pid/exe")
		kill -KILL "$pid"
		while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
		LD_PRELOAD=$0 "$exe" "${args[@]:1}" >>/var/log/weft-memd.log 2>&1' "$BAD"
}

# no_room, room: for the file, but for what it has.
no_room()
{
	on mem1 sh -c 'cat /dev/zero >/run/small/other 2>/dev/null
		[ "$(stat -f -c %a /run/small)" = 0 ]'
}

room() { on mem1 rm /run/small/other; }

# writes NODE REGION VALUE KB: the bytes of so much of it, as programs do that map it; which
# ends it if that is not to be had.
writes()
{
	on "$1" python3 -c '
import mmap, os, sys
name, value, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) << 10
fd = os.open("/weft/" + name, os.O_RDWR)
m = mmap.mmap(fd, n)
for at in range(0, n, 4096):
    m[at:at + 4096] = bytes([value]) * 4096' "${@:2}"
}

# has NODE REGION VALUE KB: it begins with so much of that.
has()
{
	on "$1" python3 -c '
import sys
name, value, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) << 10
have = open("/weft/" + name, "rb", 0).read(n)
wrong = [i for i in range(0, n, 4096) if have[i:i + 4096] != bytes([value]) * 4096]
print(len(have), len(wrong), wrong[:4])
exit(len(have) != n or bool(wrong))' "${@:2}"
}

# synced NODE REGION: 0, or the number of the error.
synced()
{
	on "$1" python3 -c '
import os, sys
fd = os.open("/weft/" + sys.argv[1], os.O_RDWR)
try:
    os.fsync(fd)
    print(0)
except OSError as e:
    print(e.errno)' "$2"
}

# sync_is NODE REGION WANTED
sync_is() { equal "$3" "$(synced "$1" "$2")"; }

# doctor_says NODE TEXT: or it does not, TEXT "".
doctor_says()
{
	local rc

	on "$1" "$BIN/weftctl" doctor --ignore round_trip >"$dir/doctor" 2>&1
	rc=$?
	# 3: it has found something, which may be something else
	[ $rc = 0 ] || [ $rc = 3 ] || { cat "$dir/doctor"; return 1; }
	grep '^blade_file:' "$dir/doctor" >"$dir/found"
	[ -n "$2" ] || { [ ! -s "$dir/found" ]; return; }
	grep -qF "$2" "$dir/found" || { cat "$dir/doctor"; return 1; }
}

blade_says() { on mem1 grep -qF "$1" /var/log/weft-memd.log; }

# blade_stat NAME
blade_stat() { counters node1 memory | awk -v n=".$1\$" '$1 ~ n { print $2; exit }'; }

nothing_lost()
{
	equal "" "$(on node1 "$BIN/weftctl" line lost)" &&
		equal 0 "$(counters node1 | awk '$1 == "node.counters.blocks_lost" { print $2 }')"
}

killed_by_bus()
{
	writes node1 large 9 $((3 * CACHE_MB << 10)) >"$dir/large" 2>&1
	equal 135 $?
}

# reads NODE REGION BLOCK: the number of the error, or 0, by a call; and by a mapping.
reads()
{
	on "$1" python3 -c '
import os, sys
fd = os.open("/weft/" + sys.argv[1], os.O_RDONLY)
try:
    os.pread(fd, 1, int(sys.argv[2]) << 12)
    print(0)
except OSError as e:
    print(e.errno)' "$2" "$3"
}

reads_is() { equal "$4" "$(reads "$1" "$2" "$3")"; }

maps()
{
	on "$1" python3 -c '
import mmap, os, sys
fd = os.open("/weft/" + sys.argv[1], os.O_RDONLY)
print(mmap.mmap(fd, 0, prot=mmap.PROT_READ)[int(sys.argv[2]) << 12])' "$2" "$3"
}

maps_fails() { maps "$@" >"$dir/maps" 2>&1; equal 135 $?; }

full()
{
	check "the disk is full" no_room
	check "node 1 writes to another region" writes node1 new 2 $((MB << 9))
	check "that it is at home is not said" sync_is node1 new 110
	check "the log says why" blade_says "cannot write to $FILE: No space left on device"
	check "doctor says what to do" doctor_says node1 "make room on the file's file system"
	check "on the other node, too" doctor_says node2 "cannot write to its backing file"
	check "a counter says so" equal 1 "$(blade_stat file_refuses)"
	check "node 2 overwrites what is at home" writes node2 old 3 $KB
	# each block in its own time, unless the machine stands still
	check "node 1 reads that" soon 30 has node1 old 3 $KB
	check "a program that needs room in the cache is told" killed_by_bus
	check "the blade is killed, and started again" again
	check "it says that it waits for room" soon 40 blade_says 'until there is room on its disk'
	sleep $((PATIENCE - 10))
	check "there is room again" room
	check "all is at home: node 1" \
		eval 'soon 60 sync_is node1 new 0 && sync_is node1 large 0'
	check "node 2" sync_is node2 old 0
	check "doctor finds nothing there" doctor_says node1 ""
	check "nothing is lost" nothing_lost
	check "no node was left out" exits 1 "" blade_says 'does not give its blocks back'
}

unread()
{
	check "node 1 writes more than its cache has room for" \
		writes node1 large 7 $((3 * CACHE_MB << 10))
	check "that is at home" sync_is node1 large 0
	check "and what it has last" writes node1 new 2 $KB
	check "the disk does not read" on mem1 touch /run/disk-does-not-read
	check "a call that needs what nobody has fails" reads_is node2 large 0 110
	check "so does an access" maps_fails node2 large 1
	check "what the other node has is there" has node2 new 2 $KB
	check "the log says why" blade_says "cannot read $FILE: Input/output error"
	check "it reads again" on mem1 rm /run/disk-does-not-read
	check "so do programs" eval 'reads_is node2 large 0 0 && maps node2 large 1'
}

unsynced()
{
	check "a region to be synced" on node1 "$BIN/weftctl" region set old durability=sync
	check "the disk does not sync" on mem1 touch /run/disk-does-not-sync
	check "node 1 writes to it" writes node1 old 4 $KB
	check "that it is on the disk is not said" sync_is node1 old 5
	check "the log says why" blade_says "$FILE does not get to the disk: Input/output error"
	check "doctor says what to do" doctor_says node2 "look at the kernel log there"
	check "it syncs again, which says nothing of what was before" \
		on mem1 rm /run/disk-does-not-sync
	check "so it is still not said" sync_is node1 old 5
	check "everything else goes on" eval \
		'has node2 old 4 $KB && writes node2 new 5 $KB && sync_is node2 new 0 && \
		 has node1 new 5 $KB'
	check "nothing is lost" nothing_lost
}

begin disk
built "$BAD"
boot --nodes 2 --switch p4 --memd-options "--backing $FILE" --cache "${CACHE_MB}M"
check "the blade's file is on a file system of its own" small_disk
for name in old new large; do
	check "a region: $name" on node1 truncate -s \
		$(($([ $name = large ] && echo $((3 * CACHE_MB)) || echo $MB) << 20)) /weft/$name
done
check "node 1 writes to one" writes node1 old 1 $((MB << 10))
check "that is at home" sync_is node1 old 0
check "doctor finds nothing there" doctor_says node1 ""
check "the nodes wait $TIMEOUT s for the rack" on_nodes "$STEP_LIMIT" "$BIN/weftctl" set \
	--timeout $TIMEOUT
full
unread
unsynced
check "the blade is killed, and started again" restart_memd
check "what was overwritten is there" soon 60 has node2 old 4 $KB
check "so is what was new" has node2 new 5 $KB
check "what is synced is on the disk" sync_is node1 old 0
check "doctor finds nothing there" doctor_says node1 ""
end_rack
finish
