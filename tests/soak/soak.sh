#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Random work while random things happen to the rack:
#
#	node1 node2 node3 ... mem1 mem2 -- P4 switch
#
# On each node a process of each kind works on /weft (tests/soak/worker.c): blocks under locks
# that guard them, under robust mutexes, under locks of a region with durability=release, more
# blocks than the cache has room for, words by atomic operations, records made safe by
# fsync() with durability=sync.  Each writes down what it did.  Meanwhile, drawn from a seed:
#
#	kill		the plug of a node is pulled, and it boots when it was taken out
#	reboot		the same, and it boots at once
#	cut, stop	its cable is cut, or it stands still, for longer than the lease
#	fence		it is taken out by hand
#	short-cut, short-stop	for less than that
#	wire		frames are lost, repeated, late, in another order, damaged
#	blade		weft-memd is killed, of any blade, and started again
#	two-blades	of both, and both are started at the same time
#	machine		the machine of a blade ends, for all that it and nodes can see
#	cut-blade	a blade's cable is cut, for less than the lease
#	cut-first	that of the first blade, for longer
#	move		a region moves to one of the blades, or to both
#	switch		the switch forgets everything, as if it had restarted
#	worker		a process is killed
#	two		two nodes die together
#	kill-blade, kill-switch, kill-move	a node dies, and that as well
#	blade-move	a blade is killed while a region moves
#	fence-blade	a node is taken out by hand, and the first blade ends before all have heard
#
# One in four happens while the network is bad, too.
#
# In a rack with RDMA blocks land, from blades and from nodes, and nodes read at blades by
# themselves, until they boot again: then if that is faster.  Blades have no file there, so none
# of them dies.
#
# Then soak-check proves that everything is as docs/failures.md promises, but for what these
# deaths explain, that nobody hung, and no kernel has complained.
#
#	tests/soak/soak.sh [FAULT...]		only these
#
# Environment: BUILD; WEFT_SOAK_SECONDS (100), of work; WEFT_SOAK_SEED (from the clock);
# WEFT_SOAK_NODES (3, to 6); WEFT_SOAK_LEASE (3000), milliseconds; WEFT_SOAK_PAUSE (10000),
# microseconds between a process' operations; WEFT_SOAK_RDMA, 1: with RDMA;
# WEFT_SOAK_KEEP, a directory for the history.
# Racks of user-mode kernels only: their nodes have one clock.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

SECONDS_RUN=${WEFT_SOAK_SECONDS:-100}
SEED=${WEFT_SOAK_SEED:-$(($(date +%s%N) / 1000 % 1000000000))}
NODES=${WEFT_SOAK_NODES:-3}
# User-mode kernels are slow only while others are at work, too.
SLOW=$((SCALE < 3 ? SCALE : 3))
LEASE=$((${WEFT_SOAK_LEASE:-3000} * SLOW))
# Programs give up after 30 s, and that they do is right.
[ "$LEASE" -le 20000 ] || LEASE=20000
PAUSE=${WEFT_SOAK_PAUSE:-10000}
SHORT=$((LEASE / 3))			# milliseconds of what is no death
MOMENT=$((5000 * SLOW))		# within which all goes on when nothing stands in the way
AWAY_LIMIT=15000			# of a new life of a directory: how long it waits for a node
OUT_LIMIT=$((LEASE / 1000 + 30 * SCALE))	# seconds until a node is taken out
BACK_LIMIT=$((60 * SCALE))		# seconds until it is a member again
CTL=$BIN/weftctl
WORKER=$BUILD/tests/soak-worker
CHECKER=$BUILD/tests/soak-check
PRELOAD=$BUILD/lib/libweft-preload.so
STOP=/run/soak-stop
FAULTS=(kill reboot cut stop fence short-cut short-stop wire blade two-blades machine cut-blade
	cut-first move blade-move switch worker worker two kill-blade kill-switch kill-move
	fence-blade)

RDMA=${WEFT_SOAK_RDMA:-0}
[ "$RDMA" = 0 ] || FAULTS=(kill reboot cut stop fence short-cut short-stop wire cut-blade cut-first
	move switch worker worker two kill-switch kill-move)

launch=0
deaths=0
complained=0
unfinished=			# a fault that did not come to its end
declare -A worker=() watcher=() joined=() done_faults=()

# --- Time and chance --------------------------------------------------------------

now()
{
	"$WORKER" now "$KHZ"
}

# draw N: set drawn to one of 0 to N - 1.  Not by a subshell, whose numbers are its own.
draw()
{
	drawn=$(((RANDOM << 15 | RANDOM) % $1))
}

# any_node: set node to one that is there: all are between two faults.
any_node()
{
	draw "$NODES"
	node=$((drawn + 1))
}

# pause LEAST MORE: milliseconds.
pause()
{
	draw "$2"
	sleep "$(printf '%d.%03d' $((($1 + drawn) / 1000)) $((($1 + drawn) % 1000)))"
}

event()
{
	echo "$*" >>"$history/script"
}

# fault NAME NODE SINCE BOUND: until now.
fault()
{
	event F "$1" "$2" "$3" "$(now)" "$4"
	done_faults[$1]=$((${done_faults[$1]-0} + 1))
}

# --- Workers ----------------------------------------------------------------------

# work N: its processes, until they are stopped.
work()
{
	local n=$1

	launch=$((launch + 1))
	timeout -k 20 $((SECONDS_RUN * 4 + 1000)) "$RACK" --name "$run_name" exec "node$n" -- \
		env LD_PRELOAD="$PRELOAD" WEFTCTL="$CTL" "$WORKER" work /weft "$n" $((launch * 1000)) \
		$((SECONDS_RUN * 3 + 900)) "$STOP" $((SEED + launch)) "$KHZ" "$PAUSE" \
		>"$history/node$n.$launch" 2>>"$history/errors.$n" </dev/null &
	worker[$n]=$!
	# what the node's kernel has to tell, why an access failed among it
	! kill "${watcher[$n]-}" 2>/dev/null || wait "${watcher[$n]}"
	timeout -k 20 $((SECONDS_RUN * 4 + 1000)) "$RACK" --name "$run_name" exec "node$n" -- \
		"$CTL" monitor >>"$history/events.$n" 2>&1 </dev/null &
	watcher[$n]=$!
}

regions()
{
	on node1 env LD_PRELOAD="$PRELOAD" "$WORKER" make /weft &&
		on node1 "$CTL" region set soak-release durability=release &&
		{ [ "$RDMA" = 1 ] || on node1 "$CTL" region set soak-sync durability=sync; }
}

# --- What the first blade says ----------------------------------------------------

# times WHAT N: how often it has logged that of a node.
times()
{
	on mem1 grep -cE "node $2 .*$1" /var/log/weft-memd.log
}

# grown_to WHAT N TIMES SECONDS
grown_to()
{
	local end=$((SECONDS + $4))

	until [ "$(times "$1" "$2")" -ge "$3" ]; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

OUT='is taken out of the rack'

# nobody_else: who was taken out is whom we meant to.
nobody_else()
{
	local n bad=0

	for ((n = 1; n <= NODES; n++)); do
		equal "$((${joined[$n]-0}))" "$(times "$OUT" "$n")" && continue
		echo "node $n is taken out, and nothing had happened to it"
		bad=1
	done
	[ $bad = 0 ] || on mem1 tail -n 40 /var/log/weft-memd.log
	return $bad
}

# --- Deaths -----------------------------------------------------------------------

# signal N STOP|CONT
signal()
{
	local pid

	pid=$(guest_pid "node$1") && kill "-$2" "$pid"
}

# kernel_complains NAME: a guest that boots again begins a new log.
kernel_complains()
{
	"$BIN/weft-rackio" scan "$files/$1/console.log" "$1" >&2 || complained=1
}

begin_death()
{
	case $1 in
	kill|reboot)
		rack kill "node$2" ;;
	cut)	rack wire cut "node$2" ;;
	stop)	signal "$2" STOP ;;
	fence)	on "node$(($2 % NODES + 1))" "$CTL" node fence "$2" ;;
	esac
}

end_death()
{
	case $1 in
	kill|reboot)
		kernel_complains "node$2"
		limited "$BOOT_LIMIT" "$RACK" --name "$run_name" boot "node$2" ;;
	cut)	rack wire heal "node$2" ;;
	stop)	signal "$2" CONT ;;
	esac
}

# What nodes have let go of without its data being home, all together.
let_go()
{
	local n

	for ((n = 1; n <= NODES; n++)); do
		counters "node$n"
	done | awk '/[.](lock_unsafe|unsafe_blocks) / { n += $2 } END { print n + 0 }'
}

# list DEATH: what is lost, which is accepted then.
list()
{
	local on_node=node$1 name

	on "$on_node" "$CTL" line lost >"$dir/lost" || return 1
	awk -v d="$2" 'NR > 1 { print "L", d, $2, $3, $4 }' "$dir/lost" >>"$history/script"
	event Y "$2"
	awk 'NR > 1 { print $4 }' "$dir/lost" | sort -u >"$dir/regions"
	while read -r name; do
		on "$on_node" "$CTL" line lost "$name" --accept || return 1
	done <"$dir/regions"
}

# die NAME HOW:NODE... [with COMMAND...]: they die together, and come back.
die()
{
	local name=$1 each n how begun bound=$((LEASE + MOMENT)) who=() with=() survivor=0
	local before after first=$((deaths + 1))
	local -A iso=() sure=() out=() heal=() back=()

	shift
	while [ $# -gt 0 ] && [ "$1" != with ]; do
		who+=("$1")
		shift
	done
	with=("${@:2}")
	[ ${#with[@]} = 0 ] || bound=$((bound + AWAY_LIMIT))
	before=$(let_go)
	begun=$(now)
	for each in "${who[@]}"; do
		n=${each#*:}
		iso[$n]=$(now)
		begin_death "${each%:*}" "$n" || { echo "$each does not happen"; return 1; }
		sure[$n]=$(now)
	done
	[ ${#with[@]} = 0 ] || "${with[@]}" || return 1
	for each in "${who[@]}"; do
		n=${each#*:}
		[ "${each%:*}" = reboot ] || continue
		heal[$n]=$(now)
		end_death reboot "$n" || { echo "$each does not boot"; return 1; }
	done
	for each in "${who[@]}"; do
		n=${each#*:}
		joined[$n]=$((${joined[$n]-0} + 1))
		grown_to "$OUT" "$n" "${joined[$n]}" "$OUT_LIMIT" ||
			{ echo "node $n is not taken out"; return 1; }
		out[$n]=$(now)
		# what it did until it heard of it
		[ "${each%:*}" != fence ] || sure[$n]=${out[$n]} heal[$n]=${out[$n]}
	done
	pause 200 1500
	for each in "${who[@]}"; do
		[ -z "${heal[${each#*:}]-}" ] || continue
		heal[${each#*:}]=$(now)
		end_death "${each%:*}" "${each#*:}" || { echo "$each does not end"; return 1; }
	done
	for each in "${who[@]}"; do
		n=${each#*:} how=${each%:*}
		grown_to joins "$n" $((joined[$n] + 1)) "$BACK_LIMIT" ||
			{ echo "node $n does not join again"; return 1; }
		back[$n]=$(now)
		deaths=$((deaths + 1))
		event D "$deaths" "$n" "$how" "${iso[$n]}" "${sure[$n]}" "${out[$n]}" "${heal[$n]}" \
			"${back[$n]}"
		case $how in
		kill|reboot) wait "${worker[$n]}"; work "$n" ;;
		esac
	done
	for ((n = 1; n <= NODES; n++)); do
		[ -n "${iso[$n]-}" ] || survivor=$n
	done
	list "$survivor" "$first" || { echo "no list of what is lost"; return 1; }
	after=$(let_go)
	[ "$after" -le "$before" ] || event U "$begun" "$(now)"
	fault "$name" "${who[0]#*:}" "$begun" "$bound"
}

# blade_away SECONDS BLADE
blade_away()
{
	local begun

	begun=$(now)
	restart_memd "mem$2" "$1" || { echo "a blade does not restart"; return 1; }
	event B "$begun" "$(now)"
}

# both_away: killed together, started together.
both_away()
{
	local begun pid bad=0

	begun=$(now)
	restart_memd mem2 0.5 &
	pid=$!
	restart_memd mem1 0.5 || bad=1
	wait $pid || bad=1
	[ $bad = 0 ] || { echo "a blade does not restart"; return 1; }
	event B "$begun" "$(now)"
}

# machine_ends BLADE: all of its file had reached the disk, which nobody knows.
machine_ends()
{
	local begun

	begun=$(now)
	on "mem$1" env BUILD="$BUILD" tests/system/durable-blade.sh end ||
		{ echo "a blade does not restart"; return 1; }
	event B "$begun" "$(now)"
	event M "$begun" "$(now)"
}

# cut_blade BLADE MILLISECONDS MORE
cut_blade()
{
	rack wire cut "mem$1" && pause "$2" "$3" && rack wire heal "mem$1"
}

# moves SECONDS [COMMAND...]: a region gets other homes, and COMMAND is run while it does.
moves()
{
	local begun limit=$1 homes=(1 2 "1,2") region to pid bad=0

	shift
	begun=$(now)
	draw ${#KINDS[@]}
	region=${KINDS[drawn]}
	draw 3
	to=${homes[drawn]}
	on "node$((RANDOM % NODES + 1))" timeout "$limit" "$CTL" region move "$region" \
		"$to" --wait "$limit" >"$dir/move" 2>&1 &
	pid=$!
	[ $# = 0 ] || { pause 1 600 && "$@"; } || bad=1
	wait $pid || { echo "$region does not move to $to"; cat "$dir/move"; bad=1; }
	event B "$begun" "$(now)"
	return $bad
}

# begins_to_move: a region, while a node dies, which may be the one that would wait for it.
begins_to_move()
{
	local begun homes=(1 2 "1,2") region

	begun=$(now)
	draw ${#KINDS[@]}
	region=${KINDS[drawn]}
	draw 3
	on "node$((node % NODES + 1))" "$CTL" region move "$region" "${homes[drawn]}" || return 1
	# it goes on until the dead node is taken out
	event B "$begun" $(($(now) + (LEASE + MOMENT) * 1000000))
}

# forgets: the switch does, and its lines' homes begin anew.
forgets()
{
	local begun

	begun=$(now)
	rack wire clear || return 1
	event B "$begun" "$(now)"
}

bad_network()
{
	faults loss 0.02 dup 0.02 reorder 0.05 delay 300 corrupt 0.01
}

good_network()
{
	faults loss 0 dup 0 reorder 0 delay 0 corrupt 0
}

# --- One fault --------------------------------------------------------------------

happens()
{
	local name=$1 begun blade

	any_node
	draw 2
	blade=$((drawn + 1))
	begun=$(now)
	case $name in
	kill|reboot|cut|stop|fence)
		die "$name" "$name:$node" ;;
	two)	die two "kill:$node" "kill:$((node % NODES + 1))" ;;
	kill-blade)
		die "$name" "kill:$node" with blade_away 0.5 "$blade" ;;
	fence-blade)
		die "$name" "fence:$node" with blade_away 0.5 1 ;;
	kill-switch)
		die "$name" "kill:$node" with forgets ;;
	short-cut)
		rack wire cut "node$node" && pause $((SHORT / 4)) "$SHORT" &&
			rack wire heal "node$node" && pause 500 1000 &&
			fault "$name" "$node" "$begun" $((SHORT + MOMENT)) ;;
	short-stop)
		signal "$node" STOP && pause $((SHORT / 4)) "$SHORT" &&
			signal "$node" CONT && pause 500 1000 &&
			fault "$name" "$node" "$begun" $((SHORT + MOMENT)) ;;
	wire)	bad_network && pause 3000 3000 && good_network &&
			fault "$name" 0 "$begun" "$MOMENT" ;;
	blade)	blade_away 0.5 "$blade" && pause 1500 1500 &&
			fault "$name" 0 "$begun" $((MOMENT * 2)) ;;
	two-blades)
		both_away && pause 2500 1500 &&
			fault "$name" 0 "$begun" $((MOMENT * 3)) ;;
	machine)
		machine_ends "$blade" && pause 1500 1500 &&
			fault "$name" 0 "$begun" $((MOMENT * 2)) ;;
	cut-blade)
		cut_blade "$blade" $((SHORT / 4)) "$SHORT" && pause 500 1000 &&
			fault "$name" 0 "$begun" $((SHORT + MOMENT)) ;;
	cut-first)
		cut_blade 1 $((LEASE * 5 / 4)) "$SHORT" && pause 1500 1500 &&
			fault "$name" 0 "$begun" $((LEASE * 5 / 4 + SHORT + MOMENT)) ;;
	move)	moves $((30 * SLOW)) && pause 500 500 && fault "$name" 0 "$begun" $((MOMENT * 2)) ;;
	blade-move)
		moves $((60 * SLOW)) blade_away 0.5 "$blade" && pause 1500 1500 &&
			fault "$name" 0 "$begun" $((MOMENT * 3)) ;;
	kill-move)
		die "$name" "kill:$node" with begins_to_move ;;
	switch)	forgets && pause 1000 1000 && fault "$name" 0 "$begun" $((MOMENT * 2)) ;;
	worker)	draw ${#KINDS[@]}
		on "node$node" pkill -KILL -x "${KINDS[drawn]}"
		pause 500 500
		fault "$name" 0 "$begun" "$MOMENT" ;;
	*)	echo "there is no fault '$name'"
		return 1 ;;
	esac
}
KINDS=(soak-guarded soak-mutex soak-release soak-big soak-word soak-sync)

# all_kinds: of a pack of cards: each is drawn before one is drawn again.
all_kinds()
{
	local end=$((SECONDS + SECONDS_RUN)) pack=() i noise

	while [ "$SECONDS" -lt "$end" ] && [ "$failures" = 0 ]; do
		[ ${#pack[@]} -gt 0 ] || pack=("${FAULTS[@]}")
		draw ${#pack[@]}
		i=$drawn
		noise=
		draw 4
		if [ "$drawn" = 0 ] && [ "${pack[i]}" != wire ]; then
			noise=", in a bad network"
			bad_network
		fi
		check "${pack[i]}$noise" happens "${pack[i]}"
		[ "$failures" = 0 ] || unfinished=${pack[i]}
		[ -z "$noise" ] || good_network
		pack=("${pack[@]:0:i}" "${pack[@]:i+1}")
		pause 500 1500
	done
}

has_ended()
{
	! kill -0 "$1" 2>/dev/null
}

# ended: all of them, in time.
ended()
{
	local n bad=0

	on nodes touch "$STOP"
	for n in "${!worker[@]}"; do
		soon 30 has_ended "${worker[$n]}" || kill "${worker[$n]}"
		wait "${worker[$n]}" || { echo "node $n: exit status $?"; bad=1; }
		! kill "${watcher[$n]}" 2>/dev/null || wait "${watcher[$n]}"
		cat "$history/errors.$n"
	done
	return $bad
}

looked()
{
	local n

	event O "$(now)"
	for ((n = 1; n <= NODES; n++)); do
		launch=$((launch + 1))
		on "node$n" env LD_PRELOAD="$PRELOAD" "$WORKER" look /weft "$n" $((launch * 1000)) \
			"$KHZ" >"$history/look.$n" || return 1
	done
}

# stood_still: when this machine did, by the workers' clock.
stood_still()
{
	local ahead=$(($(now) - $(now_ms) * 1000000)) end ms

	while read -r end ms; do
		end=$((end * 1000000 + ahead))
		event P $((end - ms * 1000000)) $end "$LEASE"
		note "this machine stood still for $ms ms"
	done <"$dir/stood"
}

# judged: and each kind has done something.
judged()
{
	if ! "$CHECKER" --bound "$MOMENT" "$history/script" "$history"/node* "$history"/look.*; then
		echo "what was done when, in nanoseconds, see read.c:"
		grep '^[BDFMPU] ' "$history/script"
		echo "accesses that have failed:"
		grep -H 'failed' "$history"/events.*
		return 1
	fi
	sed -n 's/^operations: //p' "$dir/check" | tr -d ';' |
		awk -v least=$((SECONDS_RUN * NODES)) '{ for (i = 2; i <= 12; i += 2)
			if ($i < least) bad = 1; if (NF < 12) bad = 1 } END { exit bad || !NR }'
}

# counted NAME: at all nodes, since they have booted.
counted()
{
	local n

	for ((n = 1; n <= NODES; n++)); do
		counters "node$n"
	done | awk -v name="node.counters.$1" '$1 == name { n += $2 } END { print n + 0 }'
}

# keep_history: for who wants to know what went wrong.
keep_history()
{
	local name

	[ -n "${WEFT_SOAK_KEEP-}" ] || return 0
	mkdir -p "$WEFT_SOAK_KEEP" && cp -r "$history"/. "$WEFT_SOAK_KEEP/"
	for name in mem1 mem2; do
		on "$name" cat /var/log/weft-memd.log >"$WEFT_SOAK_KEEP/log.$name"
	done
	for ((n = 1; n <= NODES; n++)); do
		rack log "node$n" >"$WEFT_SOAK_KEEP/log.node$n"
	done
}

built "$WORKER" "$CHECKER" "$PRELOAD"
begin soak
[ $# = 0 ] || FAULTS=("$@")
RANDOM=$((SEED % 2147483647))
KHZ=$("$BIN/weft-rackio" tsc) || { skip "soak" "this machine's clock cannot be read by programs"; finish; exit; }
history=$dir/history
mkdir "$history"
watch_clock
note "seed $SEED: WEFT_SOAK_SEED=$SEED WEFT_SOAK_SECONDS=$SECONDS_RUN WEFT_SOAK_NODES=$NODES WEFT_SOAK_RDMA=$RDMA"
if [ "$RDMA" = 1 ]; then
	make_rdma fast
	kept=(--rdma all --memd-options "--lease $LEASE")
else
	kept=(--memd-options "--lease $LEASE --backing /root/blade")
fi
boot --nodes "$NODES" --blades 2 --switch p4 --cache 2M --mem 256M --blade-mem 64M \
	"${kept[@]}"
files=$(rack_files)
[ "$RDMA" = 0 ] || check "nodes read at blades by themselves" on nodes \
	sh -c 'echo 2 >/sys/module/weft_rdma/parameters/direct'
check "regions" regions
for ((n = 1; n <= NODES; n++)); do
	work "$n"
done
all_kinds
check "all processes end" ended
if [ "$RDMA" = 1 ]; then
	note "$(counted blocks_landed) blocks landed, $(counted blocks_read) of them read at blades," \
		"$(counted deeds_outdated) deeds were outdated"
	check "blocks have landed" at_least 1 "$(counted blocks_landed)"
fi
check "only nodes that something had happened to were taken out" nobody_else
check "each node finds all there is" looked
stood_still
keep_history
# What follows from such a fault is not in the script, and would count as wrong.
if [ -n "$unfinished" ]; then
	note "what they did is not judged, as '$unfinished' did not come to its end"
else
	check "all is as was promised" judged
	show
fi
for name in "${!done_faults[@]}"; do
	echo "$name ${done_faults[$name]}"
done | sort | tr '\n' ',' | sed 's/^/# faults: /; s/,$/\n/'
note "seed $SEED"
check "no kernel that was killed had complained" equal 0 "$complained"
down_rack
finish
