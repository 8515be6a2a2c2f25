#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# weftctl in a rack with all its parts: two nodes, two memory blades, the
# directory in the switch.
#
#	node1 ---+        +--- mem1 (10.87.0.101)
#	         | switch |
#	node2 ---+        +--- mem2 (10.87.0.102)
#
# What status and stats say must be true; what can go wrong gets its sentence.
# As tests/system/common.sh; KVER is the kernel of the module.

# Functions are called by check; what stands in quotes after "json" is Perl's.
# shellcheck disable=SC2016,SC2317,SC2329
set -u
cd "$(dirname "$0")/../.." || exit 2

# shellcheck source=tests/ctl/rack.sh
. tests/ctl/rack.sh

# says_within SECONDS SENTENCE: statistics do, without the time that the machine stood still.
says_within()
{
	local since took

	since=$(now_ms)
	ctl node1 stats memory
	took=$(($(now_ms) - since - $(stood_since "$since")))
	echo "$took ms"
	[ $took -lt $(($1 * 1000 * SCALE)) ] && says "$2"
}
says()	{ [ "$rc" = 2 ] && equal "weftctl: $1" "$(cat "$dir/err")"; }
has()	{ good && grep -qE -- "$1" "$dir/out"; }
json()	{ good && holds "$@"; }
valid()	{ good && schema "$1"; }

# json_now GUEST ARGUMENT... -- EXPRESSION...: weftctl is asked there, and that holds.
json_now()
{
	local ask=()

	while [ "$1" != -- ]; do
		ask+=("$1")
		shift
	done
	ctl "${ask[@]}"
	json "${@:2}"
}

# soon_json GUEST ARGUMENT... -- EXPRESSION...: or it soon does: what is counted is not counted
# and read in one moment, and a machine that stands still makes some of it late.
soon_json()	{ soon 30 json_now "$@"; }

# says_now SENTENCE GUEST ARGUMENT...: weftctl refuses so there; soon_says: or soon does: for a
# time-out of a few seconds a rack that stands still does not answer at all.
says_now()	{ ctl "${@:2}"; says "$1"; }
soon_says()	{ soon 60 says_now "$@"; }

begin live
watch_clock
# A node that is cut off here is not to be taken out for that.
boot --nodes 2 --blades 2 --switch p4 --cache 8M --mtu 1500 --memd-options "--lease 120000"

# --- Status ------------------------------------------------------------------

check "both nodes are members" soon 20 members "1 2"
check "status" soon_json node1 status -j -- '$j->{state} eq "up"' '$j->{node} == 1' '$j->{rack} == 0' \
	'$j->{interface} eq "eth0"' '$j->{address} eq "10.87.0.1"' '$j->{mtu} == 1500' \
	'"@{$j->{homes}}" eq "10.87.0.101 10.87.0.102"' '$j->{timeout_ms} == 30000' \
	'$j->{joined}' '$j->{life} > 0' '$j->{answered_ms} < 10000' \
	'$j->{cache}{max_bytes} == 8 << 20' '"@{$j->{mounts}}" eq "/weft"'
check "peers, in their order, this node too" soon_json node1 status -j -- \
	'join(" ", map { $_->{id} } @{$j->{peers}}) eq "1 2 33 34"' \
	'join(" ", map { $_->{address} } @{$j->{peers}}) eq "10.87.0.1 10.87.0.2 10.87.0.101 10.87.0.102"' \
	'join(" ", map { $_->{self} ? 1 : 0 } @{$j->{peers}}) eq "1 0 0 0"' \
	'join(" ", map { $_->{joined} ? 1 : 0 } @{$j->{peers}}) eq "1 1 0 0"'
ctl node1 status
check "as text" has '^node 1 of rack 0: up, joined$'

# --- Counters ----------------------------------------------------------------

ctl node1 stats -j;	keep
check "counters of all" json '$j->{node}{id} == 1' '@{$j->{memory}{blades}} == 2' \
	'$j->{memory}{blades}[1]{address} eq "10.87.0.102"' '$j->{switch}{counters}' \
	'$j->{memory}{total}{regions} >= 0'
run node1 sh -c 'head -c 262144 /dev/urandom >/weft/file && sync /weft/file'
check "node 1 writes 64 pages" good
check "node: write misses" soon_json node1 stats -j -- '
	my ($n, $o) = map { $_->{node}{counters} } $j, $k;
	my @kinds = grep { /^miss_(read|write)_|^miss_upgrade/ } keys %$n;
	my ($sum, $before) = (0, 0);
	$sum += $n->{$_}, $before += $o->{$_} for @kinds;
	$sum - $before >= 64 && $sum == $j->{node}{summary}{misses}' '
	my ($n, $o) = map { $_->{node}{counters} } $j, $k;
	$n->{miss_write_unshared} - $o->{miss_write_unshared} >= 64'
check "node: each miss was answered by the switch, a home, or readers" soon_json node1 stats -j -- '
	my $n = $j->{node}{counters};
	$n->{miss_by_switch} + $n->{miss_by_home} + $n->{miss_by_readers} == $j->{node}{summary}{misses}'
check "node: messages by type are all messages" soon_json node1 stats -j -- '
	my $n = $j->{node}{counters};
	my ($out, $in) = (0, 0);
	$out += $n->{$_} for grep { /^sent_/ } keys %$n;
	$in += $n->{$_} for grep { /^received_/ } keys %$n;
	abs($out - $n->{msg_sent}) <= 4 && abs($in - $n->{msg_received}) <= 4'
check "node: a round trip at least for each miss" json \
	'$j->{node}{summary}{round_trips_per_miss} >= 1'
check "memory: written back on both blades" soon_json node1 stats -j -- '
	my @grown = map { $j->{memory}{blades}[$_]{counters}{write_backs} -
			  $k->{memory}{blades}[$_]{counters}{write_backs} } 0, 1;
	$grown[0] + $grown[1] >= 64' \
	'$j->{memory}{total}{write_backs} ==
	 $j->{memory}{blades}[0]{counters}{write_backs} +
	 $j->{memory}{blades}[1]{counters}{write_backs}'
keep
run node2 sh -c 'cksum </weft/file'
check "node 2 reads them" good
check "it missed" soon_json node2 stats node -j -- '$j->{node}{counters}{miss_read_modified} >= 60'
check "node 1 gave them" soon_json node1 stats -j -- '
	$j->{node}{counters}{blocks_out} - $k->{node}{counters}{blocks_out} >= 60'
check "the switch looked up all of it" soon_json node1 stats -j -- \
	'$j->{switch}{summary}{requests} > $k->{switch}{summary}{requests}' \
	'$j->{switch}{counters}{fwd} - $k->{switch}{counters}{fwd} >= 1' \
	'$j->{switch}{summary}{hit_ratio} > 0 && $j->{switch}{summary}{hit_ratio} <= 1'
for what in node memory switch; do
	ctl node1 stats $what
	check "as text: $what" has '^(node 1|memory blade 2, 10\.87\.0\.102|directory in the switch)$'
done

# --- How long things take --------------------------------------------------------

# fitting EXPRESSION...: of both kinds of counters.  Once nothing misses, what is asked first has
# not changed when the second is asked.
fitting()
{
	ctl node2 stats node -j
	good && keep && json_now node2 stats latency -j -- "$@"
}
check "each miss is in a histogram" soon 30 fitting '
	my $n = $k->{node}{counters};
	my @kinds = grep { /^miss_(read|write)_|^miss_upgrade/ } keys %$n;
	my $bad = grep { $j->{latency}{$_}{count} != $n->{$_} } @kinds;
	@kinds == 7 && !$bad' '
	my ($sum, $l) = (0, $j->{latency});
	$sum += $l->{$_}{sum_ns} for grep { /^miss_/ } keys %$l;
	$sum == $k->{node}{counters}{miss_nsec}' '
	my $h = $j->{latency}{miss_read_modified};
	$h->{count} >= 60 && $h->{p50_below_ns} > 1000 && $h->{p50_below_ns} < 10e9'
check "giving 60 blocks away took time" soon_json node1 stats latency -j -- '$j->{latency}{downgrade}{count} >= 60' \
	'$j->{latency}{downgrade}{sum_ns} > 0'
check "as the schema says" valid "stats latency"
ctl node1 stats latency
check "as bars" has '^ +[0-9.]+ [nmu]?s \.\. [0-9.]+ [nmu]?s +[0-9]+ #+$'
for what in '' memory switch latency; do
	# shellcheck disable=SC2086  # no word, or one
	ctl node1 stats $what --prometheus
	check "for Prometheus${what:+: $what}" eval 'good && tests/ctl/exposition.pl "$dir/out"'
done
ctl node1 stats node --interval 0.5 --count 2 -j
cp "$dir/out" "$dir/all"
for n in 1 2; do
	sed -n "${n}p" "$dir/all" >"$dir/out"
	check "rates, interval $n" json '$j->{seconds} >= 0.5' \
		'$j->{node}{summary}{misses_per_s} >= 0' 'exists $j->{node}{rates}{msg_sent}'
done

# --- What the nodes have -----------------------------------------------------------

check "the region" soon_json node1 region show -j -- '
	my @r = grep { ($_->{name} // "") eq "file" } @{$j->{regions}};
	@r == 1 && $r[0]{size} == 262144 && $r[0]{block} == 4096 && $r[0]{lines} == 64 &&
	!$r[0]{gone}'
check "as the schema says" valid "region show"
ctl node1 line show file -j
check "as the schema says" valid "line show"
check "its blocks" json '
	my @l = @{$j->{lines}};
	@l == 64 && !grep { $l[$_]{index} != $_ } 0 .. 63' '
	60 <= grep { $_->{revocations} == 1 && $_->{misses} >= 1 } @{$j->{lines}}'
check "the other node reads them" soon_json node2 line show file -j -- '
	64 == grep { $_->{state} eq "shared" && !$_->{dirty} && $_->{misses} == 1 } @{$j->{lines}}'
check "no locks" soon_json node1 lock show -j -- '@{$j->{locks}} == 0'

# --- Changing ----------------------------------------------------------------

ctl node1 set --hold 250 --timeout 2.5
check "set" good
ctl node1 status -j
check "it is" json '$j->{hold_us} == 250' '$j->{timeout_ms} == 2500'
ctl node1 down
check "down while mounted" says "the node cannot go down while weft is mounted: 'umount /weft' first"
ctl node1 up --node 1 --interface eth0 --homes 10.87.0.101
check "up twice" says "the node is set up already: run 'weftctl down' first, or 'weftctl set' to tune it"
run node1 unshare -n "$WEFTCTL" status
check "in another network namespace" says "the module weft is loaded but cannot be reached from here: run weftctl in the first network namespace"
run node1 "$BUILD/tests/ctl-hammer" 20000 7
check "20000 requests that make no sense, while mounted" good
# Some of them made sense: they have set up racks on the loopback interface.
ctl node1 rack -j
check "this rack is among those that there are" json 'grep { $_->{rack} == 0 && $_->{joined} } @{$j->{racks}}'
for other in $(on node1 "$WEFTCTL" rack | awk '$1 ~ /^[1-9]/ { print $1 }'); do
	ctl node1 --rack "$other" down
	check "rack $other goes" good
done
ctl node1 rack -j
check "it is the only one again" json '@{$j->{racks}} == 1' '$j->{racks}[0]{rack} == 0' \
	'"@{$j->{racks}[0]{mounts}}" eq "/weft"'
check "as the schema says" valid "rack show"
run node1 sh -c 'cksum </weft/file'
check "the file system is as before" good
cp "$dir/out" "$dir/sum"
run node2 sh -c 'cksum </weft/file'
check "the same on both" cmp "$dir/out" "$dir/sum"

# --- Down and up again --------------------------------------------------------

run node2 umount /weft
check "node 2 unmounts" soon 20 members "1"
check "it is not joined any more" soon_json node2 status -j -- '!$j->{joined}' '!defined $j->{answered_ms}' \
	'$j->{state} eq "up"' '@{$j->{mounts}} == 0'
ctl node2 down
check "down" good
ctl node2 status
check "it is" has '^no node: down'
ctl node2 down
check "down twice" says "this node is not set up: run 'weftctl up'"

# --- What up refuses ---------------------------------------------------------

settings=(up --node 2 --homes "10.87.0.101,10.87.0.102")
ctl node2 "${settings[@]}" --interface eth7
check "no such interface" says "there is no interface 'eth7': 'ip link' lists those that there are"
ctl node2 "${settings[@]}" --interface eth0 --address 10.9.9.9
check "an address of another machine" says "the module refuses: the interface does not have this address"
ctl node2 "${settings[@]}" --interface eth0 --mtu 9000
check "more than the interface's MTU" says "the module refuses: the MTU is greater than the interface's"
run node2 ip link add dummy7 type dummy
ctl node2 "${settings[@]}" --interface dummy7
check "an interface that is down" says "the interface 'dummy7' is down: 'ip link set dummy7 up' first"
run node2 ip link set dummy7 up
ctl node2 "${settings[@]}" --interface dummy7
check "an interface without address" says "the module refuses: the interface has no IPv4 address: give it one first"
run node2 ip addr add 10.87.7.2/24 dev dummy7
for mtu in 1280 1499; do
	run node2 ip link set dummy7 mtu $mtu
	ctl node2 "${settings[@]}" --interface dummy7
	check "an interface of MTU $mtu" says "the module refuses: the interface's MTU is less than 1500: raise it with 'ip link set'"
	ctl node2 "${settings[@]}" --interface dummy7 --mtu 1500
	check "MTU 1500 on it" says "the module refuses: the interface's MTU is less than 1500: raise it with 'ip link set'"
done
run node2 ip link set dummy7 mtu 9216
ctl node2 "${settings[@]}" --interface dummy7
check "an interface of MTU 9216" good
ctl node2 status -j
check "of which 9000 is used" json '$j->{mtu} == 9000'
ctl node2 down
check "and down again" good
ctl node2 status
check "still down" has '^no node: down'
ctl node2 "${settings[@]}" --interface eth0 --hold 0 --rack 0
check "up again" good
run node2 mount -t weft -o cache=8M none /weft
check "mounted again" good
check "a member again" soon 20 members "1 2"
ctl node2 status -j
check "with its new tunables" json '$j->{hold_us} == 0' '$j->{timeout_ms} == 30000'

# --- Regions and their lines ---------------------------------------------------

# nth N: of what was printed, the Nth line only.
nth()	{ sed -n "$1p" "$dir/all" >"$dir/out"; }

check "no region, no line" soon_json node2 status -j -- '$j->{regions} == 0' '$j->{cache}{lines} == 0'
# shellcheck disable=SC2016  # the guest's shell
run node2 sh -c 'exec 3<>/weft/counted && echo x >&3 && "$0" status -j &&
	rm /weft/counted && "$0" status -j && exec 3>&- || exit 1
	for try in $(seq 60); do
		"$0" status -j | grep -q "\"lines\":0," && break
		sleep 1
	done
	"$0" status -j' "$WEFTCTL"
cp "$dir/out" "$dir/all"
nth 1;	check "a region and its line" json '$j->{regions} == 1' '$j->{cache}{lines} == 1'
nth 2;	check "the same when it is unlinked and open" \
	json '$j->{regions} == 1' '$j->{cache}{lines} == 1'
nth 3;	check "none when it is closed" json '$j->{regions} == 0' '$j->{cache}{lines} == 0'

# --- Cut off -------------------------------------------------------------------

# Nonsense that happens to make sense has changed it.
ctl node1 set --timeout 30 --hold 100
run node1 sh -c 'head -c 1048576 /dev/urandom >/weft/cut && echo y >/weft/other && sync /weft/cut'
check "files to wait for" good
# Prints what each system call ends with that waits for the network in vain.
cat >"$dir/waits.pl" <<'END'
use Fcntl; use IO::Handle;
sub ended { my ($what, $ok) = @_; my ($e) = $ok ? "ok" : grep { $!{$_} } keys %!; print "$what $e\n"; }
sysopen(my $f, "/weft/cut", O_RDWR) or die "open: $!";
syswrite($f, "x") or die "write: $!";
open(my $ready, ">", "/run/test-ready") or die; close($ready);
for (1 .. 300) { last if -e "/run/test-go"; select(undef, undef, undef, 0.2); }
my $buf;
sysseek($f, 524288, 0); ended("read", sysread($f, $buf, 1));
sysseek($f, 786432, 0); ended("write", syswrite($f, "z"));
ended("fsync", $f->sync);
ended("truncate", truncate($f, 5));
ended("open", sysopen(my $g, "/weft/other", O_RDONLY));
ended("stat", stat("/weft/other"));
END
on node2 perl "$dir/waits.pl" >"$dir/waits" 2>&1 &
waiting=$!
is_ready()	{ run node2 test -e /run/test-ready; good; }
check "a program has a file open" soon 60 is_ready
ctl node2 set --timeout 2
keeping rack wire cut node2
check "node 2 is cut off" good
run node2 touch /run/test-go
wait $waiting
for what in read write fsync truncate open stat; do
	check "$what ends with ETIMEDOUT" eval 'cat "$dir/waits"; grep -qx "$what ETIMEDOUT" "$dir/waits"'
done
keeping rack wire heal node2
check "node 2 is back" good
back()	{ run node2 sh -c 'head -c 1 /weft/cut'; good; }
check "and what it modified is there" eval 'soon 30 back && [ "$(cat "$dir/out")" = x ]'

# --- The directory ---------------------------------------------------------------

ctl node1 stats -j;	keep
check "the directory, as the switch and the blades count" soon_json node1 dir show -j -- \
	'$j->{switch}{entries} + $j->{switch}{free} == 65536' '@{$j->{blades}} == 2' \
	'$j->{switch}{answered} >= 64 && $j->{switch}{answered} <= $j->{switch}{requests}' \
	'my $c = $k->{memory}{blades}[1]{counters}; $j->{blades}[1]{moved_out} >= $c->{lines_added}' \
	'$j->{switch}{moved_in} >= $k->{memory}{total}{lines_in_switch}'
check "as its schema says" valid 'dir show'

# --- Parts that are gone; what is told of it -------------------------------------

BASICS=$BUILD/tests/locks-basics
run node1 sh -c "truncate -s 4M /weft/far && $BUILD/bin/weft-tally /weft/far 0 --stride 4096 --seconds 1 &&
	$BUILD/bin/weft-tally /weft/far 64 --stride 4096 --seconds 1"
check "a region on both memory blades" good
# Until it is told to end, below, several steps later.
limited $((500 * SCALE)) "$RACK" --name "$run_name" exec node1 -- \
	"$WEFTCTL" monitor -j -t $((490 * SCALE)) >"$dir/events" 2>&1 &
listening=$!
listens()
{
	run node1 sh -c 'touch /weft/mark && rm /weft/mark'
	grep -q '"name":"mark"' "$dir/events"
}
check "what happens is told" soon 30 listens
run node1 sh -c 'touch /weft/made && rm /weft/made && touch /weft/theirs'
on node1 "$BASICS" hold /weft/far 640 w 100 >"$dir/held" 2>&1 &
holder=$!
check "a program holds a lock" soon 30 grep -q '^held' "$dir/held"
run node1 pkill -KILL -x locks-basics
check "it is killed" good
wait $holder
run node2 rm /weft/theirs
check "node 2 removes what node 1 has made" good
# Misses, so that the directory is somewhere.
run node2 "$BUILD/bin/weft-tally" /weft/far 1 --seconds 1
run node1 "$BUILD/bin/weft-tally" /weft/far 2 --seconds 1

ctl node1 set --timeout 2
run node2 umount /weft
check "node 2 leaves" soon 20 members "1"
check "a memory blade dies" rack kill mem2
# Its time-out of 2 s is shorter than the first blade takes to notice.
run node2 mount -t weft -o cache=8M none /weft
check "it cannot come back without that memory blade" [ "$rc" != 0 ]
check "and is no member" members "1"
# stays_away: at none of these looks.
stays_away()
{
	for _ in 1 2 3 4 5; do
		sleep 1
		members "1" || return
	done
}
check "nor later" stays_away
check "nor says that it is" soon_json node2 status -j -- '!$j->{joined}' '@{$j->{mounts}} == 0'
silent="memory blade 2 (10.87.0.102) does not answer: is weft-memd running there, and does 'ping' reach it?"
check "a dead memory blade" soon_says "$silent" node1 stats memory
check "the other one's counters are there" grep -q '^memory blade 1, 10\.87\.0\.101$' "$dir/out"
check "nor does it tell what is lost" soon_says "$silent" node1 line lost
ctl node1 set --timeout 60
check "nobody waits for it for the whole time-out" says_within 30 "$silent"
ctl node1 set --timeout 2
ctl node1 stats node
check "the node's own counters are there" good

# Of these two blocks one has its home there.
for worker in 128 192; do
	run node1 "$BUILD/bin/weft-tally" /weft/far $worker --stride 4096 --seconds 1
	cat "$dir/err" >>"$dir/signals"
done
check "who uses memory of it gets a signal" grep -q 'SIGBUS' "$dir/signals"
# The node goes on asking, ever more rarely, and tells of it when it has asked often.
check "a request has no answer" soon 60 grep -q '"event":"unanswered"' "$dir/events"
run node1 pkill -INT -x weftctl
check "who listens still does" good
check "and ends well" wait $listening
# Each of them is an object; none is an error.
check "events are as the schema says" schema monitor "$dir/events"
check "there are some" at_least 8 "$(wc -l <"$dir/events")"
# told EXPRESSION: of some event, $e in Perl.
told()
{
	perl -MJSON::PP -ne 'BEGIN { $what = shift } our $e = JSON::PP->new->utf8->decode($_);
		$good = 1 if eval $what; END { $? = !$good }' -- "$1" "$dir/events" && return
	cat "$dir/events"
	return 1
}
check "told: a region is made" told '$e->{event} eq "region_created" && $e->{name} eq "made" && $e->{comm} eq "touch"'
check "told: it is removed" told '$e->{event} eq "region_removed" && $e->{name} eq "made" && $e->{comm} eq "rm"'
check "told: another node has removed one" told \
	'$e->{event} eq "region_removed" && $e->{name} eq "theirs" && !$e->{pid}'
check "told: the holder of a lock has died" told '$e->{event} eq "lock_abandoned" &&
	$e->{name} eq "far" && $e->{offset} == 640 && $e->{count} == 1 && $e->{comm} =~ /^locks-basics/'
check "told: the directory is in the switch" told '$e->{event} eq "directory" && $e->{switch}'
check "told: node 2 has left" told '$e->{event} eq "node_left" && $e->{member} == 2'
check "told: a request without an answer" told '$e->{event} eq "unanswered" && $e->{name} eq "far"'
check "told: an access that failed" told '$e->{event} eq "access_failed" &&
	$e->{name} eq "far" && $e->{comm} eq "weft-tally" && $e->{errno} == 110 &&
	($e->{offset} == 128 * 4096 || $e->{offset} == 192 * 4096)'

# --- The end -----------------------------------------------------------------

down_rack
finish
