#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The part of tests/ctl/test-netlink.sh that runs in the guest:
#
#	guest-netlink.sh MODULE WEFTCTL HAMMER CLIENT REQUESTS
#
# MODULE is that of tests/ctl/fakes/node.  Run at the top of the tree.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u

. tests/tap.sh

module=$1
weftctl=$2
hammer=$3
client=$4
requests=$5
SCALE=${WEFT_TEST_SCALE:-1}
params=/sys/module/weft_fakenode/parameters
begin netlink
rc=0

# details: of the last command.
details()
{
	echo "exit status $rc"
	cat "$dir/out" "$dir/err"
}

# ctl ARGUMENT...: output in out and err, status in rc.
ctl()
{
	timeout $((60 * SCALE)) "$weftctl" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	rc=$?
}

# says TEXT: it failed with this sentence.
says()
{
	[ "$rc" = 2 ] && equal "weftctl: $1" "$(cat "$dir/err")"
}

# says_of_each: it failed, and said of all 16 memory blades that they do not answer.
says_of_each()
{
	local i

	[ "$rc" = 2 ] && for i in {1..16}; do
		echo "weftctl: memory blade $i (10.0.0.$i) does not answer: is weft-memd running there, and does 'ping' reach it?"
	done | cmp - "$dir/err"
}

has()	{ [ "$rc" = 0 ] && grep -qF -- "$1" "$dir/out"; }
good()	{ [ "$rc" = 0 ] && [ ! -s "$dir/err" ]; }
set_to(){ echo "$2" >$params/"$1"; }
waits()	{ kill -0 "$waiting"; }

# hears: the command in the background gets events from now on.  Who does is in the
# kernel's list of sockets: protocol 16, a group, and in the port the process.
hears()
{
	awk -v pid="$waiting" '$2 == 16 && $3 % 4194304 == pid && $4 !~ /^0*$/ { found = 1 }
		END { exit !found }' /proc/net/netlink
}

ctl status;	check "without the module" has "the module weft is not loaded"
check "the module loads" insmod "$module"

# --- By the description --------------------------------------------------------

# Every command and attribute, by a client that knows uapi/weft_netlink.h alone, and by
# one that knows uapi/weft.yaml alone.
check "all that uapi/weft_netlink.h says" timeout $((600 * SCALE)) "$client" drive
check "all that uapi/weft.yaml says" timeout $((600 * SCALE)) tests/ctl/yamlclient.py drive uapi/weft.yaml
ctl status -j;	check "still down" has '"state":"down"'

# --- Events ---------------------------------------------------------------------

"$weftctl" up --node 32 --interface lo --homes 10.0.0.1
check "events: all that uapi/weft_netlink.h says" timeout $((120 * SCALE)) "$client" hear
check "events: all of each kind, not too many" timeout $((120 * SCALE)) tests/ctl/yamlclient.py hear uapi/weft.yaml
for signal in INT TERM; do
	"$weftctl" monitor >"$dir/out" 2>"$dir/err" &
	waiting=$!
	check "monitor hears events, to be ended by SIG$signal" soon 20 hears
	echo 1 >$params/event
	for _ in {1..100}; do
		[ "$(wc -l <"$dir/out")" -lt 16 ] || break
		sleep 0.2
	done
	sleep 1		# for what may be too much
	kill -$signal $waiting
	wait $waiting
	rc=$?
	check "monitor ends at SIG$signal" good
done
check "monitor: every kind" [ "$(wc -l <"$dir/out")" = 16 ]
check "monitor: where a blade is" grep -q ' memory blade 1 goes on at 10\.0\.0\.133: ' "$dir/out"
check "monitor: names" grep -qE \
	'^[0-9:]{8}\.[0-9]{6} access to region 7:4101 failed for guest-netlink\.s?[^ ]*\[[0-9]+\]: Connection timed out$' "$dir/out"
check "monitor: a region without a name" grep -qE ' lock 5:18446744073709551615 abandoned by ' "$dir/out"
"$weftctl" monitor -j -t 100 -n 3 >"$dir/out" 2>"$dir/err" &
waiting=$!
check "monitor hears so many events" soon 20 hears
echo 1 >$params/event
wait $waiting
rc=$?
check "monitor ends after so many events" good
check "monitor: an object a line" [ "$(grep -c '^{.*}$' "$dir/out")" = 3 ]
# Events tell what all users do.
setpriv --reuid 65534 --clear-groups timeout $((20 * SCALE)) "$weftctl" monitor -t 0.5 \
	>"$dir/out" 2>"$dir/err"
rc=$?
check "monitor as nobody" says \
	"events tell what all users do: only root hears them (CAP_NET_ADMIN)"
unshare -U -r timeout $((20 * SCALE)) "$weftctl" monitor -t 0.5 >"$dir/out" 2>"$dir/err"
rc=$?
check "monitor as the root of a user namespace" says \
	"events tell what all users do: only root hears them (CAP_NET_ADMIN)"
"$weftctl" down

# --- Set-up ------------------------------------------------------------------

ctl status -j;	check "down" has '"state":"down"'
ctl stats node -j
check "counters of a node that is down" has '"id":null'
check "counters of it" grep -q '"miss_upgrade":3,.*"sent_getm":4,' "$dir/out"
ctl down;	check "down twice" says "this node is not set up: run 'weftctl up'"
ctl up --node 1 --interface nothing0 --homes 10.0.0.1
check "no such interface" says \
	"there is no interface 'nothing0': 'ip link' lists those that there are"
homes=$(seq -s , -f 10.0.0.%g 16)
ctl up --node 32 --interface lo --homes "$homes" --rack 4294967295 \
	--address 10.1.2.3 --mtu 9000 --timeout 0.1 --hold 0
check "up" good
ctl status -j
check "node" has '"node":32,"rack":4294967295,'
check "address, MTU" has '"address":"10.1.2.3","mtu":9000,'
check "all homes in their order" has "\"homes\":[\"${homes//,/\",\"}\"]"
check "tunables" has '"timeout_ms":100,"hold_us":0,'
check "members" has '"members":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32]'
check "big numbers" has '"cache":{"lines":1099511627776,"bytes":4503599627370496,"max_bytes":18446744073709551615}'
check "48 peers" [ "$(grep -o '"kind":' "$dir/out" | wc -l)" = 48 ]
check "this one" has '{"id":32,"kind":"node","address":"10.0.0.32","self":true,"joined":true,"rdma":false}'
check "memory blades" has '{"id":48,"kind":"memory","address":"10.0.0.48","self":false,"joined":false,"rdma":false,"why_udp":"there is no RDMA device there","twin":"10.0.0.255","view":4294967295}'
check "by RDMA" has '{"id":47,"kind":"memory","address":"10.0.0.47","self":false,"joined":false,"rdma":true}'
ctl up --node 1 --interface lo --homes 10.0.0.1 --rack 4294967295
check "up twice" says "the node is set up already: run 'weftctl down' first, or 'weftctl set' to tune it"
ctl set --timeout 3600
ctl status -j;	check "set leaves the rest" has '"timeout_ms":3600000,"hold_us":0,'
ctl set --hold 10000
ctl status -j;	check "set, the other way round" has '"timeout_ms":3600000,"hold_us":10000,'
set_to mounted 1
ctl down
check "down while mounted" says "the node cannot go down while weft is mounted, in a mount namespace of another process: unmount it there first"
set_to mounted 0

# --- Several racks -------------------------------------------------------------

ctl rack -j
check "one rack" has '{"racks":[{"rack":4294967295,"joins":4294967295,"node":32,"interface":"fake0",'
ctl up --node 7 --interface lo --homes 10.0.0.9 --rack 5
check "up in another rack" good
ctl rack
check "both are listed" [ "$(awk '{ print $1 }' "$dir/out" | paste -sd ' ')" = "RACK 5 4294967295" ]
for command in status stats "set --hold 1" down "down --unmount" "lock show" "region show"; do
	# shellcheck disable=SC2086  # words
	ctl $command
	check "which one is to be said: $command" says \
		"this machine is in several racks: say which one by --rack, 'weftctl rack' lists them"
done
ctl status --rack 5 -j;	check "status of one" has '"node":7,"rack":5,'
ctl --rack 4294967295 status -j; check "status of the other" has '"node":32,"rack":4294967295,'
ctl --rack 6 stats
check "a rack that is not there" says "this node is not set up in rack 6: 'weftctl rack' lists those in which it is, 'weftctl up --rack 6' sets it up"
ctl --rack 5 stats node --prometheus
check "counters of one say which" has 'weft_node_miss_upgrade_total{node="7",rack="5"} 3'
for rack in 5 4294967295; do
	ctl --rack $rack line show
	check "lists of rack $rack" [ "$(wc -l <"$dir/out")" = 2002 ]
done
for rack in 0 1 2 3 4 6; do
	ctl up --node 7 --interface lo --homes 10.0.0.9 --rack $rack
	good || break
done
check "8 racks" good
ctl up --node 7 --interface lo --homes 10.0.0.9 --rack 7
check "one rack too many" says "the module refuses: this machine is in 8 racks already, as many as there can be: take one down first"
for rack in 0 1 2 3 4 5 6; do
	ctl --rack $rack down
	good || break
done
check "down again" good
ctl status -j;	check "the first is the only one again" has '"node":32,"rack":4294967295,'

# --- Histograms --------------------------------------------------------------

ctl stats latency -j
check "histograms" good
check "times at the borders of buckets" has '"lock_hand_over":{"count":8,"sum_ns":3082,"mean_ns":385.250,"p50_below_ns":4,"p99_below_ns":2048,"buckets":[{"below_ns":1,"count":1},{"below_ns":2,"count":1},{"below_ns":4,"count":2},{"below_ns":8,"count":1},{"below_ns":1024,"count":1},{"below_ns":2048,"count":2}]}'
check "the longest times" has "\"lock_yield\":{\"count\":3,\"sum_ns\":$((2 * (1 << 38) - 1 + (1 << 50))),\"mean_ns\":375483220885503.688,\"p50_below_ns\":null,\"p99_below_ns\":null,\"buckets\":[{\"below_ns\":274877906944,\"count\":1},{\"below_ns\":null,\"count\":2}]}"
check "a full one" [ "$(grep -o '"downgrade":.*' "$dir/out" | grep -o below_ns | wc -l)" = 42 ]
check "all of them" [ "$(grep -o '"sum_ns"' "$dir/out" | wc -l)" = 12 ]

# --- What the node has ---------------------------------------------------------

ctl region show
check "regions" has '16777215  140737488355328     4096          0          0 region 16777215'
ctl line show -j
check "2001 blocks" [ "$(grep -o '"index":' "$dir/out" | wc -l)" = 2001 ]
check "the last of all" has '{"region":16777215,"index":68719476735,"state":"none","op":"none","waiters":1,"misses":4294967295,'
ctl lock show "region 7" -j
check "locks of a region by its name" has '{"locks":[{"region":7,"offset":4096,'
ctl lock show -j
check "1001 locks" [ "$(grep -o '"offset":' "$dir/out" | wc -l)" = 1001 ]
ctl line show 4
check "a region that is not there" says "this node knows no region 4: 'weftctl region show' lists those that it knows"

# --- Counters from the network -----------------------------------------------

ctl stats memory -j
check "memory blades" good
check "each of them" [ "$(grep -o '"id":' "$dir/out" | wc -l)" = 16 ]
check "all pages of their lists" [ "$(grep -o '"counter_199":' "$dir/out" | wc -l)" = 17 ]
check "each list once" [ "$(grep -o '"counter_0":' "$dir/out" | wc -l)" = 17 ]
# Blade B answers B * 2^32 + i for counter i.
check "values" has "\"counter_41\":$((48 * 4294967296 + 41)),"
check "totals" has "\"counter_41\":$((648 * 4294967296 + 16 * 41)),"
set_to blade 6
ctl stats memory -j;	check "a blade without counters" has '"id":33,"address":"10.0.0.1","answers":true,"counters":{}'
set_to blade 1
ctl stats memory
check "dead blades" says_of_each
ctl line lost
check "dead blades: what is lost there" says_of_each
ctl node fence 5
check "a dead blade cannot take a node out" says "the first memory blade does not answer, so node 5 may be a member yet: is weft-memd running there ('weftctl doctor')?"
for way in 2 5; do
	set_to blade $way
	ctl line lost
	check "a list of what is lost that makes no sense, way $way" says \
		"the answer of memory blade 1 (10.0.0.1) makes no sense: are weft-memd and the module of the same version?"
done
set_to blade 0
ctl line lost -j;	check "what is lost" has '{"region":3,"name":"'
check "the last of it" has '"block":8192,"offset":4890624,"length":16384}]'
ctl node fence 5;	check "a node is taken out" good
ctl node fence 6;	check "one that is not there" says "the rack has no node 6: 'weftctl status' lists those that have joined"
for way in 2 3 4 5; do
	set_to blade $way
	ctl stats memory
	check "a blade that makes no sense, way $way" says \
		"the answer of memory blade 1 (10.0.0.1) makes no sense: are weft-memd and the module of the same version?"
done
set_to blade 0
ctl stats switch -j
check "the switch" has '"counters":{"miss":100,"read":101,'
check "all counters of the switch" has '"not_passed":120,"forged":121}'
set_to no_switch 1
ctl stats switch
check "no directory in the switch" says "no directory in the switch answers: is the weft program loaded there? (without one the memory blades keep the directory: 'weftctl stats memory')"
ctl stats -j
check "no directory among all" has '"switch":null}'
set_to no_switch 0

# --- Waiting -----------------------------------------------------------------

# Others get on while a list waits for the network, whatever they want of generic
# netlink: a family that is registered, a request.
set_to delay_ms 600000
"$weftctl" stats switch >"$dir/switch" &
waiting=$!
sleep 1
check "another family is registered while a list waits" timeout $((60 * SCALE)) modprobe psample
timeout $((60 * SCALE)) rmmod psample
ctl status
check "another request is served" good
check "a module whose list is half read stays" eval '! rmmod weft_fakenode'
check "the list still waits" waits
set_to delay_ms 0
check "it comes" wait $waiting
check "all of it" grep -q members "$dir/switch"

set_to delay_ms 600000
"$weftctl" stats memory >"$dir/memory" &
waiting=$!
sleep 1
check "a request waits" waits
kill -TERM $waiting
for _ in {1..100}; do
	waits 2>/dev/null || break
	sleep 0.1
done
check "and can be killed" eval '! waits'
set_to delay_ms 0

set_to delay_ms 600000
for command in "node fence 5" "line lost"; do
	# shellcheck disable=SC2086  # words
	"$weftctl" $command >"$dir/out" 2>&1 &
	waiting=$!
	sleep 1
	check "$command: waits for the blade" waits
	kill -TERM $waiting
	for _ in {1..100}; do
		waits 2>/dev/null || break
		sleep 0.1
	done
	check "$command: can be killed" eval '! waits'
done
set_to delay_ms 0

# --- Rights ------------------------------------------------------------------

for command in status stats "stats memory" "stats switch" "stats latency" region \
	       line lock "line lost"; do
	# shellcheck disable=SC2086  # words
	setpriv --reuid 65534 --clear-groups $weftctl $command >"$dir/out" 2>"$dir/err"
	rc=$?
	check "anybody may read: $command" good
done
for command in "up --node 1 --interface lo --homes 10.0.0.1" down "set --hold 1"; do
	# shellcheck disable=SC2086  # words
	setpriv --reuid 65534 --clear-groups $weftctl $command >"$dir/out" 2>"$dir/err"
	rc=$?
	check "not anybody may change: ${command%% *}" says \
		"changing the node needs root (CAP_NET_ADMIN): run weftctl with sudo"
	# The root of a namespace is nobody to this machine.
	# shellcheck disable=SC2086  # words
	unshare -U -r $weftctl $command >"$dir/out" 2>"$dir/err"
	rc=$?
	check "nor the root of a user namespace: ${command%% *}" says \
		"changing the node needs root (CAP_NET_ADMIN): run weftctl with sudo"
done
setpriv --reuid 65534 --clear-groups "$weftctl" node fence 5 >"$dir/out" 2>"$dir/err"
rc=$?
check "not anybody may take a node out" says \
	"taking a node out of the rack needs root (CAP_NET_ADMIN): run weftctl with sudo"
ctl status -j;	check "nothing was changed" has '"node":32,"rack":4294967295,'

# --- Nonsense ----------------------------------------------------------------

check "$requests requests that make no sense" timeout $((400 * SCALE)) "$hammer" "$requests" 1 && show
check "as nobody" setpriv --reuid 65534 --clear-groups timeout $((100 * SCALE)) "$hammer" 2000 2
check "the module goes" rmmod weft_fakenode
ctl status;	check "and is gone" has "the module weft is not loaded"

finish
