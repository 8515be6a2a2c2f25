#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Many to one: what is lost on the way, and whether a stream starves.
#
#	tools/bench/incast.sh [--quick] [--only WHAT] [-- OPTIONS OF weft-rack up]
#
# Boots a rack of eight nodes and a blade, as user-mode kernels where these can run, and
# has, WHAT after WHAT, at once
#
#	read	eight nodes read a region each, from the blade
#	write	eight nodes write home what they have modified, a region each
#	gather	one node read what seven others have modified, a region each
#
# Prints lines of JSON: MB/s of all streams, what the slowest had of an equal share when
# the first was through, the longest time that one took for 64 KiB, and how many of all
# datagrams arrived: of those that nodes, blade and switch have sent, by their counters.
# What the switch refused to take, or dropped at a port that was full, has not arrived.
# How many were repeated, by nodes, is a line of its own. Of a few seconds: heartbeats and ARP
# make the count uncertain by some tens.
# Exit status 0 if everything could be measured.
# Environment: BUILD, WEFT_RACK, as in tools/demo/demo.sh.

set -u -o pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 2

NAME=incast
# shellcheck source=tools/bench/rack.sh
. tools/bench/rack.sh
NODES=8
QUIET=20		# looks at the counters until they stand still
repeats=3
each=$((8 << 20))	# bytes of a stream
kinds="read write gather"

up_options=()
while [ $# -gt 0 ]; do
	case $1 in
	--quick) repeats=1; each=$((4 << 20)) ;;
	--only)	kinds=${2:?}; shift ;;
	--)	shift; up_options=("$@"); break ;;
	*)	sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
	shift
done

# shellcheck disable=SC2317,SC2329  # called by a trap
finish()
{
	rack_ends
	rm -rf "$dir"
}

# --- Counters -----------------------------------------------------------------

# numbers PREFIX: "PREFIXname number" of each "name":number on standard input.
numbers()
{
	tr ',{}' '\n' | sed -n "s/^ *\"\([a-z_]*\)\": *\([0-9]*\)\$/$1\1 \2/p"
}

# count_to FILE: sums by name: of all nodes, of the blade, of the switch's ports to nodes, and
# to the blade.
count_to()
{
	rack wire stats | tr '{' '\n' >"$1.wire"
	{
		on nodes "$BIN/weftctl" -j stats node | numbers node_
		# blade by blade, and not the total as well
		on node1 "$BIN/weftctl" -j stats memory | sed 's/"total".*//' | numbers blade_
		grep '"name":"node' "$1.wire" | numbers to_node_
		grep '"name":"mem' "$1.wire" | numbers to_blade_
	} | awk '{ sum[$1] += $2 } END { for (n in sum) printf "%s %.0f\n", n, sum[n] }' |
		sort >"$1"
	grep -q '^node_msg_sent' "$1" && grep -q '^blade_sent' "$1" && grep -q '^to_node_tx' "$1"
}

# settled FILE: counters when nothing is under way any more, but heartbeats.
settled()
{
	local i last=0 now

	for ((i = 0; i < QUIET; i++)); do
		count_to "$1" || die "no counters"
		now=$(awk '/^node_(sent_|retrans)/ && !/_call / { n += $2 } END { print n }' "$1")
		[ "$now" != "$last" ] || return 0
		last=$now
	done
	die "the rack does not come to rest"
}

# tell LABEL: what became of all datagrams between $dir/before and $dir/after.
tell()
{
	awk -v label="$1" '
		FNR == NR { was[$1] = $2; next }
		{ by[$1] = $2 - was[$1] }
		# what heartbeats come in between two counts by is no message more or less
		function lost(sent, got) { return sent > got ? sent - got : 0 }
		function row(what, value, unit, target) {
			printf "{\"bench\":\"stream\",\"label\":\"%s %s\",\"value\":%.5g,\"unit\":\"%s\"%s}\n",
				label, what, value, unit, target
		}
		END {
			ours = by["node_msg_sent"] + by["blade_sent"]
			all = ours + by["to_node_tx"] + by["to_blade_tx"]
			if (!by["to_node_tx"] || !by["to_blade_tx"])
				exit 1
			drops = lost(by["node_msg_sent"], by["to_node_rx"])
			drops += lost(by["blade_sent"], by["to_blade_rx"])
			drops += lost(by["to_node_tx"], by["node_msg_received"])
			drops += by["blade_not_received"]
			drops += by["to_node_tx_drop"] + by["to_blade_tx_drop"]
			row("arrived", 1 - drops / all, "ratio", ",\"target\":0.99")
			row("repeated", by["node_retransmissions"] / ours, "ratio", "")
		}' "$dir/before" "$dir/after" || die "nothing was sent for $1"
}

# --- Streams ------------------------------------------------------------------

# remount NODE...: with nothing in the cache; what is modified goes home.
remount()
{
	local n

	for n; do
		on "$n" umount /weft || die "cannot unmount /weft on $n"
		on "$n" mount -t weft -o cache=64M none /weft || die "cannot mount /weft on $n"
	done
}

# streams LABEL COUNT OPTION...: as many at once, the Kth in /weft/sK; on the node that
# "at" names for it.
streams()
{
	local label=$1 count=$2 pids=() k

	on node1 rm -f /weft/bench-stream
	settled "$dir/before"
	for ((k = 1; k <= count; k++)); do
		on "$(at "$k")" "$BIN/weft-bench" stream --file "/weft/s$k" --size "$each" \
			--label "$label" --node "$k" --nodes "$count" --timeout 200 \
			"${@:3}" &
		pids+=($!)
	done
	for k in "${pids[@]}"; do
		wait "$k" || die "a stream of $label failed"
	done
	settled "$dir/after"
	tell "$label streams=$count"
}

# fill COUNT: streams' files, each by its own node.
fill()
{
	local k pids=()

	for ((k = 1; k <= $1; k++)); do
		on "node$k" "$BIN/weft-bench" fill --file "/weft/s$k" --size "$each" \
			--threads 16 &
		pids+=($!)
	done
	for k in "${pids[@]}"; do
		wait "$k" || die "cannot fill"
	done
}

nodes=()
for ((n = 1; n <= NODES; n++)); do
	nodes+=("node$n")
done

run_read()
{
	at() { echo "node$1"; }
	fill "$NODES"
	remount "${nodes[@]}"
	streams "incast read" "$NODES"
}

run_write()
{
	at() { echo "node$1"; }
	streams "incast write" "$NODES" --write
}

# Its eighth node reads; each stream is a thread of it that another node has filled for.
run_gather()
{
	at() { echo "node$NODES"; }
	fill $((NODES - 1))
	streams "incast gather" $((NODES - 1))
}

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
rack up --nodes "$NODES" --switch p4 --cache 64M --mem 256M --blade-mem 512M \
	"${up_options[@]}" || die "the rack does not come up"
# not before: one that is up already is somebody else's
trap finish EXIT
trap 'exit 130' INT TERM

for ((turn = 0; turn < repeats; turn++)); do
	for kind in $kinds; do
		"run_$kind"
		remount "${nodes[@]}"
	done
done
rack status >"$dir/status" || die "the rack has trouble: $(cat "$dir/status")"
