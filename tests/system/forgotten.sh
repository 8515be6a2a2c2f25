#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A memory blade without --backing is killed and started again, while programs are in the midst
# of what they do with it:
#
#	node1 node2 mem1 -- switch
#
# They modify and read blocks, write them home, take them from each other, make more than the
# cache has room for; one holds a lock, another one waits for it.  All that they had is gone:
# each of them is told so, and ends; the nodes join anew by themselves, nothing of before is
# seen in a region of the same name, and all can be done again.
#
#	tests/system/forgotten.sh [SWITCH...]	(p4 none)
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

LOCKS=$BUILD/tests/locks-basics
CTL=$BIN/weftctl
TIMEOUT=10			# seconds that a program waits for the rack
TOLD=$(((TIMEOUT + 20) * SCALE))	# until all of them have ended
LOCK=4096

# begin_on NODE NAME COMMAND...: in the background; $dir/NAME.
begin_on()
{
	timeout -k 5 $((STEP_LIMIT * 2)) "$RACK" --name "$run_name" exec "$1" -- "${@:3}" \
		>"$dir/$2" 2>&1 </dev/null &
	pid[$2]=$!
}

is_over()
{
	! kill -0 "${pid[$1]}" 2>/dev/null
}

begun()
{
	soon 20 grep -q "$2" "$dir/$1"
}

# two_wait: at node 2, for the lock.
two_wait()
{
	on node2 "$CTL" -j lock show | tee "$dir/locks" | grep -q '"waiters":2'
}

# told NAME: it has ended, with an error.
told()
{
	local rc

	soon $TOLD is_over "$1" || { echo "it does not end"; cat "$dir/$1"; return 1; }
	wait "${pid[$1]}"
	rc=$?
	[ $rc != 0 ] && [ $rc != 124 ] && [ $rc != 125 ] && return
	echo "exit status $rc"
	cat "$dir/$1"
	return 1
}

# until_error COMMAND: a script that repeats it, of the file $0, which it has open.
until_error()
{
	# shellcheck disable=SC2016  # for the guest's shell
	echo 'exec 9<>"$0"; echo begun; while '"$1"'; do :; done; exit 7'
}

joined()
{
	on "$1" "$CTL" status >"$dir/status" 2>&1 && grep -q 'up, joined' "$dir/status" &&
		on "$1" ls /weft >"$dir/ls"
}

is_empty()
{
	on "$1" ls /weft >"$dir/ls" && [ ! -s "$dir/ls" ]
}

made_anew()
{
	on node1 sh -c "head -c 262144 /dev/zero >/weft/r && sync /weft/r" &&
		on node2 sh -c "tr -d '\\0' </weft/r | wc -c" >"$dir/left" && equal 0 "$(tr -d ' ' <"$dir/left")"
}

forgotten()
{
	local each

	for each in 1 2; do
		on "node$each" "$CTL" set --timeout $TIMEOUT
	done
	check "regions" on node1 sh -c \
		"head -c 262144 /dev/zero >/weft/r && head -c 8388608 /dev/zero >/weft/big"
	begin_on node1 holds "$LOCKS" hold /weft/r $LOCK w 600
	check "node 1 holds a lock" begun holds held
	begin_on node2 waits "$LOCKS" hold /weft/r $LOCK w 600
	begin_on node2 deadline "$LOCKS" take /weft/r $LOCK w 900000
	# shellcheck disable=SC2016  # for the guest's shell
	{
	begin_on node1 writes bash -c "$(until_error \
		'dd if=/dev/urandom of="$0" bs=4096 count=16 conv=notrunc,nocreat status=none')" /weft/r
	begin_on node2 takes bash -c "$(until_error \
		'dd if=/dev/urandom of="$0" bs=4096 count=16 conv=notrunc,nocreat status=none')" /weft/r
	begin_on node1 evicts bash -c "$(until_error \
		'dd if=/dev/zero of="$0" bs=65536 count=128 conv=notrunc,nocreat status=none')" /weft/big
	begin_on node2 reads bash -c "$(until_error \
		'dd if="$0" of=/dev/null bs=4096 status=none')" /weft/big
	begin_on node2 syncs bash -c "$(until_error \
		'dd if=/dev/zero of="$0" bs=4096 count=1 seek=60 conv=notrunc,nocreat,fsync status=none')" /weft/r
	}
	for each in writes takes evicts reads syncs; do
		check "a program at work: $each" begun $each begun
	done
	check "and two that wait for the lock" soon 20 two_wait
	sleep 1
	check "the blade is killed, and started again with nothing" restart_memd mem1 0.5
	for each in writes takes evicts reads syncs waits deadline; do
		check "who $each is told" told $each
	done
	on node1 pkill -USR1 -x locks-basics
	check "who holds the lock can leave it" soon $TOLD is_over holds
	for each in 1 2; do
		check "node $each joins anew" soon $TOLD joined "node$each"
		check "and finds nothing" soon $TOLD is_empty "node$each"
	done
	check "a region of that name has nothing of before" made_anew
	check "node 2 takes the lock there" equal taken \
		"$(on node2 "$LOCKS" take /weft/r $LOCK w 20000)"
}

begin forgotten
declare -A pid=()
built "$LOCKS"
[ $# -gt 0 ] || set -- p4 none
for switch; do
	boot --nodes 2 --switch "$switch" --cache 2M --mem 256M --blade-mem 64M
	forgotten
	end_rack
done
finish
