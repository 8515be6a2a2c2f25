# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the scripts share that run in a guest, where a command may be given for one of several
# racks; sourced by those beside it after tests/tap.sh, at the top of the tree:
#
#	ctl ARGUMENT...		weftctl; then good, has TEXT, says SENTENCE
#	counter RACK NAME	of this node
#
# And a memory blade inside the guest: it is in a network namespace of its own, at a bridge
# that interfaces of the guest lead to.
#
#	inside_begin ADDRESS NAME=ADDRESS...	its address; interfaces of the guest, theirs
#	inside_blade RACK LOG			what it says goes to LOG
#	inside COMMAND...			where it is
#	inside_end
#
# Environment: BUILD; WEFT_TEST_SCALE.

SCALE=${WEFT_TEST_SCALE:-1}
# shellcheck disable=SC2154  # dir: begin() of tests/tap.sh
weftctl=$BUILD/bin/weftctl

# ctl: output in out and err, status in rc.
ctl()
{
	timeout $((60 * SCALE)) "$weftctl" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	rc=$?
}

good()	{ [ "$rc" = 0 ] && [ ! -s "$dir/err" ]; }
has()	{ good && grep -qF -- "$1" "$dir/out"; }
says()	{ [ "$rc" = 2 ] && equal "$1" "$(cat "$dir/err")"; }

# counter RACK NAME
counter()
{
	"$weftctl" --rack "$1" -j stats node | awk -f tools/demo/counters.awk |
		awk -v name="node.counters.$2" '$1 == name { print $2 }'
}

inside_pid=

inside()
{
	nsenter -t "$inside_pid" -n "$@"
}

inside_begin()
{
	local address=$1 cable name

	shift
	modprobe -a veth bridge
	setsid unshare -n sleep 100000 &
	inside_pid=$!
	for _ in {1..300}; do
		[ "$(readlink "/proc/$inside_pid/ns/net")" = "$(readlink /proc/self/ns/net)" ] || break
		sleep 0.1
	done
	inside ip link set lo up
	# Of its own: else a bridge has the lowest of its ports', so that its own changes when
	# one goes, and who has asked for it before speaks to nobody for half a minute.
	inside ip link add name middle address 02:57:45:46:01:00 type bridge
	inside ip link set middle mtu 9000 up
	inside ip addr add "$address/24" dev middle
	for cable; do
		name=${cable%%=*}
		ip link add "$name" type veth peer name "to$name" netns "$inside_pid"
		inside ip link set "to$name" mtu 9000 master middle up
		ip addr add "${cable#*=}/24" dev "$name"
		ip link set "$name" mtu 9000 up
	done
}

# inside_blade RACK LOG: it serves.
inside_blade()
{
	inside setsid "$BUILD/bin/weft-memd" --id 33 --interface middle --rack "$1" \
		--memory 64M --switch none </dev/null >"$2" 2>&1 &
	for _ in {1..300}; do
		grep -q ':12B9 ' "/proc/$inside_pid/net/udp" && return 0
		sleep 0.1
	done
	return 1
}

# The blade is in a session of its own and ends with the guest.
inside_end()
{
	kill "$inside_pid"
}
