#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Files that several nodes create, unlink and change at the same time: nobody gets what
# is another user's, nothing that was cut off or lies behind the end comes back, times and sizes are
# what they are elsewhere, and a node whose blade is gone unmounts in time.
#
#	node1 node2 node3 mem1 -- switch
#
# Environment: BUILD; WEFT_FILES_SECONDS (15), how long names are fought for.

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

FILES=$BUILD/tests/system-files
BYTES=$BUILD/tests/system-bytes
UPGRADE=$BUILD/tests/system-upgrade
SECONDS_EACH=${WEFT_FILES_SECONDS:-15}
PATIENCE=5		# seconds, of the node whose blade is gone
REGIONS=10		# with a modified block each

# users: of node 1 and 2, one that creates what it finds, one that wants its own.
users()
{
	local first second rc

	on node1 "$FILES" own /weft/users "$SECONDS_EACH" 1 >"$dir/first" 2>&1 &
	first=$!
	on node2 "$FILES" own /weft/users "$SECONDS_EACH" 2 EXCL >"$dir/second" 2>&1 &
	second=$!
	wait $first
	rc=$?
	wait $second && [ $rc = 0 ]
	rc=$?
	cat "$dir/first" "$dir/second"
	return $rc
}

# hold FILE WHAT VALUE [USER]: a program on node1 has the file open and knows it.  It goes
# on as soon as there is /weft/go: what a node knows is looked up again now and then.
hold()
{
	on node1 sh -c "rm -f /weft/go $HELD
		setsid $FILES held $1 /weft/go ${*:2} >$HELD 2>&1 </dev/null &
		for i in \$(seq 60); do ! grep -q ready $HELD || exit 0; sleep 0.5; done
		cat $HELD; exit 1"
}

# then_says TEXT [LINES]: that is what came of it, when it has printed so many (2).
then_says()
{
	# shellcheck disable=SC2016  # for the guest's shell
	on node1 sh -c 'for i in $(seq 60); do [ "$(wc -l <"$1")" -lt "$2" ] || break; sleep 0.5; done
		tail -n 1 "$1"' sh "$HELD" "${2:-2}" >"$dir/held" || return 1
	equal "$1" "$(<"$dir/held")"
}

# zeros FILE FROM: on node3, nothing else is there from that byte on.
zeros()
{
	# what is not there at all has no other bytes either
	on node3 sh -c "tail -c +$(($2 + 1)) $1 | wc -c; tail -c +$(($2 + 1)) $1 | tr -d '\\0' | wc -c" \
		>"$dir/other" || return 1
	equal "$((8192 - $2)) 0" "$(tr '\n' ' ' <"$dir/other" | sed 's/ $//')"
}

cut_off()
{
	check "a page" on node2 dd if=/dev/zero of=/weft/cut bs=4096 count=1 status=none
	check "node 1 has it open" hold /weft/cut truncate 5000
	check "node 2 makes it two, all of it ones" \
		on node2 sh -c 'head -c 8192 /dev/zero | tr "\0" 1 >/weft/cut; touch /weft/go'
	check "node 1 cuts off most of the second" then_says ok
	check "node 2 makes it larger again" on node2 truncate -s 8192 /weft/cut
	check "what was cut off is gone" zeros /weft/cut 5000
}

changes_hands()
{
	check "a file of user 1" on node2 sh -c 'echo text >/weft/hands; chown 1:1 /weft/hands'
	check "user 1 has it open on node 1" hold /weft/hands chmod 0666 1
	check "node 2 takes it away" on node2 sh -c 'chown 0:0 /weft/hands; chmod 600 /weft/hands; touch /weft/go'
	check "user 1 cannot change it any more" then_says EPERM
	check "it is as node 2 left it" on node3 sh -c \
		'[ "$(stat -c "%u %a" /weft/hands)" = "0 600" ]'
}

# together WHAT FILE: nodes 1 and 2 at once.
together()
{
	nodes=2 on_nodes "$STEP_LIMIT" "$BYTES" "$1" "$2" %K %N
}

# Each is a promise of weft(7), "Sizes and times".
bytes()
{
	check "what is stored behind the end is zero when the file has grown" together tails /weft/tails
	check "blocks of 64 KiB from now on" on node1 mount -o remount,block=64K /weft
	check "the same with those" together tails /weft/tails64
	check "blocks of 4 KiB again" on node1 mount -o remount,block=4K /weft
	check "and nothing else is" together slots /weft/slots
	check "who reads what is cut off gets no error" together cut /weft/cut2
	note "$(cat "$dir"/out.* | tr '\n' ' ')"
	check "others see when it was written to" together times /weft/times
}

# upgrade: a thread of node 1 waits for a block that it has read and wants to write to, and another one
# for a block that is read meanwhile, until the time-out.
upgrade()
{
	check "node 1 waits $((PATIENCE * SCALE)) s" on node1 "$BIN/weftctl" set --timeout $((PATIENCE * SCALE))
	check "blocks, by node 2" on node2 sh -c 'head -c 8192 /dev/zero | tr "\0" r >/weft/upgrade'
	check "node 1 has read them" on node1 sh -c "
		setsid $UPGRADE /weft/upgrade $made/cut >$HELD 2>&1 </dev/null &
		for i in \$(seq 60); do ! grep -q ready $HELD || exit 0; sleep 0.5; done
		cat $HELD; exit 1"
	check "node 1 is cut off" rack wire cut node1
	check "and knows it" on node1 touch "$made/cut"
	check "while one thread waits to write the others map memory" then_says mapped
	check "the wait ends, though the block is read all the time" then_says ok 3
	check "node 1 is back" rack wire heal node1
}

# unmounts: within the time-out for blocks, that for leaving, and a little more.
unmounts()
{
	local begin=$SECONDS took

	on node1 umount /weft || return 1
	took=$((SECONDS - begin))
	echo "it took $took s"
	[ $took -lt $((5 * PATIENCE * SCALE)) ]
}

no_blade()
{
	check "node 1 waits $PATIENCE s" on node1 "$BIN/weftctl" set --timeout $PATIENCE
	check "node 1 has modified $REGIONS regions" on node1 sh -c \
		"for i in \$(seq $REGIONS); do
			dd if=/dev/urandom of=/weft/lost.\$i bs=4096 count=1 status=none || exit 1
		done; dmesg -C"
	check "the blade is cut off" rack wire cut mem1
	check "node 1 unmounts without it, in time" unmounts
	note "$(<"$dir/check")"
	check "it says what of each region is lost" on node1 sh -c \
		"[ \$(dmesg | grep -c '1 modified blocks could not be written') = $REGIONS ]"
	check "and counts it" counted
	check "the blade is back" rack wire heal mem1
	check "node 1 mounts again" on node1 mount -t weft none /weft
	check "and works" on node1 sh -c 'echo word >/weft/word'
	check "for all" on node2 grep word /weft/word
}

counted()
{
	counters node1 >"$dir/counters" || return 1
	equal "$REGIONS" "$(sed -n 's/^node[.]counters[.]blocks_lost //p' "$dir/counters")"
}

built "$FILES" "$BYTES" "$UPGRADE"
begin files
boot --nodes 3 --switch p4 --mem 512M
# Below /tmp a guest sees what this machine has there: a name of its own.
made=$(on node1 mktemp -d) || { not_ok "node 1 makes a directory"; exit 1; }
HELD=$made/held
check "three nodes create and unlink one name: none fails" \
	on_nodes $((SECONDS_EACH + STEP_LIMIT)) "$FILES" share /weft/name "$SECONDS_EACH"
note "$(tail -qn 1 "$dir"/out.* | tr '\n' ' ')"
check "nobody opens or unlinks what is another user's" users
note "$(tr '\n' ' ' <"$dir/check")"
cut_off
changes_hands
no_blade
bytes
upgrade
end_rack
finish
