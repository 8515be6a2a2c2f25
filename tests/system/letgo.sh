#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What is let go, who waits for it, and who hears of what is lost:
#
#	node1 node2 mem1 -- switch
#
# Programs close files and open one while the blade says nothing: nobody waits unless it
# must, and who waits can be killed.  The blade begins a new life, and a node needs longer
# than 15 s to give its blocks back: none is lost.  A node is cut off meanwhile: what it
# loses is in its log, its counters and its events.  A node unmounts while the blade says
# nothing.  Then two blades,
#
#	node1 mem1 mem2 -- switch
#
# of which one begins a new life and is cut off, and the other one begins one after that.
#
#	tests/system/letgo.sh [PART...]		(leaving slow cut_off unmount two_blades)
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

LETGO=$BUILD/tests/system-letgo
FILES=8
BLOCKS=16		# modified of each
CLOSE_MS=$((8000 * SCALE))	# to close all of them: one time-out is 30 s
NAMES=320		# files whose times the blade is to be told
# To unmount with them: each region's block is offered once, and that takes 16 s where a second
# has 100 ticks.  To tell the times, 16 at a time, 2 s each, would take 40 s more.
NAMES_MS=$((20000 + 10000 * SCALE))
KILL_S=$((4 * SCALE))	# to end a program that was killed
SLOW_BLOCKS=4096	# that go home 64 at a time, each turn takes two DELAY_US
DELAY_US=200000

# in_background NODE NAME COMMAND...: its output goes to /run/test-NAME there.
in_background()
{
	on "$1" bash -c 'name=$1; shift; rm -f "/run/test-$name"
		setsid "$@" >"/run/test-$name" 2>&1 </dev/null & echo $! >"/run/test-$name.pid"' \
		bash "${@:2}"
}

# said NODE NAME TEXT [SECONDS]: its output has this, or will soon.
said()
{
	on "$1" bash -c 'for ((i = 0; i < $3 * 5; i++)); do
			! grep -qE -- "$2" "/run/test-$1" || exit 0
			sleep 0.2
		done
		cat "/run/test-$1"
		exit 1' bash "$2" "$3" "${4-30}"
}

# signal NODE NAME SIGNAL
signal()
{
	on "$1" bash -c 'kill "-$2" "$(<"/run/test-$1.pid")"' bash "$2" "$3"
}

# waits NODE NAME: it is in the kernel, and no system call but open() makes it wait there.
waits()
{
	on "$1" bash -c 'grep -E "^State:[[:blank:]]*[SD]" "/proc/$(<"/run/test-$1.pid")/status"' \
		bash "$2"
}

# listens NODE NAME: events are in its output.
listens()
{
	on "$1" sh -c ': >/weft/test-mark && rm /weft/test-mark && sleep 0.1 &&
		grep test-mark "/run/test-$1"' sh "$2"
}

# gone NODE NAME SECONDS: it has ended, or will soon.
gone()
{
	on "$1" bash -c 'pid=$(<"/run/test-$1.pid")
		for ((i = 0; i < $2 * 10; i++)); do
			[ -e "/proc/$pid" ] && ! grep -q "^State:.Z" "/proc/$pid/status" || exit 0
			sleep 0.1
		done
		grep State "/proc/$pid/status"; cat "/proc/$pid/stack"
		exit 1' bash "$2" "$3"
}

# blocks_lost NODE
blocks_lost()
{
	counters "$1" | awk '$1 == "node.counters.blocks_lost" { print $2 }'
}

# closed_soon NAME: closing did not wait for the blade.
closed_soon()
{
	said node1 "$1" '^closed' 60 || return 1
	on node1 cat "/run/test-$1"
	[ "$(on node1 sed -n 's/^closed //p' "/run/test-$1")" -le "$CLOSE_MS" ]
}

# regions N: so many are known to the blade, soon.
regions()
{
	local i

	for ((i = 0; i < 60 * SCALE; i++)); do
		[ "$(counters node2 memory | awk '$1 == "memory.total.regions" { print $2 }')" \
			!= "$1" ] || return 0
		sleep 1
	done
	counters node2 memory | grep regions
	return 1
}

# says TEXT [BLADE]: the blade has logged it, or will soon.
says()
{
	on "${2-mem1}" timeout $((90 * SCALE)) bash -c \
		'tail -n +1 -f "$1" | grep -qEm 1 -- "$2"' bash /var/log/weft-memd.log "$1" && return
	on "${2-mem1}" cat /var/log/weft-memd.log
	return 1
}

# restart_memd [BLADE]: SIGKILL, and the same command again.
restart_memd()
{
	on "${1-mem1}" bash -c '
		pid=$(pgrep -x weft-memd) || exit 1
		mapfile -d "" -t args <"/proc/$pid/cmdline"
		exe=$(readlink "/proc/$pid/exe")
		kill -KILL "$pid"
		while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
		case " ${args[*]} " in *" --background "*) ;; *) args+=(--background) ;; esac
		"$exe" "${args[@]:1}" >/var/log/weft-memd.log 2>&1'
}

# --- a blade that says nothing ----------------------------------------------

leaving()
{
	check "a region that node 1 did not open" on node2 touch /weft/other
	check "node 1 finds it" in_background node1 reopen "$LETGO" reopen /weft/other /run/test-go
	check "a program with files without names" in_background node1 clean \
		"$LETGO" hold /weft "$FILES" 0
	check "another one, which has modified some" in_background node1 dirty \
		"$LETGO" hold /weft "$FILES" "$BLOCKS"
	check "one that has modified a file with a name" in_background node1 named \
		"$LETGO" name /weft/named
	check "all have begun" eval 'said node1 clean ready && said node1 dirty ready &&
		said node1 named ready && said node1 reopen ready'
	check "the blade stops" on mem1 pkill -STOP -x weft-memd
	check "the first is told to close its files" signal node1 clean USR1
	check "closing did not wait for the blade" closed_soon clean
	check "the region is opened" eval 'on node1 touch /run/test-go && said node1 reopen opens'
	check "that waits for the blade" soon 30 waits node1 reopen
	check "who opens it is killed" signal node1 reopen KILL
	check "and ends" gone node1 reopen "$KILL_S"
	check "the second is told to close its files" signal node1 dirty USR1
	check "that did not wait either" closed_soon dirty
	check "the third is killed" signal node1 named KILL
	check "and ends" gone node1 named "$KILL_S"
	check "the blade goes on" on mem1 pkill -CONT -x weft-memd
	check "the blade hears that the files are closed" regions 2
	check "nothing is lost" equal 0 "$(blocks_lost node1)"
	# that of node 1 was carried out when nobody waited for it any more
	check "node 2 unlinks what was opened" on node2 rm /weft/other
	check "the blade hears that this is closed, too" regions 1
}

# --- a node that needs long --------------------------------------------------

sum_is()
{
	[ "$(on "$1" sha256sum "/weft/$2" | cut -d' ' -f1)" = "${sum%% *}" ]
}

slow()
{
	check "node 1 modifies $SLOW_BLOCKS blocks" on node1 dd if="$dir/slow" of=/weft/slow \
		bs=1M status=none
	check "the network becomes slow" faults delay "$DELAY_US"
	check "the blade is killed and started again" restart_memd
	check "it waits for node 1" says 'waiting for node 1 .*blocks came'
	check "it waits longer than 15 s, and serves" says 'at home after (1[6-9]|[2-9][0-9]|1[0-9][0-9])[0-9]{3} ms'
	check "the network is quick again" faults delay 0
	check "node 2 reads all that node 1 had modified" sum_is node2 slow
	check "nothing was lost" equal 0 "$(blocks_lost node1)"
}

# --- a node that is cut off ----------------------------------------------------

lost_on_node2()
{
	local i

	for ((i = 0; i < 60 * SCALE; i++)); do
		on node2 dmesg >"$dir/dmesg" && grep -q "$1" "$dir/dmesg" && return
		sleep 1
	done
	on node2 dmesg | tail
	return 1
}

cut_off()
{
	check "node 1 writes a region home" on node1 sh -c \
		'head -c 65536 /dev/zero >/weft/read && sync /weft/read'
	check "node 2 reads it" on node2 dd if=/weft/read of=/dev/null bs=64K status=none
	check "node 2 modifies another one" on node2 dd if=/dev/zero of=/weft/written bs=32K \
		count=1 status=none
	check "somebody is to listen on node 2" in_background node2 events "$BIN/weftctl" -j monitor
	check "and does" soon 60 listens node2 events
	check "node 2 is cut off" rack wire cut node2
	check "the blade is killed and started again" restart_memd
	check "it gives node 2 up" says 'node 2 .*does not give its blocks back'
	# What the blade sent before that waits for node 2's address, for 3 s at most: a RENEW
	# among it would have node 2 drop unmodified blocks before it hears that it is late.
	check "that time passes at the blade" on mem1 sh -c 'for i in 1 2 3 4; do sleep 1; done'
	check "nothing waits for its address any more" soon 20 on mem1 sh -c \
		'ip neigh show 10.87.0.2 >/run/test-neigh || exit
		grep INCOMPLETE /run/test-neigh; [ $? = 1 ]'
	check "node 2 is back" rack wire heal node2
	check "its log says what was modified" lost_on_node2 '8 modified blocks are lost'
	check "its log says what was not" lost_on_node2 '16 unmodified blocks are dropped'
	check "it is told to who listens" said node2 events '"event":"blocks_lost".*"count":8\b'
	check "it is counted" equal 8 "$(blocks_lost node2)"
	check "node 2 goes on" on node2 sh -c 'echo more >/weft/more && cat /weft/read >/dev/null'
}

# --- an unmount while the blade says nothing --------------------------------------

unmounts_in_time()
{
	local ms

	# shellcheck disable=SC2016
	ms=$(on node1 bash -c 'begin=$(date +%s%N); umount /weft &&
		echo $((($(date +%s%N) - begin) / 1000000))') || return 1
	echo "$ms ms"
	[ "$ms" -le "$NAMES_MS" ]
}

unmount()
{
	check "a program writes to $NAMES files" in_background node1 names "$LETGO" names /weft "$NAMES"
	check "all are home" said node1 names ready 100
	check "programs wait for 2 s from now on" on node1 "$BIN/weftctl" set --timeout 2
	check "the blade stops" on mem1 pkill -STOP -x weft-memd
	check "the program is killed" signal node1 names KILL
	check "and ends" gone node1 names "$KILL_S"
	check "node 1 unmounts in $NAMES_MS ms" unmounts_in_time && note "$(tail -n 1 "$dir/check")"
	check "the blade goes on" on mem1 pkill -CONT -x weft-memd
}

# --- a blade that waits for another one's turn --------------------------------------

# Half of the blocks are those of the first blade.
two_blades()
{
	check "node 1 modifies $SLOW_BLOCKS blocks" on node1 dd if="$dir/slow" of=/weft/slow \
		bs=1M status=none
	check "the network becomes slow" faults delay "$DELAY_US"
	check "the second blade is killed and started again" restart_memd mem2
	check "it gets blocks" says 'waiting for node 1 .*[1-9][0-9]* blocks came' mem2
	check "it is cut off" rack wire cut mem2
	check "the network is quick again" faults delay 0
	check "the first blade is killed and started again" restart_memd
	check "it serves" says 'nodes are served'
	check "it did not give node 1 up" exits 1 '' on mem1 \
		grep "does not give its blocks back" /var/log/weft-memd.log
	check "the second one is back" rack wire heal mem2
	check "it serves, too" says 'nodes are served' mem2
}

[ $# -gt 0 ] || set -- leaving slow cut_off unmount two_blades
for part; do
	[[ $part == @(leaving|slow|cut_off|unmount|two_blades) ]] ||
		{ echo "$0: there is no part '$part'" >&2; exit 2; }
done
built "$LETGO"
begin letgo
head -c "$((SLOW_BLOCKS * 4))K" /dev/urandom >"$dir/slow"
sum=$(sha256sum <"$dir/slow")
if [[ " $* " != " two_blades " ]]; then
	boot --nodes 2 --switch none --mem 512M --memd-options "--backing /root/blade"
	for part; do
		[ "$part" = two_blades ] || $part
	done
	end_rack
fi
if [[ " $* " == *" two_blades "* ]]; then
	boot --nodes 1 --blades 2 --switch none --mem 512M --memd-options "--backing /root/blade"
	two_blades
	end_rack
fi
finish
