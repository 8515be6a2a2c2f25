#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Who may use a region: which nodes, which users, also in user namespaces and through idmapped
# mounts.  A node that the rack had forgotten says which regions it has open.
#
#	node1 node2 node3 mem1 mem2 -- switch
#
# node3 is the one that is to be kept out.  What root there sends by itself is refused where
# the data is.
#
#	tests/system/allowed.sh [SWITCH...]	(p4 none)
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329,SC2016  # called by check; expanded in the guests
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

CTL=$BIN/weftctl
FORGER=$BUILD/tests/system-forger
HAMMER=$BUILD/tests/locks-hammer
IDMAP=$BUILD/tests/system-idmap
BLOCKS=160		# two runs and a half: both blades are homes
BLADES=(10.87.0.101 10.87.0.102)

# --- for which nodes ---------------------------------------------------------------

# fill NODE FILE: with new contents, of which the sum is in $wanted.
fill()
{
	on "$1" dd if=/dev/urandom of="$2" bs=4096 count=$BLOCKS conv=notrunc status=none || return 1
	wanted=$(on "$1" sha256sum "$2")
}

reads()
{
	equal "$wanted" "$(on "$1" sha256sum "$2")"
}

# taken NODE: how many locks the program there took.
taken()
{
	awk '$1 == "node" && $4 ~ /^reads/ { sum += $3 + $5 } END { print sum + 0 }' \
		"$dir/hammer.$1"
}

# hammers NODE...: programs there take locks of the region, and what these guard, at once.  The
# program does not say so when it takes none.
hammers()
{
	local node pids=()

	for node; do
		on "$node" "$HAMMER" --alone --file "$FILE" --guard --locks 8 --seconds 1 \
			>"$dir/hammer.$node" 2>&1 &
		pids+=($!)
	done
	wait_all "${pids[@]}" || { cat "$dir"/hammer.*; return 1; }
	for node; do
		at_least 1 "$(taken "$node")" || { cat "$dir/hammer.$node"; return 1; }
	done
}

# set_nodes NODE NODES: by weftctl there.
set_nodes()
{
	on "$1" "$CTL" region set "${FILE##*/}" "nodes=$2"
}

# shows NODE TEXT: so weftctl there shows for which nodes it is.
shows()
{
	on "$1" "$CTL" region show "${FILE##*/}" >"$dir/shown" || return 1
	cat "$dir/shown"
	equal "$2" "$(sed -n 's/^  nodes  *//p' "$dir/shown")"
}

# blocks_here NODE: of the region, in the node's cache.
blocks_here()
{
	on "$1" "$CTL" region show "${FILE##*/}" | sed -n 's/^  here  *\([0-9]*\) .*/\1/p'
}

# blade_counts NAME: of both blades together.
blade_counts()
{
	counters node1 memory | awk -v name="memory.total.$1" '
		$1 == name { print $2; n++ } END { exit n != 1 }'
}

in_switch()
{
	equal "$1" "$(blade_counts lines_in_switch)"
}

no_more_in_switch()
{
	[ "$(blade_counts lines_in_switch)" -eq 0 ] && [ "$(blade_counts lines_moving)" -eq 0 ]
}

some_in_switch()
{
	[ "$(blade_counts lines_in_switch)" -gt 0 ]
}

# denied NODE COMMAND...: EACCES.
denied()
{
	! on "$@" >"$dir/denied" 2>&1 && grep -q 'Permission denied' "$dir/denied" && return
	cat "$dir/denied"
	return 1
}

# says_why NODE: the kernel's log has one sentence that says what to do.
says_why()
{
	on "$1" dmesg >"$dir/dmesg" || return 1
	grep "is not for node ${1#node}, its open() fails with EACCES: its owner may let it in" "$dir/dmesg"
}

# forges: all types of messages about the region that root of node3 can send in its own name.
forges()
{
	local blade before after region

	region=$(on node1 stat -c %i "$FILE") || return 1
	before=$(blade_counts refused_not_allowed) || return 1
	for blade in "${BLADES[@]}"; do
		on node3 "$FORGER" root types "$region" "${FILE##*/}" "$blade" 3=10.87.0.3 || return 1
	done
	after=$(blade_counts refused_not_allowed) || return 1
	echo "$((after - before)) requests were refused"
	# GETS, GETM, READ and ACQUIRE at least
	[ "$((after - before))" -ge 4 ]
}

# holds NODE: a program there has it open, until there is /run/test-go.
holds()
{
	on "$1" sh -c 'rm -f /run/test-go /run/test-held
		setsid sh -c "exec 3<\"$1\"; : >/run/test-held
			for i in \$(seq 6000); do [ ! -e /run/test-go ] || break; sleep 0.1; done" \
			sh "$1" >/dev/null 2>&1 </dev/null &
		for i in $(seq 100); do [ ! -e /run/test-held ] || exit 0; sleep 0.1; done; exit 1' sh "$FILE"
}

lets_go()
{
	on "$1" touch /run/test-go
}

# busy NODE NODES WHO: is refused, as programs of WHO have it open.
busy()
{
	! set_nodes "$1" "$2" >"$dir/busy" 2>&1 && grep -qF "$3 have it open" "$dir/busy" && return
	cat "$dir/busy"
	return 1
}

# a program that ended a moment ago may be closing it yet
becomes()
{
	soon 20 set_nodes "$1" "$2"
}

may_not_set()
{
	! on node1 setpriv --reuid 65534 --clear-groups "$CTL" region set "${FILE##*/}" nodes=all \
		>"$dir/busy" 2>&1 && grep -q 'only its owner and root may say for which nodes' "$dir/busy"
}

some_nodes()
{
	FILE=/weft/secret
	check "a region" on node1 sh -c ": >$FILE; chmod 644 $FILE; truncate -s $((BLOCKS * 4096)) $FILE"
	check "node 3 writes it" fill node3 $FILE
	check "node 1 reads it" reads node1 $FILE
	check "node 2 reads it" reads node2 $FILE
	check "all three take locks of it" hammers node1 node2 node3
	check "node 3 writes it again, and has all of it" fill node3 $FILE
	[ "$1" = none ] || check "lines of it are in the switch" some_in_switch
	check "it is for all nodes" shows node1 all
	check "only its owner and root may say for which" may_not_set
	check "a program of node 2 has it open" holds node2
	check "it cannot be for nodes 1 and 3 only: that is said" busy node1 1,3 'programs of node 2'
	check "it is for all nodes as before" shows node1 all
	check "node 2 reads what node 3 wrote" reads node2 $FILE
	check "that program ends" lets_go node2

	check "it is for nodes 1 and 2" becomes node1 1,2
	check "that is shown" shows node1 1,2
	check "also there" shows node2 1,2
	check "node 3 has nothing of it" equal 0 "$(blocks_here node3)"
	check "no line is in the switch" no_more_in_switch
	check "node 1 has what only node 3 had" reads node1 $FILE
	check "node 3 cannot open it" denied node3 cat $FILE
	check "to write neither" denied node3 sh -c "echo x >>$FILE"
	check "nor make it shorter" denied node3 sh -c "truncate -s 100 $FILE"
	check "its log says why" says_why node3
	check "it can be looked at there" equal "$(on node1 stat -c %s $FILE)" "$(on node3 stat -c %s $FILE)"
	check "what root of node 3 sends is refused by the blades" forges
	check "nodes 1 and 2 take locks of it" hammers node1 node2
	check "node 1 writes it" fill node1 $FILE
	check "node 2 reads that" reads node2 $FILE
	check "no line is in the switch again" no_more_in_switch
	check "nothing has come to node 3" equal 0 "$(blocks_here node3)"

	check "it is for all again" becomes node2 all
	check "node 3 reads it" reads node3 $FILE
	check "node 3 writes it" fill node3 $FILE
	check "node 2 reads that" reads node2 $FILE
	check "all three take locks of it" hammers node1 node2 node3
	check "node 2 writes it" fill node2 $FILE
	check "it is for node 3 only" becomes node3 3
	check "node 1 cannot open it" denied node1 cat $FILE
	check "node 3 reads it" reads node3 $FILE
	check "any node may remove it" on node1 rm $FILE
}

# --- users -------------------------------------------------------------------------

# user NODE USER GROUP COMMAND...: with that group beside its own.
user()
{
	on "$1" setpriv --reuid "$2" --regid "$2" --groups "$3" "${@:4}"
}

not_user()
{
	! user "$@" >"$dir/denied" 2>&1 && grep -q 'Permission denied' "$dir/denied"
}

users()
{
	local refused

	FILE=/weft/group
	refused=$(blade_counts opens_refused)
	check "a file of user 5 and group 6" on node1 sh -c \
		"echo text >$FILE; chown 5:6 $FILE; chmod 640 $FILE"
	check "its owner may write it" user node2 5 77 sh -c "echo more >>$FILE"
	check "who is in its group may read it" user node2 77 6 cat $FILE
	check "and not write it" not_user node2 77 6 sh -c "echo x >>$FILE"
	check "others may not read it" not_user node2 77 77 cat $FILE
	check "root may" on node2 sh -c "echo root >>$FILE"
	check "owner and group become others'" on node1 sh -c "chown 77:77 $FILE; chmod 604 $FILE"
	check "the former group may not read it, as others may" user node2 79 6 cat $FILE
	check "the new group may not" not_user node2 78 77 cat $FILE
	check "the new owner may write it" user node2 77 77 sh -c "echo new >>$FILE"
	check "a program that others may execute, not read" on node1 sh -c \
		'cp /usr/bin/true /weft/program; chmod 711 /weft/program'
	check "they execute it" user node2 77 77 /weft/program
	check "and cannot read it" not_user node2 77 77 cat /weft/program
	check "kernel and blade were of one mind" equal "$refused" "$(blade_counts opens_refused)"
	check "the files go" on node1 rm $FILE /weft/program
}

# --- user namespaces, idmapped mounts --------------------------------------------------

# inside USER COMMAND...: in a user namespace of its own, where that user is root.
inside()
{
	on node1 setpriv --reuid "$1" --regid "$1" --clear-groups unshare -Urm "${@:2}"
}

no_mount()
{
	! inside 1000 mount -t weft none /mnt >"$dir/denied" 2>&1 || return 1
	! inside 1001 mount -t weft none /mnt >>"$dir/denied" 2>&1 || return 1
	equal 2 "$(grep -c 'permission denied' "$dir/denied")" || return 1
	equal 1 "$(on node1 dmesg | grep -c 'weft: cannot be mounted in a user namespace: mount it outside')"
}

namespaces()
{
	check "a mount in a user namespace is refused, with a sentence, once" no_mount
	check "its root makes a file" inside 1000 sh -c 'id -u; echo text >/weft/inside; chmod 600 /weft/inside'
	check "that is the user's outside" equal "1000 1000 600" "$(on node2 stat -c '%u %g %a' /weft/inside)"
	check "a file of root's outside" on node2 sh -c 'echo secret >/weft/outside; chmod 600 /weft/outside'
	check "is nobody's inside" equal 65534 "$(inside 1000 stat -c %u /weft/outside)"
	check "and is not for its root" sh -c '! "$@" 2>/dev/null' sh "$RACK" --name "$run_name" exec node1 -- \
		setpriv --reuid 1000 --regid 1000 --clear-groups unshare -Urm cat /weft/outside
	check "nor can it take it" sh -c '! "$@" 2>/dev/null' sh "$RACK" --name "$run_name" exec node1 -- \
		setpriv --reuid 1000 --regid 1000 --clear-groups unshare -Urm chown 0 /weft/outside
	check "the files go" on node2 rm /weft/inside /weft/outside
}

# mapped COMMAND...: as user 1000 of node1, who is user 5000 of the files at /run/mapped.
mapped()
{
	on node1 setpriv --reuid 1000 --regid 1000 --clear-groups "$@"
}

idmapped()
{
	local refused

	refused=$(blade_counts opens_refused)
	check "a place" on node1 mkdir -p /run/mapped
	check "/weft there, user 5000 of the files is user 1000" equal ok \
		"$(on node1 "$IDMAP" /weft /run/mapped 5000 1000)"
	check "user 1000 makes a file there" mapped sh -c 'echo text >/run/mapped/file; chmod 600 /run/mapped/file'
	check "which is user 5000's elsewhere" equal "5000 5000" "$(on node2 stat -c '%u %g' /weft/file)"
	check "and user 1000's there" equal "1000 1000" "$(on node1 stat -c '%u %g' /run/mapped/file)"
	check "who reads it there" mapped cat /run/mapped/file
	check "not at /weft" sh -c '! "$@" 2>/dev/null' sh "$RACK" --name "$run_name" exec node1 -- \
		setpriv --reuid 1000 --regid 1000 --clear-groups cat /weft/file
	check "a file of user 5000 by another node" on node2 sh -c \
		'echo more >/weft/other; chown 5000:5000 /weft/other; chmod 600 /weft/other'
	check "is user 1000's there" mapped sh -c 'cat /run/mapped/other && echo x >>/run/mapped/other'
	check "who changes its mode" mapped chmod 640 /run/mapped/other
	check "a file of root's is user 100000's there" equal 100000 "$(on node1 sh -c \
		'echo x >/weft/roots; stat -c %u /run/mapped/roots')"
	check "root of the node has no number there, and makes nothing" sh -c '! "$@" 2>/dev/null' sh "$RACK" \
		--name "$run_name" exec node1 -- touch /run/mapped/none
	check "root gives a file to user 1000 there" on node1 chown 1000:1000 /run/mapped/other
	check "it is user 5000's elsewhere" equal 5000 "$(on node2 stat -c %u /weft/other)"
	check "kernel and blade were of one mind" equal "$refused" "$(blade_counts opens_refused)"
	check "that mount goes" on node1 umount /run/mapped
	check "the files go" on node2 rm /weft/file /weft/other /weft/roots
}

# --- a node that the rack had forgotten --------------------------------------------------

# will_read NODE: a program there has $FILE open, and reads it when there is /run/test-go.
will_read()
{
	on "$1" sh -c 'rm -f /run/test-go /run/test-read
		setsid sh -c "exec 3<$1; : >/run/test-holds
			for i in \$(seq 600); do [ ! -e /run/test-go ] || break; sleep 0.5; done
			sha256sum <&3 >/run/test-read 2>&1; echo status \$? >>/run/test-read" \
			>/dev/null 2>&1 </dev/null &
		for i in $(seq 100); do [ ! -e /run/test-holds ] || exit 0; sleep 0.1; done; exit 1' sh "$FILE"
}

# has_read NODE: it has, and as it should be.
has_read()
{
	on "$1" grep -q '^status' /run/test-read || return 1
	equal "${wanted%% *} status 0" "$(on "$1" sh -c 'cut -d " " -f 1-2 /run/test-read | xargs' |
		sed 's/ *-//')"
}

is_member()
{
	on "$1" "$CTL" -j status | grep -qE '"members":\[[0-9,]*\b'"$2"'\b'
}

is_forgotten()
{
	on "$1" dmesg | grep -q 'the rack does not know this node any more'
}

# To join takes it longer than the second in which it waits for that: it hears that it is a
# member in another way.
forgotten()
{
	FILE=/weft/held
	check "a region, all of it at home" eval 'fill node1 $FILE && on node1 sync $FILE'
	check "a program on node 3 has it open" will_read node3
	check "the network becomes slow" faults delay 300000
	check "node 3 is taken out" on node2 "$CTL" node fence 3
	check "it finds that" soon 60 is_forgotten node3
	check "and is a member again" soon 60 is_member node2 3
	check "the network is quick again" faults delay 0
	check "the program reads on" on node3 touch /run/test-go
	# which is 30 s
	check "that does not take the time-out" \
		soon $((SCALE < 3 ? 10 : 25 / SCALE)) has_read node3
	check "the file goes" on node1 rm $FILE
}

built "$FORGER" "$HAMMER" "$IDMAP"
begin allowed
[ $# -gt 0 ] || set -- p4 none
for switch; do
	boot --nodes 3 --blades 2 --switch "$switch" --mem 512M
	some_nodes "$switch"
	if [ "$switch" = "$1" ]; then
		users
		namespaces
		idmapped
	else
		forgotten
	fi
	end_rack
done
finish
