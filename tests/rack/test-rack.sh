#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# weft-rack itself: guests, network, commands in them, and what happens when
# something goes wrong. Two racks beside each other, without weft in them:
#
#	rack A: node1 node2 mem1 -- switch	10.87.0.0/24
#	rack B: node1 mem1       -- switch	10.87.0.0/24 as well
#
# Prints a line a check, ok or not ok; the exit status is 1 if one failed.

set -u

TOP=$(readlink -f "$(dirname "$0")/../..")
A=test-a-$$
B=test-b-$$
TMP=$(mktemp -d /tmp/test-rack.XXXXXX) || exit 1
OWNER=""
COUNT=0
FAILED=0

# rack NAME ARGUMENT...: weft-rack for one rack; nothing may take for ever.
rack()
{
	local name=$1

	shift
	timeout -k 20 "${LIMIT:-60}" "$TOP/tools/rack/weft-rack" --name "$name" "$@"
}

a()
{
	rack "$A" "$@"
}

b()
{
	rack "$B" "$@"
}

cleanup()
{
	trap - EXIT
	a down >/dev/null 2>&1
	b down >/dev/null 2>&1
	[ -z "$OWNER" ] || kill "$OWNER" 2>/dev/null
	rm -rf "$TMP" "${WEFT_RACK_DIR:-${XDG_RUNTIME_DIR:-/tmp}/weft-rack-$UID}"/"$A" \
		"${WEFT_RACK_DIR:-${XDG_RUNTIME_DIR:-/tmp}/weft-rack-$UID}"/"$B"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

# check WHAT WANTED FOUND
check()
{
	COUNT=$((COUNT + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $COUNT - $1"
	else
		FAILED=$((FAILED + 1))
		echo "not ok $COUNT - $1"
		printf 'wanted:\n%s\nfound:\n%s\n' "$2" "$3" | head -n 40 | sed 's/^/# /'
	fi
}

# status COMMAND...: only its exit status.
status()
{
	"$@" >"$TMP/status.out" 2>&1
	echo $?
}

# has TEXT FILE
has()
{
	grep -qF -- "$1" "$2" && echo yes || echo no
}

# within SECONDS COMMAND...: whether the command succeeds before that.
within()
{
	local end=$((SECONDS + $1))

	shift
	while [ $SECONDS -le $end ]; do
		if "$@" >/dev/null 2>&1; then
			echo yes
			return
		fi
		sleep 0.3
	done
	echo no
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
	sleep 600 &
	OWNER=$!
	LIMIT=300 b up --bare --nodes 1 --blades 1 --cpus 1 --mtu 1500 --owner "$OWNER" \
		>"$TMP/up-b" 2>&1 &
	local up_b=$!
	LIMIT=300 a up --bare --nodes 2 --blades 1 >"$TMP/up-a" 2>&1
	check "rack A comes up" 0 $?
	wait "$up_b"
	check "rack B comes up beside it" 0 $?
	[ $FAILED = 0 ] || { cat "$TMP/up-a" "$TMP/up-b"; exit 1; }
	check "status is well" 0 "$(status a status)"
	check "a rack cannot come up twice" 125 "$(status a up --bare)"
}

commands()
{
	local i out sum

	check "a command's output" "node1" "$(a exec node1 -- hostname)"
	check "the blade is there" "mem1" "$(a exec mem1 hostname)"
	check "exit status 0" 0 "$(status a exec node1 -- true)"
	check "exit status 37" 37 "$(status a exec node2 -- sh -c 'exit 37')"
	# shellcheck disable=SC2016
	check "a command that a signal ends" 137 "$(status a exec node1 -- sh -c 'kill -9 $$')"
	check "a program that is not there" 127 "$(status a exec node1 -- no-such-program)"
	check "a guest that is not there" 125 "$(status a exec node3 -- true)"
	check "a rack that is not there" 125 "$(status rack "no-$A" exec node1 -- true)"

	a exec node1 -- sh -c 'echo out; echo err >&2' >"$TMP/out" 2>"$TMP/err"
	check "standard output alone" out "$(cat "$TMP/out")"
	check "standard error alone" err "$(cat "$TMP/err")"
	check "arguments arrive as they are" "[a b] [] [*] [\$x]" \
		"$(a exec node1 -- sh -c 'printf "[%s] [%s] [%s] [%s]" "$@"' - 'a b' '' '*' "\$x")"
	check "variables arrive" "x y" "$(PROOF='x y' a exec node1 -- printenv PROOF)"
	check "the directory is the same" "$TMP" "$(cd "$TMP" && a exec node1 -- pwd)"
	check "programs and files of the host" "$(sha256sum "$TOP/tools/rack/weft-rack" /bin/bash)" \
		"$(a exec node1 -- sha256sum "$TOP/tools/rack/weft-rack" /bin/bash)"

	head -c 10000000 /dev/urandom >"$TMP/big"
	sum=$(sha256sum <"$TMP/big")
	check "10 MB in" "$sum" "$(a exec node1 -- sha256sum <"$TMP/big")"
	check "10 MB out" "$sum" "$(a exec node1 -- cat "$TMP/big" | sha256sum)"
	check "10 MB through, and back" "$sum" "$(a exec mem1 -- cat <"$TMP/big" | sha256sum)"
	check "a reader that goes away" "y" "$(a exec node1 -- yes | head -n 1)"

	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		a exec "node$((i % 2 + 1))" -- sh -c "sleep 1; echo $i; exit $i" \
			>"$TMP/many.$i" 2>&1 || echo $? >>"$TMP/many.$i" &
	done
	out=""
	for i in $(jobs -p); do
		[ "$i" = "$OWNER" ] || wait "$i"
	done
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		[ "$(cat "$TMP/many.$i")" = "$i"$'\n'"$i" ] || out+=" $i"
	done
	check "twelve commands at once" "" "$out"
	check "a command on all guests" "mem1: mem1 node1: node1 node2: node2" \
		"$(a exec all -- hostname | sort | tr '\n' ' ' | sed 's/ $//')"
	# shellcheck disable=SC2016  # expanded there
	check "the status of one of them" 9 \
		"$(status a exec nodes -- sh -c 'test "$(hostname)" = node1 || exit 9')"
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
	check "a command runs" yes "$(within 10 runs 7001)"
	kill -9 "$client"
	wait "$client" 2>/dev/null
	check "it ends when its client is killed" yes "$(within 10 eval '! runs 7001')"

	"$TOP/tools/rack/weft-rack" --name "$A" exec node1 -- \
		sh -c 'trap "exit 9" TERM; sleep 7002 & wait' </dev/null &
	client=$!
	within 10 runs 7002 >/dev/null
	kill -TERM "$client"
	wait "$client"
	check "a signal is passed on" 9 $?
}

guests()
{
	local host guest

	check "root of the guest can write" 0 "$(status a exec node1 -- \
		touch "$TMP/mark" /tmp/mark /run/mark /var/mark /usr/mark)"
	check "and the host sees nothing of it" no "$([ -e "$TMP/mark" ] && echo yes || echo no)"
	check "nor does another guest" 1 "$(status a exec node2 -- test -e "$TMP/mark")"
	check "the source tree is read-only" 1 "$(status a exec node1 -- touch "$TOP/mark")"
	echo late >"$TMP/late"
	check "a new file of the host shows" late "$(a exec node1 -- cat "$TMP/late")"
	echo later >"$TMP/late"
	check "a changed one too" later "$(a exec node1 -- cat "$TMP/late")"
	# shellcheck disable=SC2016  # expanded there
	check "file systems are mounted" "" "$(a exec node1 -- sh -c '
		for m in /proc /sys /dev /dev/pts /dev/shm /run /sys/kernel/debug /sys/kernel/tracing; do
			grep -q " $m " /proc/mounts || echo "$m"
		done')"
	check "modules load" 0 "$(status a exec node1 -- modprobe -a udp_tunnel ip6_udp_tunnel)"
	guest=$(a exec node1 -- date +%s)
	host=$(date +%s)
	check "the time is right" yes \
		"$([ $((host - guest)) -le 3 ] && [ $((guest - host)) -le 3 ] && echo yes || echo no)"
}

# ping FROM TO [OPTION...]: exit status of a short ping.
ping()
{
	local from=$1 to=$2

	shift 2
	status a exec "$from" -- busybox ping -q -c 2 -W 3 "$@" "$to"
}

network()
{
	check "node1 reaches node2" 0 "$(ping node1 node2)"
	check "node2 reaches mem1" 0 "$(ping node2 10.87.0.101)"
	check "frames of 9000 bytes" 0 "$(ping mem1 node1 -s 8972)"
	check "mtu" 9000 "$(a exec node1 -- cat /sys/class/net/eth0/mtu)"
	check "mtu of rack B" 1500 "$(b exec node1 -- cat /sys/class/net/eth0/mtu)"
	check "address" 02:57:45:46:00:65 "$(a exec mem1 -- cat /sys/class/net/eth0/address)"
	check "rack B is a network of its own" 1 \
		"$(status b exec node1 -- busybox ping -q -c 1 -W 2 10.87.0.2)"
	check "and works" 0 "$(status b exec node1 -- busybox ping -q -c 2 -W 3 mem1)"

	check "cut" 0 "$(status a wire cut node2)"
	check "a cut node is not reached" 1 "$(ping node1 node2)"
	check "but runs commands" node2 "$(a exec node2 -- hostname)"
	check "heal" 0 "$(status a wire heal node2)"
	check "a healed node is reached" 0 "$(ping node1 node2)"
	check "all frames lost" 0 "$(status a wire set loss 1)"
	check "nothing arrives" 1 "$(ping node1 node2)"
	check "none lost" 0 "$(status a wire set loss 0)"
	check "it arrives" 0 "$(ping node1 node2)"
	check "the switch counts" yes "$(a wire stats | grep -q '"node1"' && echo yes || echo no)"
	check "the switch knows no nonsense" no \
		"$([ "$(status a wire nonsense)" = 0 ] && echo yes || echo no)"
}

trouble()
{
	check "a warning of the kernel fails the command" 125 \
		"$(status a exec node1 -- sh -c 'echo "WARNING: CPU: 0 PID: 1 at test" >/dev/kmsg')"
	check "and is shown" yes "$(has "kernel of node1 complains" "$TMP/status.out")"
	check "the next command is well" 0 "$(status a exec node1 -- true)"
	check "status tells" 125 "$(status a status)"
	check "the log has it" yes \
		"$(a log node1 | grep -q "PID: 1 at test" && echo yes || echo no)"

	check "a guest that panics fails the command" 125 \
		"$(status a exec node2 -- sh -c 'echo c >/proc/sysrq-trigger; sleep 30')"
	check "and says so" yes "$(has "Kernel panic" "$TMP/status.out")"
	check "it runs no commands" 125 "$(status a exec node2 -- true)"
	check "the others do" mem1 "$(a exec mem1 -- hostname)"
	check "it boots again" 0 "$(LIMIT=300 status a boot node2)"
	check "and is reached again" 0 "$(ping mem1 node2)"
	check "kill" 0 "$(status a kill node2)"
	check "a killed guest is not reached" 1 "$(ping mem1 node2)"
}

ends()
{
	kill "$OWNER"
	check "rack B ends with its owner" yes "$(within 10 no_processes "$B")"
	check "and says so" 125 "$(status b exec node1 -- true)"
	check "down, once more" 0 "$(status b down)"
	check "down tells of trouble" 125 "$(status a down)"
	check "nothing of rack A runs" 0 "$(processes "$A")"
	check "down of what is down" 0 "$(status rack "no-$A" down)"

	# The same name again, and guests that are not up in time.
	check "a guest that hangs at boot" 125 "$(WEFT_RACK_BOOT_LIMIT=8 status a up --bare --nodes 1 \
		--append rdinit=/bin/cat)"
	check "is reported" yes "$(has "node1 hangs: not up after 8 s" "$TMP/status.out")"
	check "with its log" yes "$(has "end of " "$TMP/status.out")"
	check "and does not stay" 0 "$(processes "$A")"
	check "wrong options get a sentence" 125 "$(status a up --nodes 9)"
	check "which is" yes "$(has "must be from 1 to 8" "$TMP/status.out")"
	check "options in the environment" 125 "$(WEFT_RACK_OPTIONS="--blades 2 --nodes 10" \
		status a up --bare --nodes 1)"
	check "count more than those" yes "$(has "not 10" "$TMP/status.out")"
}

boot_both
commands
signals
guests
network
trouble
ends
echo "$((COUNT - FAILED)) of $COUNT checks are well, $SECONDS s"
[ $FAILED = 0 ]
