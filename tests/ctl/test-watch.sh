#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# weftctl top, trace and monitor, on the kernel that tests/ctl/fakes/genl plays: what
# is hot, what a block goes through, what happens.
#
# Prints a line a check.  Environment: BUILD, the build directory.

# Functions are called by check; what stands in quotes after "json" is Perl's to expand.
# shellcheck disable=SC2016,SC2317,SC2329
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/ctl/fake.sh

begin ctl-watch
watch_clock

# --- Hot blocks and locks ---------------------------------------------------------

ctl up top -n 1 -d 0.1
prints '^node 2, [0-9:]{8}, (0\.[1-9]|[1-9][0-9]*\.)[0-9]+ s: 0\.0 misses/s, 0\.0 revocations/s' \
	'^ +none was missed or taken away$' '^ +GRANTS/s +HANDED/s STATE +WAITERS QUEUE  LOCK$' \
	'^ +0\.0 +0\.0 modified +3 +31  table:64$'
asked 'cmd 12' 'cmd 13' 'cmd 5' 'cmd 3' 'cmd 6' 'cmd 12' 'cmd 13' 'cmd 5' 'cmd 3' 'cmd 6' 'cmd 11'
# The counts of a block that was evicted meanwhile begin anew.
ctl moving top -b -n 1 -d 0.1 -j
json '@{$j->{blocks}} == 3' '$j->{blocks}[0]{name} eq "table"' \
	'$j->{blocks}[0]{offset} == ((1 << 36) - 3) * 65536' '$j->{blocks}[0]{region} == 7' \
	'my $n = $j->{blocks}[0]; abs($n->{revocations_per_s} / $n->{misses_per_s} - 2.5) < 0.01' \
	'my $n = $j->{blocks}[1]; $n->{misses_per_s} * $j->{seconds} > 100 && !$n->{revocations_per_s}' \
	'my $n = $j->{blocks}[2]; abs($n->{misses_per_s} / $n->{revocations_per_s} - 3) < 0.01' \
	'$j->{blocks}[0]{state} eq "modified" && $j->{blocks}[0]{waiters} == 5' \
	'@{$j->{locks}} == 1 && $j->{locks}[0]{offset} == 64 && $j->{locks}[0]{queue} == 31' \
	'$j->{locks}[0]{hand_overs_per_s} * $j->{seconds} > 5 && !$j->{locks}[0]{grants_per_s}' \
	'$j->{node}{blocks} == 7 && $j->{node}{locks} == 1 && $j->{node}{id} == 2' \
	'$j->{node}{misses_per_s} * $j->{seconds} > 100' '!exists $j->{blades}'
schema top
ctl moving top -a -b -n 1 -d 0.1 -r 1 -o misses -j
json '@{$j->{blocks}} == 1' '@{$j->{blades}} == 2' '$j->{blades}[0]{id} == 33' \
	'$j->{switch}{requests_per_s} != 0'
schema top
ctl no-switch top -a -n 1 -d 0.1
prints '^memory blade 2: ' '^no directory in the switch: the memory blades keep it$'
ctl one-blade top -a -n 1 -d 0.1
prints '^memory blade 1: ' '^memory blade 2 does not answer$'
ctl one-blade top -a -n 1 -d 0.1 -j
json '$j->{blades}[0]{answers}' '!$j->{blades}[1]{answers}'
schema top
ctl moving top -n 3 -d 0.1;	[ "$(grep -c '^node 2, ' "$dir/out")" = 3 ]
report $? "$what: three pages"
! grep -q "$(printf '\033')" "$dir/out"
report $? "$what: nothing for terminals"
ctl down top;			says 2 "this node is not set up: run 'weftctl up'"

# On a terminal: the page is drawn, keys are taken, the terminal is given back.
# drawn PAGES: so many at least.
drawn()
{
	[ "$(grep -c 'q: end' "$dir/out")" -ge "$1" ]
}

: >"$dir/out"
# on_terminal COMMAND...: with a terminal of its own.  Not by script(1), which stops for ever if
# somebody stops and continues it and its program.
on_terminal()
{
	/usr/bin/python3 -c '
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@"
}

(soon 60 drawn 1; printf m; soon 60 drawn 2; printf q) |
	WEFT_FAKE=moving on_terminal timeout $((150 * ${WEFT_TEST_SCALE:-1})) \
		"$WEFTCTL" top -d 0.3 >"$dir/out" 2>"$dir/err"
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
	since=$(now_ms)
	WEFT_FAKE=up WEFT_FAKE_LOG=$dir/log "$WEFTCTL" trace -t 60 table >"$dir/out" 2>"$dir/err" &
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
	[ $(($(now_ms) - since - $(stood_since "$since"))) -lt 50000 ]
	report $? "$what: before its time is up"
done

# --- Events -------------------------------------------------------------------------

export TZ=UTC
ctl up monitor -t 0.2
prints '^01:46:41\.002003 node 3 has joined$' ' node 3 has left$' \
	' memory blade 1 does not answer$' ' memory blade 1 answers again$' \
	' region new \\033\[2J created by who\\007\[312\], number 7$' \
	' region new \\033\[2J removed by another node, number 7$' \
	' lock table:65542 abandoned by who\\007\[312\], held 6 times$' \
	' 7 modified blocks of region 4711 lost: they did not get home$' \
	' 12 more like the next were not told$' \
	' access to table:65544 failed for who\\007\[312\]: Connection timed out$' \
	' no answer about table:65545 to 9 requests$' ' directory: the switch answers \(10 misses\)$' \
	' lock table:65547: its owner died with it$' \
	' node 3 is dead, says the first memory blade$' \
	' memory blade 1 goes on at 10\.0\.0\.133: its twin there has taken over$' \
	' event 14: weftctl is older than the module$'
# Regions are asked for once, and again for one that is not known.
asked 'cmd 15' 'cmd 5 14=7' 'cmd 11 9=7' 'cmd 5 14=7' 'cmd 11 9=7'
ctl up monitor -j -n 20 -t 0.2
[ "$rc" = 0 ] && [ "$(wc -l <"$dir/out")" = 15 ]
report $? "$what: an object a line"
schema monitor
cp "$dir/out" "$dir/all"
sed -i -n 14p "$dir/out"
json '$j->{event} eq "blade_moved" && $j->{member} == 33 && $j->{address} eq "10.0.0.133"'
sed -n 9p "$dir/all" >"$dir/out"
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
	WEFT_FAKE=up "$WEFTCTL" monitor -t 15 >"$dir/out" 2>"$dir/err" &
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

finish
