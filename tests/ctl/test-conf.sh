#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The configuration file of weftctl: what up, down and set make of it, of options beside
# it, and of files that are wrong; what doctor says where there is no node.  The kernel is
# tests/ctl/fakes/genl.
#
# Prints a line a check.  Environment: BUILD, the build directory.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/ctl/fake.sh

objects_to()
{
	refused "$@" && equal '' "$(cat "$dir/log")"
}

# objects STATUS TEXT: as says, and nothing was asked of the kernel.
objects()
{
	check "$what: ${2//"$dir/"/}" objects_to "$@"
}

has_printed()
{
	good && equal "$1" "$(cat "$dir/out")"
}

# prints_just TEXT: it succeeds, and prints this.
prints_just()
{
	check "$what" has_printed "$1"
}

# conf LINE...: the file; lines may have escapes.
conf()
{
	printf '%b\n' "$@" >"$file"
}

begin conf
where=$dir
# Files are written there: their names in sentences are short.
file=$dir/f

# --- Files that are right ------------------------------------------------------

conf '# a node' 'node = 3' 'interface=eth1' '' '  homes =10.0.0.101'
ctl up up --file "$file"
asked 'cmd 1 1=3 4=eth1 2=0 5=10.0.0.101'
conf 'homes = 10.0.0.2,10.0.0.1 ,\t10.0.0.3\t# three' 'rack = 4294967295' 'hold = 0' \
	'address = 10.0.0.9' 'mtu = 1500' 'timeout = 0.1' 'interface = a#b' 'node = 32 #'
ctl up up --file "$file"
asked 'cmd 1 1=32 4=a#b 2=4294967295 8=10.0.0.9 9=1500 6=100 7=0 5=10.0.0.2 5=10.0.0.1 5=10.0.0.3'
conf 'node = 1' 'interface = eth0' 'homes = 10.0.0.1/10.0.0.2 ,10.0.0.3, 10.0.0.4 / 10.0.0.5'
ctl up up --check --file "$file"
prints_just "$(printf '%s\n' 'node = 1' 'interface = eth0' \
	'homes = 10.0.0.1/10.0.0.2, 10.0.0.3, 10.0.0.4/10.0.0.5')"
printf 'node = 1\ninterface = eth0\nhomes = 10.0.0.1' >"$file"
ctl up up --file "$file"
asked 'cmd 1 1=1 4=eth0 2=0 5=10.0.0.1'

good=('node = 3' 'interface = eth1' 'homes = 10.0.0.101, 10.0.0.102' 'rack = 7'
	'address = 10.0.0.3' 'mtu = 9000' 'timeout = 2.500' 'hold = 250'
	'mount = /weft' 'cache = 1G' 'block = 64K' 'mode = 755' 'uid = 10' 'gid = 20')
conf "${good[@]}"
ctl up up --file "$file"
asked 'cmd 1 1=3 4=eth1 2=7 8=10.0.0.3 9=9000 6=2500 7=250 5=10.0.0.101 5=10.0.0.102' \
	'mount /weft rack=7 cache=1G block=64K mode=755 uid=10 gid=20'
ctl up up --file "$file" --check
prints_just "$(printf '%s\n' "${good[@]}")"
[ ! -s "$dir/log" ]
report $? "--check asks the kernel for nothing"
cp "$dir/out" "$file"
ctl up up --file "$file" --check
prints_just "$(printf '%s\n' "${good[@]}")"
ctl up up --file "$file" --check -j
prints_just '{"node":3,"interface":"eth1","homes":["10.0.0.101","10.0.0.102"],"rack":7,"address":"10.0.0.3","mtu":9000,"timeout_ms":2500,"hold_us":250,"mount":"/weft","cache":1073741824,"block":65536,"mode":"755","uid":10,"gid":20}'

# --- With options ----------------------------------------------------------------

ctl up up --file "$file" --node 4 --homes 10.0.0.7 --cache 2097152K --timeout 30
asked 'cmd 1 1=4 4=eth1 2=7 8=10.0.0.3 9=9000 6=30000 7=250 5=10.0.0.7' \
	'mount /weft rack=7 cache=2G block=64K mode=755 uid=10 gid=20'
ctl up up --file "$file" --no-mount
asked 'cmd 1 1=3 4=eth1 2=7 8=10.0.0.3 9=9000 6=2500 7=250 5=10.0.0.101 5=10.0.0.102'
ctl up up --node 1 --interface eth0 --homes 10.0.0.1 --mount /a/b// --block 4096
asked 'cmd 1 1=1 4=eth0 2=0 5=10.0.0.1' 'mount /a/b block=4K'
ctl no-join up --file "$file"
[ $rc = 2 ] && [ "$(cat "$dir/err")" = "weftctl: cannot mount /weft: another node has the id 3" ] &&
	[ "$(cut -d ' ' -f 1-2 "$dir/log")" = "$(printf '%s\n' 'cmd 1' 'mount /weft' 'cmd 2')" ]
report $? "a mount that fails takes the node down again"
for option in --mount=weft --block=3K --block=4M --cache=1 --mode=9 --uid=-1 --gid=4294967295; do
	ctl up up --file "$file" "$option"
	[ $rc = 1 ] && grep -q "^weftctl: ${option%=*}: " "$dir/err" && [ ! -s "$dir/log" ]
	report $? "$what is refused"
done
ctl up up --file "$file" --mount /x --no-mount
objects 1 "--mount and --no-mount contradict each other: leave one out"
ctl up up --node 1 --interface eth0 --homes 10.0.0.1 --cache 1G
objects 1 "--cache is of no use without --mount"

# --- The file that is read unless told --------------------------------------------

ctl up up
objects 2 "there is no file weft.conf: write it, see weft.conf(5), or give --node, --interface and --homes"
ctl up up --node 1
objects 1 "--interface is missing: the one that leads to the rack ('ip link' lists them)"
printf '%s\n' "${good[@]}" >"$dir/weft.conf"
ctl up up
asked 'cmd 1 1=3 4=eth1 2=7 8=10.0.0.3 9=9000 6=2500 7=250 5=10.0.0.101 5=10.0.0.102' \
	'mount /weft rack=7 cache=1G block=64K mode=755 uid=10 gid=20'
ctl up up --node 9 --no-mount
asked 'cmd 1 1=9 4=eth1 2=7 8=10.0.0.3 9=9000 6=2500 7=250 5=10.0.0.101 5=10.0.0.102'
ctl up up --node 1 --interface eth0 --homes 10.0.0.1
asked 'cmd 1 1=1 4=eth0 2=0 5=10.0.0.1'
echo nonsense >"$dir/weft.conf"
ctl up up --node 1 --interface eth0 --homes 10.0.0.1
asked 'cmd 1 1=1 4=eth0 2=0 5=10.0.0.1'
ctl up up --node 1
objects 1 "weft.conf:1: 'nonsense' is no setting: write 'NAME = VALUE', for example 'node = 1'"
ctl up down
objects 1 "weft.conf:1: 'nonsense' is no setting: write 'NAME = VALUE', for example 'node = 1'"
rm "$dir/weft.conf"

# --- down and set -------------------------------------------------------------------

conf "${good[@]}" 'mount = /tmp'
sed -i '/weft/d' "$file"
WEFT_FAKE_MOUNTS=/other:/tmp ctl up down --file "$file"
asked 'cmd 15' 'umount /tmp' 'cmd 2'
WEFT_FAKE_MOUNTS=/other ctl up down --file "$file"
asked 'cmd 15' 'cmd 2'
ctl up down
asked 'cmd 15' 'cmd 2'
WEFT_FAKE_MOUNTS=/a:/b ctl up down --unmount
asked 'cmd 15' 'umount /b' 'umount /a' 'cmd 2'
# Of several racks the one that the file says, unless --rack does.
WEFT_FAKE_MOUNTS=/tmp@7:/other@4294967295 ctl racks down --file "$file"
asked 'cmd 15' 'umount /tmp' 'cmd 2 2=7'
WEFT_FAKE_MOUNTS=/tmp@7:/other@4294967295 ctl racks --rack 4294967295 down --file "$file"
asked 'cmd 2 2=4294967295'
ctl racks set --file "$file";	asked 'cmd 15' 'cmd 4 2=7 6=2500 7=250'
ctl racks set --file "$file" --rack 4294967295; asked 'cmd 4 2=4294967295 6=2500 7=250'
ctl up down --file "$dir/none"
objects 2 "there is no file $dir/none: name one that there is, or give --unmount"
ctl up down --file "$file" --unmount
objects 1 "with --unmount no file is read: leave --file out"
ctl up set --file "$file";		asked 'cmd 15' 'cmd 4 6=2500 7=250'
ctl up set --file "$file" --hold 1;	asked 'cmd 15' 'cmd 4 6=2500 7=1'
conf 'node = 1'
ctl up set --file "$file";		asked 'cmd 15' 'cmd 4 6=30000 7=100'
ctl up set --file "$dir/none"
objects 2 "there is no file $dir/none: name one that there is, or write it, see weft.conf(5)"

# --- Files that are wrong -----------------------------------------------------------

# wrong LINE TEXT FILE-LINE...: the error is in this line and says this.
wrong()
{
	local line=$1 text=$2

	shift 2
	conf "$@"
	ctl up up --file "$file"
	objects 1 "$file:$line: $text"
}

ctl up up --file "$dir/none"
objects 2 "there is no file $dir/none: name one that there is, or write it, see weft.conf(5)"
ctl up up --file "$dir"
objects 2 "cannot read $dir: Is a directory: name the file, not the directory"
for name in node interface homes; do
	conf "${good[@]}"
	sed -i "/^$name/d" "$file"
	ctl up up --file "$file"
	[ $rc = 1 ] && grep -qE "^weftctl: $file: '$name' is missing: .*: add the line '$name = .*'$" \
		"$dir/err" && [ ! -s "$dir/log" ]
	report $? "$what: $name is missing"
done

wrong 2 "'node' is set in line 1 already: take one of the two lines away" 'node = 1' 'node = 1'
wrong 3 "there is no setting 'nodes': write 'node = 1' if that is meant" '' '#' 'nodes = 3'
wrong 1 "there is no setting 'Interface': write 'interface = eth0' if that is meant" 'Interface = eth0'
wrong 1 "there is no setting 'id': write 'node = 1' if that is meant" 'id = 3'
wrong 1 "there is no setting 'time out': write 'timeout = 30' if that is meant" 'time out = 3'
wrong 1 "there is no setting 'WEFT_NODE_OPTIONS': write one of node, interface, homes, rack, joins, address, mtu, timeout, hold, key, mount, cache, block, mode, uid, gid" \
	'WEFT_NODE_OPTIONS="--node 1"'
wrong 1 "'[node]': there are no sections: take this line away, and write 'NAME = VALUE' lines only" '[node]'
wrong 1 "'[a=b]': there are no sections: take this line away, and write 'NAME = VALUE' lines only" '[a=b]'
wrong 1 "'; x': begin a comment with '#'" '; x'
wrong 1 "'// x': begin a comment with '#'" '// x'
wrong 1 "'node 3' has no '=': write 'node = 1'" 'node 3'
wrong 1 "'mtu: 9000' has no '=': write 'mtu = 9000'" 'mtu: 9000'
wrong 1 "'hello' is no setting: write 'NAME = VALUE', for example 'node = 1'" 'hello'
wrong 1 "there is nothing before the '=': write 'NAME = VALUE', for example 'node = 1'" ' = 5'
wrong 1 "'node' has no value: write 'node = 1', or take the line away" 'node ='
wrong 1 "'node' has no value: write 'node = 1', or take the line away" 'node = # one'
wrong 1 "interface: write the value without quotation marks, as in 'interface = eth0'" 'interface = "eth0"'
wrong 2 "the line ends in a carriage return: save the file with the ends of lines of Unix ('sed -i \"s/\\r\$//\"')" \
	'node = 1' 'rack = 1\r'
wrong 2 "there is a byte 0 in this line: write it anew, as plain text" 'node = 1' 'rack = 1\000'
wrong 2 "'cache' is of no use without a mount point: write 'mount = /weft' as well, or take the line away" \
	'node = 1' 'cache = 1G'
wrong 1 "there is no setting '??[2J': write one of node, interface, homes, rack, joins, address, mtu, timeout, hold, key, mount, cache, block, mode, uid, gid" \
	'\302\233\033[2J = 1'

# Each setting, each kind of value that it does not have.
while IFS='|' read -r name value text; do
	conf '# line 1' "$name = $value"
	ctl up up --file "$file"
	example=$("$WEFTCTL" up --check --file <(printf '%s\n' "${good[@]}") 2>/dev/null | sed -n "s/^$name = //p")
	[ $rc = 1 ] && [ -n "$example" ] && [ ! -s "$dir/log" ] && [ ! -s "$dir/out" ] &&
		grep -qF "weftctl: $file:2: $name: $text: write for example '$name = " "$dir/err"
	report $? "$name = $value: $text"
done <<'END'
node|0|0 is not within 1 to 32
node|33|33 is not within 1 to 32
node|-1|'-1' is not a number
node|1 2|'1 2' is not a number
node|0x1|'0x1' is not a number
node|4294967297|4294967297 is not within 1 to 32
interface|eth0 eth1|'eth0 eth1' cannot be the name of an interface
interface|sixteen-letters-|'sixteen-letters-' cannot be the name of an interface
interface|a/b|'a/b' cannot be the name of an interface
interface|..|'..' cannot be the name of an interface
homes|10.0.0.1 10.0.0.2|'10.0.0.1 10.0.0.2' is not an IPv4 address such as 10.0.0.101
homes|10.0.0.1,|'' is not an IPv4 address such as 10.0.0.101
homes|10.0.0.1, ,10.0.0.2|'' is not an IPv4 address such as 10.0.0.101
homes|mem1|'mem1' is not an IPv4 address such as 10.0.0.101
homes|::1|'::1' is not an IPv4 address such as 10.0.0.101
homes|10.0.0.1, 10.0.0.1|10.0.0.1 is there twice
homes|10.0.0.1/10.0.0.2, 10.0.0.2|10.0.0.2 is there twice
homes|10.0.0.1/mem2|'mem2' is not an IPv4 address such as 10.0.0.101
homes|224.0.0.1|224.0.0.1 is not the address of one machine
homes|10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4,10.0.0.5,10.0.0.6,10.0.0.7,10.0.0.8,10.0.0.9,10.0.0.10,10.0.0.11,10.0.0.12,10.0.0.13,10.0.0.14,10.0.0.15,10.0.0.16,10.0.0.17|a rack has 16 memory blades at most
rack|-1|'-1' is not a number
rack|4294967296|4294967296 is not within 0 to 4294967295
address|0.0.0.0|0.0.0.0 is not the address of one machine
address|10.0.0.1/24|'10.0.0.1/24' is not an IPv4 address such as 10.0.0.101
mtu|1499|1499 is not within 1500 to 9000
mtu|9001|9001 is not within 1500 to 9000
mtu|9k|'9k' is not a number
timeout|0|0 is not within 0.1 to 3600 seconds
timeout|3601|3601 is not within 0.1 to 3600 seconds
timeout|30s|'30s' is not a number of seconds
timeout|nan|'nan' is not a number of seconds
hold|10001|10001 is not within 0 to 10000
hold|100us|'100us' is not a number
mount|weft|'weft' is not the path of a directory that begins with /
mount|//|'//' has the whole system in it: take a directory of its own
cache|255K|255K is not within 256K to 1024T
cache|2000T|2000T is not within 256K to 1024T
cache|99999999999999999999|99999999999999999999 is not within 256K to 1024T
cache|20000000000G|20000000000G is not within 256K to 1024T
cache|half|'half' is not a size such as 64M
cache|1.5G|'1.5G' is not a size such as 64M
cache|1GB|'1GB' is not a size such as 64M
cache|25%|'25%' is not a size such as 64M
block|2K|2K is not within 4K to 64K
block|4M|4M is not within 4K to 64K
block|12K|12K is not a power of two
mode|888|'888' is not an octal number of at most 7777
mode|10000|'10000' is not an octal number of at most 7777
mode|rwx|'rwx' is not an octal number of at most 7777
uid|root|'root' is not a number
uid|4294967295|4294967295 is not within 0 to 4294967294
gid|-1|'-1' is not a number
END

conf 'node = 1' "$(head -c 70000 /dev/zero | tr '\0' '#')"
ctl up up --file "$file"
objects 1 "$file:1: the file has more than 65536 bytes and can be no configuration: write a new one, see weft.conf(5)"
conf "mount = /$(head -c 5000 /dev/zero | tr '\0' x)"
ctl up up --file "$file"
[ $rc = 1 ] && [ "$(wc -c <"$dir/err")" -lt 400 ] && grep -q "^weftctl: $file:1: mount: '/xxx" "$dir/err"
report $? "a long value is cut in the sentence"

# One byte of a file that is right is another one, or gone, or there twice: it is right
# all the same, or one line of it is named.
printf '%s\n' 'node = 3' 'interface = eth1' 'homes = 10.0.0.101' 'mount = /weft' >"$dir/right"
size=$(stat -c %s "$dir/right")
tried=0
odd=0
for ((at = 0; at < size; at++)); do
	for byte in '' '\000' '\377' ' ' '#' '=' '\n'; do
		{
			head -c "$at" "$dir/right"
			# shellcheck disable=SC2059  # an escape
			printf "$byte"
			tail -c +$((at + 2)) "$dir/right"
		} >"$file"
		ctl up up --check --file "$file"
		tried=$((tried + 1))
		[ $rc = 0 ] && [ ! -s "$dir/err" ] && continue
		[ $rc = 1 ] && [ "$(wc -l <"$dir/err")" = 1 ] &&
			grep -qaE "^weftctl: $file:([1-5]:|( '[a-z]+' is missing:)) .*(write|take|add|as in)" "$dir/err" && continue
		odd=$((odd + 1))
		[ $odd -lt 5 ] && { details; sed 's/^/file: /' "$file"; } | sed 's/^/# /'
	done
done
echo "# $tried files with one byte changed"
[ $odd = 0 ] && [ $tried -gt 300 ]
report $? "files with one byte changed"

# --- Doctor, without a node ------------------------------------------------------------

version=$(sed -n 's/^#define WEFT_VERSION[[:blank:]]*"\(.*\)"$/\1/p' uapi/weft_version.h)
reload="'weftctl down --unmount', 'modprobe -r weft' and 'weftctl up'"
kernel=$(uname -r)

found()
{
	equal "exit status 3" "exit status $rc" && equal '' "$(cat "$dir/err")" &&
		equal "$(printf '%s\n' "$@")" "$(cat "$dir/found")"
}

# doctor SCENARIO LOADED INSTALLED LINE...: what is found; the modules as the fake has them.
doctor()
{
	local scenario=$1 loaded=$2 installed=$3

	shift 3
	WEFT_FAKE_LOADED=$loaded WEFT_FAKE_INSTALLED=$installed \
		ctl "$scenario" doctor ${named:+--file "$named"} --ignore kernel_log
	# Whether we may read the log is not asked here.
	grep -v '^(not looked at: the kernel log: ' "$dir/out" >"$dir/found"
	check "$what: ${1%%:*}" found "$@"
}

down="down: the module weft is loaded, but this node is not set up: 'weftctl up', or 'systemctl start weft', sets it up"
named=
doctor no-module '' '' \
	"module_missing: the module weft is not loaded, and there is none for the kernel $kernel: install the package weft-dkms and the headers of this kernel, or 'make install KVER=$kernel'"
doctor no-module '' "$version a" \
	"module_missing: the module weft is not loaded: 'weftctl up', or 'systemctl start weft', loads it"
doctor down "$version a" "$version a" "$down"
doctor down "$version a" '' "$down"
doctor down '9.9 a' '9.9 a' \
	"module_version: the module that is loaded is of version 9.9, weftctl of version $version: install both of the same version, then $reload" "$down"
doctor down "$version a" '9.9 a' \
	"module_old: the module that is loaded is of version $version, the one that is installed of version 9.9: $reload load the one that is installed" "$down"
doctor down "$version a" "$version b" \
	"module_old: the module that is loaded is not the one that is installed, though both are of version $version: $reload load the one that is installed" "$down"
conf 'node = 1' 'interface = nothing0' 'homes = 10.0.0.1'
named=$file
doctor down "$version a" '' "$down" \
	"interface_missing: there is no interface nothing0: 'ip link' lists those that there are: correct 'interface', then 'weftctl down --unmount' and 'weftctl up'"
conf 'hold = 10000' 'node = 1'
doctor down "$version a" '' \
	"config_incomplete: the configuration file $file has no 'interface', so 'weftctl up' and the service cannot use it: add it, for example 'interface = eth0', the one that leads to the rack ('ip link' lists them); 'weftctl up --check --file $file' looks at it again" "$down"
conf 'node = 1' 'node = 2'
doctor down "$version a" '' \
	"config_wrong: the configuration file is wrong, $file:2: 'node' is set in line 1 already: take one of the two lines away: 'weftctl up --check --file $file' looks at it again" "$down"
WEFT_FAKE_LOADED="$version a" ctl down doctor --file "$file" -j
[ $rc = 3 ] && tests/ctl/schema.pl tools/weftctl/schema.json doctor "$dir/out"
report $? "$what: as the schema says"
ctl down doctor --ignore down,down,module_old,config_wrong
[ $rc = 0 ] && grep -qx 'nothing found' "$dir/out"
report $? "what is ignored is not found"
ctl down doctor --ignore down,up
objects 1 "--ignore: there is no finding 'up': 'man weftctl' lists them"
ctl down doctor --file "$dir/none"
objects 2 "there is no file $dir/none: name one that there is, or leave --file out"
ctl elsewhere doctor
objects 2 "the module weft is loaded but cannot be reached from here: run weftctl in the first network namespace"

# Blades that listen say nothing to who only knocks: that no refusal comes takes time.
# Of as many as there may be, the last one does not listen.
# Addresses of the loopback that no other one of these suites has.
perl -MIO::Socket::INET -e '
	for (1 .. 100) {
		$net = sprintf("127.%d.%d", 1 + rand(254), rand(256));
		@all = grep { defined } map { IO::Socket::INET->new(Proto => "udp",
			LocalAddr => "$net.$_", LocalPort => 4793) } 1 .. 15;
		last if @all == 15;
	}
	@all == 15 or die "no 15 addresses: $@";
	print "$net\n";
	close(STDOUT);
	sleep(1000);' >"$dir/ready" 2>"$dir/listens" &
listens=$!
listen()
{
	[ -s "$dir/ready" ] || ! kill -0 $listens 2>/dev/null
}
soon 60 listen
report "$([ -s "$dir/ready" ]; echo $?)" "15 blades listen"
sed 's/^/# /' "$dir/listens"
net=$(cat "$dir/ready")
homes=$(seq -s, -f "$net.%.0f" 16)
conf 'node = 1' 'interface = lo' "homes = $homes"
limit=$((4000 * ${WEFT_TEST_SCALE:-1}))
# What the machine stood still is not counted; what it was slow for a moment is tried again.
watch_clock
for _ in 1 2 3; do
	since=$(now_ms)
	doctor down "$version a" '' "$down" \
		"blade_down: weft-memd does not run at memory blade 16 ($net.16): 'systemctl start weft-memd' there: nothing has to be unmounted before, see docs/operations.md"
	took=$(($(now_ms) - since - $(stood_since "$since")))
	echo "# $took ms"
	[ $took -ge $limit ] || break
done
[ "$took" -lt "$limit" ]
report $? "16 blades are not asked one after the other"
kill $listens
wait $listens 2>/dev/null

# The names are in the manual page, and nothing else is.
grep -o 'X([A-Z_]*, [a-z_]*)' tools/weftctl/doctor/finding.h | sed 's/.*, \(.*\))/\1/' |
	sort >"$dir/names"
sed -n '/^\.SS doctor$/,/^\.S[SH]/s/^\.B \([a-z_]*\)$/\1/p' tools/weftctl/man/weftctl.8 |
	sort >"$dir/paged"
check "there are findings" at_least 20 "$(wc -l <"$dir/names")"
check "weftctl(8) has the names of findings" diff "$dir/names" "$dir/paged"

# --- The key: read before the kernel is asked ----------------------------------

# key_refused MODE CONTENTS TEXT: a key file like that is refused with that sentence, by
# "up" and by "up --check".
key_refused()
{
	local check

	printf '%s\n' "$2" >"$dir/key" && chmod "$1" "$dir/key" || return 1
	for check in '' --check; do
		if "$BUILD/bin/weftctl" up ${check:+"$check"} --node 1 --interface none0 \
				--homes 10.0.0.1 --key "$dir/key" 2>"$dir/said" >"$dir/settings"; then
			echo "up $check: it was taken"
			return 1
		fi
		cat "$dir/said"
		grep -qF "$3" "$dir/said" || return 1
	done
}

# key_checked KEY STATUS TEXT [COMMAND...]: what "up --check", run by COMMAND, says of it,
# besides printing the settings.
key_checked()
{
	local rc

	"${@:4}" "$BUILD/bin/weftctl" up --check --node 1 --interface none0 --homes 10.0.0.1 \
		--key "$1" >"$dir/settings" 2>"$dir/said"
	rc=$?
	cat "$dir/said"
	grep -qxF "key = $1" "$dir/settings" && equal "$2" "$rc" && equal "$3" "$(cat "$dir/said")"
}

digits=$(printf '0%.0s' {1..64})
check "a key that its group may read" key_refused 0640 "$digits" 'chmod 600'
check "a key that all may read" key_refused 0604 "$digits" 'chmod 600'
check "a key with too few digits" key_refused 0600 "${digits#0}" 'is no key'
check "a key with too many" key_refused 0600 "0$digits" 'is no key'
check "a key with a letter" key_refused 0600 "${digits#0}g" 'is no key'
# and then it is something else that is wrong: the module, or the interface
key_taken()
{
	! key_refused 0600 "$digits" "$dir/key"
}
check "control: a key that is right" key_taken
check "up --check takes it" key_checked "$dir/key" 0 ''
check "up --check says that there is none" key_checked "$dir/none" 2 \
	"weftctl: there is no key $dir/none: copy the rack's from another machine of it ('scp -p root@MACHINE:$dir/none $dir/none'), or make the rack's on its first machine ('weft-memd --make-key $dir/none')"
if [ "$(id -u)" = 0 ]; then
	# the way there may be for root only
	open=$(mktemp -d /tmp/weft-conf.XXXXXX) || exit 2
	at_exit rm -rf "$open"
	chmod 755 "$open" && cp "$dir/key" "$open/key" && cp "$BUILD/bin/weftctl" "$open"
	as_nobody()
	{
		setpriv --reuid 65534 --clear-groups "$open/weftctl" "${@:2}"
	}
	check "up --check by somebody else does not look at it" key_checked "$open/key" 0 \
		"weftctl: the key $open/key was not looked at: only root may read it" as_nobody
else
	skip "up --check by somebody else does not look at it" "only root can be somebody else"
fi
finish
