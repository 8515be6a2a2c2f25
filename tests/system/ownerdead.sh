#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Locks of pthreads and of libweft whose owner dies:
#
#	node1 node2 node3 mem1 -- switch
#
# A process of node 1 is killed with a lock of each kind; then node 1 itself is, its plug
# pulled, while a program of node 3 waits for one of them.  Node 2 takes them all: robust
# mutexes and libweft return EOWNERDEAD and can be mended, the others are had as if nothing
# had happened; and all that in time, with a lease of five seconds.  That the mutexes' memory is
# as it last was at home when node 1 dies makes no difference.
#
#	tests/system/ownerdead.sh [SWITCH...]	(p4 none)
#
# Environment: BUILD; WEFT_OWNERDEAD_LEASE (5000), of the blade, in milliseconds.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

SHIM=$BUILD/lib/libweft-preload.so
PROGRAM=$BUILD/tests/system-ownerdead
RIGHTS=$BUILD/tests/system-rights
LEASE=$((${WEFT_OWNERDEAD_LEASE:-5000} * SCALE))
# As long as a node waits (timeout=30) programs get SIGBUS.
[ "$LEASE" -le 20000 ] || LEASE=20000
IN_TIME=$((LEASE * 3 / 1000))	# seconds until a dead node's locks are had
LONG=$((30 * SCALE))
PATIENCE=$((60 * SCALE))

# program NODE ARGUMENT...: the program there, with the preload library.
program()
{
	on "$1" env "LD_PRELOAD=$SHIM" "$PROGRAM" "${@:2}"
}

# takes NODE KIND WANTED SECONDS: what comes of it, within that time.
takes()
{
	equal "$2: $3" "$(program "$1" take "$file" "$2" "$4" 2>"$dir/took")"
}

# in_time KIND WANTED: node 2 gets a dead node's lock, and how long it took.
in_time()
{
	check "node 2 has what the dead node had, in time: $1" takes node2 "$1" "$2" "$IN_TIME" &&
		note "$1: $(cat "$dir/took")"
}

# all_taken WHO SECONDS: node 2 takes what WHO had, then node 3 and node 2 once more.
all_taken()
{
	check "$1: node 2 hears it of a robust mutex" takes node2 robust EOWNERDEAD "$2"
	check "$1: node 2 gets a plain mutex" takes node2 plain taken "$2"
	check "$1: node 2 gets a read-write lock to read" takes node2 "read" taken "$2"
	check "$1: node 2 hears it of a lock of libweft" takes node2 weft EOWNERDEAD "$2"
	check "$1: node 3 gets the read-write lock to write" takes node3 rwlock taken "$LONG"
	for kind in robust plain weft; do
		check "$1: $kind is mended, for node 3" takes node3 "$kind" taken "$LONG"
		check "$1: $kind is mended, for node 2" takes node2 "$kind" taken "$LONG"
	done
}

# held: node 1 has them all, until $holder is killed.
held()
{
	rm -f "$dir/held"
	timeout -k 20 $((PATIENCE * 10)) "$RACK" --name "$run_name" exec node1 -- \
		env "LD_PRELOAD=$SHIM" "$PROGRAM" hold "$file" >"$dir/held" 2>&1 </dev/null &
	holder=$!
	for ((i = 0; i < PATIENCE * 10; i++)); do
		! grep -q '^held' "$dir/held" || return 0
		sleep 0.1
	done
	cat "$dir/held"
	return 1
}

# rights: of a process that may not open its file again, which may die, too.
rights()
{
	on node1 env "WEFT_TEST_SCALE=$SCALE" "LD_PRELOAD=$SHIM" "$RIGHTS" /weft/rights
}

process_dies()
{
	check "who has a mapping has the right to its locks, and to have them given back" rights
	file=/weft/process
	check "a file, made on node 2" program node2 make "$file"
	check "a process of node 1 dies with its locks" exits 137 held program node1 die "$file"
	all_taken "process" "$LONG"
	check "another one dies" exits 137 held program node1 die "$file"
	check "node 3 does not mend the robust mutex" takes node3 broken EOWNERDEAD "$LONG"
	check "it is broken for node 2" takes node2 robust ENOTRECOVERABLE "$LONG"
	check "... and for node 1" takes node1 robust ENOTRECOVERABLE "$LONG"
	check "what is free is free" takes node1 weft EOWNERDEAD "$LONG"
	check "the region is to block" on node3 "$BIN/weftctl" region set process on-owner-death=block
	check "a plain mutex blocks on node 2" takes node2 plain ETIMEDOUT 2
	check "a read-write lock blocks on node 3" takes node3 "read" ETIMEDOUT 2
	check "it is to pass" on node3 "$BIN/weftctl" region set process on-owner-death=pass
	check "node 2 gets the plain mutex" takes node2 plain taken "$LONG"
	check "node 1 gets the read-write lock" takes node1 rwlock taken "$LONG"
}

waited()
{
	wait "$waiter"
	equal "robust: EOWNERDEAD" "$(cat "$dir/waiter")"
}

node_dies()
{
	file=/weft/node
	check "a file, made on node 2" program node2 make "$file"
	check "node 1 takes its locks" held
	program node3 take "$file" robust "$LONG" >"$dir/waiter" 2>"$dir/waiter.err" &
	waiter=$!
	check "node 2 waits in vain" takes node2 plain ETIMEDOUT 1
	check "node 1 is killed" rack kill node1
	check "node 3, which waited, hears it of the robust mutex" waited
	note "node 3 waited: $(cat "$dir/waiter.err")"
	in_time plain taken
	in_time weft EOWNERDEAD
	in_time rwlock taken
	for kind in robust weft plain; do
		check "$kind is mended, for node 2" takes node2 "$kind" taken "$LONG"
		check "$kind is mended, for node 3" takes node3 "$kind" taken "$LONG"
	done
	kill "$holder" 2>/dev/null
	wait "$holder"
}

# Cached there, and held by nobody: nobody can know that.
only_cached()
{
	file=/weft/cached
	check "a file, made on node 2" program node2 make "$file"
	check "node 1 has a lock of libweft and leaves it" takes node1 weft taken "$LONG"
	check "node 1 has a robust mutex and leaves it" takes node1 robust taken "$LONG"
}

built "$SHIM" "$PROGRAM" "$RIGHTS" "$BIN/weft-memd"
begin ownerdead
lease=()
"$BIN/weft-memd" --help 2>&1 | grep -q -- '--lease' && lease=(--memd-options "--lease $LEASE")
for switch in "${@:-p4 none}"; do
	for kind_of_switch in $switch; do
		boot --nodes 3 --switch "$kind_of_switch" "${lease[@]}"
		process_dies
		if [ ${#lease[@]} = 0 ]; then
			skip "a node dies" "weft-memd has no leases"
		else
			only_cached
			node_dies
			file=/weft/cached
			check "what node 1 had left: node 2 hears it all the same" \
				takes node2 weft EOWNERDEAD "$LONG"
			check "... of a robust mutex, too" takes node3 robust EOWNERDEAD "$LONG"
			check "node 2 counted that" \
				at_least 1 "$(counters node2 |
					awk '$1 == "node.counters.lock_owners_died" { print $2 }')"
			check "node 2 is well" on node2 true
			check "node 3 is well" on node3 true
			down_rack
			continue
		fi
		end_rack
	done
done
finish
