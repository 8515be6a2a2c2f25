#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# weftctl stats on the kernel that tests/ctl/fakes/genl plays: counters, histograms,
# rates, and all that for Prometheus.
#
# Prints a line a check.  Environment: BUILD, the build directory.

# Functions are called by check; what stands in quotes after "json" is Perl's to expand.
# shellcheck disable=SC2016,SC2317,SC2329
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/ctl/fake.sh

exposes()
{
	tests/ctl/exposition.pl "$dir/out" "$@" && good
}

# exposition EXPRESSION...: the output is good for Prometheus, and each holds.
exposition()
{
	check "$what" exposes "$@"
}

begin ctl-stats

# --- What was counted --------------------------------------------------------------

ctl up stats node
prints '^node 2$' '^  misses +100$' '^    read, no other copy +60 +60\.0 %$' \
	'^  answered by the switch +75 +75\.0 %$' '^  round trips a miss +1\.10$' \
	'^  messages a miss +4\.10$' '^  time a miss +123\.5 us$' '^    gets +60 +0$' \
	'^    call +20 +0$' '^    total +80 +0$' '^  read_bytes +18446744073709551615$'
check "types of messages that there were none of are left out" no_line 'abort|sent_gets' "$dir/out"
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
prints '^memory blade 1, 10\.0\.0\.101$' '^  reads +37$' '^  reads +5$' \
	'^memory blade 2, 10\.0\.0\.102$' '^all memory blades$' '^  reads +42$' \
	'^    gets +0 +8$'
ctl up stats memory -j
json '@{$j->{memory}{blades}} == 2' '$j->{memory}{blades}[0]{id} == 33' \
	'$j->{memory}{blades}[1]{address} eq "10.0.0.102"' \
	'$j->{memory}{blades}[0]{counters}{reads} == 37' \
	'$j->{memory}{total}{reads} == 42' '$j->{memory}{total}{only_second} == 9' \
	'$j->{memory}{total}{"odd \"\\\n\x{01}\x{ff}\x{e9} name"} == 1'
asked 'cmd 5' 'cmd 3' 'cmd 18' 'cmd 7 1=33' 'cmd 7 1=34'
ctl up stats switch
prints '^directory in the switch$' '^  requests +100$' '^  line installed +90 +90\.0 %$' \
	'^  sent on to the home +10 +10\.0 %$' '^  stranger +4$'
ctl up stats switch -p
json '$j->{switch}{summary}{requests} == 100' '$j->{switch}{summary}{hit_ratio} == 0.9' \
	'$j->{switch}{counters}{inv} == 30'
ctl up stats;		prints '^node 2$' '^memory blade 2' '^directory in the switch$'
ctl up -j stats
json '$j->{node}{id} == 2' '$j->{memory}{total}{reads} == 42' '$j->{switch}{counters}{miss} == 10'
ctl one-blade stats
lacks "memory blade 2 (10.0.0.102) does not answer: is weft-memd running there, and does 'ping' reach it?"
prints '^node 2$' '^memory blade 1, ' '^  reads +37$' '^memory blade 2, ' '^  does not answer$' \
	'^all memory blades that answer$' '^directory in the switch$'
ctl one-blade stats memory -j
lacks "memory blade 2 (10.0.0.102) does not answer: is weft-memd running there, and does 'ping' reach it?"
json '$j->{memory}{blades}[0]{answers}' 'defined $j->{memory}{blades}[1]{answers}' \
	'!$j->{memory}{blades}[1]{answers}' '!%{$j->{memory}{blades}[1]{counters}}' \
	'$j->{memory}{total}{reads} == 37'
# The first one was asked which blades there are, and is not waited for once more.
ctl no-blade stats memory
lacks "memory blade 1 (10.0.0.101) does not answer: is weft-memd running there, and does 'ping' reach it?" \
	"memory blade 2 (10.0.0.102) does not answer: is weft-memd running there, and does 'ping' reach it?"
asked 'cmd 5' 'cmd 3' 'cmd 18' 'cmd 7 1=34'
ctl drained stats memory -j
json '!defined $j->{memory}{blades}[2]{answers}'
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
	'$s{"weft_blade_up{blade=\"34\",address=\"10.0.0.102\"}"} == 1' \
	'$type{weft_blade_regions} eq "gauge"' '!grep { /odd|_node_|latency/ } keys %s'
ctl one-blade stats memory --prometheus
exposition '$s{"weft_blade_up{blade=\"33\",address=\"10.0.0.101\"}"} == 1' \
	'$s{"weft_blade_up{blade=\"34\",address=\"10.0.0.102\"}"} == 0' \
	'!grep { /^weft_blade_reads.*34/ } keys %s'
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
# What a blade had counted before it was heard again is no rate, nor part of one.
documents=2
ctl comes-back stats memory --interval 0.1 --count 2 -j
each '$j->{memory}{total}{rates}{reads} == 0' '$j->{memory}{blades}[1]{answers}' \
	'($j->{memory}{blades}[1]{rates}{reads} // 0) == 0'
documents=1
ctl one-blade stats memory --interval 0.1 --count 1
lacks "memory blade 2 (10.0.0.102) does not answer: is weft-memd running there, and does 'ping' reach it?"
prints '^memory blade 2, .*, (0\.[1-9]|[1-9][0-9]*\.)' '^  does not answer$'
documents=2
ctl moving stats latency --interval 0.1 --count 2 -j
each '$j->{latency}{miss_read_shared}{count} == 7' \
	'$j->{latency}{miss_read_shared}{p50_below_ns} == 131072' \
	'$j->{latency}{lock_hand_over}{count} == 0'
ctl moving stats --interval 0.1 --count 2
prints '^node 2, [0-9.]+ s$' '^  misses +[0-9.]+ /s$' '^  time a miss +5\.0 us$' \
	'^  miss_read_unshared +[0-9.]+ /s$' '^memory blade 2, 10\.0\.0\.102, ' \
	'^directory in the switch, '
check "counters that stand still are left out" no_line 'sent_gets' "$dir/out"
ctl no-switch stats --interval 0.1 --count 1 -j
json 'exists $j->{switch} && !defined $j->{switch}'
WEFT_FAKE=moving timeout 20 "$WEFTCTL" stats node --interval 0.1 >/dev/full 2>"$dir/err"
[ $? = 2 ] && grep -q '^weftctl: cannot write the output: ' "$dir/err"
report $? "rates end when nobody can have them"

finish
