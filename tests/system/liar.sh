#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A blade that tells a node what no blade tells: each field of each call, and of each answer,
# is looked at by the node before anything is done with it.  system-liar takes the place of
# weft-memd, whose rack has no key: with one, who can do that is a member.
#
#	node1 mem1 -- switch
#
# First one field at a time is outside of what it may be, then for some seconds all that the
# node asks for and is told is any, while it works.  After that it goes on with a true blade.
#
#	tests/system/liar.sh [SECONDS]	(5)
#
# Environment: BUILD; WEFT_LIAR_SEED (1).

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

SECONDS_OF_LIES=${1:-5}
ROUNDS=8
SEED=${WEFT_LIAR_SEED:-1}
LIAR=$BUILD/tests/system-liar
NODE=10.87.0.1
# what a command of the node may take: the first blade, silent or lying, is waited for that long
COMMAND_S=$((30 * SCALE))

# take_place: weft-memd ends; how it was called is kept.
take_place()
{
	on mem1 bash -c 'pid=$(pgrep -x weft-memd) || exit 1
		tr "\0" "\n" <"/proc/$pid/cmdline" >/run/memd-args
		readlink "/proc/$pid/exe" >/run/memd-exe
		kill -KILL "$pid"
		while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done'
}

give_back()
{
	on mem1 bash -c 'mapfile -t args </run/memd-args
		case " ${args[*]} " in *" --background "*) ;; *) args+=(--background) ;; esac
		"$(</run/memd-exe)" "${args[@]:1}" >>/var/log/weft-memd.log 2>&1'
}

# lies ARGUMENT...: in the background of mem1, until truth.
lies()
{
	on mem1 sh -c 'setsid "$@" >/run/liar 2>&1 </dev/null & echo $! >/run/liar-pid' sh "$LIAR" "$@"
}

truth()
{
	on mem1 sh -c 'kill "$(cat /run/liar-pid)" || exit 1
		while kill -0 "$(cat /run/liar-pid)" 2>/dev/null; do sleep 0.1; done
		cat /run/liar'
}

# told NAME: what the node's stat says of it.
told()
{
	on node1 timeout "$COMMAND_S" stat -c %s "/weft/$1" 2>&1
}

all_refused()
{
	local name said bad=0

	for name in $("$LIAR" names); do
		said=$(told "$name")
		case $said in
		*"Protocol error"*) ;;
		*) echo "$name: $said"; bad=1 ;;
		esac
	done
	[ $bad = 0 ]
}

# homes_of NAME: what the node takes for the homes of the region.
homes_of()
{
	on node1 "$BIN/weftctl" -j region >"$dir/regions" &&
		python3 -c 'import json, sys
for r in json.load(open(sys.argv[1]))["regions"]:
	if r.get("name") == sys.argv[2]:
		print(r["homes"])' "$dir/regions" "$1"
}

# busy: all that a node asks blades for, again and again, for so long and ROUNDS times at least: what
# it is told decides what it asks next.  What comes of it is anything, but it comes, or can be ended.
busy()
{
	on node1 bash -c 'limit() { timeout -s KILL "$limit_s" "$@" >/dev/null 2>&1 </dev/null; }
		limit_s=$1 weftctl=$2 end=$((SECONDS + $3)) n=0
		while [ $SECONDS -lt $end ] || [ $n -lt "$4" ]; do
			n=$((n + 1))
			limit ls -l /weft
			limit df /weft
			limit touch "/weft/f$((n % 9))"
			limit chmod 640 "/weft/f$((n % 9))"
			limit truncate -s $((2 + n % 5))M "/weft/f$((n % 9))"
			limit rm -f "/weft/f$(((n + 4) % 9))"
			limit "$weftctl" stats memory
			limit "$weftctl" blade
			limit "$weftctl" line lost
			limit "$weftctl" region
		done
		echo "$n rounds"' sh "$COMMAND_S" "$BIN/weftctl" "$SECONDS_OF_LIES" "$ROUNDS"
}

# heard: of all operations of the node, and of all that it is told (enum weft_call_op), some came.
heard()
{
	awk '{ asked[$1] = $3; answered[$1] = $5 }
		END { split("3 4 5 6 7 8 9 11 12 13 23 29", q); split("17 18 20 21 25 27", a)
			for (i in q) if (!asked[q[i]]) { print "never asked: " q[i]; bad = 1 }
			for (i in a) if (!answered[a[i]]) { print "never answered: " a[i]; bad = 1 }
			exit bad }' "$dir/liar"
}

works()
{
	on node1 umount /weft && on node1 mount -t weft none /weft &&
		on node1 sh -c 'echo hello >/weft/after && sync /weft/after' &&
		[ "$(on node1 cat /weft/after)" = hello ]
}

built "$LIAR"
begin liar
boot --nodes 1 --switch none --mem 512M
on node1 "$BIN/weftctl" set --timeout 2 || true
check "weft-memd ends" take_place
check "calls of a blade that are outside are not answered" \
	on mem1 timeout $((240 * SCALE)) "$LIAR" calls $NODE
show
check "somebody answers in its place" lies answer
check "and rightly" equal 1048576 "$(told good)"
check "answers that are outside are refused" all_refused
check "a name that is right at first" equal 1048576 "$(told later)"
check "and not later: refused" grep "Protocol error" <(told later)
check "what was right then is kept" equal "[1]" "$(homes_of later)"
check "it ends" truth
check "somebody lies in its place" lies fuzz $NODE "$SEED"
check "the node works for $SECONDS_OF_LIES s" busy
show
check "the liar ends" truth
on mem1 cat /run/liar >"$dir/liar"
check "all operations were asked and told" heard
sed 's/^/# /' "$dir/liar"
check "a true blade comes back" give_back
check "the node goes on" works
end_rack
finish
