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
# counters say what was refused.  The same messages from root of the same machine, who
# makes its own IP headers, do have an effect: the control.
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

# work: node 1 writes, then node 2 reads, until the file "stop" is there.
work()
{
	local k

	for ((k = 1; k < 100000; k++)); do
		[ ! -e "$dir/stop" ] || break
		on node1 "$TOUCH" write /weft/steady "$BLOCKS" "$k" || return 1
		on node2 "$TOUCH" read /weft/steady "$BLOCKS" "$k" || return 1
	done
	echo "$k rounds"
	[ "$k" -gt 1 ]
}

# as_it_was: the secret, for both members.
as_it_was()
{
	local node

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

# attack FROM TARGET ADDRESS: and nothing happens.
attack()
{
	local worker rc

	rm -f "$dir/stop"
	work >"$dir/work" 2>&1 &
	worker=$!
	forge "$@"
	rc=$?
	touch "$dir/stop"
	wait "$worker" || rc=1
	cat "$dir/work"
	as_it_was && [ $rc = 0 ]
}

# heard: what root sends from the port and the address of its own machine, node
# 1 counts as messages that came.
heard()
{
	local before after said

	before=$(counters node1 | awk '$1 == "node.counters.received_inv" { print $2 }')
	said=$(on node2 "$FORGER" root types "$other" other 10.87.0.1 2=10.87.0.2) || return 1
	echo "$said"
	after=$(counters node1 | awk '$1 == "node.counters.received_inv" { print $2 }')
	echo "node 1 has heard $((after - before)) INV"
	[ $((after - before)) -ge 4 ]
}

# opened: what root of a member sends to the blade does open its file.
opened()
{
	on node2 "$FORGER" root open "$other" other "$BLADE" 2=10.87.0.2 || return 1
	on node2 sh -c 'umount /weft && mount -t weft none /weft' || return 1
	equal 666 "$(on node2 stat -c %a /weft/other)"
}

built "$FORGER" "$TOUCH"
begin forge
boot --nodes 3 --switch p4 --mem 512M
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
sleep 2
for from in node2 mem1 node3; do
	[ $from = mem1 ] ||
		check "a user on $from, at the memory blade" attack $from mem1 "$BLADE"
	check "a user on $from, at node 1" attack $from node1 10.87.0.1
done
check "a user on node 1, at node 1" attack node1 node1 10.87.0.1
check "a user on the blade's machine, at the blade" attack mem1 mem1 "$BLADE"
check "control: node 1 hears root of node 2" heard
check "control: root of node 2 opens a file to everybody" opened
end_rack
finish
