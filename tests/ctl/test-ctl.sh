#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# weftctl on its own: what it makes of its arguments, what it asks the kernel,
# what it prints as text and JSON, what it says about errors.  The kernel is
# tests/ctl/fakes/genl, so that every answer and refusal can be had; the real one is
# asked by tests/ctl/test-netlink.sh.  What it counts is in test-stats.sh, what it
# watches in test-watch.sh.
#
# Prints a line a check.  Environment: BUILD, the build directory.

# Functions are called by check; what stands in quotes after "json" is Perl's to expand.
# shellcheck disable=SC2016,SC2317,SC2329
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/ctl/fake.sh

# misused COMMAND TEXT: exit status 1, and nothing was asked of the kernel.
misused()
{
	says 1 "$2"
	[ "$(sed -n 2p "$dir/err")" = "weftctl: try 'weftctl ${1:+$1 }--help'" ] &&
		[ ! -s "$dir/log" ]
	report $? "$what: points to its help, asks nothing"
}

begin ctl

# --- Command line ------------------------------------------------------------

up=(up --node 3 --interface eth1 --homes 10.0.0.101)

ctl up;				[ $rc = 1 ] && grep -q '^usage:' "$dir/err"
report $? "no command: usage, status 1"
ctl up fly;			misused '' "there is no command 'fly'"
ctl up st;			misused '' "'st' may be 'status', 'stats'"
ctl up l;			misused '' "'l' may be 'line', 'lock'"
ctl up '';			misused '' "there is no command ''"
ctl up linex;			misused '' "there is no command 'linex'"
ctl up rack show 7;		misused rack "'7' is too much here"
for text in '' -1 4294967296 one; do
	ctl up status --rack "$text"
	[ $rc = 1 ] && grep -qE "^weftctl: --rack: ('$text' is not a number|$text is not within 0 to 4294967295)$" "$dir/err" &&
		[ ! -s "$dir/log" ]
	report $? "$what: no number of a rack, asks nothing"
	ctl up --rack "$text" status
	grep -qE "^weftctl: --rack: ('$text' is not a number|$text is not within 0 to 4294967295)$" "$dir/err"
	report $? "$what: before the command"
done
ctl up --rack;			misused '' "--rack needs a value"
ctl up region lis 7 8;		misused region "'8' is too much here"
ctl up regions lost;		misused region "there is no action 'lost'"
ctl up regionss;		misused '' "there is no command 'regionss'"
ctl up statuss;			misused '' "there is no command 'statuss'"
ctl up help fly;		misused '' "there is no command 'fly'"
ctl up help region show;	misused '' "'show' is too much here"
ctl up region show 7 8;		misused region "'8' is too much here"
ctl up region se table;		misused region "there is no action 'se'"
ctl up region set;		misused region "set: give a region and its policies, as in 'set table durability=sync'"
ctl up region set table;	misused region "set: give a region and its policies, as in 'set table durability=sync'"
ctl up region set table mirror;	misused region "'mirror' is no policy: durability=, on-owner-death=, on-loss= or nodes= and what it is to be"
ctl up region set table durability;	misused region "'durability' is no policy: durability=, on-owner-death=, on-loss= or nodes= and what it is to be"
ctl up region set table durability=twice;	misused region "durability='twice': it may be write-back, release, sync, mirror"
ctl up region set table on-loss=;	misused region "on-loss='': it may be revert, sigbus"
ctl up region set table on-loss=revert on-loss=revert;	misused region "on-loss is given twice"
ctl up region set table nodes=1 nodes=2;	misused region "nodes is given twice"
for text in '' 0 33 '1,' ',1' '1,,2' 1-3 x 'all,1' -1 1.5; do
	ctl up region set table "nodes=$text"
	misused region "nodes='$text': it may be 'all', or numbers of nodes from 1 to 32 with commas between, as in nodes=1,2"
done
ctl up region set "$dir/nothing" durability=sync
says 2 "cannot open $dir/nothing: No such file or directory"
touch "$dir/plain"
ctl up region set "$dir/plain" nodes=1,2
says 2 "$dir/plain is no region, or the module is older than weftctl"
ctl up region set "$dir/plain" durability=sync
says 2 "$dir/plain is no region, or the module is older than weftctl"
ctl up node fence;		misused node "say with which node, as in 'node fence 3'"
ctl up node show 3;		misused node "'3' is too much here"
ctl up node kill 3;		misused node "there is no action 'kill'"
ctl up node fence 3 4;		misused node "'4' is too much here"
ctl up node fence 0;		misused node "NODE: 0 is not within 1 to 32"
ctl up node fence 33;		misused node "NODE: 33 is not within 1 to 32"
ctl up line lost 7 8;		misused line "'8' is too much here"
ctl up line lost 0;		misused line "REGION: 0 is not within 1 to 16777215"
ctl up line lost --accept;	misused line "--accept: say of which region, as in 'lost table --accept'"
ctl up line show --accept;	misused line "--accept goes with 'lost'"
ctl up line lost --accept "$dir/nothing"
says 2 "cannot open $dir/nothing: No such file or directory"
touch "$dir/plain"
ctl up line lost "$dir/plain" --accept
says 2 "$dir/plain is no region, or the module is older than weftctl"
ctl up line show 7 8;		misused line "'8' is too much here"
ctl up line show 0;		misused line "REGION: 0 is not within 1 to 16777215"
ctl up lock show 16777216;	misused lock "REGION: 16777216 is not within 1 to 16777215"
ctl up -x status;		misused '' "there is no option '-x'"
ctl up --fly;			misused '' "there is no option '--fly', or it is not clear which one is meant"
ctl up status now;		misused status "'now' is too much here"
ctl up down now;		misused down "'now' is too much here"
ctl up status -jx;		misused status "there is no option '-x'"
ctl up status --json=yes;	misused status "--json takes no value"
ctl up stats cpu;		misused stats "there are 'node', 'memory', 'switch', 'latency', not 'cpu'"
ctl up stats node switch;	misused stats "'switch' is too much here"
ctl up stats --count 1;		misused stats "--count is of no use without --interval"
ctl up stats --interval 1 --count 0; misused stats "--count: 0 is not within 1 to 4294967295"
ctl up stats --interval 0;	misused stats "--interval: 0 is not within 0.1 to 86400 seconds"
ctl up stats --interval;	misused stats "--interval needs a value"
ctl up stats --prometheus -j;	misused stats "--prometheus is a format of its own: leave out --json"
ctl up stats --prometheus --interval 1; misused stats "--prometheus is a format of its own: leave out --interval"
ctl up top now;			misused top "'now' is too much here"
ctl up top -d 0;		misused top "--delay: 0 is not within 0.1 to 86400 seconds"
ctl up top -o age;		misused top "there is no order 'age'"
ctl up top -n;			misused top "-n needs a value"
ctl up dir lost;		misused dir "there is no action 'lost'"
ctl up dir show 33;		misused dir "'33' is too much here"
ctl up monitor all;		misused monitor "'all' is too much here"
ctl up monitor -n 0;		misused monitor "--count: 0 is not within 1 to 4294967295"
ctl up trace;			misused trace "what to trace is missing: REGION or REGION:OFFSET ('weftctl top' names the hot ones)"
ctl up trace -t 0 table;	misused trace "--seconds: 0 is not within 0.001 to 86400 seconds"
ctl up set;			misused set "nothing to change: give --timeout or --hold"
ctl up set --hold;		misused set "--hold needs a value"
ctl up "${up[@]}" eth0;		misused up "'eth0' is too much here"
ctl up up --interface eth0 --homes 10.0.0.1
misused up "--node is missing: the number of this node, 1 to 32, which no other node of the rack has"
ctl up up --node 1 --homes 10.0.0.1
misused up "--interface is missing: the one that leads to the rack ('ip link' lists them)"
ctl up up --node 1 --interface eth0
misused up "--homes is missing: the addresses of the memory blades, in the order of their numbers"

for text in 0 33 4294967297 99999999999999999999; do
	ctl up up --node $text;	misused up "--node: $text is not within 1 to 32"
done
for text in '' ' 1' +1 -1 1x 0x1 1.0; do
	ctl up up --node "$text"; misused up "--node: '$text' is not a number"
done
for text in '' -1 1e3 nan 0x10 1.2.3 ' 1' 1s .; do
	ctl up set --timeout "$text"
	misused set "--timeout: '$text' is not a number of seconds"
done
for text in 0 0.09 3601 1000000000000000000000000000; do
	ctl up set --timeout $text
	misused set "--timeout: $text is not within 0.1 to 3600 seconds"
done
ctl up set --hold 10001;	misused set "--hold: 10001 is not within 0 to 10000"
for text in 1280 1499 9001 9216; do
	ctl up "${up[@]}" --mtu $text
	misused up "--mtu: $text is not within 1500 to 9000"
done
for text in '' 10.0.0 10.0.0.256 mem1 ::1 '10.0.0.1,,' ',10.0.0.1'; do
	ctl up up --homes "$text"
	part=$(tr , '\n' <<<"$text" | grep -vxE '([0-9]+\.){3}1' | head -n 1)
	misused up "--homes: '$part' is not an IPv4 address such as 10.0.0.101"
done
for text in 0.0.0.0 224.0.0.1 255.255.255.255; do
	ctl up up --homes 10.0.0.1,$text
	misused up "--homes: $text is not the address of one machine"
	ctl up up --address $text
	misused up "--address: $text is not the address of one machine"
done
ctl up up --homes 10.0.0.1/
misused up "--homes: '' is not an IPv4 address such as 10.0.0.101"
ctl up up --homes 10.0.0.1/10.0.0.2/10.0.0.3
misused up "--homes: '10.0.0.2/10.0.0.3' is not an IPv4 address such as 10.0.0.101"
ctl up up --homes 10.0.0.1/10.0.0.2,10.0.0.3/10.0.0.2
misused up "--homes: 10.0.0.2 is there twice"
ctl up up --homes 10.0.0.1/10.0.0.1
misused up "--homes: 10.0.0.1 is there twice"
ctl up up --homes 10.0.0.1/10.0.0.2,10.0.0.2
misused up "--homes: 10.0.0.2 is there twice"
ctl up up --homes 10.0.0.1,10.0.0.2,10.0.0.1
misused up "--homes: 10.0.0.1 is there twice"
ctl up up --homes "$(seq -s , -f 10.0.0.%g 17)"
misused up "--homes: a rack has 16 memory blades at most"
for text in '' sixteen-letters- a/b 'a b'; do
	ctl up up --interface "$text"
	misused up "--interface: '$text' cannot be the name of an interface"
done

for command in '' up down set status stats rack node region line lock dir monitor top trace doctor; do
	# shellcheck disable=SC2086  # no command is no word
	ctl up $command --help
	[ $rc = 0 ] && grep -q "^usage: weftctl ${command:-\[}" "$dir/out" &&
		[ ! -s "$dir/err" ] && ! grep -q ' $' "$dir/out"
	report $? "$what"
done
ctl up --version;		prints '^weftctl, netlink interface 1, '

# --- Requests ----------------------------------------------------------------

ctl up "${up[@]}";		asked 'cmd 1 1=3 4=eth1 2=0 5=10.0.0.101'
ctl up "${up[@]}" --homes 10.0.0.1,10.0.0.2 --rack 4294967295 --timeout 2.5 \
	--hold 0 --address 10.0.0.3 --mtu 9000
asked 'cmd 1 1=3 4=eth1 2=4294967295 8=10.0.0.3 9=9000 6=2500 7=0 5=10.0.0.1 5=10.0.0.2'
ctl up "${up[@]}" --homes "$(seq -s , -f 10.0.0.%g 16)"
[ "$(grep -o ' 5=' "$dir/log" | wc -l)" = 16 ]
report $? "16 memory blades"
ctl up down;			asked 'cmd 15' 'cmd 2'
ctl up set --timeout 0.1;	asked 'cmd 4 6=100'
ctl up set --hold=0 --timeout 3600; asked 'cmd 4 6=3600000 7=0'
ctl no-module "${up[@]}"
[ $rc = 0 ] && [ "$(cat "$dir/err")" = 'fake: module loaded' ] &&
	grep -q '^cmd 1 ' "$dir/log"
report $? "up loads the module"

# --- Refusals ----------------------------------------------------------------

for command in down 'set --hold 1' stats; do
	# shellcheck disable=SC2086  # words
	ctl no-module $command
	says 2 "the module weft is not loaded: 'weftctl up' loads it"
done
for command in down 'set --hold 1' stats 'stats memory' 'stats switch' region \
	       'line show 7' lock; do
	# shellcheck disable=SC2086  # words
	ctl down $command;	says 2 "this node is not set up: run 'weftctl up'"
done
for command in "${up[*]}" down 'set --hold 1'; do
	# shellcheck disable=SC2086  # words
	ctl user $command
	says 2 "changing the node needs root (CAP_NET_ADMIN): run weftctl with sudo"
done
ctl busy "${up[@]}"
says 2 "the node is set up already: run 'weftctl down' first, or 'weftctl set' to tune it"
ctl busy down
says 2 "the node cannot go down while weft is mounted, in a mount namespace of another process: unmount it there first"
ctl no-interface "${up[@]}"
says 2 "there is no interface 'eth1': 'ip link' lists those that there are"
ctl down-interface "${up[@]}"
says 2 "the interface 'eth1' is down: 'ip link set eth1 up' first"
ctl no-group "${up[@]}";	says 2 "the module refuses: cannot join"
ctl range "${up[@]}";		says 2 "--hold: integer out of range"
ctl missing "${up[@]}";		says 2 "--homes is missing: Invalid argument"
ctl silent "${up[@]}";		says 2 "the module refuses: Address already in use"
ctl sentence "${up[@]}"
says 2 "the module refuses: the MTU is greater than the interface's"
ctl old-module set --hold 1
says 2 "the module refuses: Operation not supported: are weftctl and the module of the same version?"
ctl no-switch stats switch
says 2 "no directory in the switch answers: is the weft program loaded there? (without one the memory blades keep the directory: 'weftctl stats memory')"
ctl no-blade stats memory
lacks "memory blade 1 (10.0.0.101) does not answer: is weft-memd running there, and does 'ping' reach it?" \
	"memory blade 2 (10.0.0.102) does not answer: is weft-memd running there, and does 'ping' reach it?"
ctl odd-blade stats
says 2 "the answer of memory blade 1 (10.0.0.101) makes no sense: are weft-memd and the module of the same version?"

WEFT_FAKE=up "$WEFTCTL" status >/dev/full 2>"$dir/err"
[ $? = 2 ] && grep -q '^weftctl: cannot write the output: ' "$dir/err"
report $? "a full disk is a failure"

# --- Status ------------------------------------------------------------------

ctl no-module status;	prints '^no node: the module weft is not loaded'
ctl no-module -j status; json '$j->{state} eq "no module"' '@{$j->{mounts}} == 0'
for command in status down stats; do
	# shellcheck disable=SC2086  # words
	ctl elsewhere $command
	says 2 "the module weft is loaded but cannot be reached from here: run weftctl in the first network namespace"
done
ctl down status;	prints '^no node: down'
ctl down status -j;	json '$j->{state} eq "down"'
ctl up status
prints '^node 2 of rack 7: up, joined$' 'interface +eth0, 10\.0\.0\.2, MTU 9000$' \
	'homes +10\.0\.0\.101 10\.0\.0\.102$' 'timeout +30 s$' 'hold +100 us$' \
	'blade heard +0\.25 s ago$' 'lease +20 s$' 'cache +1\.0 MiB of 64\.0 MiB, 256 lines, 3 regions' \
	' 2 +10\.0\.0\.2 .*this node$' ' 3 +10\.0\.0\.3' ' 33 +10\.0\.0\.101 +memory blade 1$'
ctl up status -j
json '$j->{state} eq "up"' '$j->{node} == 2' '$j->{rack} == 7' \
	'$j->{interface} eq "eth0"' '$j->{address} eq "10.0.0.2"' '$j->{mtu} == 9000' \
	'"@{$j->{homes}}" eq "10.0.0.101 10.0.0.102"' '$j->{timeout_ms} == 30000' \
	'$j->{hold_us} == 100' '$j->{joined} == JSON::PP::true' '$j->{life} == 77' \
	'"@{$j->{members}}" eq "2 3 32"' '$j->{answered_ms} == 250' '$j->{lease_ms} == 20000' \
	'$j->{regions} == 3' '$j->{cache}{lines} == 256' '$j->{cache}{bytes} == 1 << 20' \
	'$j->{cache}{max_bytes} == 64 << 20' '$j->{wire_version} == 1' \
	'@{$j->{peers}} == 3' '$j->{peers}[0]{self}' '!$j->{peers}[1]{self}' \
	'$j->{peers}[1]{joined}' '$j->{peers}[2]{kind} eq "memory"' \
	'$j->{peers}[2]{address} eq "10.0.0.101"' '@{$j->{mounts}} == 0'
[ "$(wc -l <"$dir/out")" = 1 ]
report $? "JSON is one line"
check "status is what the schema says" \
	tests/ctl/schema.pl tools/weftctl/schema.json status "$dir/out"
ctl twin status
prints 'homes +10\.0\.0\.101/10\.0\.0\.133 10\.0\.0\.102$' ' 33 +10\.0\.0\.133 +memory blade 1$' \
	'its twin has taken over there; the other one is 10\.0\.0\.101$'
ctl twin status -j
json '"@{$j->{homes}}" eq "10.0.0.101/10.0.0.133 10.0.0.102"' '$j->{peers}[2]{view} == 2' \
	'$j->{peers}[2]{address} eq "10.0.0.133"' '$j->{peers}[2]{twin} eq "10.0.0.101"'
check "status of a blade with a twin is what the schema says" \
	tests/ctl/schema.pl tools/weftctl/schema.json status "$dir/out"
ctl twin stats memory
prints '^memory blade 1, 10\.0\.0\.133$' '^memory blade 2, 10\.0\.0\.102$'
ctl up -p status;	json '$j->{node} == 2'
[ "$(wc -l <"$dir/out")" -gt 40 ] && grep -q '^    "node": 2,$' "$dir/out"
report $? "pretty JSON is many lines"

ctl no-lease status;	prints '^  lease +none: no node is taken for dead$'
ctl no-lease status -j;	json '$j->{lease_ms} == 0'

# --- Words for the same ------------------------------------------------------

# same COMMAND... -- WORD...: both print the same, and ask for the same.
same()
{
	local first=()

	while [ "$1" != -- ]; do
		first+=("$1")
		shift
	done
	shift
	ctl up "${first[@]}"
	mv "$dir/out" "$dir/first"
	mv "$dir/log" "$dir/asked"
	ctl up "$@"
	[ "$rc" = 0 ] && [ -s "$dir/first" ] && diff "$dir/first" "$dir/out" &&
		diff "$dir/asked" "$dir/log"
	report $? "weftctl $*: as ${first[*]}"
}

for noun in rack node blade region line lock dir; do
	for word in show list ls lis; do
		same "$noun" -- "$noun" "$word"
		same "$noun" -- "${noun}s" "$word"
	done
	same "$noun" -- "${noun}s"
	same "$noun" --help -- "$noun" help
	same "$noun" --help -- "${noun}s" help
	same "$noun" --help -- help "${noun}s"
done
same region show 7 -- regions ls table
for command in up down set status stats monitor top trace doctor; do
	same "$command" --help -- "$command" help
	same "$command" --help -- help "$command"
done
same --help -- help
same --help -- help help
same stats node -- stats nodes
same stats memory -- stats blades
same stats switch -- stats switches

ctl up node;	asked 'cmd 9'
prints '^NODE ADDRESS +STATE +DATA BY$' '^ +2 10\.0\.0\.2 +this node +-$' '^ +3 10\.0\.0\.3 +joined +UDP'
[ "$(wc -l <"$dir/out")" = 3 ]
report $? "no memory blade among them"
ctl up node -j
json '@{$j->{nodes}} == 2' '$j->{nodes}[0]{node} == 2' '$j->{nodes}[0]{self}' \
	'$j->{nodes}[1]{address} eq "10.0.0.3"' '$j->{nodes}[1]{joined}'
schema 'node show'

# --- Nodes that die ----------------------------------------------------------

ctl up node fence 3;	asked 'cmd 16 1=3'
ctl racks node fence 3 --rack 7; asked 'cmd 16 5=7 1=3'
ctl racks node fence 3
says 2 "this machine is in several racks: say which one by --rack, 'weftctl rack' lists them"
ctl down node fence 3;	says 2 "this node is not set up: run 'weftctl up'"
ctl user node fence 3
says 2 "taking a node out of the rack needs root (CAP_NET_ADMIN): run weftctl with sudo"
ctl not-joined node fence 3
says 2 "this node has not joined its rack: mount weft first ('weftctl doctor' says why it is not)"
ctl no-node node fence 3
says 2 "the rack has no node 3: 'weftctl status' lists those that have joined"
ctl own-node node fence 3
says 2 "node 3 is this node, which does not take itself for dead: 'weftctl down --unmount' takes it out of the rack"
ctl no-blade node fence 3
says 2 "the first memory blade does not answer, so node 3 may be a member yet: is weft-memd running there ('weftctl doctor')?"
ctl old-module node fence 3
says 2 "the module refuses: Operation not supported: are weftctl and the module of the same version?"

# Pieces that belong together came from two blades.
ctl up line lost
prints '^ +REGION +OFFSET +BYTES NAME$' '^ +7 +245760 +282624 table$' '^ +7 +819200 +4096 table$' \
	'^ +9 +0 +8192 odd \\033\[2J\\134$' '^ +4711 +140737488351232 +4096 \(no name\)$'
asked 'cmd 11' 'cmd 3' 'cmd 18' 'cmd 17 1=33' 'cmd 17 1=34'
ctl up line lost -j
json '@{$j->{lost}} == 4' '$j->{lost}[0]{region} == 7' '$j->{lost}[0]{name} eq "table"' \
	'$j->{lost}[0]{offset} == 60 * 4096' '$j->{lost}[0]{length} == 69 * 4096' \
	'$j->{lost}[0]{block} == 4096' '!defined $j->{lost}[3]{name}'
schema 'line lost'
ctl up line lost table;	asked 'cmd 11' 'cmd 3' 'cmd 18' 'cmd 17 1=33 2=7' 'cmd 17 1=34 2=7'
ctl up line lost 12;	asked 'cmd 11' 'cmd 3' 'cmd 18' 'cmd 17 1=33 2=12' 'cmd 17 1=34 2=12'
# A blade that is drained and empty may be off.
ctl drained line lost;	asked 'cmd 11' 'cmd 3' 'cmd 18' 'cmd 17 1=33' 'cmd 17 1=34'
ctl nothing-lost line lost
[ "$rc" = 0 ] && [ ! -s "$dir/out" ] && [ ! -s "$dir/err" ]
report $? "$what: prints nothing"
ctl nothing-lost line lost -j; json '@{$j->{lost}} == 0'
schema 'line lost'
ctl no-blade line lost -j
lacks "memory blade 1 (10.0.0.101) does not answer: is weft-memd running there, and does 'ping' reach it?" \
	"memory blade 2 (10.0.0.102) does not answer: is weft-memd running there, and does 'ping' reach it?"
json '@{$j->{lost}} == 0'
asked 'cmd 11' 'cmd 3' 'cmd 18' 'cmd 17 1=34'
ctl one-blade line lost
lacks "memory blade 2 (10.0.0.102) does not answer: is weft-memd running there, and does 'ping' reach it?"
prints '^ +7 +245760 +16384 table$' '^ +7 +524288 +4096 table$' '^ +9 +0 +8192 odd '
ctl odd-blade line lost
says 2 "the answer of memory blade 1 (10.0.0.101) makes no sense: are weft-memd and the module of the same version?"
ctl no-region line lost 8
says 2 "memory blade 1 (10.0.0.101) knows no such region: it was removed a moment ago, or never was there"
ctl not-joined line lost
says 2 "this node has not joined its rack: mount weft first ('weftctl doctor' says why it is not)"
ctl up line lost nothing
says 2 "weft is not mounted here: give the path of the region's file, or mount it first"

# --- Memory blades that come and go ------------------------------------------------

ctl up blade;	asked 'cmd 18'
prints '^BLADE ADDRESS +STATE +BYTES +NEEDED +REGIONS$' \
	'^ +1 10\.0\.0\.101 +in use +68719476736 +1073741824 +3$' '^ +2 10\.0\.0\.102 +in use .* 2$'
ctl up blade list -j
json '@{$j->{blades}} == 2' '$j->{blades}[1]{blade} == 2' '$j->{blades}[1]{joined}' \
	'!$j->{blades}[1]{drains}' '$j->{blades}[1]{regions} == 2' \
	'$j->{blades}[1]{needed} == 1 << 30' '$j->{blades}[1]{address} eq "10.0.0.102"'
schema 'blade list'
ctl drained blade;	prints '^ +2 10\.0\.0\.102 +draining '
ctl up blade add 3 10.0.0.103;	asked "cmd 19 1=35 3=1 2=$((103 << 24 | 10))"
ctl up blade drain 2;	asked 'cmd 19 1=34 3=2'
ctl up blade drain 34;	asked 'cmd 19 1=34 3=2'
ctl up blade use 2;	asked 'cmd 19 1=34 3=3'
ctl racks blade use 2 --rack 7;	asked 'cmd 19 10=7 1=34 3=3'
# Two looks until it has no regions any more, or fewer than that takes.
ctl drained blade drain 2 --wait 10;	asked 'cmd 19 1=34 3=2' 'cmd 18' 'cmd 18' 'cmd 18'
ctl up blade drain 2 --wait 0.1
says 2 "draining memory blade 2 is not over yet, and goes on: 'weftctl blade list' and 'weftctl region show' say how far it is"
ctl up blade drain 1
says 2 "the first memory blade has the catalog of the rack: it cannot be drained"
ctl up blade drain;	misused blade "say which memory blade, as in 'drain 2'"
ctl up blade drain 17;	misused blade "BLADE: it may be 1 to 16"
ctl up blade drain 2 3;	misused blade "'3' is too much here"
ctl up blade add 3;	misused blade "say where the memory blade is, as in 'add 3 10.0.0.103'"
ctl up blade add 3 here;	misused blade "ADDRESS: 'here' is not an IPv4 address such as 10.0.0.101"
ctl up blade use 2 --wait 3;	misused blade "--wait goes with 'drain'"
ctl up blade --wait 3;	misused blade "--wait goes with 'drain'"
ctl user blade drain 2
says 2 "changing which memory blades are used needs root (CAP_NET_ADMIN): run weftctl with sudo"
ctl no-blade blade drain 2
says 2 "the first memory blade does not answer: is weft-memd running there, and does 'ping' reach it?"
ctl not-joined blade
says 2 "this node has not joined its rack: mount weft first ('weftctl doctor' says why it is not)"
ctl odd-blade blade
says 2 "the answer of the first memory blade makes no sense: are weft-memd and the module of the same version?"
ctl blade-unknown blade drain 9
says 2 "the rack has no memory blade 9: 'weftctl blade list' says which there are"
ctl blade-other blade add 2 10.0.0.3
says 2 "the rack has a memory blade 2, at another address: 'weftctl blade list' says which there are"
ctl blade-address blade add 3 10.0.0.3
says 2 "another member of the rack has this address: each memory blade needs its own"
ctl blade-last blade add 9 10.0.0.9
says 2 "memory blade 9 cannot be added: blades are numbered without gaps, 'weftctl blade list' says which number is next, 16 is the last one"
ctl blade-last blade drain 2
says 2 "memory blade 2 is the last one that regions use: add another one first"
ctl blade-disk blade use 2
says 2 "the first memory blade cannot write its file: its log says why"
ctl old-module blade use 2
says 2 "the module refuses: Operation not supported: are weftctl and the module of the same version?"

ctl up region move 7 1,3;	asked 'cmd 20 1=7 12=5'
ctl up region move 7 34;	asked 'cmd 20 1=7 12=2'
ctl up region move 7 1,3,16 --wait 5;	asked 'cmd 20 1=7 12=32773' 'cmd 11'
ctl up region move 7 1 --wait 0.1
says 2 "the move of region 7 is not over yet, and goes on: 'weftctl blade list' and 'weftctl region show' say how far it is"
ctl up region spread 7;		asked 'cmd 20 1=7'
ctl up region spread --all;	asked 'cmd 20'
ctl racks region spread --all --rack 7;	asked 'cmd 20 9=7'
ctl up region move nothing 1
says 2 "weft is not mounted here: give the path of the region's file, or mount it first"
ctl up region move 7;	misused region "move: give a region and the memory blades that are to have it, as in 'move table 1,3'"
for text in 0 17 32 49 '1,' 1,,2 x; do
	ctl up region move 7 "$text"
	misused region "'$text': give numbers of memory blades from 1 to 16 with commas between, as in 1,3"
done
ctl up region spread;	misused region "spread: give a region, as in 'spread table', or --all"
ctl up region spread 7 --all;	misused region "spread: give a region, as in 'spread table', or --all"
ctl up region spread --all --wait 3;	misused region "--wait goes with one region"
ctl up region show --all;	misused region "--all goes with 'spread'"
ctl up region show --wait 3;	misused region "--wait goes with 'move' and 'spread'"
ctl user region move 7 1
says 2 "changing which memory blades are used needs root (CAP_NET_ADMIN): run weftctl with sudo"
ctl region-gone region move 7 1;	says 2 "there is no region 7 any more"
ctl region-moves region move 7 1
says 2 "region 7 moves just now: wait until that is over ('weftctl region show')"
ctl no-room region move 7 1,2
says 2 "memory blades 1,2 have no room for region 7: 'weftctl blade list' says how much they have"
ctl blade-down region spread 7
says 2 "a memory blade that has region 7, or is to have it, is not there: 'weftctl blade list' says which, start it and try again"
ctl blade-last region move 7 2,5
says 2 "not all of memory blades 2,5 may be used by regions: 'weftctl blade list' says which may"
ctl blade-disk region move 7 2
says 2 "the first memory blade cannot write its file: its log says why"

# --- The description ---------------------------------------------------------------

what="uapi/weft.yaml"
tests/ctl/yamlclient.py compare uapi/weft.yaml uapi/weft_netlink.h >"$dir/out" 2>&1
rc=$?
report $rc "$what has the names and numbers of uapi/weft_netlink.h"
# A comparison that finds nothing proves nothing.
sed 's/WEFT_CMD_TUNE,/WEFT_CMD_FIRST, &/' uapi/weft_netlink.h >"$dir/header"
! tests/ctl/yamlclient.py compare uapi/weft.yaml "$dir/header" >"$dir/out" 2>&1 &&
	grep -q 'WEFT_CMD_TUNE: 4 in the description, 5 in the header' "$dir/out"
report $? "$what: a number that differs is found"

# --- What the node has -----------------------------------------------------------

ctl up region
prints '^ +7 +1099511627776 +65536 +12 +3 table$' ' odd \\033\[2J\\134$' \
	'^16777215 .* \(gone\)$' '^ +REGION +SIZE +BLOCK +LINES +LOCKS NAME$'
asked 'cmd 11'
ctl up reg s -j
json '@{$j->{regions}} == 4' '$j->{regions}[0]{id} == 7' '$j->{regions}[0]{name} eq "table"' \
	'$j->{regions}[0]{size} == 1 << 40' '$j->{regions}[0]{block} == 65536' \
	'$j->{regions}[0]{lines} == 12' '$j->{regions}[0]{locks} == 3' '!$j->{regions}[0]{gone}' \
	'$j->{regions}[1]{name} eq "odd \033[2J\\"' '!defined $j->{regions}[2]{name}' \
	'$j->{regions}[2]{gone}' '$j->{regions}[0]{durability} eq "release"' \
	'$j->{regions}[0]{on_owner_death} eq "block"' '$j->{regions}[0]{on_loss} eq "sigbus"' \
	'$j->{regions}[1]{durability} eq "sync"' '$j->{regions}[2]{durability} eq "write-back"' \
	'$j->{regions}[3]{durability} eq "mirror"' \
	'$j->{regions}[2]{on_owner_death} eq "pass"' '$j->{regions}[2]{on_loss} eq "revert"' \
	'"@{$j->{regions}[0]{nodes}}" eq "1 2 32"' '!defined $j->{regions}[1]{nodes}' \
	'"@{$j->{regions}[0]{homes}}" eq "1 3 16"' '"@{$j->{regions}[1]{homes}}" eq "1"'
schema 'region show'
ctl up region show table
prints '^region 7: table$' '^  size +1099511627776 bytes, blocks of 65536$' \
	'^  here +12 blocks in the cache, 3 locks open$' '^  durability +release$' \
	'^  on-owner-death +block$' '^  on-loss +sigbus$' '^  nodes +1,2,32$' '^  homes +1,3,16$'
ctl up region show 12;		says 2 "this node knows no region '12': 'weftctl region show' lists those that it knows"
ctl up region show 9 -j
json '@{$j->{regions}} == 1' '$j->{regions}[0]{id} == 9' '$j->{regions}[0]{durability} eq "sync"'
ctl up line show
prints '^ +7 +68719476735 none +none +5 +1000 +4294967295$' \
	'^ +7 +68719476734 shared +read .* ahead$' \
	'^ +7 +68719476733 modified write .* dirty,revoking$' ' unknown  put ' ' none     clean ' \
	' shared   commit ' ' modified unknown '
asked 'cmd 12'
ctl up lin sh table -j
json '@{$j->{lines}} == 7' '$j->{lines}[2]{index} == 68719476733' \
	'$j->{lines}[2]{state} eq "modified"' '$j->{lines}[2]{op} eq "write"' \
	'$j->{lines}[2]{dirty} && $j->{lines}[2]{revoking} && !$j->{lines}[2]{ahead}' \
	'$j->{lines}[2]{waiters} == 5' '$j->{lines}[2]{misses} == 1000' \
	'$j->{lines}[2]{revocations} == 4294967295' '$j->{lines}[2]{region} == 7'
schema 'line show'
asked 'cmd 11' 'cmd 12 1=7'
ctl up line show 7;	asked 'cmd 12 1=7'
ctl up lock
prints '^ +7 +64 modified none +2 +3 +31 +4 +6 open,tenured$'
asked 'cmd 13'
ctl up loc show 16777215 -p
json '@{$j->{locks}} == 1' '$j->{locks}[0]{offset} == 64' '$j->{locks}[0]{queue} == 31' \
	'$j->{locks}[0]{state} eq "modified"' '$j->{locks}[0]{want} eq "none"' \
	'$j->{locks}[0]{readers} == 2' '$j->{locks}[0]{waiters} == 3' \
	'$j->{locks}[0]{grants} == 4' '$j->{locks}[0]{hand_overs} == 6' \
	'$j->{locks}[0]{open} && $j->{locks}[0]{tenured}' \
	'!$j->{locks}[0]{writer} && !$j->{locks}[0]{revoking}'
schema 'lock show'
asked 'cmd 13 1=16777215'
# What the schema must refuse, or it proves nothing.
what="the schema"
while IFS='|' read -r definition text; do
	echo "$text" >"$dir/out"
	! tests/ctl/schema.pl tools/weftctl/schema.json "$definition" "$dir/out" >"$dir/why" &&
		grep -q "^# $definition" "$dir/why"
	report $? "$what refuses: $text"
done <<'END'
region show|{}
region show|{"regions":{}}
region show|{"regions":[],"more":1}
region show|{"regions":[{"id":0,"name":"x","size":5,"block":4096,"lines":1,"locks":0,"gone":false}]}
region show|{"regions":[{"id":1,"name":7,"size":5,"block":4096,"lines":1,"locks":0,"gone":false}]}
region show|{"regions":[{"id":1,"name":"x","size":"5","block":4096,"lines":1,"locks":0,"gone":false}]}
region show|{"regions":[{"id":1,"name":"x","size":5,"block":4096,"lines":1.5,"locks":0,"gone":false}]}
region show|{"regions":[{"id":1,"name":"x","size":5,"block":4096,"lines":1,"locks":0,"gone":0}]}
region show|{"regions":[{"id":1,"name":"x","size":5,"block":4096,"lines":1,"locks":0}]}
line show|{"lines":[{"region":1,"index":0,"state":"exclusive","op":"none","waiters":0,"misses":0,"revocations":0,"dirty":false,"revoking":false,"ahead":false}]}
line show|{"lines":[{"region":1,"index":68719476736,"state":"none","op":"none","waiters":0,"misses":0,"revocations":0,"dirty":false,"revoking":false,"ahead":false}]}
END

for command in line lock; do
	ctl no-region $command show 12
	says 2 "this node knows no region 12: 'weftctl region show' lists those that it knows"
	ctl up $command show nothing
	says 2 "this node knows no region 'nothing': 'weftctl region show' lists those that it knows"
done

# --- Racks --------------------------------------------------------------------------

ctl up rack
prints '^ +RACK NODE INTERFACE +ADDRESS +STATE +MOUNTED$' '^ +7 +2 eth0 +10\.0\.0\.2 +joined$'
asked 'cmd 15' 'cmd 5 14=7'
ctl down rack;		prints "^this machine is in no rack \('weftctl up' sets it up\)\$"
ctl down rack -j;	json '@{$j->{racks}} == 0'
schema 'rack show'
export WEFT_FAKE_MOUNTS=/weft@7:/other@4294967295:/third@7
ctl racks rack
prints '^ +7 +2 eth0 +10\.0\.0\.2 +joined /weft /third$' \
	'^4294967295 +2 vlan-sixty-four +10\.0\.0\.2 +joined /other$'
ctl racks rack show -j
json '@{$j->{racks}} == 2' '$j->{racks}[0]{rack} == 7' '$j->{racks}[1]{rack} == 4294967295' \
	'$j->{racks}[1]{node} == 2' '$j->{racks}[1]{interface} eq "vlan-sixty-four"' \
	'$j->{racks}[1]{address} eq "10.0.0.2"' '$j->{racks}[1]{joined}' \
	'"@{$j->{racks}[0]{mounts}}" eq "/weft /third"'
schema 'rack show'
ctl racks rack --rack 4294967295 -j
json '@{$j->{racks}} == 1' '$j->{racks}[0]{rack} == 4294967295'
# Nothing is done to any of them unless it is said to which.
for command in status stats 'stats memory' 'stats latency' 'stats --prometheus' 'set --hold 1' \
	       down 'down --unmount' region 'line show' 'lock show 7' dir trace\ 7 'top -n 1'; do
	# shellcheck disable=SC2086  # words
	ctl racks $command
	says 2 "this machine is in several racks: say which one by --rack, 'weftctl rack' lists them"
	! grep -qE '^umount |^cmd [24] .*2=' "$dir/log"
	report $? "$what: changes nothing"
done
ctl racks status --rack 7;	prints '^node 2 of rack 7: up, joined$' 'mounted +/weft$' ' /third$'
asked 'cmd 5 14=7' 'cmd 3 2=7' 'cmd 5 14=7' 'cmd 9 5=7'
ctl racks --rack 4294967295 stats -j; json '$j->{memory}{total}{reads} == 42'
asked 'cmd 5 14=4294967295' 'cmd 3 2=4294967295' 'cmd 18 10=4294967295' 'cmd 6 5=4294967295' \
	'cmd 7 5=4294967295 1=33' 'cmd 7 5=4294967295 1=34' 'cmd 8 5=4294967295'
ctl racks stats latency --rack 7 -j;	json '$j->{latency}'
ctl racks region --rack=7;	asked 'cmd 11 9=7'
ctl racks lock show --rack 7 7; asked 'cmd 13 15=7 1=7'
ctl racks line show 7 --rack 7; asked 'cmd 12 12=7 1=7'
ctl racks set --rack 7 --hold 1; asked 'cmd 4 2=7 7=1'
ctl racks --rack 7 down --unmount; asked 'umount /third' 'umount /weft' 'cmd 2 2=7'
ctl racks down --all
asked 'cmd 15' 'umount /third' 'umount /weft' 'cmd 2 2=7' 'umount /other' 'cmd 2 2=4294967295'
ctl racks --rack 7 down --all
says 1 "--all is about all racks: leave --file and --rack out"
ctl racks --rack 6 status;	prints '^no node: down'
ctl racks --rack 6 stats
says 2 "this node is not set up in rack 6: 'weftctl rack' lists those in which it is, 'weftctl up --rack 6' sets it up"
ctl racks --rack 6 status --rack 7; prints '^node 2 of rack 7: up, joined$'
ctl racks --rack 9 "${up[@]}";	asked 'cmd 1 1=3 4=eth1 2=9 5=10.0.0.101'
ctl racks --rack 9 "${up[@]}" --rack 8; asked 'cmd 1 1=3 4=eth1 2=8 5=10.0.0.101'
ctl racks "${up[@]}" --rack 8 --mount /eighth
asked 'cmd 1 1=3 4=eth1 2=8 5=10.0.0.101' 'mount /eighth rack=8'
unset WEFT_FAKE_MOUNTS
ctl up stats --rack 7 --prometheus
prints '^weft_node_miss_upgrade_total\{node="2",rack="7"\} 10$' \
	'^weft_latency_seconds_count\{node="2",kind="lock_acquire",rack="7"\} 0$'
ctl up stats memory --rack 7 --prometheus
prints '^weft_blade_reads_total\{blade="34",address="10\.0\.0\.102",rack="7"\} 5$'
ctl up stats switch --rack 7 --prometheus
prints '^weft_switch_miss_total\{rack="7"\} 10$'
ctl racks monitor -n 4
prints ' rack 7: node 3 has joined$' ' rack 4294967295: node 3 has left$'
ctl racks monitor -n 8 -j --rack 7
[ $rc = 0 ] && [ "$(grep -c '"rack":7,' "$dir/out")" = 8 ] &&
	! grep -q '"rack":4294967295' "$dir/out"
report $? "$what: only of this rack"

# --- The directory ------------------------------------------------------------------

ctl up dir
prints '^DIRECTORY +SWITCH +BLADE 1 +BLADE 2$' '^entries +30 +0 +21$' \
	'^entries free +65506 +- +-$' '^requests +100 +0 +12$' '^answered here +90 +- +-$' \
	'^invalidations +30 +0 +11$' '^refused: line busy +0 +0 +6$' \
	'^refused: not a member +4 +0 +0$' '^lines moved in +70 +0 +5$' \
	'^ADD refused +2 +- +-$' '^not moved in: no room +- +0 +1$' \
	'^moved in: second try +- +0 +3$' '^lines moved out +9 +0 +35$'
asked 'cmd 5' 'cmd 3' 'cmd 18' 'cmd 7 1=33' 'cmd 7 1=34' 'cmd 8'
ctl up dir show -j
json '$j->{switch}{entries} == 30 && $j->{switch}{free} == 65506' \
	'$j->{switch}{answered} == 90 && !exists $j->{switch}{lost}' '@{$j->{blades}} == 2' \
	'$j->{blades}[1]{id} == 34 && $j->{blades}[1]{address} eq "10.0.0.102"' \
	'$j->{blades}[1]{moved_out} == 35 && !exists $j->{blades}[1]{free}'
schema 'dir show'
ctl no-switch dir
prints '^DIRECTORY +BLADE 1 +BLADE 2$' '^entries +0 +21$' \
	'^no directory in the switch answers: the memory blades keep it$'
! grep -q '^entries free' "$dir/out"
report $? "$what: nothing of a switch"
ctl no-switch dir -j;		json 'exists $j->{switch} && !defined $j->{switch}'
schema 'dir show'
ctl one-blade dir
lacks "memory blade 2 (10.0.0.102) does not answer: is weft-memd running there, and does 'ping' reach it?"
prints '^DIRECTORY +SWITCH +BLADE 1 +BLADE 2$' '^entries +- +0 +-$' '^entries free +- +- +-$' \
	'^requests +100 +0 +-$'
ctl one-blade dir -j
lacks "memory blade 2 (10.0.0.102) does not answer: is weft-memd running there, and does 'ping' reach it?"
json '!defined $j->{switch}{entries}' '$j->{switch}{requests} == 100' \
	'$j->{blades}[0]{answers} && $j->{blades}[0]{requests} == 0' \
	'!$j->{blades}[1]{answers} && !exists $j->{blades}[1]{requests}'
schema 'dir show'

finish
