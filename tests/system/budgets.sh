#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Budgets: what each kind of miss costs in messages and in round trips, counted in
# racks of five nodes:
#
#	node1 ... node5 mem1 -- switch
#
# once with the directory in the switch, once with the home's.  LINES blocks are
# taken through one kind of miss after the other, a node at a time.  After each step
# the counters of all nodes and of the home must have grown by exactly what the
# table of transactions in docs/protocol.md says, type by type, and every miss must
# have taken one round trip (a write miss of what is lent to others: two).
#
# A message that is repeated because this machine was busy for too long spoils a
# step: a chain with a kind that has no undisturbed count is run again when all have
# been run, up to TRIES times; there must be one undisturbed count of each kind.  Prints
# the table; also in BUILD/tests/budgets.txt.
#
#	tests/system/budgets.sh [LINES]		(32)

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

LINES_EACH=${1:-32}
TRIES=$((8 * SCALE))	# runs of a chain that was disturbed
POLLS=25		# looks at the counters until they stand still
TOUCH=$BUILD/tests/system-budgets
MOVED="add add_ack remove remove_ack drop drop_ack"	# between home and switch
TYPES="gets getm put commit abort query inv fwd read grant nack commit_ack info
	data inv_ack wb wb_ack chase $MOVED"
MISSES="read_unshared read_shared read_modified write_unshared write_shared
	write_modified upgrade"

# sums: of "name":number pairs on standard input, by name; "name number" lines.
sums()
{
	tr ',{}' '\n' | sed -n 's/^ *"\([a-z_]*\)": *\([0-9]*\)$/\1 \2/p' |
		awk '{ sum[$1] += $2 } END { for (n in sum) printf "%s %.0f\n", n, sum[n] }'
}

# count_to FILE: counters, those of all nodes added up, and those of the home.
count_to()
{
	# No shell there: programs are slow to start in some guests.
	on nodes "$BIN/weftctl" -j stats node >"$dir/raw" &&
		on node1 "$BIN/weftctl" -j stats memory >>"$dir/raw" || return 1
	{
		grep -v '"memory"' "$dir/raw" | sums
		# blade by blade, and not the total as well
		grep '"memory"' "$dir/raw" | sed 's/"total".*//' | sums | sed 's/^/home_/'
	} | sort >"$1"
	grep -q '^home_' "$1"
}

# grown_to FILE: "name number" of what has grown since $dir/was: the messages by
# type, and other counters.  A message counts once: the switch takes some that
# it is sent, and sends some itself, but what one end has sent and the other has
# received is the same.
grown_to()
{
	awk -v types="$TYPES" '
		FNR == NR { was[$1] = $2; next }
		{ by[$1] = $2 - was[$1] }
		END {
			n = split(types, type, " ")
			for (i = 1; i <= n; i++) {
				t = type[i]
				sent = by["sent_" t] + by["home_out_" t]
				got = by["received_" t] + by["home_in_" t]
				most = sent > got ? sent : got
				if (most)
					printf "%s %.0f\n", t, most
			}
			for (name in by)
				if (by[name] && name ~ /^(miss_|retransm|read_ahead|evicted_|home_moves_rep)/ && name != "miss_nsec")
					printf "%s %.0f\n", name, by[name]
		}' "$dir/was" "$1" | sort
}

# messages KIND SHARERS: what docs/protocol.md says, for one line.  Of read_modified and *_lent:
# SHARERS are lent it.
messages()
{
	local commit="commit:1 commit_ack:1" taken="commit:1 commit_ack:2"

	case $1 in
	read_unshared)	echo "gets:1 read:1 data:1" ;;
	read_shared)	echo "gets:1 fwd:1 data:1" ;;
	read_modified)	if [ "$2" -lt 2 ]; then
				echo "gets:1 fwd:1 data:1 $commit"
			else
				echo "gets:1 fwd:1 data:1 wb:1 wb_ack:1 $taken"
			fi ;;
	write_unshared)	echo "getm:1 read:1 data:1 $commit" ;;
	write_shared)	echo "getm:1 inv:$2 inv_ack:$(($2 - 1)) data:1 $commit" ;;
	write_modified)	echo "getm:1 inv:1 data:1 $taken" ;;
	upgrade)	if [ "$2" = 0 ]; then
				echo "getm:1 grant:1 $commit"
			else
				echo "getm:1 inv:$2 inv_ack:$2 $commit"
			fi ;;
	write_lent)	echo "getm:1 inv:$((1 + $2)) inv_ack:$2 data:1 $taken" ;;
	upgrade_lent)	echo "inv:$2 inv_ack:$2" ;;
	eviction)	echo "put:1 grant:1 wb:1 wb_ack:1 $commit" ;;
	esac
}

# counter_of KIND: the kernel counts it as that kind of miss.
counter_of()
{
	case $1 in
	write_lent)	echo write_modified ;;
	upgrade_lent)	echo upgrade ;;
	*)		echo "$1" ;;
	esac
}

# expected KIND SHARERS: all that must grow, as grown_to says it.  At its home, the
# directory does not send a READ to itself.
expected()
{
	local kind=$1 pair by=switch trips=1

	[ "$where" = switch ] || by=home
	# the new owner asks for what is lent when it hears of it; the owner knows
	case $kind in
	write_lent)	trips=2 by=readers ;;
	upgrade_lent)	by=readers ;;
	esac
	{
		for pair in $(messages "$@"); do
			[ "$where:$pair" != home:read:1 ] || continue
			[ "${pair#*:}" = 0 ] || echo "${pair%:*} $((${pair#*:} * LINES_EACH))"
		done
		if [ "$kind" = eviction ]; then
			echo "evicted_modified $LINES_EACH"
		else
			printf '%s %d\n' "miss_$(counter_of "$kind")" "$LINES_EACH" \
				"miss_by_$by" "$LINES_EACH" miss_round_trips $((trips * LINES_EACH))
		fi
	} | sort
}

# settle: counters when nothing moves any more, in $dir/is and $dir/grown.
settle()
{
	local i

	: >"$dir/last"
	for ((i = 0; i < POLLS; i++)); do
		count_to "$dir/is" || return 1
		grown_to "$dir/is" >"$dir/grown"
		[ ! -s "$dir/expected" ] || ! cmp -s "$dir/grown" "$dir/expected" || return 0
		! cmp -s "$dir/grown" "$dir/last" || return 0
		cp "$dir/grown" "$dir/last"
	done
	echo "the counters do not stand still"
	return 1
}

# act NODE OPERATION: touch all lines, or throw them out of that node's cache.
act()
{
	case $2 in
	evict)	on "node$1" sh -c 'echo 2 >/proc/sys/vm/drop_caches' ;;
	write)	value=$((value + 1))
		on "node$1" "$TOUCH" write "$file" "$LINES_EACH" "$value" ;;
	read)	on "node$1" "$TOUCH" read "$file" "$LINES_EACH" "$value" ;;
	esac
}

# came_back: how often a program came back for what it had waited for to read: a block
# stays until then.
came_back()
{
	awk '$1 == "fault_read" { n = $2 - n } END { print n + 0 }' "$dir/was" "$dir/is"
}

# step NODE OPERATION [KIND [SHARERS]]: do it; a line in $dir/counted if its count
# was not disturbed, and one in $dir/wrong if it was not what it should be.
step()
{
	local key="${3-} ${4-}"

	: >"$dir/expected"
	[ -z "${3-}" ] || expected "$3" "${4-0}" >"$dir/expected"
	# what has grown by now stood still at the end of the step before
	if [ -s "$dir/is" ]; then
		cp "$dir/is" "$dir/was"
	else
		count_to "$dir/was" || return 1
	fi
	act "$1" "$2" || return 1
	settle || return 1
	[ -n "${3-}" ] || return 0
	if grep -q '^retransmissions \|^home_moves_repeated ' "$dir/grown"; then
		disturbed=$((disturbed + 1))
		return 0
	fi
	if [ "$2" = read ] && [ "$(came_back)" -lt "$LINES_EACH" ]; then
		echo "$where: node $1 $2, $3: came back for $(came_back) of $LINES_EACH lines" \
			>>"$dir/wrong"
	elif cmp -s "$dir/grown" "$dir/expected"; then
		grep -q "^$key:" "$dir/counted" || echo "$key:$(row_of)" >>"$dir/counted"
	else
		echo "$where: node $1 $2, $3, sharers: ${4-none}; < counted, > expected:" \
			>>"$dir/wrong"
		# it says with 1 that they differ
		diff "$dir/grown" "$dir/expected" >"$dir/differ"
		grep '^[<>]' "$dir/differ" >>"$dir/wrong"
	fi
}

# row_of: messages a line and round trips a miss, from what has grown.
row_of()
{
	awk -v lines="$LINES_EACH" -v types="$TYPES" -v moved="$MOVED" -v misses="$MISSES" '
		BEGIN {	n = split(types, list, " ")
			for (i = 1; i <= n; i++) type[list[i]] = 1
			n = split(moved, list, " ")
			for (i = 1; i <= n; i++) delete type[list[i]]
			n = split(misses, list, " ")
			for (i = 1; i <= n; i++) miss["miss_" list[i]] = 1 }
		$1 in type { sum += $2; what = what sprintf(" %s %g", $1, $2 / lines) }
		$1 in miss { served += $2 }
		$1 == "miss_round_trips" { trips = $2 }
		END { printf "%.2f:%s:%s\n", sum / lines,
			served ? sprintf("%.2f", trips / served) : "-", what }' "$dir/grown"
}

# Steps that lead to all kinds: node, operation, kind, sharers.  Each chain begins
# and ends with lines that no node has.  A node that has read and then written lines twice before
# others took them would ask to write at once (docs/protocol.md).
CHAINS=(
	"1 write write_unshared; 1 evict eviction"
	"1 read read_unshared; 1 write upgrade 0; 1 evict eviction"
	"1 read read_unshared; 2 read read_shared 1; 3 read read_shared 2
	 4 read read_shared 3; 5 read read_shared 4; 1 write upgrade 4
	 2 read read_modified 0; 1 write upgrade_lent 1; 2 write write_modified; 2 evict eviction"
	"1 read read_unshared; 2 read read_shared 1; 1 write upgrade 1; 1 evict eviction"
	"5 read read_unshared; 2 read read_shared 1; 3 read read_shared 2; 5 write upgrade 2
	 4 read read_modified 0; 2 write write_lent 1; 2 evict eviction"
	"1 read read_unshared; 2 write write_shared 1; 2 evict eviction"
	"1 read read_unshared; 3 read read_shared 1; 2 write write_shared 2
	 1 read read_modified 0; 3 read read_modified 1; 2 write upgrade_lent 2; 2 evict eviction"
	"1 read read_unshared; 3 read read_shared 1; 4 read read_shared 2
	 2 write write_shared 3; 1 read read_modified 0; 3 read read_modified 1
	 4 read read_modified 2; 5 read read_shared 4; 2 write upgrade 4; 2 evict eviction"
	"1 read read_unshared; 3 read read_shared 1; 4 read read_shared 2
	 5 read read_shared 3; 2 write write_shared 4; 2 evict eviction"
	"1 read read_unshared; 2 read read_shared 1; 3 read read_shared 2
	 4 read read_shared 3; 1 write upgrade 3; 1 evict eviction"
)

# steps CHAIN: a line each.
steps()
{
	tr ';' '\n' <<<"$1" | sed 's/^[[:space:]]*//'
}

# chain CHAIN: once.
chain()
{
	local node operation kind sharers

	while read -r node operation kind sharers; do
		# shellcheck disable=SC2086  # without sharers there is no argument
		step "$node" "$operation" "$kind" $sharers || return 1
	done < <(steps "$1")
}

# counted CHAIN: all of its kinds were.
counted()
{
	local node operation kind sharers

	while read -r node operation kind sharers; do
		grep -q "^$kind $sharers:" "$dir/counted" || return 1
	done < <(steps "$1")
}

# marked: the blade has left its mark in the switch, as it does once, up to a second after it has
# told the switch the members (docs/protocol.md, "Lives of a directory"): an ADD that has
# nothing to do with what nodes do.  Then the switch has taken in one line more than the
# home has moved there.
marked()
{
	local added installed

	added=$(counters node1 memory | awk '$1 == "memory.total.lines_added" { print $2 }') &&
		installed=$(counters node1 switch | awk '$1 == "switch.counters.add" { print $2 }') &&
		[ -n "$added" ] && [ -n "$installed" ] || return 1
	echo "the switch has taken in $installed lines, $added of them from where they were used"
	[ "$installed" -gt "$added" ]
}

# A file, the lines of which no node has.  The first time that they are used they
# are at home; what follows meets them in the switch, if there is one.
begin_file()
{
	value=0
	file=/weft/budgets
	on node1 truncate -s $(((LINES_EACH + 1) * 3 * 4096)) "$file" &&
		step 1 write && step 1 evict
}

KINDS=("read_unshared " "read_shared 1" "read_shared 2" "read_shared 3" "read_shared 4"
	"read_modified 0" "read_modified 1" "read_modified 2" "write_unshared " "write_shared 1" "write_shared 2"
	"write_shared 3" "write_shared 4" "write_modified " "write_lent 1" "upgrade 0" "upgrade 1"
	"upgrade 2" "upgrade 3" "upgrade 4" "upgrade_lent 1" "upgrade_lent 2" "eviction ")

# measure WHERE: in the rack that is up; then its results.
measure()
{
	local chain try kind

	where=$1
	disturbed=0
	: >"$dir/is"
	: >"$dir/counted"
	: >"$dir/wrong"
	[ "$where" != switch ] || check "$where: the blade has left its mark" soon 60 marked || return
	check "$where: a file" begin_file || return
	for ((try = 1; try <= TRIES; try++)); do
		for chain in "${CHAINS[@]}"; do
			# a kind that was disturbed in one chain may be there by another
			[ $try = 1 ] || ! counted "$chain" || continue
			check "$where: $(steps "$chain" | sed -n '$=') steps, ${chain%%;*}, ..." \
				chain "$chain" || return
			[ ! -s "$dir/wrong" ] || break 2
		done
	done
	note "$where: $disturbed steps were disturbed by repeated messages"
	[ ! -s "$dir/wrong" ]
	report $? "$where: messages and round trips are those of the table" "$dir/wrong"
	for kind in "${KINDS[@]}"; do
		check "$where: $kind was counted" grep "^$kind:" "$dir/counted"
	done
	sed "s/^/$where:/" "$dir/counted" >>"$dir/all"
}

# table: what was counted, both directories beside each other.
table()
{
	local kind in_switch at_home

	echo "Messages and round trips of a miss, counted over $LINES_EACH lines each"
	echo
	printf '%-16s %-8s | %-8s %-6s | %-8s %-6s | %s\n' "" "other" "switch:" "round" \
		"home:" "round" "messages with the directory in the switch"
	printf '%-16s %-8s | %-8s %-6s | %-8s %-6s |\n' "miss" "sharers" "messages" "trips" \
		"messages" "trips"
	for kind in "${KINDS[@]}"; do
		in_switch=$(grep "^switch:$kind:" "$dir/all")
		at_home=$(grep "^home:$kind:" "$dir/all")
		printf '%-16s %-8s | %8s %6s | %8s %6s |%s\n' "${kind% *}" "${kind#* }" \
			"$(cut -d: -f3 <<<"$in_switch")" "$(cut -d: -f4 <<<"$in_switch")" \
			"$(cut -d: -f3 <<<"$at_home")" "$(cut -d: -f4 <<<"$at_home")" \
			"$(cut -d: -f5 <<<"$in_switch")"
	done
}

# ahead NODE HOW: reads a file that it does not have; how many blocks it asked for
# before it needed them.
ahead()
{
	local before after

	before=$(counters "$1" | awk '$1 == "node.counters.read_ahead" { print $2 }')
	on "$1" "$TOUCH" "$2" /weft/order "$LINES_EACH" 7 || return 1
	after=$(counters "$1" | awk '$1 == "node.counters.read_ahead" { print $2 }')
	echo $((after - before))
}

# in_order: what is read in order is read ahead, unless the program says that it
# will not be.
in_order()
{
	local found told

	on node1 truncate -s $(((LINES_EACH + 1) * 3 * 4096)) /weft/order &&
		on node1 "$TOUCH" write /weft/order "$LINES_EACH" 7 || return 1
	found=$(ahead node2 order) && told=$(ahead node3 random) || return 1
	echo "read ahead in order $found, with MADV_RANDOM $told"
	[ "$found" -ge "$LINES_EACH" ] && [ "$told" = 0 ]
}

built "$BIN/weftctl" "$TOUCH"
begin budgets
: >"$dir/all"
boot --nodes 5 --switch p4 --mem 512M --blade-mem 256M
measure switch
check "reading ahead follows madvise" in_order
end_rack
boot --nodes 5 --switch none --mem 512M --blade-mem 256M
measure home
end_rack
mkdir -p "$BUILD/tests"
table | tee "$BUILD/tests/budgets.txt"
finish
