#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A rack of user-mode kernels: what test-rack.sh looks at in a rack of QEMU's machines, as
# far as user-mode kernels have a way of their own to do it, with weft up on it.
#
#	node1 node2 mem1 -- switch
#
#	tests/rack/test-uml.sh
#
# Environment: BUILD, with the module for user-mode kernels in it (make uml).

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

TOP=$(readlink -f .)
KB=3000			# of the file that both nodes see

# up_says TEXT OPTION...: a rack does not come up, says TEXT, and leaves nothing.
up_says()
{
	exits 125 "$1" rack up "${@:2}" && no_trace
}

# as_if_not_made: there is a build, but nobody has said make uml.
as_if_not_made()
{
	mkdir -p "$dir/build/bin" || return 1
	cp "$BIN/weft-rackio" "$dir/build/bin/" || return 1
	BUILD=$dir/build WEFT_RACK_PROGRAMS=$BIN \
		up_says "run make uml" --accel uml --nodes 1
}

# processes: of the rack; their command lines name its directory.
processes()
{
	pgrep -f -- "/$run_name/" | grep -vx "$$"
}

# no_trace: nothing runs, no file and no mount is there.
no_trace()
{
	local base=${WEFT_RACK_DIR:-${XDG_RUNTIME_DIR:-/tmp}/weft-rack-$UID}

	! processes || return 1
	if [ -e "$base/$run_name" ]; then
		ls -lR "$base/$run_name"
		return 1
	fi
	! grep -F "/$run_name/" /proc/mounts
}

the_kernel()
{
	check "its kernel is a user-mode one" on node1 grep -q '^vendor_id.*User Mode Linux' /proc/cpuinfo
	check "status says so" eval 'rack status | grep -F ", uml, "'
	check "it has one processor" equal 1 "$(on node1 nproc)"
	check "threads take from the network" equal 1 "$(on node1 cat /sys/class/net/eth0/threaded)"
	check "its processes are on the host" processes
}

# beats: whoever is run as a user-mode kernel gets timer interrupts that it did not ask for,
# but not before it says that it is up (a frame HELLO, see tools/rack/frame.h); before that
# they would end it, as they do here.
beats()
{
	mkdir -p "$dir/beats/memory" || return 1
	# shellcheck disable=SC2016  # it is Perl that expands
	"$BIN/weft-rackio" keep --state "$dir/beats/state" --lock "$dir/beats/lock" \
		--log "$dir/beats/log" --memory "$dir/beats/memory" \
		--serve "$dir/beats/serve" --owner $$ -- perl -e '
			select(undef, undef, undef, 0.5);
			$SIG{ALRM} = sub { $n++ };
			open(LINE, ">&=", 3) && syswrite(LINE, pack("LSSL", 0, 1, 4, 2)) == 12 or die;
			$end = time + 10;
			select(undef, undef, undef, 1) while $n < 5 && time < $end;
			exit($n < 5)' || return 1
	soon 30 grep -q '^exited' "$dir/beats/state" || return 1
	grep -x 'exited 0 *' "$dir/beats/state"
}

# reads NODE: it has what node 1 has written.
reads()
{
	equal "${sum%% *}" "$(on "$1" sha256sum /weft/data | cut -d' ' -f1)"
}

# of_switch NAME: a counter of the directory in the switch, as node 1 reads it.
of_switch()
{
	counters node1 switch | awk -v name="switch.counters.$1" '$1 == name { print $2 }'
}

files()
{
	head -c "${KB}K" /dev/urandom >"$dir/data"
	sum=$(sha256sum <"$dir/data")
	check "node 1 writes a file" on node1 dd if="$dir/data" of=/weft/data bs=64K status=none
	check "node 2 sees it" reads node2
	check "node 2 changes a byte" on node2 sh -c \
		'printf X | dd of=/weft/data bs=1 seek=70000 conv=notrunc status=none'
	printf X | dd of="$dir/data" bs=1 seek=70000 conv=notrunc status=none
	sum=$(sha256sum <"$dir/data")
	check "node 1 sees that" reads node1
	check "the P4 program in the switch has passed that on" at_least 1 "$(of_switch fwd)"
}

commands()
{
	local sum client

	check "exit status 37" exits 37 '' on node2 sh -c 'exit 37'
	check "a command that a signal ends" exits 137 '' on node1 sh -c 'kill -9 $$'
	head -c 10000000 /dev/urandom >"$dir/big"
	sum=$(sha256sum <"$dir/big")
	check "10 MB through the line, and back" equal "$sum" "$("$RACK" --name "$run_name" \
		exec mem1 -- cat <"$dir/big" | sha256sum)"
	check "programs of the host" equal "$(sha256sum <"$RACK")" \
		"$(on node1 sha256sum "$TOP/$RACK" | sed 's/ .*/  -/')"
	check "a guest can write" on node1 touch "$dir/mark" /usr/mark
	check "and the host sees nothing of it" [ ! -e "$dir/mark" ]
	check "nor does another guest" exits 1 '' on node2 test -e "$dir/mark"
	check "the source tree is read-only" exits 1 '' on node1 touch "$TOP/mark"

	"$RACK" --name "$run_name" exec node1 -- sh -c 'timeout 700 sleep 7001; true' </dev/null &
	client=$!
	check "a command runs" soon 20 on node1 pgrep -f '^sleep 7001$'
	kill -9 "$client"
	wait "$client" 2>/dev/null
	# pgrep's own answer: the way there may fail, too
	check "it ends when its client is killed" soon 20 exits 1 '' on node1 pgrep -f '^sleep 7001$'
}

# ping FROM TO [OPTION...]
ping()
{
	on "$1" busybox ping -q -c 2 -W 3 "${@:3}" "$2"
}

network()
{
	check "frames of 9000 bytes" ping node1 node2 -s 8972
	check "cut" rack wire cut node2
	check "a cut node is not reached" exits 1 '' ping node1 node2
	check "heal" rack wire heal node2
	check "a healed node is reached" ping node1 node2
	check "the switch cannot be killed" exits 125 "--accel tcg or kvm" rack kill switch
	check "and is there" ping node1 node2
}

guests_go()
{
	check "node 2 runs" pgrep -f -- "uml_dir=.*/$run_name/node2/"
	check "node 2 is killed" rack kill node2
	check "a killed guest is not reached" exits 1 '' ping node1 node2
	check "nothing of it is left" eval '! pgrep -f -- "uml_dir=.*/$run_name/node2/"'
	check "it boots again" limited "$BOOT_LIMIT" "$RACK" --name "$run_name" boot node2
	check "and reads the file" reads node2
	check "a complaint of the kernel fails the command" exits 125 "kernel of node2 complains" \
		on node2 sh -c 'echo "WARNING: CPU: 0 PID: 1 at test" >/dev/kmsg; sleep 1'
	check "a guest that panics fails the command" exits 125 "Kernel panic" \
		on node2 sh -c 'echo c >/proc/sysrq-trigger; sleep 30'
	check "the others go on" reads node1
	check "down tells of trouble" exits 125 '' limited "$DOWN_LIMIT" "$RACK" --name "$run_name" down
	check "nothing runs" eval '! processes'
	check "down once more, with the logs" eval 'rm -rf "${WEFT_RACK_DIR:-${XDG_RUNTIME_DIR:-/tmp}/weft-rack-$UID}/$run_name" &&
		rack down'
	up=
}

# own: where the user-mode kernel of our own is that get-kernel finds in the test's cache.
own()
{
	WEFT_CACHE=$dir/cache tools/rack/get-kernel own
}

# cached NAME FILE...: such a directory of the cache, with these files.
cached()
{
	local at=$dir/cache/uml/$1 file

	for file in "${@:2}"; do
		mkdir -p "$(dirname "$at/$file")" && touch "$at/$file" || return 1
	done
}

# own_says PATTERN: it is found, and a line of what is printed matches this.
own_says()
{
	own >"$dir/own" && grep -x "$1" "$dir/own"
}

# what_is_kept: which kernel of our own is taken, of those that are, or seem to be, there.
what_is_kept()
{
	local none="no user-mode kernel of our own: make uml-kernel" key

	check "there is no kernel of our own" exits 1 "$none" own
	check "one that was made otherwise" cached 9.9.9-weft-00000000 .complete linux.uml \
		lib/modules/9.9.9-weft-00000000/modules.dep
	check "is not taken" exits 1 "$none" own
	key=$(tools/rack/get-kernel --key own)
	check "nor one that has not become complete" cached "9.9.10-weft-$key" linux.uml \
		"lib/modules/9.9.10-weft-$key/modules.dep"
	check "as somebody makes it" exits 1 "$none" own
	check "of two" cached "9.9.9-weft-$key" .complete linux.uml headers/Makefile \
		"lib/modules/9.9.9-weft-$key/modules.dep"
	check "the complete one is taken" own_says "version=9.9.9-weft-$key"
	check "the other is complete" cached "9.9.10-weft-$key" .complete
	check "the newer one is taken" own_says "vmlinuz=$dir/cache/uml/9.9.10-weft-$key/linux.uml"
	check "with headers" own_says "headers=$dir/cache/uml/9.9.10-weft-$key/headers"
}

built "$BIN/weft-rackio" "$BIN/weft-switchd"
if ! limited "$BOOT_LIMIT" "$RACK" accel --best uml; then
	echo "skipped: no user-mode kernel boots here: weft-rack accel says why"
	exit 77
fi
begin rack-uml
check "without the module it says: make uml" as_if_not_made
check "two processors are refused" up_says "user-mode kernels have one processor" \
	--accel uml --cpus 2
check "another kernel is refused" up_says "no --kernel" --accel uml --kernel 6.1
check "a timer interrupt that is forgotten costs a moment" beats
what_is_kept
boot --accel uml --nodes 2
the_kernel
files
commands
network
end_rack
check "down leaves nothing" no_trace
boot --accel uml --nodes 2
files
guests_go
check "nothing is left" no_trace
finish
