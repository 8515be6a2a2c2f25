#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# weft-rack itself: guests, network, commands in them, and what happens when
# something goes wrong. Two racks beside each other, without weft in them:
#
#	rack A: node1 node2 mem1 -- switch	10.87.0.0/24
#	rack B: node1 mem1       -- switch	10.87.0.0/24 as well
#
# Prints a line a check.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

export WEFT_RACK_ACCEL=machine	# test-uml.sh has what user-mode kernels do otherwise
TOP=$(readlink -f .)
A=test-a-$$
B=test-b-$$
OWNER=""

# rack NAME ARGUMENT...: weft-rack for one rack; nothing may take for ever.
rack()
{
	local name=$1

	shift
	timeout -k 20 "$((${LIMIT:-60} * ${WEFT_TEST_SCALE:-1}))" "$TOP/tools/rack/weft-rack" --name "$name" "$@"
}

a()
{
	rack "$A" "$@"
}

b()
{
	rack "$B" "$@"
}

end_both()
{
	local name

	for name in "$A" "$B"; do
		rack "$name" down >/dev/null 2>&1
		rm -rf "${WEFT_RACK_DIR:-${XDG_RUNTIME_DIR:-/tmp}/weft-rack-$UID}/$name"
	done
}

# Processes of a rack; their command lines carry its name.
processes()
{
	pgrep -c -f -- "$1[-/]"
}

no_processes()
{
	[ "$(processes "$1")" = 0 ]
}

boot_both()
{
	sleep infinity &
	OWNER=$!
	LIMIT=300 b up --bare --nodes 1 --blades 1 --cpus 1 --mtu 1500 --owner "$OWNER" \
		>"$dir/up-b" 2>&1 &
	local up_b=$!
	LIMIT=300 a up --bare --nodes 2 --blades 1 >"$dir/up-a" 2>&1
	check "rack A comes up" equal 0 $?
	wait "$up_b"
	check "rack B comes up beside it" equal 0 $?
	[ "$failures" = 0 ] || { cat "$dir/up-a" "$dir/up-b"; exit 1; }
	check "status is well" a status
	check "a rack cannot come up twice" exits 125 '' a up --bare
}

commands()
{
	local i out sum

	check "a command's output" equal "node1" "$(a exec node1 -- hostname)"
	check "the blade is there" equal "mem1" "$(a exec mem1 hostname)"
	check "exit status 0" a exec node1 -- true
	check "exit status 37" exits 37 '' a exec node2 -- sh -c 'exit 37'
	# shellcheck disable=SC2016
	check "a command that a signal ends" exits 137 '' a exec node1 -- sh -c 'kill -9 $$'
	check "a program that is not there" exits 127 '' a exec node1 -- no-such-program
	check "a guest that is not there" exits 125 '' a exec node3 -- true
	check "a rack that is not there" exits 125 '' rack "no-$A" exec node1 -- true

	a exec node1 -- sh -c 'echo out; echo err >&2' >"$dir/out" 2>"$dir/err"
	check "standard output alone" equal out "$(cat "$dir/out")"
	check "standard error alone" equal err "$(cat "$dir/err")"
	check "arguments arrive as they are" equal "[a b] [] [*] [\$x]" \
		"$(a exec node1 -- sh -c 'printf "[%s] [%s] [%s] [%s]" "$@"' - 'a b' '' '*' "\$x")"
	check "variables arrive" equal "x y" "$(PROOF='x y' a exec node1 -- printenv PROOF)"
	check "the directory is the same" equal "$dir" "$(cd "$dir" && a exec node1 -- pwd)"
	check "programs and files of the host" equal "$(sha256sum "$TOP/tools/rack/weft-rack" /bin/bash)" \
		"$(a exec node1 -- sha256sum "$TOP/tools/rack/weft-rack" /bin/bash)"

	head -c 10000000 /dev/urandom >"$dir/big"
	sum=$(sha256sum <"$dir/big")
	check "10 MB in" equal "$sum" "$(a exec node1 -- sha256sum <"$dir/big")"
	check "10 MB out" equal "$sum" "$(a exec node1 -- cat "$dir/big" | sha256sum)"
	check "10 MB through, and back" equal "$sum" "$(a exec mem1 -- cat <"$dir/big" | sha256sum)"
	check "a reader that goes away" equal "y" "$(a exec node1 -- yes | head -n 1)"

	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		a exec "node$((i % 2 + 1))" -- sh -c "sleep 1; echo $i; exit $i" \
			>"$dir/many.$i" 2>&1 || echo $? >>"$dir/many.$i" &
	done
	out=""
	for i in $(jobs -p); do
		[ "$i" = "$OWNER" ] || wait "$i"
	done
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		[ "$(cat "$dir/many.$i")" = "$i"$'\n'"$i" ] || out+=" $i"
	done
	check "twelve commands at once" equal "" "$out"
	check "a command on all guests" equal "mem1: mem1 node1: node1 node2: node2" \
		"$(a exec all -- hostname | sort | tr '\n' ' ' | sed 's/ $//')"
	# shellcheck disable=SC2016  # expanded there
	check "the status of one of them" \
		exits 9 '' a exec nodes -- sh -c 'test "$(hostname)" = node1 || exit 9'
}

# Whether a process with this argument runs in node1.
runs()
{
	a exec node1 -- pgrep -f "^sleep $1\$"
}

signals()
{
	local client

	# The client itself, not timeout, so that it can be killed.
	"$TOP/tools/rack/weft-rack" --name "$A" exec node1 -- \
		sh -c 'timeout 700 sleep 7001; true' </dev/null &
	client=$!
	check "a command runs" soon 10 runs 7001
	kill -9 "$client"
	wait "$client" 2>/dev/null
	# pgrep's own answer: the way there may fail, too
	check "it ends when its client is killed" soon 10 exits 1 '' runs 7001

	"$TOP/tools/rack/weft-rack" --name "$A" exec node1 -- \
		sh -c 'trap "exit 9" TERM; sleep 7002 & wait' </dev/null &
	client=$!
	soon 10 runs 7002 >/dev/null
	kill -TERM "$client"
	wait "$client"
	check "a signal is passed on" equal 9 $?
}

guests()
{
	local before there after

	check "root of the guest can write" a exec node1 -- \
		touch "$dir/mark" /tmp/mark /run/mark /var/mark /usr/mark
	check "and the host sees nothing of it" [ ! -e "$dir/mark" ]
	check "nor does another guest" exits 1 '' a exec node2 -- test -e "$dir/mark"
	check "the source tree is read-only" exits 1 '' a exec node1 -- touch "$TOP/mark"
	echo late >"$dir/late"
	check "a new file of the host shows" equal late "$(a exec node1 -- cat "$dir/late")"
	echo later >"$dir/late"
	check "a changed one too" equal later "$(a exec node1 -- cat "$dir/late")"
	# shellcheck disable=SC2016  # expanded there
	check "file systems are mounted" equal "" "$(a exec node1 -- sh -c '
		for m in /proc /sys /dev /dev/pts /dev/shm /run /sys/kernel/debug /sys/kernel/tracing; do
			grep -q " $m " /proc/mounts || echo "$m"
		done')"
	check "modules load" a exec node1 -- modprobe -a udp_tunnel ip6_udp_tunnel
	before=$(date +%s)
	there=$(a exec node1 -- date +%s)
	after=$(date +%s)
	check "the time is right" [ "$there" -ge $((before - 3)) -a "$there" -le $((after + 3)) ]
}

# ping FROM TO [OPTION...]: a short one; status 1 if nothing comes back.
ping()
{
	local from=$1 to=$2

	shift 2
	a exec "$from" -- busybox ping -q -c 2 -W 3 "$@" "$to"
}

network()
{
	check "node1 reaches node2" ping node1 node2
	check "node2 reaches mem1" ping node2 10.87.0.101
	check "frames of 9000 bytes" ping mem1 node1 -s 8972
	check "mtu" equal 9000 "$(a exec node1 -- cat /sys/class/net/eth0/mtu)"
	check "mtu of rack B" equal 1500 "$(b exec node1 -- cat /sys/class/net/eth0/mtu)"
	check "address" equal 02:57:45:46:00:65 "$(a exec mem1 -- cat /sys/class/net/eth0/address)"
	check "rack B is a network of its own" \
		exits 1 '' b exec node1 -- busybox ping -q -c 1 -W 2 10.87.0.2
	check "and works" b exec node1 -- busybox ping -q -c 2 -W 3 mem1

	check "cut" a wire cut node2
	check "a cut node is not reached" exits 1 '' ping node1 node2
	check "but runs commands" equal node2 "$(a exec node2 -- hostname)"
	check "heal" a wire heal node2
	check "a healed node is reached" ping node1 node2
	check "all frames lost" a wire set loss 1
	check "nothing arrives" exits 1 '' ping node1 node2
	check "none lost" a wire set loss 0
	check "it arrives" ping node1 node2
	check "the switch counts" exits 0 '"node1"' a wire stats
	check "the switch knows no nonsense" eval '! a wire nonsense'
}

trouble()
{
	check "a warning of the kernel fails the command" \
		exits 125 '' a exec node1 -- sh -c 'echo "WARNING: CPU: 0 PID: 1 at test" >/dev/kmsg'
	check "and is shown" grep -F "kernel of node1 complains" "$dir/exits"
	check "the next command is well" a exec node1 -- true
	check "status tells" exits 125 '' a status
	check "the log has it" exits 0 "PID: 1 at test" a log node1

	check "a guest that panics fails the command" \
		exits 125 '' a exec node2 -- sh -c 'echo c >/proc/sysrq-trigger; sleep 30'
	check "and says so" grep -F "Kernel panic" "$dir/exits"
	check "it runs no commands" exits 125 '' a exec node2 -- true
	check "the others do" equal mem1 "$(a exec mem1 -- hostname)"
	LIMIT=300 check "it boots again" a boot node2
	check "and is reached again" ping mem1 node2
	check "kill" a kill node2
	check "a killed guest is not reached" exits 1 '' ping mem1 node2
}

ends()
{
	kill "$OWNER"
	check "rack B ends with its owner" soon 10 no_processes "$B"
	check "and says so" exits 125 '' b exec node1 -- true
	check "down, once more" b down
	check "down tells of trouble" exits 125 '' a down
	check "nothing of rack A runs" equal 0 "$(processes "$A")"
	check "down of what is down" rack "no-$A" down

	# The same name again, and guests that are not up in time: what is run in the place of the
	# agent reads a console at which nobody types, for ever, while without an init the kernel
	# panics.
	WEFT_RACK_BOOT_LIMIT=8 check "a guest that hangs at boot" exits 125 '' a up --bare --nodes 1 \
		--append rack.agent=/usr/bin/tee
	check "is reported" grep -F "node1 hangs: not up after 8 s" "$dir/exits"
	check "with its log" grep -F "end of " "$dir/exits"
	check "and does not stay" equal 0 "$(processes "$A")"
	LIMIT=240 check "a guest that panics at boot" exits 125 '' a up --bare --nodes 1 \
		--blades 0 --append rdinit=/none
	check "is told of before the time is up" grep -F "node1 ended while it booted" "$dir/exits"
	check "wrong options get a sentence" exits 125 '' a up --nodes 9
	check "which is" grep -F "must be from 1 to 8" "$dir/exits"
	check "blades are like the nodes, or fast" \
		exits 125 'is auto or fast' a up --bare --blade-accel uml
	WEFT_RACK_OPTIONS="--blades 2 --nodes 10" check "options in the environment" \
		exits 125 '' a up --bare --nodes 1
	check "count more than those" grep -F "not 10" "$dir/exits"
}

begin rack
at_exit end_both
boot_both
commands
signals
guests
network
trouble
ends
finish
