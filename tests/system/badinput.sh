#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Bad input to a node gets a proper errno and a sentence in the kernel's log, and
# harms nothing: after each of them the nodes still work together.
#
#	node1 node2 node3 mem1 -- switch
#
# node2 is the one that is treated badly.  Environment: BUILD.

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh
. tests/tries.sh

BAD=$BUILD/tests/system-badinput
BLADE_MB=64
turn=0

# gets WANTED ARGUMENT...: what system-badinput says on node2.
gets()
{
	local wanted=$1 found

	found=$(on node2 "$BAD" "${@:2}") || return 1
	equal "$wanted" "$found"
}

# says TEXT COMMAND...: the command does well, and the log of node2 has got TEXT.
says()
{
	local text=$1

	on node2 sh -c 'dmesg -C' && "${@:2}" || return 1
	on node2 dmesg >"$dir/dmesg"
	grep -qF -- "$text" "$dir/dmesg" && return 0
	echo "no '$text' in the log of node2:"
	cat "$dir/dmesg"
	return 1
}

# works: what node1 writes, node2 and node3 read.
works()
{
	local node

	turn=$((turn + 1))
	on node1 sh -c "echo turn $turn >/weft/turn" || return 1
	for node in node2 node3; do
		[ "$(on "$node" cat /weft/turn)" = "turn $turn" ] || return 1
	done
	rack status
}

still_works()
{
	check "after that, all nodes work" works
}

# weftctl ARGUMENT...: on node2.
weftctl()
{
	on node2 "$BIN/weftctl" "$@"
}

# rejoin OPTION...: node2 anew, with these of weftctl up.
rejoin()
{
	weftctl down
	weftctl up --interface eth0 "$@"
}

# --- Each of them -----------------------------------------------------------------

mount_options()
{
	check "mount: a cache that is no size" says "is no size" \
		gets EINVAL mount /mnt cache=banana
	check "mount: a cache that is too small" says "256K is the least" \
		gets EINVAL mount /mnt cache=1K
	check "mount: a cache larger than the machine" says "more than this machine" \
		gets EINVAL mount /mnt cache=900G
	check "mount: a block that is no power of two" says "power of two from 4K to 64K" \
		gets EINVAL mount /mnt block=5000
	check "mount: a mode that is none" gets EINVAL mount /mnt mode=99
	check "mount: no such option" says "nonsense" gets EINVAL mount /mnt nonsense=1
	still_works
}

no_blade()
{
	check "node 2 unmounts" on node2 umount /weft
	check "not configured" weftctl down
	check "mount: a node that is not configured" says "run weftctl up first" \
		gets ENOTCONN mount /weft
	check "node 2 is told of a blade that is not there" \
		rejoin --node 2 --homes 10.87.0.99 --timeout 1
	check "mount: no memory blade" says "does not answer: is weft-memd running?" \
		gets ETIMEDOUT mount /weft
}

same_id()
{
	check "node 2 calls itself node 1" rejoin --node 1 --homes 10.87.0.101
	check "mount: two nodes with one id" says "another node has the id 1" \
		gets EEXIST mount /weft
	check "node 2 is node 2 again" rejoin --node 2 --homes 10.87.0.101
	check "node 2 mounts again" gets ok mount /weft cache=1M
	still_works
}

too_large()
{
	check "a file" on node2 touch /weft/large
	check "a region larger than the memory" gets ENOSPC size /weft/large 10000000000
	check "a region larger than regions can be" gets EFBIG size /weft/large 4611686018427387904
	check "a size below zero" gets EINVAL size /weft/large -1
	check "a region that fits" gets ok size /weft/large $((BLADE_MB * 500000))
	check "there is no room for another one" gets ENOSPC size /weft/large $((BLADE_MB * 1100000))
	still_works
	check "the file goes" on node2 rm /weft/large
}

# ready WHAT PAGE [FILE]: a program on node2 has the file open and mapped.
ready()
{
	on node2 sh -c "rm -f /run/test-go.$1 /run/test-waited.$1
		setsid $BAD $1 ${3:-/weft/wait} $2 /run/test-go.$1 >/run/test-waited.$1 2>&1 </dev/null &
		echo \$! >/run/test-pid.$1
		for i in \$(seq 200); do ! grep -q ready /run/test-waited.$1 || exit 0; sleep 0.3; done
		exit 1"
}

# go WHAT...: now they make their accesses.
go()
{
	on node2 touch "${@/#//run/test-go.}"
}

# wait_on SECONDS WHAT...: they wait that long for what does not come.
wait_on()
{
	on node2 sleep "$1" && for what in "${@:2}"; do
		on node2 sh -c 'cat "/run/test-waited.$1"; kill -0 "$(cat "/run/test-pid.$1")"' \
			sh "$what" || return 1
	done
}

# ends_with WHAT TEXT
ends_with()
{
	on node2 sh -c '
		for i in $(seq 200); do [ -e "/proc/$(cat "/run/test-pid.$1")" ] || break; sleep 0.3; done
		tail -n 1 "/run/test-waited.$1"' sh "$1" >"$dir/ended" || return 1
	cat "$dir/ended"
	[ "$(<"$dir/ended")" = "$2" ]
}

dies()
{
	on node2 sh -c 'p=$(cat "/run/test-pid.$1"); kill -9 "$p"
		for i in $(seq 50); do [ -e /proc/$p ] || exit 0; sleep 0.2; done
		cat /proc/$p/stack; exit 1' sh "$1"
}

# opens_end FILE...: of each an open without answer ends, all at once.
opens_end()
{
	local file pids=()

	for file; do
		gets ETIMEDOUT read "$file" 0 >"$dir/open.${file##*/}" 2>&1 &
		pids+=($!)
	done
	wait_all "${pids[@]}" && return
	cat "$dir"/open.*
	return 1
}

# pins: a program of node 2 keeps all of the region in memory that it can.
pins()
{
	on node2 sh -c \
		"rm -f /run/test-pinned
		setsid $BAD pin /weft/pin 4194304 >/run/test-pinned 2>&1 </dev/null & echo \$! >/run/test-pid
		for i in \$(seq 200); do [ ! -s /run/test-pinned ] || exit 0; sleep 0.3; done; exit 1"
}

unpinned()
{
	on node2 sh -c '! kill -0 "$(cat /run/test-pid)"'
}

# stands_still: a program waits for room, which it does for 2 s, when the machine stands still for
# longer.  There is room as soon as it goes on: what counts is the time before that.
stands_still()
{
	local pid

	pins && ready load 1002 /weft/pin && pid=$(guest_pid node2) || return 1
	on node2 sh -c 'cat >/run/test-kills <<-"EOF"
			hundredths() { read -r now _ </proc/uptime; now=${now%.*}${now#*.}; }
			hundredths
			for i in $(seq 400); do
				was=$now
				sleep 0.05
				hundredths
				[ $((now - was)) -lt 200 ] || break
			done
			kill -9 "$(cat /run/test-pid)"
			[ $((now - was)) -lt 200 ] || echo "stood still for $((now - was)) hundredths of a second"
		EOF
		setsid sh /run/test-kills >/run/test-killed 2>&1 </dev/null &
		touch /run/test-go.load
		sleep 0.2' && kill -STOP "$pid" || return 1
	sleep 3
	kill -CONT "$pid"
	ends_with load ok && on node2 grep "stood still" /run/test-killed && return
	soon 30 unpinned
	# on a slow machine it may have waited for so long before
	[ "$(<"$dir/ended")" != SIGBUS ] || return $UNLUCKY
	return 1
}

# node2 has a cache of 1 MB, 256 pages.
all_pinned()
{
	check "a region for pinning" on node2 truncate -s 4M /weft/pin
	check "a program pins all that it can" pins
	note "pin: $(on node2 cat /run/test-pinned)"
	check "pinning ends with an error, near the cache's size" on node2 sh -c \
		'read -r why pages </run/test-pinned; [ "$why" != ok ] && [ "$pages" -ge 200 ] && [ "$pages" -le 256 ]'
	check "read: the cache is full" says "is full and everything in it" \
		gets ENOMEM read /weft/pin 1000
	check "load: the cache is full" gets SIGBUS load /weft/pin 1001
	check "the program that pins is killed" on node2 sh -c 'kill -9 "$(cat /run/test-pid)"'
	check "now there is room" gets ok read /weft/pin 1000
	still_works
	check "a machine that stands still has not waited for room" tries 3 stands_still
	check "the region goes" on node2 rm /weft/pin
}

# What waits does so at the same time, on pages that are not read ahead with each other.
cut_off()
{
	local what

	check "a region to wait for" on node1 truncate -s 4M /weft/wait
	check "node 2 knows it" gets ok read /weft/wait 1
	check "patience of a minute" weftctl set --timeout 60
	check "a program is about to load" ready load 110
	check "a program is about to read" ready read 210
	check "node 2 is cut off" rack wire cut node2
	check "both are told to" go load read
	check "they wait in it" wait_on 3 load read
	check "the load can be killed" dies load
	check "the read can be killed" dies read
	check "node 2 is back" rack wire heal node2
	check "load works again" gets ok load /weft/wait 110
	check "read works again" gets ok read /weft/wait 210
	check "patience of 3 seconds" weftctl set --timeout 3
	check "a program is about to load" ready load 500
	check "a program is about to read" ready read 600
	check "node 2 is cut off" rack wire cut node2
	check "both are told to" go load read
	check "a load that gets no answer ends" ends_with load SIGBUS
	check "a read that gets no answer ends" ends_with read ETIMEDOUT
	check "opens without answer end" opens_end /weft/none.500 /weft/none.600
	check "node 2 is back" rack wire heal node2
	check "the same load works" gets ok load /weft/wait 500
	check "the same read works" gets ok read /weft/wait 600
	check "patience as before" weftctl set --timeout 30
	still_works
}

permissions()
{
	local nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"

	check "root's file" on node1 sh -c 'echo secret >/weft/secret; chmod 600 /weft/secret'
	for what in "map" "read"; do
		check "another user may not $what it" on node2 sh -c \
			"[ \"\$($nobody $BAD $what /weft/secret 0)\" = EACCES ]"
	done
	# shellcheck disable=SC2086  # words
	check "nor chmod it" exits 1 'changing permissions of' on node2 \
		$nobody chmod 666 /weft/secret
	# shellcheck disable=SC2086  # words
	check "nor delete it" exits 1 'cannot remove' on node2 $nobody rm -f /weft/secret
	check "root lets others" on node1 chmod 666 /weft/secret
	check "now another user may map it" on node2 sh -c \
		"[ \"\$($nobody $BAD map /weft/secret)\" = ok ]"
	still_works
}

built "$BAD"
begin badinput
boot --nodes 3 --switch p4 --mem 512M --blade-mem ${BLADE_MB}M
mount_options
no_blade
same_id
too_large
all_pinned
cut_off
permissions
end_rack
finish
