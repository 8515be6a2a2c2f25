#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# weftctl doctor in a rack with all its parts: two nodes, two memory blades, the
# directory in the switch.  Nothing is wrong at first; then one fault after the other is
# planted, found by its name, its sentence and its remedy, and mended, mostly by the
# remedy.
#
# As tests/system/common.sh; KVER is the kernel of the module.

# Functions are called by check; what stands in quotes after "holds" is Perl's, other
# quoted text is for shells in guests.
# shellcheck disable=SC2016,SC2317,SC2329
set -u
cd "$(dirname "$0")/../.." || exit 2

# shellcheck source=tests/ctl/rack.sh
. tests/ctl/rack.sh

BAD=$BUILD/tests/system-badinput
FORGER=$BUILD/tests/system-forger
CONF=/etc/weft/weft.conf

# done_on GUEST COMMAND...: it must succeed, and is no check of its own.
done_on(){ run "$@"; [ "$rc" = 0 ] || check "$*" false; }

# diagnose GUEST [OPTION...]: doctor; again if a round trip was long, which it may well be
# on a machine that does other things besides, for 30 s at most.
diagnose()
{
	local end=$((SECONDS + 30 * SCALE))

	ctl "$1" doctor "${@:2}"
	while grep -q round_trip "$dir/out" && [ "$SECONDS" -lt "$end" ]; do
		echo "# a round trip was long"
		sleep 1
		ctl "$1" doctor "${@:2}"
	done
}

# clean GUEST: nothing is found there, or soon nothing more.
clean(){ soon 30 is_clean "$1"; }
is_clean()
{
	diagnose "$1"
	good && [ "$(cat "$dir/out")" = "nothing found" ]
}

# finds GUEST NAME PROBLEM REMEDY: doctor says so, or soon does; both are extended regular
# expressions.
finds(){ soon 20 found "$@"; }
found()
{
	if [ "$2" = round_trip ]; then ctl "$1" doctor; else diagnose "$1"; fi
	[ "$rc" = 3 ] && [ ! -s "$dir/err" ] && grep -qE "^$2: $3: $4\$" "$dir/out"
}

# finds_only GUEST NAME PROBLEM REMEDY [NAME...]: that, and else nothing but these.
finds_only(){ soon 20 found_only "$@"; }
found_only()
{
	found "${@:1:4}" &&
		equal "$(printf '%s\n' "$2" "${@:5}" | sort)" "$(sed 's/:.*//' "$dir/out" | sort -u)"
}

# datagrams GUEST ADDRESS N [bad]: it sends so many to weft's port there; bad: with wrong sums.
datagrams()
{
	# not one that looks for versions of Python first, as some in PATH do
	run "$1" /usr/bin/python3 -c '
import socket, struct, sys, time
to, n, bad = sys.argv[1], int(sys.argv[2]), len(sys.argv) > 3
data = b"x" * 1000
if bad:
	s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
	data = struct.pack("!HHHH", 4793, 4793, 8 + len(data), 1) + data
else:
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while n:
	try:
		s.sendto(data, (to, 0 if bad else 4793))
		n -= 1
	except OSError:		# the interface takes no more just now
		time.sleep(0.01)
' "${@:2}"
	[ "$rc" = 0 ]
}

# again GUEST ID: its weft-memd is started anew.
again()
{
	run "$1" tools/rack/guest-blade "$BIN" "$2" "$homes" 32M --key "$key"
	[ "$rc" = 0 ]
}

# lacks NAME: doctor has looked, and this is not among what it has found.
lacks()
{
	[[ $rc = [03] ]] && [ ! -s "$dir/err" ] && [ -s "$dir/out" ] && no_line "^$1" "$dir/out"
}

waits_no_more()
{
	diagnose node1
	lacks blade_waits
}

begin doctor
# What is in /tmp here is not there.
mkdir -p "$BUILD/tests"
keys=$(mktemp -d "$BUILD/tests/doctor.XXXXXX") || exit 2
at_exit rm -rf "$keys"
for key in "$keys/other" "$keys/rack"; do
	"$BIN/weft-memd" --make-key "$key" >"$dir/made" || exit 2
done
fingerprint=$(sed -n 's/^made .*, fingerprint \([0-9a-f]*\)\.$/\1/p' "$dir/made")
boot --nodes 2 --blades 2 --switch p4 --cache 8M --mtu 9000 --blade-mem 32M \
	--memd-options "--key $key" --node-options "--key $key"
homes=10.87.0.101,10.87.0.102
version=$(sed -n 's/^#define WEFT_VERSION[[:blank:]]*"\(.*\)"$/\1/p' uapi/weft_version.h)
# As long, and another one.
other=${version/%?/x}
restart="'weftctl down --unmount', 'modprobe -r weft' and 'weftctl up'"
check "both nodes are members" soon 20 members "1 2"

# --- Nothing is wrong ------------------------------------------------------------

check "nothing is found" clean node1
diagnose node1 -j
check "nor as JSON" eval 'good && holds "@{\$j->{findings}} == 0" "@{\$j->{skipped}} == 0"'
run node1 setpriv --reuid 65534 --clear-groups "$WEFTCTL" doctor
check "without privilege it says what it has not looked at" eval 'good &&
	grep -qx "(not looked at: the kernel log: reading it needs root)" "$dir/out" &&
	grep -qx "nothing found" "$dir/out"'

# --- The configuration file --------------------------------------------------------

done_on node1 sh -c 'mkdir -p /etc/weft && "$0" up --check --node 1 --interface eth0 \
	--homes "$1" --mount /weft --cache 8M >"$2"' "$WEFTCTL" "$homes" "$CONF"
check "a file without the key that the node has, and nothing else" finds_only node1 key_differs \
	"this node runs with a key, but $CONF names none, so the next start of it has none" \
	"add the line 'key = FILE' to it"
done_on node1 sh -c 'echo "key = $1" >>"$0"' "$CONF" "$keys/other"
check "another key, and nothing else" finds_only node1 key_differs \
	"the key $keys/other \(fingerprint [0-9a-f]{8}\) is not the one that this node runs with \($fingerprint\)" \
	"if it is the rack's, which 'weftctl status' on another node shows, 'weftctl down --unmount' and 'weftctl up' take it; else copy the rack's here"
done_on node1 sed -i 's|^key = .*|key = /etc/weft/nothing|' "$CONF"
check "a key that is not there, and nothing else" finds_only node1 key_wrong "there is no key /etc/weft/nothing" \
	"copy the rack's from another machine of it \('scp -p root@MACHINE:/etc/weft/nothing /etc/weft/nothing'\), or make .*"
done_on node1 sh -c 'cp "$0" /etc/weft/key && chmod 644 /etc/weft/key &&
	sed -i "s|^key = .*|key = /etc/weft/key|" "$1"' "$key" "$CONF"
check "a key that all may read, and nothing else" finds_only node1 key_wrong \
	'others than its owner may use the key /etc/weft/key \(mode 0644\)' \
	'chmod 600 /etc/weft/key, and make another one if they may have read it'
done_on node1 chmod 600 /etc/weft/key
diagnose node1 -j
ctl node1 status -j
check "status has the fingerprint" holds "\$j->{key} eq \"$fingerprint\"" '!defined $j->{refused}'
check "as the schema says" schema status
check "a configuration file that says what runs" clean node1
done_on node1 sh -c 'echo "timeout = 20" >>"$0"' "$CONF"
check "1. the file differs from what runs, and nothing else" finds_only node1 config_differs \
	"line 7 of $CONF says timeout = 20, but timeout = 30 is what runs" \
	"'weftctl set --file $CONF' makes it so, or correct the file"
done_on node1 "$WEFTCTL" set --file "$CONF"
check "its remedy" clean node1
done_on node1 sh -c 'echo "tiemout = 20" >>"$0"' "$CONF"
check "2. the file is wrong" finds node1 config_wrong \
	"the configuration file is wrong, $CONF:8: there is no setting 'tiemout': write 'timeout = 30' if that is meant" \
	"'weftctl up --check --file $CONF' looks at it again"
done_on node1 sed -i /tiemout/d "$CONF"
done_on node1 sed -i 's/^interface/#interface/' "$CONF"
check "the file lacks a setting, and nothing else" finds_only node1 config_incomplete \
	"the configuration file $CONF has no 'interface', so 'weftctl up' and the service cannot use it" \
	"add it, for example 'interface = eth0', the one that leads to the rack \('ip link' lists them\); 'weftctl up --check --file $CONF' looks at it again"
done_on node1 sed -i 's/^#interface/interface/' "$CONF"
done_on node1 "$WEFTCTL" set --timeout 0.5 --hold 5000
check "3. a timeout that is too short" finds node1 timeout \
	'with a timeout of 0.5 s a rack that is only busy is taken for dead' \
	"'weftctl set --timeout 30', and 'timeout = 30' in the configuration file"
check "4. a hold that is too long" finds_only node1 hold \
	'with a hold of 5000 us nodes that share a block wait long for each other' \
	"'weftctl set --hold 100', and 'hold = 100' in the configuration file" config_differs timeout
done_on node1 "$WEFTCTL" set --file "$CONF"
check "both as the file says" clean node1

# --- The network ---------------------------------------------------------------------

done_on node1 ip link set eth0 mtu 1500
check "5. the interface's MTU was lowered, and nothing else" finds_only node1 mtu_interface \
	'the interface eth0 has an MTU of 1500, but the node sends datagrams of 9000 bytes' \
	"'ip link set eth0 mtu 9000', or a smaller 'mtu' for the node"
done_on node1 ip link set eth0 mtu 9000
done_on mem2 ip link set eth0 mtu 1500
ctl node1 doctor
check "6. a blade's MTU is less than the rack's, and nothing else" finds_only node1 mtu_path \
	'(memory blade 2 \(10\.87\.0\.102\) answers a datagram of 9000 bytes in pieces of [0-9]+|datagrams of 9000 bytes do not get to memory blade 2 \(10\.87\.0\.102\) and back, those of [0-9]+ do)' \
	"set the MTU of its interface .*to 9000 \('ip link set IF mtu 9000'.*"
diagnose node1 -j
check "it is the second blade's" holds '@{$j->{findings}} == 1' \
	'$j->{findings}[0]{name} eq "mtu_path"' '$j->{findings}[0]{member} == 34' \
	'$j->{findings}[0]{remedy} =~ /^set the MTU /' \
	'$j->{findings}[0]{text} =~ /: \Q$j->{findings}[0]{remedy}\E$/'
check "as the schema says" schema doctor
done_on mem2 ip link set eth0 mtu 9000
keeping rack wire set delay 30000
check "7. a slow network" finds node1 round_trip \
	'the round trip to memory blade 1 \(10\.87\.0\.101\) takes [0-9.]+ ms, and each miss waits for it' \
	'look for a slow or full link, a tunnel, or a machine that is overloaded or saves power'
keeping rack wire set delay 0
check "all is well again" soon 60 clean node1
keeping rack wire cut mem2
check "8. a blade that cannot be reached" finds node1 host_unreachable \
	'memory blade 2 \(10\.87\.0\.102\) does not answer a ping' \
	'see that it is switched on, that its address is right, that cables and switches lead there from eth0, and that no firewall holds pings back'
keeping rack wire heal mem2
check "all is well again" soon 60 clean node1
done_on node2 ip link set eth0 down
check "9. an interface that is down" finds node2 interface_down \
	'the interface eth0 is down' "'ip link set eth0 up'"
done_on node2 ip link set eth0 up
check "both are members again" soon 30 members "1 2"

# --- The blades ------------------------------------------------------------------------

done_on node1 truncate -s 63M /weft/large
check "10. full blades" finds node1 blade_full \
	'memory blade 1 \(10\.87\.0\.101\) is full: 31 of 32 MiB are taken' \
	'unlink regions that nobody needs, or start it again with more --memory'
check "both of them" grep -q '^blade_full: memory blade 2 ' "$dir/out"
done_on node1 rm /weft/large
check "its remedy" soon 20 clean node1
done_on node1 "$WEFTCTL" set --timeout 2
done_on mem2 sh -c 'kill -STOP $(pgrep -x weft-memd)'
check "11. a blade that is stopped" finds node1 blade_down \
	'memory blade 2 \(10\.87\.0\.102\) does not answer, though nothing says that it does not run' \
	'see there that weft-memd is not stopped, that its --id is 34, its --rack 0, its key and its version those of this node, and that no firewall holds UDP port 4793 back'
done_on mem2 sh -c 'kill -CONT $(pgrep -x weft-memd)'
done_on node1 "$WEFTCTL" set --file "$CONF"
check "all is well again" soon 20 clean node1

# --- Datagrams that are dropped ------------------------------------------------------------

done_on node1 sh -c 'echo 7654321 >/run/test-drops &&
	mount --bind /run/test-drops /sys/class/net/eth0/statistics/rx_missed_errors'
check "an interface that drops packets, and nothing else" finds_only node1 drops_interface \
	'the interface eth0 has dropped 76543[0-9]+ packets that came, and taken [0-9]+' \
	"give it a longer ring \('ethtool -G eth0 rx N', 'ethtool -g eth0' shows how long it may be\), and its interrupts processors that are not busy"
done_on node1 umount /sys/class/net/eth0/statistics/rx_missed_errors
check "all is well again" clean node1
check "node 2 sends what has wrong sums" datagrams node2 10.87.0.1 3000 bad
check "a socket that drops datagrams, and nothing else" finds_only node1 drops_socket \
	'the sockets of UDP port 4793 here have dropped [0-9]+ datagrams, and this node has taken [0-9]+' \
	"look with 'nstat -az UdpInCsumErrors UdpRcvbufErrors' which it is: .*"
done_on node1 "$WEFTCTL" down --unmount
done_on node1 "$WEFTCTL" up
check "a new socket" clean node1

# --- The other node: identity, module ------------------------------------------------------

done_on node2 "$WEFTCTL" down --unmount
check "node 2 leaves" soon 20 members "1"
done_on node2 sh -c 'mkdir -p /etc/weft && "$0" up --check --node 1 --interface eth0 \
	--homes "$1" --mount /weft --cache 8M >"$2" && echo "key = $3" >>"$2"' \
	"$WEFTCTL" "$homes" "$CONF" "$key"
# While its interface was down it may have said that nobody answers.
done_on node2 dmesg -C
ctl node2 up
check "up says why it cannot mount" eval '[ $rc = 2 ] && [ "$(cat "$dir/err")" = \
	"weftctl: cannot mount /weft: another node has the id 1: give this one another with weftctl down and weftctl up" ]'
ctl node2 status
check "and leaves no node behind" grep -q '^no node: down' "$dir/out"
check "12. an id that another node has" finds node2 duplicate_id \
	'another node has the id 1, so this one could not join [0-9]+ s ago' \
	"give one of the two another 'node' \(1 to 32\), then 'weftctl down' and 'weftctl up'"
check "13. a node that is down" grep -qE "^down: the module weft is loaded, but this node is not set up: 'weftctl up', or" "$dir/out"
done_on node2 sed -i 's/^node = 1/node = 2/' "$CONF"
ctl node2 up
check "up, and mounted" good
check "a member again" soon 20 members "1 2"
check "14. the kernel's log, and nothing else" finds_only node2 kernel_log \
	'the kernel log has 1 warning of weft of the last hour, the last one [0-9]+ s ago: "weft: another node has the id 1"' \
	"'dmesg \| grep weft' shows all, .*"
diagnose node2 --ignore kernel_log,hold
check "which can be ignored" eval 'good && grep -qx "nothing found" "$dir/out"'
ctl node2 doctor --ignore kernel
check "by its whole name" eval '[ $rc = 1 ] && grep -q "there is no finding .kernel." "$dir/err"'
done_on node2 dmesg -C
done_on node2 umount /weft
check "15. not mounted" finds node2 not_mounted \
	"weft is not mounted at /weft, as line 4 of $CONF says" \
	"'mount -t weft none /weft', or 'systemctl restart weft'"
done_on node2 mount -t weft -o cache=8M none /weft
check "its remedy" clean node2

done_on node2 "$WEFTCTL" down --unmount
done_on node2 ip link set eth0 mtu 1500
done_on node2 "$WEFTCTL" up
check "16. a node whose MTU is less than the rack's, and nothing else" finds_only node2 mtu_path \
	'memory blade 1 \(10\.87\.0\.101\) sends longer datagrams than the 1500 bytes that the interface eth0 takes' \
	"'ip link set eth0 mtu 9000' here, or as much as the others have, and 'weftctl down --unmount' and 'weftctl up'; or the MTU of its interface to 1500"
done_on node2 "$WEFTCTL" down --unmount
done_on node2 ip link set eth0 mtu 9000
done_on node2 "$WEFTCTL" up
check "its remedy" clean node2

done_on node2 "$WEFTCTL" down --unmount
done_on node2 cp "$CONF" /run/test-whole.conf
done_on node2 sed -i 's/^homes = .*/homes = 10.87.0.101/' "$CONF"
done_on node2 "$WEFTCTL" up
check "homes that lack a blade, and nothing else" finds_only node2 homes_differ \
	"memory blade 1 \(10\.87\.0\.101\) is part of a rack of 2 memory blades, but 'homes' of this node names 1" \
	"name all of them in 'homes', in the order of their ids and the same on all nodes, then 'weftctl down --unmount' and 'weftctl up'"
done_on node2 "$WEFTCTL" down --unmount
done_on node2 cp /run/test-whole.conf "$CONF"
done_on node2 "$WEFTCTL" up
check "its remedy" clean node2

# A full cache.  From then on doctor watches the counters for a while, until the module is
# loaded anew, as it is next.
done_on node2 mount -o remount,cache=256K /weft
done_on node2 truncate -s 4M /weft/pin
done_on node2 sh -c "setsid $BAD pin /weft/pin 4194304 >/run/test-pinned 2>&1 </dev/null & echo \$! >/run/test-pid
	for i in \$(seq 300); do [ ! -s /run/test-pinned ] || exit 0; sleep 0.2; done; exit 1"
check "17. a full cache" finds node2 cache_full \
	'the cache \(256 KiB\) was full of what is in use or locked in memory, [1-9][0-9]* times since the module was loaded' \
	"give it more with 'mount -o remount,cache=SIZE', and 'cache = SIZE' in the configuration file"
check "18. a cache that differs from the file's" grep -qE \
	"^config_differs: line 5 of $CONF says cache = 8M, but cache = 256K is what runs: 'mount -o remount,cache=8M /weft' makes it so, " "$dir/out"
done_on node2 sh -c 'kill -9 $(cat /run/test-pid)'
done_on node2 mount -o remount,cache=8M /weft
done_on node2 rm /weft/pin
done_on node2 dmesg -C
check "all is well again" soon 20 clean node2

# Another module is installed than the one that is loaded: the same with another version.
done_on node2 sh -c 'mkdir -p /run/test-m/updates /lib/modules/$(uname -r) &&
	sed "s/\x00version=$1\x00/\x00version=$2\x00/" "$0/kmod/$(uname -r)/weft.ko" >/run/test-m/updates/weft.ko &&
	mount --bind /run/test-m "/lib/modules/$(uname -r)" && depmod' "$BUILD" "$version" "$other"
check "19. an old module, and nothing else" finds_only node2 module_old \
	"the module that is loaded is of version $version, the one that is installed of version $other" \
	"$restart load the one that is installed"
done_on node2 "$WEFTCTL" down --unmount
done_on node2 modprobe -r weft
check "20. no module" finds node2 module_missing \
	'the module weft is not loaded' "'weftctl up', or 'systemctl start weft', loads it"
done_on node2 "$WEFTCTL" up
done_on node2 dmesg -C
check "21. a module of another version than weftctl, and nothing else" finds_only node2 module_version \
	"the module that is loaded is of version $other, weftctl of version $version" \
	"install both of the same version, then $restart"

# --- The switch, then a blade, for good ----------------------------------------------------

# switched PROGRAM: the switch starts anew with it.
switched()
{
	local base ports=() guest

	base=$(rack status | sed -n '1s/.*files in //p')
	for guest in node1 node2 mem1 mem2; do
		ports+=(--port "$guest=unix:$base/$guest/port.sock:$base/$guest/net.sock")
	done
	"$base/weft-rackio" stop "$base/switch/lock" || return 1
	"$base/weft-rackio" keep --state "$base/switch/state" --lock "$base/switch/lock" \
		--log "$base/switch/console.log" --owner $$ -- "$base/weft-switchd" \
		"${ports[@]}" --node 1=node1 --node 2=node2 --spec "$1" \
		--control "$base/switch/control.sock"
}
check "the switch starts without the program" switched none
check "22. a switch without the program" soon 60 found node1 switch_missing \
	'memory blade [12] keeps its directory in the switch, but no directory answers there' \
	"load the weft program into the switch \('weft-switchd --spec weft_pna.spec'\), then restart weft-memd and mount anew, see docs/operations.md"
done_on mem2 sh -c 'kill -KILL $(pgrep -x weft-memd)'
check "23. a blade that is down" finds node1 blade_down \
	'weft-memd does not run at memory blade 2 \(10\.87\.0\.102\)' \
	"'systemctl start weft-memd' there: nothing has to be unmounted before, see docs/operations.md"
diagnose node1 -j
check "all of that as the schema says" schema doctor

done_on node1 "$WEFTCTL" set --timeout 2
done_on mem1 sh -c 'kill -STOP $(pgrep -x weft-memd)'
check "the blade starts again, but nobody tells it of the rack" again mem2 34
check "24. a blade that waits for the first one" finds node1 blade_waits \
	'memory blade 2 \(10\.87\.0\.102\) runs, but has not heard the catalog of regions from the first blade, and serves nobody' \
	"see there with 'journalctl -u weft-memd' what it waits for, that --peers names all blades in the order of their ids, and that UDP port 4793 is open between them"
done_on mem2 sh -c 'kill -STOP $(pgrep -x weft-memd)'
check "node 2 sends more than a buffer takes" datagrams node2 10.87.0.102 25000
done_on mem2 sh -c 'kill -CONT $(pgrep -x weft-memd)'
done_on mem1 sh -c 'kill -CONT $(pgrep -x weft-memd)'
check "25. a blade that drops messages" soon 60 found node1 drops_blade \
	'memory blade 2 \(10\.87\.0\.102\) has dropped [0-9]+ messages because its buffer was full, and taken [0-9]+' \
	"give weft-memd there a processor that nobody else needs, and a buffer of 8 MiB: run it as root, or 'sysctl -w net.core.rmem_max=8388608' before it starts"
check "it waits no more" soon 60 waits_no_more

# Two machines have no key, one has no right to its address.
done_on mem2 "$FORGER" root open 1 name 10.87.0.1 2=10.87.0.2
check "26. a message without the key" finds node1 refused \
	'this node has refused messages \(msg_no_key\), the last one [0-9]+ s ago from 10\.87\.0\.2: it has no key' \
	"if 10\.87\.0\.2 is a machine of the rack, see with 'weftctl status' there, or in the log of its weft-memd, that it has the rack's key and its own address; if not, find out who sends that"
ctl node1 status -j
check "status has it" holds '$j->{refused}{counter} eq "msg_no_key"' '$j->{refused}{from} eq "10.87.0.2"'
check "as the schema says" schema status
done_on mem2 "$FORGER" --key "$keys/other" root open 1 name 10.87.0.1 2=10.87.0.2
check "a message with another key" finds node1 refused \
	'this node has refused messages \(msg_wrong_key\), the last one [0-9]+ s ago from 10\.87\.0\.2: it has another key' '.*'
done_on mem2 "$FORGER" --key "$key" root open 1 name 10.87.0.1 2=10.87.0.99
check "a message with the key from another address" finds node1 refused \
	'this node has refused messages \(msg_forged\), the last one [0-9]+ s ago from 10\.87\.0\.99: they were not from the address of the member that they named' '.*'
done_on node2 "$WEFTCTL" down --unmount
run node2 "$WEFTCTL" up --node 2 --interface eth0 --homes "$homes" --mount /weft
check "27. a node without the key does not join" eval '[ $rc = 2 ] &&
	grep -q "do not both have a key: give all machines of the rack the same one" "$dir/err"'
check "and the blade's part of it" finds node1 refused \
	'memory blade 1 \(10\.87\.0\.101\) has refused messages, the last one [0-9]+ s ago, of machines that have not the rack.s key \([1-9][0-9]* without one, 0 with another\) or not the address of the member that they named \([0-9]+\)' \
	"its log says which machines \('journalctl -u weft-memd' there\): copy the rack's key there, or find out who sends that"
run node2 "$WEFTCTL" up --node 2 --interface eth0 --homes "$homes" --key "$keys/other" --mount /weft
check "nor one with another key" eval '[ $rc = 2 ] &&
	grep -q "has another key than this node: copy the rack.s key here" "$dir/err"'
# the blades do not answer, and doctor waits for each of them
run node2 "$WEFTCTL" up --node 2 --interface eth0 --homes "$homes" --timeout 2
check "28. a node without a key, though the file names one" finds node2 key_differs \
	"line 6 of $CONF says key = $key, but this node runs without a key" \
	"'weftctl down --unmount' and 'weftctl up' give it the key"
done_on node2 sed -i 's/^key/#key/' "$CONF"
check "29. no key" finds node2 no_key \
	"this rack has no key, so root of any machine in its network, and of some containers there, can read, change and remove all that is in it" \
	"make one where the first memory blade runs \('weft-memd --make-key /etc/weft/key'\), copy it to each machine of the rack \('scp -p .*"
diagnose node2 --ignore no_key
check "which can be ignored" lacks no_key
done_on node2 sed -i 's/^#key/key/' "$CONF"
done_on node2 "$WEFTCTL" down
done_on node2 "$WEFTCTL" up

# The rack forgets node 1 while it is cut off, and another machine takes its place.
done_on node2 "$WEFTCTL" down --unmount
keeping rack wire cut node1
done_on mem1 sh -c 'kill -KILL $(pgrep -x weft-memd)'
check "the first blade knows nothing" again mem1 33
done_on node2 sed -i 's/^node = 2/node = 1/' "$CONF"
# the other blade has to join first
check "node 2 takes the place" soon 60 eval 'ctl node2 up; good'
keeping rack wire heal node1
check "30. mounted, and no member" soon 60 found node1 not_joined \
	'weft is mounted, but the rack has not counted this node among its members for [0-9.]+ s, and does not take it back' \
	"see with 'weftctl status' on another node who is node 1 there: give one of the two another 'node', then 'weftctl down --unmount' and 'weftctl up' here; what this node had modified is lost"
check "its first blade is not called silent" lacks blade_silent
diagnose node1 -j
check "and that as the schema says" schema doctor

# --- The end -----------------------------------------------------------------

down_rack
finish
