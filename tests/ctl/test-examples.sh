#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The examples of the manual pages, as they stand there: what is between .EX and .EE is
# taken out of all pages and run, command by command, most of it in a rack that the
# example of weft-rack(1) boots.
#
#	node1 ---+        +--- mem1
#	         | switch |
#	node2 ---+        +--- mem2
#
# First weft is as weft-rack sets it up; then it is taken down, the guests get the
# addresses that the pages print, and weft is set up as the pages say.
#
# The table says where each block is run.  A block that is not in it, or of which a
# command is not run in the end, is a failure, and so is a command that is not there.
#
# As tests/system/common.sh; CC.

# Functions are run by "check"; what is in single quotes is for shells in guests.
# shellcheck disable=SC2016,SC2317,SC2329

set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh
. tests/tries.sh

# Page, number of the block, and where: a guest; "host"; "script", on the host, all of it
# at once; "file", a configuration file; "program", compiled as part of one; or the test
# that runs the same commands.
BLOCKS='
	weft-rack.1		1	host
	weft-rack.1		2	host
	libweft-preload.so.7	1	script
	weft-kvs.1		1	node1
	weft_attach.3		1	program
	weft_rwlock_init.3	1	program
	weft_rwlock_rdlock.3	1	program
	weft_rwlock_rdlock.3	2	program
	weft-switchd.8		1	mem2
	weft-switchd.8		2	mem2
	weft-memd.8		1	mem1
	weft-memd.8		2	mem2
	weft-memd.8		3	tests/packaging/test-service.sh
	weft-memd.8		4	node1
	weft-memd.8		5	mem1
	weft-memd.8		6	mem2
	weft.7			1	mem1
	weft.7			2	node1
	weft.7			3	node1
	weft.7			4	tests/packaging/test-service.sh
	weft.conf.5		1	file
	weft.conf.5		2	file
	weft.conf.5		3	tests/packaging/test-service.sh
	weft.conf.5		4	tests/packaging/test-service.sh
	weft.conf.5		5	node1
	weftctl.8		1	node1
	weftctl.8		2	node1
	weftctl.8		3	node1
	weftctl.8		4	node1
	weftctl.8		5	node1
	weftctl.8		6	node1
	weftctl.8		7	node1
	weftctl.8		8	node1
	weftctl.8		9	node1
	weftctl.8		10	node1
	weftctl.8		11	tests/packaging/test-service.sh
'

CC=${CC:-gcc}
STEP_LIMIT=$((200 * SCALE))
BESIDE_LIMIT=$((350 * SCALE))	# of what runs beside several steps
THERE=/run/examples	# where commands run in guests
declare -A taken=()	# commands of each block that were run
declare -A beside=()	# processes that run meanwhile, by guest
begin examples
mkdir -p "$BUILD/tests"
# The guests see it, too.
shared=$(mktemp -d "$BUILD/tests/examples.XXXXXX") || exit 2
at_exit rm -rf "$shared"
mkdir "$shared/blocks" "$shared/bin"

# For the commands as they are printed.  Guests get the same environment.
export B=$BUILD WEFT_RACK_NAME=$run_name WEFT_PACKAGES_DONE=1 BUILD
export PATH=$shared/bin:$BUILD/bin:$PATH:/usr/sbin:/sbin
unset KVER MAKEFLAGS MAKEOVERRIDES MFLAGS MAKELEVEL

# --- Blocks and their commands ------------------------------------------------------

# extract PAGE...: their blocks, without roff's escapes, to blocks/PAGE.N.
extract()
{
	perl -ne '
		BEGIN {
			$to = shift;
			%is = ("-" => "-", "e" => "\\", "(aq" => "\x27", "&" => "");
		}
		if ($. == 1) {
			($page) = $ARGV =~ m{([^/]+)$};
			$n = 0;
		}
		if (/^\.EX/) {
			open($out, ">", "$to/$page." . ++$n) or die "$to: $!\n";
			$inside = 1;
		} elsif (/^\.EE/) {
			close($out);
			$inside = 0;
		} elsif ($inside) {
			die "$ARGV:$.: a request inside of an example\n" if /^[.\x27]/;
			s{\\(\(..|.)}{$is{$1} // die "$ARGV:$.: \\$1 is not known here\n"}ge;
			print $out $_;
		}
		close(ARGV) if eof;
	' -- "$shared/blocks" "$@"
}

# table: its lines, "page block where".
table()
{
	awk 'NF { print $1, $2, $3 }' <<<"$BLOCKS"
}

same_blocks()
{
	diff <(table | sed 's/ [^ ]*$//' | sort) \
		<(find "$shared/blocks" -type f -printf '%f\n' | sed 's/\.\([0-9]*\)$/ \1/' | sort)
}

# block PAGE N: the one that what follows is about.
block()
{
	page=$1
	n=$2
	where=$(table | awk -v page="$page" -v n="$n" '$1 == page && $2 == n { print $3 }')
	file=$shared/blocks/$page.$n
}

# commands: of the block, each ended by a 0; lines that go on are joined.
commands()
{
	case $where in
	script|file|program)
		cat "$file"
		printf '\0' ;;
	*)	sed -e ':more' -e '/\\$/{N;s/\\\n *//;b more' -e '}' "$file" | tr '\n' '\0' ;;
	esac
}

# upcoming: print the command of the block that is next.
upcoming()
{
	local all

	mapfile -d '' all < <(commands)
	printf '%s' "${all[${taken[$page.$n]-0}]-}"
}

# next_command: what is next, in "command" and "title".
next_command()
{
	command=$(upcoming)
	title="$page: ${command%%$'\n'*}"
	[ -n "$command" ] || { not_ok "$page has one more command in block $n"; return 1; }
	taken[$page.$n]=$((${taken[$page.$n]-0} + 1))
}

# all_taken: no block has commands that were not run, here or by another test.
all_taken()
{
	local all bad=0

	while read -r page n where; do
		block "$page" "$n"
		mapfile -d '' all < <(commands)
		[ "${taken[$page.$n]-0}" = "${#all[@]}" ] && continue
		echo "$page, block $n: ${taken[$page.$n]-0} of ${#all[@]} commands were run"
		bad=1
	done < <(table)
	return "$bad"
}

# run_by TEST COMMAND: a check of that test runs it in a guest, maybe with more options.
run_by()
{
	local line

	while read -r line; do
		[[ $line =~ ^check.*\ (step in|blade in|on node1)\ (/usr/local/bin/)?"$2"(\ --[a-z]+\ [a-z_,]+)*$ ]] && return
	done <"$1"
	echo "no line of $1 runs it"
	return 1
}

# --- Running them -------------------------------------------------------------------

# there COMMAND: where the block is run.
there()
{
	case $where in
	host|script)	limited "$STEP_LIMIT" bash -c "$1" ;;
	*)		on "$where" sh -c "cd $THERE; $1" ;;
	esac
}

# prints REGEX...: the last output has a line for each; without any, it is empty.
prints()
{
	local regex bad=0

	[ $# -gt 0 ] || [ ! -s "$dir/out" ] || { echo "it prints something:"; bad=1; }
	for regex; do
		grep -qE -- "$regex" "$dir/out" && continue
		echo "no line matches: $regex"
		bad=1
	done
	[ "$bad" = 0 ] || head -n "$NOISE" "$dir/out"
	return "$bad"
}

# does COMMAND REGEX...
does()
{
	local rc

	there "$1" >"$dir/out"
	rc=$?
	[ "$rc" = 0 ] || { echo "exit status $rc"; head -n "$NOISE" "$dir/out"; return 1; }
	prints "${@:2}"
}

# runs REGEX...: the next command of the block ends well, and prints this.
runs()
{
	next_command && check "$title" does "$command" "$@"
}

# patient COMMAND...: again while doctor, whose output is the last one, has found a long
# round trip, which there may well be on a machine that does other things besides; for
# 15 s at most.
patient()
{
	local end=$((SECONDS + 15 * SCALE))

	until "$@"; do
		grep -q round_trip "$dir/out" || return
		[ "$SECONDS" -lt "$end" ] || return
	done
}

# may_do COMMAND REGEX...: as "does", of what happens, or does not, while the command looks.
may_do()
{
	does "$@" || return $UNLUCKY
}

# finds_no_key COMMAND: it says so, and nothing else.
finds_no_key()
{
	there "$1" >"$dir/out"
	equal 1 "$(wc -l <"$dir/out")" && prints '^no_key: '
}

# does_within SECONDS REGEX...: the command, which goes on until SIGINT, prints this within
# that time; an emulated guest on a busy machine may need up to eight times as long.
does_within()
{
	local seconds=$1 last=$((8 * $1))

	until does "timeout --preserve-status -s INT $seconds sh -c $(printf %q "exec $command")" \
			"${@:2}" >"$dir/said"; do
		seconds=$((2 * seconds))
		[ "$seconds" -le "$last" ] || { cat "$dir/said"; return 1; }
	done
}

# runs_for SECONDS REGEX...: as "runs", of a command that goes on until SIGINT.
runs_for()
{
	next_command && check "$title" does_within "$@"
}

# serves CONDITION: the next command stays, and makes the condition true; what it prints
# is in the file "log".
serves()
{
	next_command && check "$title" there "
		setsid sh -c $(printf %q "$command; echo ended with \$?") >log 2>&1 </dev/null &
		for try in \$(seq 200); do
			$1 && exit 0
			! grep 'ended with' log || break
			sleep 0.2
		done
		cat log; exit 1"
}

# ends PROGRAM: what serves ends at SIGTERM, with status 0.
ends()
{
	check "$1 ends" there "
		kill \$(pgrep -x $1)
		for try in \$(seq 100); do
			! grep -x 'ended with 0' log || exit 0
			sleep 0.2
		done
		cat log; exit 1"
}

# meanwhile GUEST COMMAND: beside what follows, until "ended GUEST" waits for it, or
# "stop GUEST" ends it.
meanwhile()
{
	timeout "$BESIDE_LIMIT" "$RACK" exec "$1" -- sh -c "cd $THERE; $2" \
		>"$dir/beside.$1" 2>&1 </dev/null &
	beside[$1]=$!
}

ended()
{
	local rc

	wait "${beside[$1]}"
	rc=$?
	cat "$dir/beside.$1"
	return "$rc"
}

stop()
{
	kill "${beside[$1]}"
	wait "${beside[$1]}"
}

# program NAME: compile what is read, with the block in the place of the line EXAMPLE.
program()
{
	{
		printf '#include <%s>\n' err.h errno.h fcntl.h stdio.h string.h sys/mman.h unistd.h \
			weft/lock.h
		sed -e "/^EXAMPLE\$/{r $file" -e 'd}'
	} >"$dir/$1.c"
	next_command && check "$page: block $n compiles" "$CC" -std=gnu11 -D_GNU_SOURCE -Wall -Wextra \
		-Werror -I"$dir/include" -o "$shared/$1" "$dir/$1.c" "$BUILD/lib/libweft.a" -pthread
}

# shows GUEST REGEX COMMAND...: what tells whether an example has done what it is for.
shows()
{
	on "$1" "${@:3}" >"$dir/out" && prints "$2"
}

wire_shows()
{
	rack wire stats >"$dir/out" && prints "$1"
}

# lines_fit LEAST DEFINITION FILE: at least so many lines of JSON, in a file of the first
# node, are what the schema says.
lines_fit()
{
	on node1 cat "$3" >"$dir/lines" &&
		tests/ctl/schema.pl tools/weftctl/schema.json "$2" "$dir/lines" &&
		at_least "$1" "$(wc -l <"$dir/lines")"
}

# --- What needs no rack -------------------------------------------------------------

check "examples are taken out of the pages" extract tools/*/man/*.[1-8]
check "the table has all of them, and no others" same_blocks || exit 1

while read -r page n where; do
	[[ $where == tests/* ]] || continue
	block "$page" "$n"
	check "$where is run" grep -qE "[[:blank:]]$where(\$|[[:blank:]])" tests/list tests/list-long
	mapfile -d '' list < <(commands)
	for _ in "${list[@]}"; do
		next_command && check "$title: in $where" run_by "$where" "$command"
	done
done < <(table)

# settings: weftctl takes the file, and it says what the page says.
settings()
{
	weftctl up --check --file "$file" >"$dir/out" &&
		diff <(sed -e 's/ *#.*//' -e '/^$/d' "$file" | sort) <(sort "$dir/out")
}
for n in 1 2; do
	block weft.conf.5 $n
	next_command && check "$page: settings of block $n" settings
done

mkdir -p "$dir/include/weft"
cp uapi/*.h tools/libweft/lock.h "$dir/include/weft/"
block weft_rwlock_init.3 1
program account <<'END'
EXAMPLE
int main(void)
{
	int fd = open("/weft/account", O_RDWR | O_CREAT, 0600);
	struct account *a;

	if (fd < 0 || ftruncate(fd, sizeof(*a)))
		err(1, "/weft/account");
	a = mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (a == MAP_FAILED || account_init(a))
		errx(1, "cannot use /weft/account");
	pay(a, 100);
	printf("%ld cents\n", account_rdlock(a)->cents);
	return account_unlock(a);
}
END
block weft_rwlock_rdlock.3 1
program counter <<'END'
int main(void)
{
EXAMPLE
	printf("counted to %ld\n", c->value);
	return 0;
}
END
block weft_rwlock_rdlock.3 2
program mended <<'END'
struct sums {
	weft_rwlock_t lock;
	long sum, part[2];
};

static long add_up(const struct sums *a)
{
	return a->part[0] + a->part[1];
}

static void take(struct sums *a)
{
	int error;

EXAMPLE
}

int main(void)
{
	int fd = open("/weft/sums", O_RDWR | O_CREAT, 0600);
	struct sums *a;

	if (fd < 0 || ftruncate(fd, 4096))
		err(1, "/weft/sums");
	a = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (a == MAP_FAILED)
		err(1, "mmap");
	take(a);
	a->part[0]++;
	a->sum++;
	printf("sum %ld of %ld\n", a->sum, add_up(a));
	return weft_rwlock_unlock(&a->lock);
}
END
# Without a name of the file only weft_attach() can find it.
block weft_attach.3 1
program attach <<'END'
int main(void)
{
	int error, fd = open("/weft/nameless", O_RDWR | O_CREAT, 0600);
	size_t size = 4096;
	void *p;

	if (fd < 0 || ftruncate(fd, (off_t)size) || unlink("/weft/nameless"))
		err(1, "/weft/nameless");
EXAMPLE
	printf("error %d\n", error);
	return error;
}
END

# --- A rack, as weft-rack sets it up ------------------------------------------------

up=1
block weft-rack.1 1
runs '^ *KBUILD .*/weft\.ko$'
runs || exit 1
runs
runs '^hello$'
check "its directory for examples" on all mkdir $THERE

block weft-rack.1 2
runs '^ok$'
check "the switch loses frames" wire_shows '"name":"node1",[^}]*"loss":0\.05,'
runs '^ok$'
check "node 2 is cut off" wire_shows '"name":"node2","kind":"unix","cut":true,'
runs '^ok$'
check "and is back" wire_shows '"name":"node2","kind":"unix","cut":false,'
check "no more faults" faults loss 0

check "node 1: account" shows node1 '^100 cents$' "$shared/account"
check "node 2: account" shows node2 '^200 cents$' "$shared/account"
check "node 1: counter" shows node1 '^counted to 1$' "$shared/counter"
check "node 2: counter" shows node2 '^counted to 2$' "$shared/counter"
check "node 1: mended" shows node1 '^sum 1 of 1$' "$shared/mended"
check "node 1: attach" shows node1 '^error 0$' "$shared/attach"

# "ssh" is a way into the guests here, where ./count is a program of tests/preload.
printf '#!/bin/sh\nexec %s/tests/preload-count "$1" 1 100 2\n' "$BUILD" >"$shared/bin/count"
printf '#!/bin/sh\nguest=$1\nshift\nexec %s exec "$guest" -- env LD_LIBRARY_PATH=%s/lib sh -c "cd %s; $*"\n' \
	"$PWD/$RACK" "$BUILD" $THERE >"$shared/bin/ssh"
chmod +x "$shared/bin/count" "$shared/bin/ssh"
check "a program on each node" on nodes cp "$shared/bin/count" $THERE/
block libweft-preload.so.7 1
runs '^count: 1 workers of 2, 100 rounds each, 200 in all'
check "on both" [ "$(grep -c '^count: ' "$dir/out")" = 2 ]

block weft-kvs.1 1
runs
runs '^10000 records of 100 bytes in '
meanwhile node2 "$(upcoming | sed 's/--node 1/--node 2/')"
runs '^node 1 of 2: YCSB B, ' 'every one was checked$'
check "and on node 2" ended node2
runs '^10000 keys, 10000 of them records of the benchmark' '^all is well$'

# --- Other addresses ----------------------------------------------------------------

# readdress GUEST ADDRESS: instead of the one that it has.
readdress()
{
	on "$1" sh -c 'ip address flush dev eth0 && ip address add "$0/24" brd + dev eth0' "$2"
}
check "both nodes go down" on nodes weftctl down --unmount
check "the blades end" on blades sh -c 'kill $(pgrep -x weft-memd)
	for try in $(seq 100); do pgrep -x weft-memd || exit 0; sleep 0.2; done; exit 1'
for guest in node1:1 node2:2 mem1:101 mem2:102; do
	check "${guest%:*} is 10.0.0.${guest#*:}" readdress "${guest%:*}" "10.0.0.${guest#*:}"
done

# --- A switch -----------------------------------------------------------------------

check "three interfaces, the program" on mem2 sh -c 'set -e; modprobe veth
	for i in 1 2 3; do
		ip link add eth$i type veth peer name peer$i
		ip link set eth$i up
		ip link set peer$i up
	done
	mkdir -p /usr/share/weft; cp "$0" /usr/share/weft/' "$PWD/p4/generated/weft_pna.spec"
block weft-switchd.8 1
serves '[ -S /run/switch ]'
block weft-switchd.8 2
runs '^ok$'
runs '"mode":"p4".*"name":"m1","kind":"packet",[^}]*"loss":0\.01,'
ends weft-switchd

# --- One memory blade, one node -----------------------------------------------------

block weft-memd.8 1
serves "grep -q 'blade 1 serves [0-9]* MiB at 10.0.0.101' log"
ends weft-memd
block weft.7 1
serves "grep -q 'blade 1 serves [0-9]* MiB at 10.0.0.101' log"
check "a directory for its settings" on node1 mkdir -p /etc/weft
block weft.conf.5 5
runs
check "weftctl takes that file" shows node1 '^homes = 10\.0\.0\.101$' weftctl up --check
block weft.7 2
runs
check "weft is mounted" shows node1 '^none /weft weft .*cache=262144K' cat /proc/mounts
block weft.7 3
runs
runs
check "the region" shows node1 '^65536 1048576$' stat -c '%o %s' /weft/table
check "node 1 goes down" on node1 weftctl down --unmount
block weft.7 1
ends weft-memd

# --- A blade with a twin --------------------------------------------------------------

for guest in node1 mem1 mem2; do
	check "$guest: a directory for files" on "$guest" mkdir -p /var/lib/weft
done
block weft-memd.8 4
serves "grep -q 'witness at 10.0.0.1, TCP port 4794' log"
block weft-memd.8 5
serves "grep -q 'waiting for the twin (10.0.0.102)' log"
block weft-memd.8 6
serves "grep -q '10.0.0.101 serves, view 1: .* becomes a copy' log &&
	grep -q '/var/lib/weft/blade is complete, view 1' log"
ends weft-memd
block weft-memd.8 5
check "the one with the lower address serves" there \
	"grep -q 'blade 1 serves [0-9]* MiB at 10.0.0.101' log"
ends weft-memd
block weft-memd.8 4
ends weft-memd

# --- Two of both --------------------------------------------------------------------

check "the first of two blades" on mem1 sh -c 'weft-memd --blade 1 --interface eth0 \
	--peers 10.0.0.101,10.0.0.102 --background 2>$0/log' $THERE
check "a directory for its contents" on mem2 mkdir -p /var/lib/weft
block weft-memd.8 2
serves "grep -q 'blade 2 serves [0-9]* MiB at 10.0.0.102' log && [ -e /var/lib/weft/blade2 ]"

block weftctl.8 1
runs
check "weft is mounted" shows node1 '^none /weft weft .*cache=262144K' cat /proc/mounts
block weftctl.8 10
runs
check "it is down" shows node1 '^no node: down' weftctl status
check "settings of weft.conf(5)" on node1 cp "$shared/blocks/weft.conf.5.1" /etc/weft/weft.conf
block weftctl.8 2
runs '^node = 1$' '^homes = 10\.0\.0\.101, 10\.0\.0\.102$' '^mount = /weft$'
runs
block weftctl.8 3
runs '^node 1 of rack 0: up, joined$' 'homes +10\.0\.0\.101 10\.0\.0\.102$' '^  mounted +/weft$'
runs '^ +"id": 1,$' '^ +"misses": [0-9]+,$'
check "what came before is no fault" on node1 dmesg -C
block weftctl.8 5
# The rack has no key.
next_command && check "doctor finds that there is no key" patient finds_no_key "$command"
next_command && check "$title" patient does "$command" '^\{"findings":\[\],"skipped":\[\]\}$'
check "as the schema says" tests/ctl/schema.pl tools/weftctl/schema.json doctor "$dir/out"

# Both write to the block at 8192.
check "node 2 goes up" on node2 weftctl up --node 2 --interface eth0 \
	--homes 10.0.0.101,10.0.0.102 --mount /weft
# A tenth of a processor is enough for what is to be seen; emulated, they cost a real one.
check "a tenth of a processor for each" on nodes sh -c 'cd /sys/fs/cgroup && mkdir tenth &&
	echo +cpu >cgroup.subtree_control && echo 10000 100000 >tenth/cpu.max'
tenth="echo 0 >/sys/fs/cgroup/tenth/cgroup.procs && exec"
meanwhile node1 "$tenth weft-tally /weft/table 129 --seconds 3000"
meanwhile node2 "$tenth weft-tally /weft/table 128 --seconds 3000"
check "both have it" on nodes sh -c 'for try in $(seq 100); do
	weftctl region show | grep "table$" && exit; sleep 0.2; done; exit 1'
block weftctl.8 4
runs '^  miss_[a-z_]+: [1-9]' '^ +[0-9.]+ [nmu]?s \.\. [0-9.]+ [nmu]?s +[0-9]+ #+$'
runs '^node 1, [0-9.]+ s$' '^  misses +[0-9.]*[1-9][0-9.]* /s$'
check "ten times" [ "$(grep -c '^node 1, ' "$dir/out")" = 10 ]
runs '^ +REGION +INDEX STATE ' '^ +[0-9]+ +2 (modified|shared|none) '
block weftctl.8 6
runs_for 6 '^ +MISSES/s +REVOKED/s' '  table:8192$'
runs_for 5 ' table:8192 .* asks to write' ' table:8192 .* node 2 wants to write$' '^BLOCK +WHO +TO'
# it reads before it writes, and if the block is known to be migratory the read brings it
next_command && check "$title" tries 4 may_do "$command" \
	'^table:8192 +weft-tally\[[0-9]+\] +(read|write) ' '^table:8192 +node 2 +write '
runs
check "five pages, as the schema says" lines_fit 5 top $THERE/hot.json
stop node1
stop node2

block weftctl.8 7
runs '^DIRECTORY +SWITCH +BLADE 1 +BLADE 2$' '^entries free +[1-9]'
meanwhile node1 'for try in $(seq 8); do sleep 1; : >/weft/made; rm /weft/made; done'
runs_for 8
check "a region came and went meanwhile" ended node1
check "events, as the schema says" lines_fit 2 monitor /var/log/weft-events
check "they tell of it" shows node1 '"event":"region_created".*"name":"made"' cat /var/log/weft-events
block weftctl.8 8
runs '^ +1 10\.0\.0\.101 +in use ' '^ +2 10\.0\.0\.102 +in use '
runs
block weftctl.8 9
runs
check "so it is" shows node1 '^  timeout +5 s$' weftctl status

# --- The end ------------------------------------------------------------------------

check "all guests are well" rack status
block weft-rack.1 1
runs && up=
check "all commands of all blocks were run" all_taken
finish
