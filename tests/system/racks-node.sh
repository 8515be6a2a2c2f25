#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The part of racks.sh that runs on node 1, where /weft is of rack 0:
#
#	racks-node.sh BUILD ZERO FIVE
#
# ZERO and FIVE are what the region "same" has in rack 0 and in rack 5.  At the end node 1
# is in rack 0 as in the beginning.  Run at the top of the tree.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail

. tests/tap.sh

BUILD=$1
zero=$2
five=$3
module=$BUILD/kmod/$(uname -r)/weft.ko
ambiguous="weftctl: this machine is in several racks: say which one by --rack, 'weftctl rack' lists them"
# shellcheck source=tests/system/inside.sh
. tests/system/inside.sh
begin racks-node /run

# details: of the last command.
details()
{
	cat "$dir/out" "$dir/err"
	dmesg | tail -n 5
}

# numbers: of the racks that this machine is in.
numbers()
{
	"$weftctl" rack | sed 1d | awk '{ print $1 }' | paste -sd ' '
}

# refused ERRNO-TEXT SENTENCE COMMAND...: mount fails, and the kernel's log says why.
refused()
{
	local errno=$1 sentence=$2 said

	shift 2
	said=$(timeout $((60 * SCALE)) "$@" 2>&1) && return 1
	echo "$said"
	[[ $said == *"$errno"* || $said == *"$sentence"* ]] &&
		{ [[ $said == *"$sentence"* ]] || dmesg | tail -n 3 | grep -qF -- "$sentence"; }
}

same_as()
{
	[ "$(sha256sum <"$1")" = "$(sha256sum <"$2")" ]
}

# store DIRECTORY: a key-value store with locks, loaded, used and checked.
store()
{
	timeout $((60 * SCALE)) "$BUILD/bin/weft-kvs" create "$1/store" --buckets 64 &&
		timeout $((60 * SCALE)) "$BUILD/bin/weft-kvs" load "$1/store" --records 200 &&
		timeout $((60 * SCALE)) "$BUILD/bin/weft-kvs" bench "$1/store" --workload a --seconds 1 &&
		timeout $((60 * SCALE)) "$BUILD/bin/weft-kvs" check "$1/store"
}

# --- Another rack ----------------------------------------------------------------

# A machine that is not of rack 0: its blade runs in this kernel, behind a cable.
modprobe dummy
inside_begin 10.5.0.101 five=10.5.0.1
check "the other rack has a blade" inside_blade 5 "$dir/memd"

check "in one rack" [ "$(numbers)" = 0 ]
up5=(up --rack 5 --node 9 --homes 10.5.0.101 --interface)
ctl "${up5[@]}" eth0
check "not by the interface of another rack" says "weftctl: the module refuses: another rack of this machine uses the interface: give each rack one of its own, a VLAN or macvlan device will do"
check "nothing has changed" [ "$(numbers)" = 0 ]
ctl "${up5[@]}" five;		check "up in another rack" good
ctl "${up5[@]}" five
check "twice" says "weftctl: the node is set up already: run 'weftctl down' first, or 'weftctl set' to tune it"
check "in both" [ "$(numbers)" = "0 5" ]
for command in status stats down "down --unmount" "set --hold 1" region; do
	# shellcheck disable=SC2086  # words
	ctl $command;		check "which rack is to be said: $command" says "$ambiguous"
done
check "rack 0 is still mounted" mountpoint -q /weft

# --- Two file systems ------------------------------------------------------------------

mkdir -p /weft5
check "mount must say which" refused "not unique" "this machine is in several racks: say which one with -o rack=NUMBER" \
	mount -t weft none /weft5
check "mount: a rack that is not there" refused "not connected" "rack=6: this machine is no node of this rack" \
	mount -t weft -o rack=6 none /weft5
check "mount: no number" eval '! mount -t weft -o rack=five none /weft5'
check "mount of rack 5" mount -t weft -o rack=5,cache=16M none /weft5
check "/proc/mounts says which is which" [ "$(awk '$3 == "weft" { match($4, /rack=[0-9]+/);
	print $2, substr($4, RSTART, RLENGTH) }' /proc/mounts | sort | paste -sd ' ')" = \
	"/weft rack=0 /weft5 rack=5" ]
check "remount cannot move it" eval '! mount -o remount,rack=0 /weft5'
check "remount of rack 5" mount -o remount,cache=8M /weft5
ctl --rack 5 status -j;		check "is of rack 5 only" has '"max_bytes":8388608}'
ctl --rack 0 status -j;		check "rack 0 stays as it is" has '"max_bytes":16777216}'
ctl rack
check "weftctl rack" [ "$(sed 1d "$dir/out" | awk '{ print $1, $2, $3, $5, $6 }' | paste -sd ' ')" = \
	"0 1 eth0 joined /weft 5 9 five joined /weft5" ]

check "a region of rack 0" cp "$zero" /weft/same
check "one with its name in rack 5" cp "$five" /weft5/same
check "rack 0 has its own" same_as "$zero" /weft/same
check "rack 5 has its own" same_as "$five" /weft5/same
ctl --rack 5 region;		check "rack 5 knows one region" [ "$(sed 1d "$dir/out" | wc -l)" = 1 ]

reads=$(counter 0 read_bytes)
check "what rack 5 has read" [ "$(counter 5 read_bytes)" = $((2 << 20)) ]
check "rack 0 reads" cp /weft/same "$dir/copy"
check "which is counted there" [ $(($(counter 0 read_bytes) - reads)) = $((2 << 20)) ]
check "and not in rack 5" [ "$(counter 5 read_bytes)" = $((2 << 20)) ]

"$weftctl" -j monitor -n 2 -t 30 >"$dir/events" &
listening=$!
for _ in {1..50}; do
	awk -v pid="$listening" '$2 == 16 && $3 % 4194304 == pid && $4 !~ /^0*$/ { found = 1 }
		END { exit !found }' /proc/net/netlink && break
	sleep 0.2
done
touch /weft5/made /weft/created
wait $listening
check "events say which rack" [ "$(sed 's/.*"rack":\([0-9]*\),"event":"\([a-z_]*\)".*"name":"\([a-z]*\)".*/\1 \2 \3/' \
	"$dir/events" | paste -sd ' ')" = "5 region_created made 0 region_created created" ]

store /weft5 >"$dir/store5" 2>&1 &
other=$!
check "locks of rack 0" store /weft
check "locks of rack 5 meanwhile" wait $other

# --- Leaving one while the other works --------------------------------------------------

# writes: to rack 0 until there is a file "stop"; as often as it says.
writes()
{
	local n=0

	until [ -e "$dir/stop" ]; do
		n=$((n + 1))
		echo $n >>/weft/busy || return 1
	done
	echo $n >"$dir/written"
}

# A list that is read slowly: its reader has more than a pipe holds.
check "many blocks in rack 5" dd if=/dev/zero of=/weft5/many bs=64K count=96 status=none
mkfifo "$dir/slow"
"$weftctl" --rack 5 -j line show >"$dir/slow" &
list=$!
exec 7<"$dir/slow"
read -r -N 100 -u 7 _
writes &
writer=$!
ctl --rack 5 down
check "not while it is mounted" says "weftctl: the node cannot go down while weft is mounted: 'umount /weft5' first"
check "unmounting rack 5" timeout $((60 * SCALE)) umount /weft5
ctl --rack 5 down;		check "leaving rack 5" good
check "in rack 0 only" [ "$(numbers)" = 0 ]
ctl status -j;			check "which need not be said any more" has '"node":1,"rack":0,'
check "the list has not ended" kill -0 $list
cat <&7 >"$dir/rest"
exec 7<&-
check "and ends well" wait $list
sleep 1
touch "$dir/stop"
check "rack 0 has worked all the time" wait $writer
check "all was written" [ "$(tail -n 1 /weft/busy)" = "$(cat "$dir/written")" ]

# --- Coming back, and leaving the other one -------------------------------------------------

ctl "${up5[@]}" five --mount /weft5; check "up again, and mounted at once" good
check "what rack 5 had" same_as "$five" /weft5/same
check "its counters began anew" [ "$(counter 5 read_bytes)" = $((2 << 20)) ]
check "unmounting rack 0" timeout $((60 * SCALE)) umount /weft
ctl --rack 0 down;		check "leaving rack 0" good
check "rack 5 is the only one" [ "$(numbers)" = 5 ]
check "what it has" same_as "$five" /weft5/same
mkdir -p /again
check "the only one need not be said" mount -t weft none /again
check "it is the same file system" same_as "$five" /again/same
umount /again

# Both of them, again and again, while others look.
look()
{
	until [ -e "$dir/enough" ]; do
		"$weftctl" rack
		"$weftctl" --rack 0 stats
		"$weftctl" --rack 0 line show
		"$weftctl" --rack 0 status
	done >/dev/null 2>&1
}

come_and_go()
{
	local i

	for ((i = 0; i < 8; i++)); do
		timeout $((60 * SCALE)) "$weftctl" up --node 1 --interface eth0 --homes 10.87.0.101 --mount /weft &&
			same_as "$zero" /weft/same && same_as "$five" /weft5/same &&
			timeout $((60 * SCALE)) umount /weft && timeout $((60 * SCALE)) "$weftctl" --rack 0 down || return 1
	done
}

look &
looker=$!
check "rack 0 comes and goes while others look" come_and_go
touch "$dir/enough"
wait $looker
ctl up --node 1 --interface eth0 --homes 10.87.0.101
check "up in rack 0" good

# --- As many as there can be ----------------------------------------------------------------

for n in 1 2 3 4 6 7 8; do
	ip link add "dummy$n" type dummy && ip addr add "10.9.$n.1/24" dev "dummy$n" &&
		ip link set "dummy$n" up
done
for n in 1 2 3 4 6 7; do
	ctl up --rack $n --node 1 --homes 10.9.$n.2 --interface dummy$n
	good || break
done
check "8 racks" good
check "all of them" [ "$(numbers)" = "0 1 2 3 4 5 6 7" ]
ctl up --rack 8 --node 1 --homes 10.9.8.2 --interface dummy8
check "one rack too many" says "weftctl: the module refuses: this machine is in 8 racks already, as many as there can be: take one down first"
ctl --rack 3 down;		check "one goes" good
ctl up --rack 8 --node 1 --homes 10.9.8.2 --interface dummy8
check "so there is room" good
ctl up --rack 3 --node 1 --homes 10.9.3.2 --interface dummy3
check "for one only" says "weftctl: the module refuses: this machine is in 8 racks already, as many as there can be: take one down first"

# --- The module goes ------------------------------------------------------------------------

check "not while one of them is mounted" eval '! rmmod weft'
check "unmounting rack 5" timeout $((60 * SCALE)) umount /weft5
check "8 racks go with it" timeout $((60 * SCALE)) rmmod weft
check "the port is free" eval '! grep -q ":12B9 " /proc/net/udp'
check "nobody is in the group" eval '! grep -q 464557EF /proc/net/igmp'
check "it is loaded again" insmod "$module"
ctl rack;			check "in no rack" has "this machine is in no rack"
ctl up --node 1 --interface eth0 --homes 10.87.0.101 --mount /weft
check "up in rack 0" good
check "what rack 0 had" same_as "$zero" /weft/same
ctl up --rack 3 --node 1 --homes 10.9.3.2 --interface dummy3
check "and in rack 3" good
ctl down --unmount;		check "which one is it to leave?" says "weftctl: this machine is in several racks: say which one by --rack, 'weftctl rack' lists them"
ctl down --all;			check "all of them" good
check "nothing is mounted" eval '! grep -q " weft " /proc/mounts'
ctl rack;			check "in no rack any more" has "this machine is in no rack"
ctl down --all;			check "which is no reason to complain" good
inside_end
finish
