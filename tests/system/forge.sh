#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Messages that somebody has no right to send (system-forger): each type, and the calls that
# open a file to everybody and remove it, by a user without privileges on a node, on the
# memory blade's machine, and on a machine of the rack's network that has left the rack; at
# the blade, at another node, and at the machine itself:
#
#	node1 node2 (members) node3 (leaves) mem1 -- switch
#
# Meanwhile node 1 writes a growing number to all blocks of a file, and node 2 reads it: it
# must never fall.  A file that only root may read keeps mode, name and contents, and the
# counters say what was refused.
#
# In a rack without a key, the same messages from root of the same machine, who makes its
# own IP headers, do have an effect: the control.  In a rack with a key they have none
# without it, nor with another one; with the key they have.
#
# Then repetition: all that three machines have sent and got for some seconds is sent once
# more, by the machine that sent it and by one that is no member, at once, and when it is
# too old to be believed.  In a rack with a key nothing changes; without one a file that was
# open to everybody for a moment is so again: the control.
#
#	tests/system/forge.sh none|key
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

FORGER=$BUILD/tests/system-forger
TOUCH=$BUILD/tests/system-budgets	# writes or reads one number in each block
BLOCKS=8
SECRET=/weft/secret
BLADE=10.87.0.101
MEMBERS=("1=10.87.0.1" "2=10.87.0.2" "33=$BLADE")
HAMMER=$BUILD/tests/locks-hammer
RECORD_SECONDS=4
RECORD_MOST=3000	# messages of a machine
STALE_SECONDS=11	# then a tagged message is too old
REPLIES_KEPT=256	# of a member's calls, by the blade
CALLS='cd /weft && chmod 666 secret && echo 1 >again && rm again &&
	truncate -s 40960 sized && truncate -s 4096 sized'
# Of each file what it is and contains, and who is in the rack.
STATE='cd /weft && stat -c "%n %i %a %u %g %s" secret again sized steady &&
	sha256sum secret again sized && "$0" read steady "$1" 1000000 &&
	"$2" -j status | grep -o "\"members\":[^]]*"'
KINDS="CALL REPLY GETS GETM COMMIT FWD INV INV_ACK DATA ACQUIRE HAND HANDED"

case ${1-} in
none|key)	rack_key=$1 ;;
*)		echo "usage: forge.sh none|key" >&2; exit 2 ;;
esac

# work: node 1 writes, then node 2 reads, and both rest, until the file "stop" is there.
work()
{
	local k

	for ((k = 1; k < 100000; k++)); do
		[ ! -e "$dir/stop" ] || break
		on node1 "$TOUCH" write /weft/steady "$BLOCKS" "$k" || return 1
		on node2 "$TOUCH" read /weft/steady "$BLOCKS" "$k" || return 1
		sleep 0.3
	done
	echo "$k rounds"
	[ "$k" -gt 1 ]
}

# has_left NODE: the others of the rack know: the blade, and the nodes it tells.
has_left()
{
	local node

	for node in node1 node2; do
		on $node "$BIN/weftctl" -j status >"$dir/status" &&
			grep -q '"members":\[[0-9,]*\]' "$dir/status" || return 1
		! grep -q "\"members\":\[\([0-9]*,\)*$1[],]" "$dir/status" || return 1
	done
	equal 2 "$(counters node1 memory | sed -n 's/^memory[.]total[.]nodes //p')"
}

# anew NODE: it knows nothing any more but what the blade tells it.
anew()
{
	on "$1" sh -c 'umount /weft && mount -t weft none /weft'
}

# has_come N: node 1 counts node N among the members.
has_come()
{
	on node1 "$BIN/weftctl" -j status >"$dir/status" &&
		grep -q "\"members\":\[\([0-9]*,\)*$1[],]" "$dir/status"
}

# as_it_was: the secret, for both members.
as_it_was()
{
	local node

	anew node2 || return 1
	for node in node1 node2; do
		equal "600 0" "$(on "$node" stat -c '%a %u' "$SECRET")" &&
			equal "$secret" "$(on "$node" sha256sum "$SECRET")" || return 1
	done
}

# refused WHERE: messages that were refused there for where they came from.
refused()
{
	local from=$1 what=node

	[ "$1" != mem1 ] || { from=node1; what=memory; }
	counters "$from" "$what" | awk '
		$1 ~ /^node[.]counters[.]msg_(other_interface|other_port|stranger|forged)$/ ||
		$1 ~ /^memory[.]total[.](wrong_port|wrong_address|strangers)$/ {
			sum += $2; n++ }
		END { if (n < 3) exit 1; printf "%.0f\n", sum }'
}

# forge FROM TARGET ADDRESS: all that a user there can do, at TARGET.
forge()
{
	local what before after

	before=$(refused "$2") || return 1
	for what in open types unlink; do
		on "$1" "$FORGER" user $what "$region" secret "$3" "${MEMBERS[@]}" \
			>"$dir/forged" 2>"$dir/ways" || return 1
		sed "s/^/$what: /" "$dir/forged"
		[ "$(awk '{ print $1 }' "$dir/forged")" -gt 0 ] || return 1
		# from the port if nobody holds it, as on a machine that is no member
		[ "$1" = node3 ] || grep -q ' 0 of them from the port' "$dir/forged" || return 1
	done
	sort -u "$dir/ways"
	after=$(refused "$2") || return 1
	echo "$2 refused $((after - before))"
	[ "$after" -gt "$before" ]
}

# attack COMMAND...: what it does changes nothing.
attack()
{
	local worker rc

	rm -f "$dir/stop"
	work >"$dir/work" 2>&1 &
	worker=$!
	"$@"
	rc=$?
	touch "$dir/stop"
	wait "$worker" || rc=1
	cat "$dir/work"
	as_it_was && [ $rc = 0 ]
}

# others MEMBER: all but that one.
others()
{
	local member

	for member in "${MEMBERS[@]}"; do
		[ "${member%%=*}" = "$1" ] || echo "$member"
	done
}

# keyless WHERE COUNTER: messages refused there for their tag: "no_key" or "wrong_key".
keyless()
{
	local from=$1 what=node name=node.counters.msg_$2

	[ "$1" != mem1 ] || { from=node1; what=memory; name=memory.total.$2; }
	counters "$from" "$what" | awk -v name="$name" '$1 == name { print $2; n++ }
		END { exit n != 1 }'
}

# forge_root FROM MEMBER COUNTER [OPTION...]: all that root there can do without the key,
# in the name of all members but its own (0: it is none): at both others, counted there.
forge_root()
{
	local what before after target names
	local -A at=([mem1]=$BLADE [node1]=10.87.0.1)

	mapfile -t names < <(others "$2")
	for target in mem1 node1; do
		[ "$target" != "$1" ] || continue
		before=$(keyless "$target" "$3") || return 1
		for what in open types unlink; do
			on "$1" "$FORGER" "${@:4}" root $what "$region" secret "${at[$target]}" \
				"${names[@]}" | sed "s/^/$what: /" || return 1
		done
		after=$(keyless "$target" "$3") || return 1
		echo "$target refused $((after - before))"
		[ $((after - before)) -ge 10 ] || return 1
	done
}

# received_inv: messages of this type that node 1 has counted.
received_inv()
{
	counters node1 | awk '$1 == "node.counters.received_inv" { print $2 }'
}

# heard: what root sends from the port and the address of its own machine, node
# 1 counts as messages that came. A guest that is busy may lose some of a burst of all types:
# that is repeated until as many have come as are in one.
heard()
{
	local before said got=0 round

	before=$(received_inv)
	for round in 1 2 3 4 5; do
		said=$(on node2 "$FORGER" root types "$other" other 10.87.0.1 2=10.87.0.2) ||
			return 1
		got=$(($(received_inv) - before))
		echo "round $round: $said; node 1 has heard $got INV"
		[ "$got" -lt 4 ] || return 0
	done
	return 1
}

# opened [OPTION...]: what root of a member sends to the blade does open its file.
opened()
{
	on node2 "$FORGER" "$@" root open "$other" other "$BLADE" 2=10.87.0.2 || return 1
	anew node2 || return 1
	equal 666 "$(on node2 stat -c %a /weft/other)"
}

# --- Repetition ---------------------------------------------------------------

# recorded: what members do, all kinds of it, and what of it their machines see, in
# $dir/record.*.  A slow machine does not get through with it in a few seconds.
recorded()
{
	record_for "$RECORD_SECONDS" || record_for $((2 * RECORD_SECONDS)) ||
		record_for $((4 * RECORD_SECONDS))
}

record_for()
{
	local pids=() hammers=() where k until=$((SECONDS + $1 - 1)) kind rc=0

	on node1 rm -f /weft/hammer || return 1
	for where in node1 node2 mem1; do
		timeout "$STEP_LIMIT" "$RACK" --name "$run_name" exec $where -- "$FORGER" record \
			"$1" "$RECORD_MOST" </dev/null >"$dir/record.$where" \
			2>"$dir/seen.$where" &
		pids+=($!)
	done
	sleep 0.5
	on node1 sh -c "$CALLS" || rc=1
	for k in 1 2; do
		on "node$k" "$HAMMER" --node $k --nodes 2 --seconds 1 --timeout 60 >"$dir/hammer.$k" &
		hammers+=($!)
	done
	wait "${hammers[@]}" || { cat "$dir"/hammer.*; rc=1; }
	for ((k = 1; k < 10 && SECONDS < until; k++)); do
		on node1 sh -c "$CALLS"' && "$0" write steady "$1" "$2"' "$TOUCH" "$BLOCKS" $k &&
			on node2 "$TOUCH" read /weft/steady "$BLOCKS" $k || rc=1
	done
	wait "${pids[@]}" || rc=1
	ended=$SECONDS
	tail -n +1 "$dir"/seen.*
	for kind in $KINDS; do
		grep -q " $kind " "$dir"/seen.* || { echo "no $kind"; rc=1; }
	done
	return $rc
}

# go_on: all of that is old now: the secret is one again, there is a file of the name of one
# that was removed, the blocks have other numbers, and the blade has replied to so many calls
# since that it has forgotten those.  $dir/state is how all is then: in one command, as there
# is little time.
go_on()
{
	on node1 sh -c 'cd /weft && chmod 600 secret && umask 077 && echo 2 >again && truncate -s 8192 sized &&
		chmod 600 '"$(yes again | head -n $((REPLIES_KEPT + 64)) | tr '\n' ' ')"' &&
		"$0" write steady "$1" 1000000 >&2 && '"$STATE" \
		"$TOUCH" "$BLOCKS" "$BIN/weftctl" >"$dir/state"
}

# state_at NODE: the same, there.
state_at()
{
	on "$1" sh -c "$STATE" "$TOUCH" "$BLOCKS" "$BIN/weftctl"
}

# same_state: both nodes say what node 1 said then, node 2 anew.  With its mount node 2
# leaves the rack and joins it, and node 1 asks for the members only now and then.
same_state()
{
	local node

	anew node2 && soon 30 has_come 2 || return 1
	for node in node1 node2; do
		state_at $node >"$dir/state.after" || return 1
		diff "$dir/state" "$dir/state.after" || return 1
	done
}

# send_again WHERE: by its root, what stands on the input.
send_again()
{
	timeout "$STEP_LIMIT" "$RACK" --name "$run_name" exec "$1" -- "$FORGER" replay
}

# replayed WHERE...: records are sent again, each by the machine WHERE that made it, and
# all of them by node 3.
replayed()
{
	local where pids=() rc=0

	for where in "$@"; do
		send_again "$where" <"$dir/record.$where" >"$dir/sent.$where" 2>&1 &
		pids+=($!)
	done
	cat "$dir"/record.* | send_again node3 >"$dir/sent.node3" 2>&1 || rc=1
	for where in "${pids[@]}"; do
		wait "$where" || rc=1
	done
	[ $rc = 0 ] || tail -n +1 "$dir"/sent.*
	return $rc
}

# stale WHERE: messages that were refused there for their age.
stale()
{
	if [ "$1" = mem1 ]; then
		counters node1 memory | awk '$1 == "memory.total.stale" { print $2 }'
	else
		counters "$1" | awk '$1 == "node.counters.msg_stale" { print $2 }'
	fi
}

# harmless new|old: records that are sent again change nothing; old ones are refused for
# their age.  Status 2: it took too long to send them while they were new.
harmless()
{
	local where before=() after i=0

	if [ "$1" = old ]; then
		for where in node1 node2 mem1; do
			before+=("$(stale $where)")
		done
		sleep $((ended + STALE_SECONDS > SECONDS ? ended + STALE_SECONDS - SECONDS : 0))
	fi
	[ "$1" = old ] || [ $((SECONDS - ended)) -lt 7 ] || return 2
	replayed node1 node2 mem1 || return 1
	if [ "$1" = old ]; then
		for where in node1 node2 mem1; do
			after=$(stale $where)
			echo "$where refused $((after - before[i])) for their age"
			[ $((after - before[i])) -ge 20 ] || return 1
			i=$((i + 1))
		done
	fi
	same_state
}

# at_once: the same while they are new; on a busy machine that may take several records.
at_once()
{
	local try rc

	for try in 1 2 3 4 5; do
		harmless new
		rc=$?
		[ $rc = 2 ] || return $rc
		echo "try $try: it took too long"
		recorded && go_on || return 1
	done
	return 1
}

# harmful: without a key a call that is sent again is carried out again.
harmful()
{
	send_again node1 <"$dir/record.node1" || return 1
	anew node2 || return 1
	equal 666 "$(on node2 stat -c %a $SECRET)"
}

# goes_on: the rack works as before.
goes_on()
{
	local k

	for ((k = 2000000; k < 2000003; k++)); do
		on node1 "$TOUCH" write /weft/steady "$BLOCKS" $k &&
			on node2 "$TOUCH" read /weft/steady "$BLOCKS" $k || return 1
	done
	on node2 "$HAMMER" --node 1 --nodes 1 --seconds 1 --timeout 60 --file /weft/other-hammer
}

built "$FORGER" "$TOUCH" "$HAMMER"
begin "forge-$rack_key"
options=()
if [ "$rack_key" = key ]; then
	# What is in /tmp here is not there.
	mkdir -p "$BUILD/tests"
	keys=$(mktemp -d "$BUILD/tests/forge.XXXXXX") || exit 2
	at_exit rm -rf "$keys"
	for name in rack other; do
		"$BIN/weft-memd" --make-key "$keys/$name" >/dev/null || exit 2
	done
	options=(--memd-options "--key $keys/rack" --node-options "--key $keys/rack")
fi
boot --nodes 3 --switch p4 --mem 512M "${options[@]}"
check "a file to work on" on node1 truncate -s $(((BLOCKS + 1) * 3 * 4096)) /weft/steady
check "a file of root's, and another" on node1 sh -c \
	'umask 077; for name in secret other; do
		dd if=/dev/urandom of=/weft/$name bs=4K count=4 status=none || exit 1
	done'
region=$(on node1 stat -c %i $SECRET)
other=$(on node1 stat -c %i /weft/other)
secret=$(on node1 sha256sum $SECRET)
check "both nodes have it" as_it_was
check "node 3 leaves the rack" on node3 sh -c "umount /weft && $BIN/weftctl down"
check "all others know that" soon 30 has_left 3
for from in node2 mem1 node3; do
	[ $from = mem1 ] ||
		check "a user on $from, at the memory blade" attack forge $from mem1 "$BLADE"
	check "a user on $from, at node 1" attack forge $from node1 10.87.0.1
done
check "a user on node 1, at node 1" attack forge node1 node1 10.87.0.1
check "a user on the blade's machine, at the blade" attack forge mem1 mem1 "$BLADE"
if [ "$rack_key" = key ]; then
	for from in "node2 2" "mem1 33" "node3 0"; do
		# shellcheck disable=SC2086  # two words
		check "root of ${from% *}, without the key" attack forge_root $from no_key
		# shellcheck disable=SC2086
		check "root of ${from% *}, with another key" \
			attack forge_root $from wrong_key --key "$keys/other"
	done
fi
check "all kinds of messages are recorded" recorded
check "the members go on" go_on
if [ "$rack_key" = key ]; then
	check "sent again at once they change nothing" at_once
	check "nor when they are old" harmless old
	check "the rack works on" goes_on
	check "control: with the key root of node 2 opens a file to everybody" \
		opened --key "$keys/rack"
else
	check "control: without a key what was called is done once more" harmful
	check "control: node 1 hears root of node 2" heard
	check "control: root of node 2 opens a file to everybody" opened
fi
end_rack
finish
