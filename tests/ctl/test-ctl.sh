#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# weftctl on its own: what it makes of its arguments, what it asks the kernel,
# what it prints as text and JSON, what it says about errors.  The kernel is
# tests/ctl/fakes/genl, so that every answer and refusal can be had; the real one is
# asked by tests/ctl/test-netlink.sh.
#
# Prints a line a check.  Environment: BUILD, the build directory; CC.

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

has_lines()
{
	local regex bad=0

	for regex; do
		grep -qE -- "$regex" "$dir/out" && continue
		bad=1
		echo "no line matches: $regex"
	done
	good && [ $bad = 0 ]
}

# prints PATTERN...: text with lines that match.
prints()
{
	check "$what" has_lines "$@"
}

holds()
{
	tests/ctl/json.pl "$dir/out" "$dir/none" "$@" && good
}

# json EXPRESSION...: the output is one JSON document, and each holds of it; it
# is $j, in Perl.
json()
{
	check "$what" holds "$@"
}

# schema DEFINITION: the output is what tools/weftctl/schema.json says.
schema()
{
	check "$what: as the schema says" \
		tests/ctl/schema.pl tools/weftctl/schema.json "$1" "$dir/out"
}

exposes()
{
	tests/ctl/exposition.pl "$dir/out" "$@" && good
}

# exposition EXPRESSION...: the output is good for Prometheus, and each holds.
exposition()
{
	check "$what" exposes "$@"
}

begin ctl "$(programs_here)"
build /nowhere/weft.conf

# --- Command line ------------------------------------------------------------

up=(up --node 3 --interface eth1 --homes 10.0.0.101)

ctl up;				[ $rc = 1 ] && grep -q '^usage:' "$dir/err"
report $? "no command: usage, status 1"
ctl up fly;			misused '' "there is no command 'fly'"
ctl up st;			misused '' "'st' may be 'status', 'stats'"
ctl up l;			misused '' "'l' may be 'line', 'lock'"
ctl up '';			misused '' "there is no command ''"
ctl up linex;			misused '' "there is no command 'linex'"
ctl up region list;		misused region "there is no action 'list'"
ctl up region show 7;		misused region "'7' is too much here"
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
ctl up dir list;		misused dir "there is no action 'list'"
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
misused up "--homes is missing: the addresses of the memory blades, blade 33 first"

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
ctl up up --homes 10.0.0.1,10.0.0.2,10.0.0.1
misused up "--homes: 10.0.0.1 is there twice"
ctl up up --homes "$(seq -s , -f 10.0.0.%g 17)"
misused up "--homes: a rack has 16 memory blades at most"
for text in '' sixteen-letters- a/b 'a b'; do
	ctl up up --interface "$text"
	misused up "--interface: '$text' cannot be the name of an interface"
done

for command in '' up down set status stats region line lock dir monitor top trace doctor; do
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
ctl up down;			asked 'cmd 2'
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
says 2 "memory blade 33 (10.0.0.101) does not answer: is weft-memd running there, and does 'ping' reach it?"
ctl odd-blade stats
says 2 "the answer of memory blade 33 (10.0.0.101) makes no sense: are weft-memd and the module of the same version?"

WEFT_FAKE=up "$dir/weftctl" status >/dev/full 2>"$dir/err"
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
	'blade heard +0\.25 s ago$' 'cache +1\.0 MiB of 64\.0 MiB, 256 lines, 3 regions' \
	' 2 +10\.0\.0\.2 .*this node$' ' 3 +10\.0\.0\.3' ' 33 +10\.0\.0\.101 +memory blade$'
ctl up status -j
json '$j->{state} eq "up"' '$j->{node} == 2' '$j->{rack} == 7' \
	'$j->{interface} eq "eth0"' '$j->{address} eq "10.0.0.2"' '$j->{mtu} == 9000' \
	'"@{$j->{homes}}" eq "10.0.0.101 10.0.0.102"' '$j->{timeout_ms} == 30000' \
	'$j->{hold_us} == 100' '$j->{joined} == JSON::PP::true' '$j->{life} == 77' \
	'"@{$j->{members}}" eq "2 3 32"' '$j->{answered_ms} == 250' \
	'$j->{regions} == 3' '$j->{cache}{lines} == 256' '$j->{cache}{bytes} == 1 << 20' \
	'$j->{cache}{max_bytes} == 64 << 20' '$j->{wire_version} == 1' \
	'@{$j->{peers}} == 3' '$j->{peers}[0]{self}' '!$j->{peers}[1]{self}' \
	'$j->{peers}[1]{joined}' '$j->{peers}[2]{kind} eq "memory"' \
	'$j->{peers}[2]{address} eq "10.0.0.101"' '@{$j->{mounts}} == 0'
[ "$(wc -l <"$dir/out")" = 1 ]
report $? "JSON is one line"
ctl up -p status;	json '$j->{node} == 2'
[ "$(wc -l <"$dir/out")" -gt 40 ] && grep -q '^    "node": 2,$' "$dir/out"
report $? "pretty JSON is many lines"

# --- Statistics --------------------------------------------------------------

ctl up stats node
prints '^node 2$' '^  misses +100$' '^    read, no other copy +60 +60\.0 %$' \
	'^  answered by the switch +75 +75\.0 %$' '^  round trips a miss +1\.10$' \
	'^  messages a miss +4\.10$' '^  time a miss +123\.5 us$' '^    gets +60 +0$' \
	'^    call +20 +0$' '^    total +80 +0$' '^  read_bytes +18446744073709551615$'
! grep -qE 'abort|sent_gets' "$dir/out"
report $? "types of messages that there were none of are left out"
ctl up stats node -j
json '$j->{node}{id} == 2' '$j->{node}{summary}{misses} == 100' \
	'$j->{node}{summary}{by_switch} == 0.75' '$j->{node}{summary}{by_home} == 0.25' \
	'$j->{node}{summary}{round_trips_per_miss} == 1.1' \
	'$j->{node}{summary}{messages_per_miss} == 4.1' \
	'$j->{node}{summary}{ns_per_miss} == 123456' \
	'$j->{node}{counters}{read_bytes} eq "18446744073709551615"' \
	'$j->{node}{counters}{sent_gets} == 60' '$j->{node}{counters}{sent_abort} == 0' \
	'!exists $j->{memory}' '!exists $j->{switch}'
asked 'cmd 5' 'cmd 3' 'cmd 6'
ctl down stats node -j;	json '!defined $j->{node}{id}' '$j->{node}{summary}{misses} == 100'
ctl up stats memory
prints '^memory blade 33, 10\.0\.0\.101$' '^  reads +37$' '^  reads +5$' \
	'^memory blade 34, 10\.0\.0\.102$' '^all memory blades$' '^  reads +42$' \
	'^    gets +0 +8$'
ctl up stats memory -j
json '@{$j->{memory}{blades}} == 2' '$j->{memory}{blades}[0]{id} == 33' \
	'$j->{memory}{blades}[1]{address} eq "10.0.0.102"' \
	'$j->{memory}{blades}[0]{counters}{reads} == 37' \
	'$j->{memory}{total}{reads} == 42' '$j->{memory}{total}{only_second} == 9' \
	'$j->{memory}{total}{"odd \"\\\n\x{01}\x{ff}\x{e9} name"} == 1'
asked 'cmd 5' 'cmd 3' 'cmd 7 1=33' 'cmd 7 1=34'
ctl up stats switch
prints '^directory in the switch$' '^  requests +100$' '^  line installed +90 +90\.0 %$' \
	'^  sent on to the home +10 +10\.0 %$' '^  stranger +4$'
ctl up stats switch -p
json '$j->{switch}{summary}{requests} == 100' '$j->{switch}{summary}{hit_ratio} == 0.9' \
	'$j->{switch}{counters}{inv} == 30'
ctl up stats;		prints '^node 2$' '^memory blade 34' '^directory in the switch$'
ctl up -j stats
json '$j->{node}{id} == 2' '$j->{memory}{total}{reads} == 42' '$j->{switch}{counters}{miss} == 10'
ctl no-switch stats
prints '^no directory in the switch answers: the memory blades keep it$'
ctl no-switch stats -j;	json 'exists $j->{switch} && !defined $j->{switch}'

ctl up stats latency
prints '^  miss_read_shared: 1000, mean 100 us, half < 131 us, 99 % < 1\.0 ms$' \
	'^ +32\.8 us \.\. 65\.5 us +400 #{27}$' '^ +65\.5 us \.\. 131 us +589 #{40}$' \
	'^ +8\.6 s \.\. 17\.2 s +1 #$' '^  lock_acquire: 0$' \
	'^  lock_hand_over: 4, mean 150 s, half < 1 ns, 99 % beyond the last limit$' \
	'^ +0 ns \.\. 1 ns +2 #{40}$' '^ +1 ns \.\. +2 #{40}$'
ctl up stats latency -j
json '$j->{latency}{miss_read_shared}{count} == 1000' \
	'$j->{latency}{miss_read_shared}{sum_ns} == 100000000' \
	'$j->{latency}{miss_read_shared}{mean_ns} == 100000' \
	'$j->{latency}{miss_read_shared}{p50_below_ns} == 131072' \
	'$j->{latency}{miss_read_shared}{p99_below_ns} == 1 << 20' \
	'join(" ", map { "$_->{below_ns}:$_->{count}" } @{$j->{latency}{miss_read_shared}{buckets}})
	 eq "65536:400 131072:589 1048576:10 17179869184:1"' \
	'$j->{latency}{lock_acquire}{count} == 0 && !defined $j->{latency}{lock_acquire}{mean_ns}' \
	'@{$j->{latency}{lock_acquire}{buckets}} == 0' \
	'!defined $j->{latency}{lock_hand_over}{p99_below_ns}' \
	'!defined $j->{latency}{lock_hand_over}{buckets}[1]{below_ns}' '!exists $j->{node}'
schema 'stats latency'
asked 'cmd 5' 'cmd 3' 'cmd 10'
ctl down stats latency;	prints '^  lock_acquire: 0$'
for way in order power end; do
	ctl hist-$way stats latency
	says 2 "the module refuses: Protocol error: are weftctl and the module of the same version?"
done

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
json '@{$j->{regions}} == 3' '$j->{regions}[0]{id} == 7' '$j->{regions}[0]{name} eq "table"' \
	'$j->{regions}[0]{size} == 1 << 40' '$j->{regions}[0]{block} == 65536' \
	'$j->{regions}[0]{lines} == 12' '$j->{regions}[0]{locks} == 3' '!$j->{regions}[0]{gone}' \
	'$j->{regions}[1]{name} eq "odd \033[2J\\"' '!defined $j->{regions}[2]{name}' \
	'$j->{regions}[2]{gone}'
schema 'region show'
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

# --- The directory ------------------------------------------------------------------

ctl up dir
prints '^DIRECTORY +SWITCH +BLADE 33 +BLADE 34$' '^entries +30 +0 +21$' \
	'^entries free +65506 +- +-$' '^requests +100 +0 +12$' '^answered here +90 +- +-$' \
	'^invalidations +30 +0 +11$' '^refused: line busy +0 +0 +6$' \
	'^refused: not a member +4 +0 +0$' '^lines moved in +70 +0 +5$' \
	'^not moved in: no room +2 +- +-$' '^lines moved out +9 +0 +35$'
asked 'cmd 5' 'cmd 3' 'cmd 7 1=33' 'cmd 7 1=34' 'cmd 8'
ctl up dir show -j
json '$j->{switch}{entries} == 30 && $j->{switch}{free} == 65506' \
	'$j->{switch}{answered} == 90 && !exists $j->{switch}{lost}' '@{$j->{blades}} == 2' \
	'$j->{blades}[1]{id} == 34 && $j->{blades}[1]{address} eq "10.0.0.102"' \
	'$j->{blades}[1]{moved_out} == 35 && !exists $j->{blades}[1]{free}'
schema 'dir show'
ctl no-switch dir
prints '^DIRECTORY +BLADE 33 +BLADE 34$' '^entries +0 +21$' \
	'^no directory in the switch answers: the memory blades keep it$'
! grep -q '^entries free' "$dir/out"
report $? "$what: nothing of a switch"
ctl no-switch dir -j;		json 'exists $j->{switch} && !defined $j->{switch}'
schema 'dir show'
ctl no-blade dir
says 2 "memory blade 33 (10.0.0.101) does not answer: is weft-memd running there, and does 'ping' reach it?"

# --- Hot blocks and locks ---------------------------------------------------------

ctl up top -n 1 -d 0.1
prints '^node 2, [0-9:]{8}, 0\.1[0-9] s: 0\.0 misses/s, 0\.0 revocations/s' \
	'^ +none was missed or taken away$' '^ +GRANTS/s +HANDED/s STATE +WAITERS QUEUE  LOCK$' \
	'^ +0\.0 +0\.0 modified +3 +31  table:64$'
asked 'cmd 12' 'cmd 13' 'cmd 5' 'cmd 3' 'cmd 6' 'cmd 12' 'cmd 13' 'cmd 5' 'cmd 3' 'cmd 6' 'cmd 11'
# The counts of a block that was evicted meanwhile begin anew.
ctl moving top -b -n 1 -d 0.1 -j
json '@{$j->{blocks}} == 3' '$j->{blocks}[0]{name} eq "table"' \
	'$j->{blocks}[0]{offset} == ((1 << 36) - 3) * 65536' '$j->{blocks}[0]{region} == 7' \
	'my $n = $j->{blocks}[0]; abs($n->{revocations_per_s} / $n->{misses_per_s} - 2.5) < 0.01' \
	'my $n = $j->{blocks}[1]; $n->{misses_per_s} > 1000 && !$n->{revocations_per_s}' \
	'my $n = $j->{blocks}[2]; abs($n->{misses_per_s} / $n->{revocations_per_s} - 3) < 0.01' \
	'$j->{blocks}[0]{state} eq "modified" && $j->{blocks}[0]{waiters} == 5' \
	'@{$j->{locks}} == 1 && $j->{locks}[0]{offset} == 64 && $j->{locks}[0]{queue} == 31' \
	'$j->{locks}[0]{hand_overs_per_s} > 50 && !$j->{locks}[0]{grants_per_s}' \
	'$j->{node}{blocks} == 7 && $j->{node}{locks} == 1 && $j->{node}{id} == 2' \
	'$j->{node}{misses_per_s} > 1000' '!exists $j->{blades}'
schema top
ctl moving top -a -b -n 1 -d 0.1 -r 1 -o misses -j
json '@{$j->{blocks}} == 1' '@{$j->{blades}} == 2' '$j->{blades}[0]{id} == 33' \
	'$j->{switch}{requests_per_s} != 0'
schema top
ctl no-switch top -a -n 1 -d 0.1
prints '^memory blade 34: ' '^no directory in the switch: the memory blades keep it$'
ctl moving top -n 3 -d 0.1;	[ "$(grep -c '^node 2, ' "$dir/out")" = 3 ]
report $? "$what: three pages"
! grep -q "$(printf '\033')" "$dir/out"
report $? "$what: nothing for terminals"
ctl down top;			says 2 "this node is not set up: run 'weftctl up'"

# On a terminal: the page is drawn, keys are taken, the terminal is given back.
(sleep 1; printf m; sleep 1; printf q) |
	WEFT_FAKE=moving timeout 20 script -qec "$dir/weftctl top -d 0.3" /dev/null >"$dir/out" 2>"$dir/err"
rc=$?
what="weftctl top on a terminal"
prints "^$(printf '\033')\\[\\?1049h" 'q: end; m, r, b: by misses, revocations, both' \
	"$(printf '\033')\\[\\?25h$(printf '\033')\\[\\?1049l"

# --- Tracing ------------------------------------------------------------------------

cat >"$dir/trace" <<'END'
    weft - tally-312     [001] .....   100.000001: weft_miss: line=7:2 offset=131080 write=1
    weft - tally-312     [001] .....   100.000002: weft_begin: line=7:2 state=S op=GETM held=0 revoking=0 txn=2.5 version=0 nacks=0 tries=0
CPU:1 [LOST 12 EVENTS]
          <idle>-0       [000] ..s1.   100.000540: weft_served: line=7:2 state=M kind=upgrade rounds=1 nsec=538000
          <idle>-0       [000] ..s1.   100.001000: weft_recv: INV peer=34 line=7:2 lock=0 txn=3.17 flags=00 status=M copyset=2 provider=0 grant=8 holder=00000000 nonce=00000000 version=0 info=0 offset=0 len=0
     kworker/1:0-44      [001] .....   100.001100: weft_revoked: line=7:2 state=I op=- held=1 revoking=0 txn=2.5 version=1 nacks=0 tries=0
  who is [7] : x-99       [001] d..1.   100.001200: weft_miss: line=7:2 offset=131072 write=0
nonsense that is no event
              sh-5       [000] ..s1.   100.001300: weft_recv: NACK peer=33 line=7:2 lock=0 txn=2.6 flags=00 status=I copyset=0 provider=0 grant=0 holder=03000011 nonce=00000000 version=0 info=1 offset=0 len=0
              sh-5       [000] ..s1.   100.001400: weft_retry: line=7:2 state=I op=GETS held=0 revoking=0 txn=2.6 version=0 nacks=1 tries=0
              sh-5       [000] ..s1.   100.001500: weft_lock_granted: line=7:131200 state=M txn=2.9 epoch=3 queue=0 revoking=0 nsec=1500000
              sh-5       [000] .....   100.001600: weft_lock_handed: line=7:131200 epoch=4 to=8 readers=0 queue=1
              sh-5       [000] ..s1.   100.001700: weft_recv: FWD peer=34 line=7:2 lock=0 txn=32.1 flags=00 status=M copyset=2 provider=2 grant=8 holder=00000000 nonce=00000000 version=0 info=0 offset=0 len=0
     kworker/1:0-44      [001] .....   100.001800: weft_revoked: line=7:2 state=S op=- held=2 revoking=0 txn=2.5 version=1 nacks=0 tries=0
              sh-5       [000] .....   100.001900: weft_evict: line=7:2 state=I op=PUT held=0 revoking=0 txn=2.7 version=1 nacks=0 tries=0
    weft - tally-312     [001] .....   100.002000: weft_miss: line=7:2 offset=131136 write=1
END
ctl up trace -t 0.2 table:0x20001
[ "$rc" = 0 ] && [ "$(cat "$dir/err")" = "weftctl: 12 events were lost: they came faster than they were read" ]
report $? "$what: says that events were lost"
: >"$dir/err"
prints '^[0-9:]{8}\.[0-9]{6} table:131072 +weft - tally\[312\] +write of byte 131080 has to wait$' \
	' weft - tally\[312\] +asks to write what it may read$' \
	' - +may write now, after 538 us and 1 round trip: it had a copy to read$' \
	' - +node 3 wants to write$' ' - +has given it up$' \
	' who is \[7\] : x\[99\] +read of byte 131072 has to wait$' \
	' - +is refused for now: another node is busy with it$' ' - +asks again what was refused$' \
	' table:131200 +- +has the lock to write, after 1\.5 ms$' \
	' table:131200 +- +hands the lock on to node 4, to write; 1 more wait$' \
	' - +node 32 wants to read$' ' - +may only read from now on$' ' - +leaves the cache$' \
	'^table:131072 +weft - tally\[312\] +write +2  131080\.\.131136$' \
	'^table:131072 +node 3 +write +1  \(trace there\)$'
[ "$(grep -c '^[0-9:]*\.' "$dir/out")" = 14 ]
report $? "$what: what is no event is passed over"
line=$((7 * 1099511627776 + 2))
lock=$((7 * 1099511627776 + 68719476736 + 131072))
asked 'cmd 3' 'cmd 11' 'trace open' \
	"$(printf "trace weft_%s: (line >= $line && line <= $line)\n" miss begin served retry revoked evict)" \
	"trace weft_recv: (type == 32 || type == 33 || type == 36) && ((line >= $line && line <= $line))" \
	"$(printf "trace weft_lock_%s: (line >= $lock && line <= $((lock + 65535)))\n" granted handed)" \
	'trace start' 'trace stop' 'trace close'
ctl up trace -n 2 -j 7 16777215
: >"$dir/err"
[ "$(wc -l <"$dir/out")" = 2 ]
report $? "$what: two events, a line each"
schema trace
sed -i 1q "$dir/out"
json '$j->{event} eq "miss"' '$j->{region} == 7 && $j->{name} eq "table"' \
	'$j->{offset} == 131072 && $j->{byte} == 131080' '$j->{access} eq "write"' \
	'$j->{comm} eq "weft - tally" && $j->{pid} == 312' '!defined $j->{node}' \
	'abs($j->{time_us} / 1e6 - time - 100 + (split " ", qx(cat /proc/uptime))[0]) < 60'
grep -q "^trace weft_miss: (line >= $((7 << 40)) && line <= $(((7 << 40) + 68719476735))) || (line >= $(printf %u $((16777215 << 40))) && " "$dir/log"
report $? "$what: filters of two whole regions"
ctl up trace -s -j -t 0.2 7
: >"$dir/err"
json '$j->{events} == 14 && $j->{lost} == 12' '@{$j->{users}} == 4' \
	'my ($u) = grep { $_->{comm} eq "weft - tally" } @{$j->{users}};
	 $u->{first_byte} == 131080 && $u->{last_byte} == 131136 && $u->{times} == 2 && $u->{access} eq "write"' \
	'my @n = sort { $a <=> $b } map { $_->{node} // () } @{$j->{users}}; "@n" eq "3 32"'
schema 'trace --summary'
ctl up trace -m -t 0.1 table;	grep -q '^trace weft_send: (line >= ' "$dir/log"
report $? "$what: messages are asked for"
for target in nothing nothing:7 8:0 :; do
	ctl up trace $target
	says 2 "this node knows no region '${target%:*}': 'weftctl region show' lists those that it knows"
done
ctl up trace table:x;		says 1 "'x' is not an offset in bytes"
ctl up trace table:-1;		says 1 "'-1' is not an offset in bytes"
ctl up trace table:1099511627776
says 2 "offset 1099511627776 is beyond the end of region 'table', which has 1099511627776 bytes"
# shellcheck disable=SC2046  # words
ctl up trace $(seq -f 'table:%g' 17)
says 1 "16 places at most can be traced at a time"
ctl down trace table;		says 2 "this node is not set up: run 'weftctl up'"
# There is always something to read, of no bytes: that must not keep signals out.
for signal in INT TERM HUP; do
	: >"$dir/log"
	begin=$SECONDS
	WEFT_FAKE=up WEFT_FAKE_LOG=$dir/log "$dir/weftctl" trace -t 60 table >"$dir/out" 2>"$dir/err" &
	for _ in {1..100}; do
		grep -q start "$dir/log" && break
		sleep 0.1
	done
	kill -$signal $!
	wait $!
	rc=$?
	what="trace ends at SIG$signal"
	prints '^nobody had to wait for it'
	grep -q '^trace close' "$dir/log"
	report $? "$what: and leaves nothing behind"
	[ $((SECONDS - begin)) -lt 50 ]
	report $? "$what: before its time is up"
done

# --- Events -------------------------------------------------------------------------

export TZ=UTC
ctl up monitor -t 0.2
prints '^01:46:41\.002003 node 3 has joined$' ' node 3 has left$' \
	' memory blade 33 does not answer$' ' memory blade 33 answers again$' \
	' region new \\033\[2J created by who\\007\[312\], number 7$' \
	' region new \\033\[2J removed by another node, number 7$' \
	' lock table:65542 abandoned by who\\007\[312\], held 6 times$' \
	' 7 modified blocks of region 4711 lost: the home does not answer$' \
	' 12 more like the next were not told$' \
	' access to table:65544 failed for who\\007\[312\]: Connection timed out$' \
	' no answer about table:65545 to 9 requests$' ' directory: the switch answers \(10 misses\)$' \
	' event 11: weftctl is older than the module$'
# Regions are asked for once, and again for one that is not known.
asked 'cmd 5' 'cmd 11' 'cmd 5' 'cmd 11'
ctl up monitor -j -n 20 -t 0.2
[ "$rc" = 0 ] && [ "$(wc -l <"$dir/out")" = 12 ]
report $? "$what: an object a line"
schema monitor
sed -i -n 9p "$dir/out"
json '$j->{event} eq "access_failed" && $j->{errno} == 110 && $j->{missed} == 12' \
	'$j->{region} == 7 && $j->{name} eq "table" && $j->{offset} == 65544' \
	'$j->{pid} == 312 && $j->{comm} eq "who\007"' '$j->{time_us} == 1000000001002003' \
	'!defined $j->{member} && !defined $j->{count} && !defined $j->{switch}'
ctl up monitor -n 1;		[ "$rc" = 0 ] && [ "$(wc -l <"$dir/out")" = 1 ]
report $? "$what: one event"
ctl lossy monitor -n 1
[ "$rc" = 0 ] && grep -q '^weftctl: events were lost' "$dir/err" && [ "$(wc -l <"$dir/out")" = 1 ]
report $? "$what: says so, and goes on"
ctl old-module monitor
says 2 "the module has no events: are weftctl and the module of the same version?"
ctl no-module monitor
says 2 "the module weft is not loaded: 'weftctl up' loads it"
for signal in INT TERM; do
	: >"$dir/out"
	WEFT_FAKE=up "$dir/weftctl" monitor -t 15 >"$dir/out" 2>"$dir/err" &
	for _ in {1..100}; do
		[ -s "$dir/out" ] && break
		sleep 0.1
	done
	kill -$signal $!
	wait $!
	rc=$?
	what="monitor ends at SIG$signal"
	prints ' node 3 has joined$'
done

# --- For Prometheus ------------------------------------------------------------

ctl up stats --prometheus
exposition '$s{"weft_node_miss_read_unshared_total{node=\"2\"}"} == 60' \
	'$s{"weft_node_read_bytes_total{node=\"2\"}"} eq "18446744073709551615"' \
	'$type{weft_node_sent_gets_total} eq "counter"' \
	'my $l = "weft_latency_seconds"; my $k = "node=\"2\",kind=\"miss_read_shared\"";
	 $type{$l} eq "histogram" && $s{"${l}_count{$k}"} == 1000 && $s{"${l}_sum{$k}"} eq "0.100000000" &&
	 $s{"${l}_bucket{$k,le=\"0.000032767\"}"} == 0 && $s{"${l}_bucket{$k,le=\"0.000065535\"}"} == 400 &&
	 $s{"${l}_bucket{$k,le=\"0.000131071\"}"} == 989 && $s{"${l}_bucket{$k,le=\"8.589934591\"}"} == 999 &&
	 $s{"${l}_bucket{$k,le=\"17.179869183\"}"} == 1000 && $s{"${l}_bucket{$k,le=\"+Inf\"}"} == 1000' \
	'my $k = "node=\"2\",kind=\"lock_hand_over\"";
	 $s{"weft_latency_seconds_bucket{$k,le=\"0.000001023\"}"} == 2 &&
	 $s{"weft_latency_seconds_bucket{$k,le=\"17.179869183\"}"} == 2 &&
	 $s{"weft_latency_seconds_bucket{$k,le=\"+Inf\"}"} == 4' \
	'!grep { /^weft_(blade|switch)/ } keys %s'
asked 'cmd 5' 'cmd 3' 'cmd 6' 'cmd 10'
ctl down stats --prometheus
exposition '$s{weft_node_miss_read_unshared_total} == 60' \
	'$s{"weft_latency_seconds_count{kind=\"lock_acquire\"}"} == 0'
ctl up stats memory --prometheus
exposition '$s{"weft_blade_reads_total{blade=\"33\",address=\"10.0.0.101\"}"} == 37' \
	'$s{"weft_blade_reads_total{blade=\"34\",address=\"10.0.0.102\"}"} == 5' \
	'$s{"weft_blade_regions{blade=\"34\",address=\"10.0.0.102\"}"} == 2' \
	'$type{weft_blade_regions} eq "gauge"' '!grep { /odd|_node_|latency/ } keys %s'
ctl up stats switch --prometheus
exposition '$s{weft_switch_inv_total} == 30'
ctl no-switch stats switch --prometheus
says 2 "no directory in the switch answers: is the weft program loaded there? (without one the memory blades keep the directory: 'weftctl stats memory')"

# What the reader must refuse, or it proves nothing.  Lines end in /.
while read -r text; do
	[ -n "$text" ] || continue
	tr / '\n' <<<"$text" | sed '$d' >"$dir/bad"
	! tests/ctl/exposition.pl "$dir/bad" >"$dir/why" && grep -q "^# line [0-9]" "$dir/why"
	report $? "the reader refuses: $text"
done <<'END'
x 1/
# TYPE x counter/x 1/
# TYPE x_total gauge/x_total 1/
# TYPE x gauge/x 1/x 2/
# TYPE x gauge/x{a="1"} 1/# TYPE y gauge/y 1/x{a="2"} 1/
# TYPE x gauge/x{a="1",a="2"} 1/
# TYPE x gauge/x{a="1",} 1/
# TYPE x gauge/x{a="\q"} 1/
# TYPE x gauge/x one/
# TYPE x-y gauge/x-y 1/
# TYPE x gauge/
# TYPE x_total counter/x_total -1/
# TYPE x gauge/ x 1/
# TYPE x histogram/x_bucket{le="1"} 1/x_sum 1/x_count 1/
# TYPE x histogram/x_bucket{le="1"} 2/x_bucket{le="+Inf"} 1/x_sum 1/x_count 1/
# TYPE x histogram/x_bucket{le="2"} 1/x_bucket{le="1"} 1/x_bucket{le="+Inf"} 1/x_sum 1/x_count 1/
# TYPE x histogram/x_bucket{le="1"} 1/x_bucket{le="+Inf"} 1/x_sum 1/x_count 2/
# TYPE x histogram/x_bucket{le="1"} 1/x_bucket{le="+Inf"} 1/x_count 1/
# TYPE x histogram/x_bucket{a="1",le="+Inf"} 1/x_sum{a="1"} 1/x_count{a="1"} 1/x_bucket{a="2",le="1"} 1/x_bucket{a="2",le="+Inf"} 1/x_sum{a="2"} 1/x_count{a="2"} 1/
END
printf '# TYPE x gauge\nx 1' >"$dir/bad"
! tests/ctl/exposition.pl "$dir/bad" >"$dir/why" && grep -q "^# line [0-9]" "$dir/why"
report $? "the reader refuses a last line without an end"
printf '# HELP x What it is.\n# TYPE x gauge\nx{a="\\"\\\\",b=""} 1.5e3\n' >"$dir/fine"
tests/ctl/exposition.pl "$dir/fine" '$type{x} eq "gauge"'
report $? "the reader takes all that may be there"

# --- Rates -----------------------------------------------------------------------

# each EXPRESSION...: as json, of each document on a line of its own.
each()
{
	local line n=0

	cp "$dir/out" "$dir/lines"
	while read -r line; do
		n=$((n + 1))
		echo "$line" >"$dir/out"
		json "$@"
	done <"$dir/lines"
	[ $n = "$documents" ]
	report $? "$what: $documents times"
}

documents=3
ctl moving stats node --interval 0.1 --count 3 -j
each '$j->{seconds} >= 0.09 && $j->{seconds} < 20' \
	'abs($j->{node}{rates}{miss_read_unshared} * $j->{seconds} - 1000) < 20' \
	'abs($j->{node}{summary}{misses_per_s} * $j->{seconds} - 1000) < 20' \
	'$j->{node}{summary}{ns_per_miss} == 5000' '$j->{node}{rates}{sent_gets} == 0' \
	'$j->{node}{rates}{read_bytes} == 0' '!defined $j->{node}{summary}{by_switch} ||
	 $j->{node}{summary}{by_switch} == 0' '$j->{node}{id} == 2'
documents=2
ctl moving stats switch --interval 0.1 --count 2 -j
each '!$j->{node}' 'my $n = $j->{switch}{rates}{read} * $j->{seconds};
	abs($n - (2 ** 32 - 100)) < 2 ** 32 / 100'
ctl moving stats memory --interval 0.1 --count 2 -j
each '$j->{memory}{blades}[1]{values}{regions} =~ /^[0-9]+$/' \
	'!exists $j->{memory}{blades}[1]{rates}{regions}' \
	'$j->{memory}{blades}[0]{rates}{reads} == 0' '$j->{memory}{total}{rates}{reads} == 0'
ctl moving stats latency --interval 0.1 --count 2 -j
each '$j->{latency}{miss_read_shared}{count} == 7' \
	'$j->{latency}{miss_read_shared}{p50_below_ns} == 131072' \
	'$j->{latency}{lock_hand_over}{count} == 0'
ctl moving stats --interval 0.1 --count 2
prints '^node 2, [0-9.]+ s$' '^  misses +[0-9.]+ /s$' '^  time a miss +5\.0 us$' \
	'^  miss_read_unshared +[0-9.]+ /s$' '^memory blade 34, 10\.0\.0\.102, ' \
	'^directory in the switch, '
! grep -q 'sent_gets' "$dir/out"
report $? "counters that stand still are left out"
ctl no-switch stats --interval 0.1 --count 1 -j
json 'exists $j->{switch} && !defined $j->{switch}'
WEFT_FAKE=moving timeout 20 "$dir/weftctl" stats node --interval 0.1 >/dev/full 2>"$dir/err"
[ $? = 2 ] && grep -q '^weftctl: cannot write the output: ' "$dir/err"
report $? "rates end when nobody can have them"

finish
