#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# weft-rack up --rdma: who is named has rxe0, and it works: connections and transfers
# between guests, through the switch.
#
#	node1 node2 mem1 with rxe0, node3 without -- switch
#
#	tests/rack/test-rdma.sh [uml]
#
# With uml it is a rack of user-mode kernels, for which RDMA is compiled if need be.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

ROUNDS=5		# of rping, which has the other end read and write BYTES in each
BYTES=60000
DEVICES=/sys/class/infiniband
KERNELS=${WEFT_KERNELS:-build/kernel}

# up_says TEXT OPTION...: a rack does not come up, and says TEXT.
up_says()
{
	exits 125 "$1" rack up --bare --nodes 2 "${@:2}"
}

# no_rdma: a kernel that has none of it is refused before it boots.
no_rdma()
{
	mkdir -p "$dir/own/lib/modules/0" "$dir/kernels" &&
		touch "$dir/own/bzImage" "$dir/own/lib/modules/0/modules.dep" || return 1
	WEFT_KERNELS=$dir/kernels up_says "Linux 0 has no ib_uverbs, rdma_ucm, rdma_rxe" \
		--accel tcg --kernel "$dir/own" --rdma
}

# uml_without: user-mode kernels for which nobody has made RDMA are refused, too.
uml_without()
{
	local from version at=$dir/kernels/uml

	from=$(readlink -f "$KERNELS/uml") && version=$(ls "$from/lib/modules") &&
		mkdir -p "$at/lib/modules/$version" &&
		cp -rs "$from/lib/modules/$version/." "$at/lib/modules/$version" &&
		ln -s "$from/usr" "$at/usr" && touch "$at/.complete" || return 1
	rm -rf "$at/lib/modules/$version"/{rdma,modules.dep}
	grep -v '^rdma/' "$from/lib/modules/$version/modules.dep" \
		>"$at/lib/modules/$version/modules.dep" || return 1
	WEFT_KERNELS=$dir/kernels up_says "run make uml-rdma" --accel uml-package --rdma
}

# refused: what weft-rack says before it boots anything.
refused()
{
	check "who is not there cannot have it" up_says "not 'node9'" --rdma nodes,node9
	check "nobody is refused" up_says "none of the guests" --blades 0 --rdma blades
	check "a kernel without it is refused" no_rdma
	if [ -e "$KERNELS/uml/.complete" ] &&
			limited "$BOOT_LIMIT" "$RACK" accel --best uml-package; then
		check "user-mode kernels without it are refused" uml_without
	else
		skip "user-mode kernels without it are refused" "there are none here"
	fi
}

# device NAME ADDRESS MTU: what programs of NAME see of it.
device()
{
	local text

	text=$(on "$1" ibv_devinfo -v) || return 1
	echo "$text"
	[ "$(grep -c '^hca_id:' <<<"$text")" = 1 ] && grep -q '^hca_id:[[:space:]]*rxe0$' <<<"$text" &&
		grep -q '[[:space:]]state:[[:space:]]*PORT_ACTIVE ' <<<"$text" &&
		grep -q "[[:space:]]active_mtu:[[:space:]]*$3 " <<<"$text" &&
		grep -q "GID\[.*[[:space:]]::ffff:$2, RoCE v2\$" <<<"$text"
}

# may_use NAME: what is no root's either, and may lock memory.
may_use()
{
	# shellcheck disable=SC2016  # expanded there
	on "$1" sh -c 'test "$(stat -c "%F %a" /dev/infiniband/uverbs0)" = "character special file 666" &&
		test "$(stat -c "%F %a" /dev/infiniband/rdma_cm)" = "character special file 666" &&
		test "$(ulimit -l)" = unlimited'
}

# listens NAME: somebody there waits for connections.
listens()
{
	on "$1" rdma resource show cm_id | grep -F LISTEN
}

# transfers NAME ADDRESS MTU: node1 connects to NAME, which reads from node1 what it then
# writes there, a frame for each MTU of it.
transfers()
{
	local before after server frames=$((ROUNDS * 2 * ((BYTES + $3 - 1) / $3)))

	before=$(wire_counted rx) || return 1
	on "$1" rping -s -a "$2" -v -C $ROUNDS -S $BYTES >"$dir/server" 2>"$dir/server.err" &
	server=$!
	soon 20 listens "$1" || { cat "$dir/server.err"; return 1; }
	on node1 rping -c -a "$2" -v -V -C $ROUNDS -S $BYTES >"$dir/client" 2>"$dir/client.err" ||
		{ echo "client: $?"; cat "$dir/client.err" "$dir/server.err"; return 1; }
	wait "$server" || { echo "server: $?"; cat "$dir/server.err"; return 1; }
	after=$(wire_counted rx) || return 1
	at_least "$frames" $((after - before)) || return 1
	# What node1 has got back, and what the other one has read of it.
	grep '^ping data: ' "$dir/client" | sort -u >"$dir/got"
	sed -n 's/^server \(ping data: \)/\1/p' "$dir/server" | sort -u >"$dir/read"
	equal $ROUNDS "$(wc -l <"$dir/got")" &&
		at_least $((ROUNDS * BYTES)) "$(wc -c <"$dir/got")" && cmp "$dir/got" "$dir/read"
}

built "$BIN/weft-rackio" "$BIN/weft-switchd"
if ! command -v rping >/dev/null || ! command -v ibv_devinfo >/dev/null; then
	echo "skipped: there is no rping or ibv_devinfo: packages rdmacm-utils, ibverbs-utils"
	exit 77
fi
accel=()
if [ "${1-}" = uml ]; then
	if ! limited "$BOOT_LIMIT" "$RACK" accel --best uml; then
		echo "skipped: no user-mode kernel boots here: weft-rack accel says why"
		exit 77
	fi
	accel=(--accel uml)
	begin rack-rdma-uml
	make_rdma uml
else
	begin rack-rdma
	refused
fi
boot --bare --switch p4 --nodes 3 --rdma 1,node2,blades "${accel[@]}"
check "status tells who has it" equal "node1 node2 mem1 " \
	"$(rack status | awk '/ rxe0$/ { printf "%s ", $1 }')"
check "node1 has an active port with its GID" device node1 10.87.0.1 4096
check "node2 has" device node2 10.87.0.2 4096
check "mem1 has" device mem1 10.87.0.101 4096
check "node3, which was not named, has none" exits 1 '' on node3 test -e $DEVICES/rxe0
for name in node1 node2 mem1; do
	check "programs of $name may use it" may_use "$name"
done
check "node1 to node2" transfers node2 10.87.0.2 4096
check "node1 to mem1" transfers mem1 10.87.0.101 4096
check "node2 is killed" rack kill node2
check "and boots again" limited "$BOOT_LIMIT" "$RACK" --name "$run_name" boot node2
check "with an active port" device node2 10.87.0.2 4096
check "node1 to node2 again" transfers node2 10.87.0.2 4096
check "frames of 1500 bytes" on all ip link set eth0 mtu 1500
check "node1 has an MTU for those" device node1 10.87.0.1 1024
check "node1 to mem1 in those" transfers mem1 10.87.0.101 1024
end_rack
finish
