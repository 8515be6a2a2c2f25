# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the tests of whole racks share; sourced by the scripts beside it, which run
# at the top of the tree:
#
#	. tests/system/common.sh
#	begin NAME			see tests/tap.sh
#	boot OPTION...			a rack, see weft-rack
#	check WHAT COMMAND...		as often as needed
#	end_rack			it ends well, then boot the next
#	finish
#
# One rack at a time, called NAME-PID.  It is ended whatever happens, no command runs
# without a time limit, and a complaint of a guest's kernel is a failure.
# What a suite keeps in a guest beside /weft is in the guest's /run: elsewhere files of the
# host show.
#
# Environment: that of tests/tap.sh; WEFT_TEST_SCALE multiplies the limits; that of
# weft-rack (WEFT_RACK_OPTIONS for a debug kernel: docs/contributing.md; WEFT_RACK_ACCEL, see
# tests/list); KVER, the kernel that the module is for, which user-mode kernels are not.

. tests/tap.sh

# Read by the scripts that include this one.
# shellcheck disable=SC2034
BIN=$BUILD/bin
RACK=tools/rack/weft-rack
SCALE=${WEFT_TEST_SCALE:-1}
BOOT_LIMIT=$((400 * SCALE))	# seconds to boot a rack
DOWN_LIMIT=$((100 * SCALE))
STEP_LIMIT=$((100 * SCALE))	# for anything that should take no time
FAILED_LIMIT=$((60 * SCALE))	# for the other nodes, when one has failed

nodes=0
up=
at_exit end_any

# end_any: whatever happened.
end_any()
{
	[ -z "$up" ] || timeout -k 20 "$DOWN_LIMIT" "$RACK" down --name "$run_name" >&2
}

# --- The rack ---------------------------------------------------------------

# limited SECONDS COMMAND...: in the background, so that a signal to the test is
# handled at once.
limited()
{
	timeout -k 20 "$@" </dev/null &
	wait $!
}

# rack ARGUMENT...: a short command of weft-rack.
rack()
{
	limited "$STEP_LIMIT" "$RACK" --name "$run_name" "$@"
}

# on WHERE COMMAND...
on()
{
	rack exec "$1" -- "${@:2}"
}

# boot OPTION...: nothing can be tested if that fails.
boot()
{
	local begin=$SECONDS i

	nodes=3
	for ((i = 1; i < $#; i++)); do
		[ "${!i}" != --nodes ] || nodes=${*:i+1:1}
	done
	up=1
	if ! limited "$BOOT_LIMIT" "$RACK" up --name "$run_name" --owner $$ "$@" \
			>"$dir/boot" 2>&1; then
		not_ok "a rack boots: $*" "$dir/boot"
		exit 1
	fi
	ok "a rack boots: $* ($((SECONDS - begin)) s)"
	# in what, and why in nothing faster
	sed -n 's/^weft-rack: booting [^:]*: /# /p' "$dir/boot"
}

# make_rdma ACCEL: what racks need for --rdma in the distribution's user-mode kernel, if that is
# what ACCEL takes; others have it.
make_rdma()
{
	case $(limited "$BOOT_LIMIT" "$RACK" accel --best "$1") in
	uml-package|uml-mended)
		check "RDMA for user-mode kernels is compiled" make -s B="$BUILD" uml-rdma ;;
	esac
}

# hopeless: a guest's kernel has complained, which tells more than all that fails after it: each
# step could take all its time.
hopeless()
{
	[ -n "$up" ] || return 1
	rack status >"$dir/complained" 2>&1
	grep -q 'its kernel complained' "$dir/complained" || return 1
	sed 's/^/# /' "$dir/complained"
}

# end_rack: all guests are there, no kernel has complained, and it ends.
end_rack()
{
	check "all guests are well" rack status
	down_rack
}

# down_rack: the same of a rack in which guests were killed.
down_rack()
{
	check "no kernel has complained, the rack ends" \
		limited "$DOWN_LIMIT" "$RACK" down --name "$run_name"
	up=
}

# restart_memd [BLADE [SECONDS]]: SIGKILL, and the same command again, after a while.
restart_memd()
{
	# shellcheck disable=SC2016  # for the guest's shell
	on "${1:-mem1}" bash -c '
		pid=$(pgrep -x weft-memd) || exit 1
		mapfile -d "" -t args <"/proc/$pid/cmdline"
		exe=$(readlink "/proc/$pid/exe")
		kill -KILL "$pid"
		while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
		sleep "$1"
		case " ${args[*]} " in *" --background "*) ;; *) args+=(--background) ;; esac
		"$exe" "${args[@]:1}" >>/var/log/weft-memd.log 2>&1' - "${2:-0}"
}

# rack_files: the directory of the rack's logs and states.
rack_files()
{
	rack status | sed -n 's/.*files in //p' | head -n 1
}

# guest_pid NAME: of the process that is this guest.  The one of a user-mode kernel knows itself by
# its number in a namespace of its own.
guest_pid()
{
	local files own pid

	files=$(rack_files)
	[ -e "$files/$1/uml/pid" ] || { pgrep -f -- "^qemu-.* -name $run_name-$1 "; return; }
	own=$(<"$files/$1/uml/pid")
	for pid in $(pgrep -f "uml_dir=$files/$1/"); do
		[ "$(awk '/^NSpid:/ && NF > 2 { print $NF }' "/proc/$pid/status")" != "$own" ] ||
			{ echo "$pid"; return; }
	done
	echo "no process is the kernel of $1" >&2
	return 1
}

# end_soon PID...: ends those of these jobs that are still running after $FAILED_LIMIT seconds.
end_soon()
{
	local end=$((SECONDS + FAILED_LIMIT)) left

	# the shell's own list: the number of a job that has ended may be another process' by now
	while left=$(jobs -pr | grep -Fx "${@/#/-e}"); do
		if [ $SECONDS -ge $end ]; then
			# shellcheck disable=SC2086  # numbers
			kill $left
			return
		fi
		sleep 0.5
	done
}

# on_nodes SECONDS COMMAND...: at once on all nodes; %K in an argument becomes the
# node's number, %N the number of nodes.  Output of node K in $dir/out.K.  Nodes may wait for
# each other for ever: when one has failed the others have $FAILED_LIMIT seconds left.
on_nodes()
{
	local limit=$1 k pids=() args ended status=0

	shift
	rm -f "$dir"/out.*
	for ((k = 1; k <= nodes; k++)); do
		args=("${@//%K/$k}")
		args=("${args[@]//%N/$nodes}")
		timeout -k 20 "$limit" "$RACK" --name "$run_name" exec "node$k" -- \
			"${args[@]}" >"$dir/out.$k" 2>&1 </dev/null &
		pids[k]=$!
	done
	while [ ${#pids[@]} -gt 0 ] && [ $status = 0 ]; do
		wait -n -p ended "${pids[@]}"
		status=$?
		for k in "${!pids[@]}"; do
			[ "${pids[k]}" != "$ended" ] || break
		done
		unset "pids[$k]"
	done
	[ $status != 0 ] || return 0
	echo "node $k: exit status $status (124: the limit of $limit s)"
	[ ${#pids[@]} = 0 ] || end_soon "${pids[@]}"
	for k in "${!pids[@]}"; do
		wait "${pids[k]}" ||
			echo "node $k: exit status $? (143: ended $FAILED_LIMIT s after another one had failed)"
	done
	tail -n "$NOISE" "$dir"/out.*
	return 1
}

# take DIRECTORY TO: what all nodes have in their own directory, to the host.
take()
{
	local k

	for ((k = 1; k <= nodes; k++)); do
		on "node$k" tar -C "$1" -c . >"$dir/taken.tar" &&
			tar -C "$2" -xf "$dir/taken.tar" || return 1
		rm "$dir/taken.tar"
	done
}

# --- Counters ---------------------------------------------------------------

# counters WHERE [WHAT]: "path value" lines of weftctl stats.
counters()
{
	on "$1" "$BIN/weftctl" -j stats "${2:-node}" | awk -f tools/demo/counters.awk
}

# remember: what the nodes have counted so far, for grown.
remember()
{
	local k

	rm -f "$dir"/after.*
	for ((k = 1; k <= nodes; k++)); do
		if ! counters "node$k" >"$dir/before.$k" || [ ! -s "$dir/before.$k" ]; then
			not_ok "node $k tells its counters" "$dir/before.$k"
			exit 1
		fi
	done
}

# look: what they have counted now.
look()
{
	local k

	for ((k = 1; k <= nodes; k++)); do
		counters "node$k" >"$dir/after.$k"
	done
}

# grown NAME...: by how much these counters of all nodes have grown from remember
# to look; nothing if there is no such counter.
grown()
{
	local k

	for ((k = 1; k <= nodes; k++)); do
		awk -v names="$*" '
			BEGIN { n = split(names, list, " ")
				for (i = 1; i <= n; i++)
					want["node.counters." list[i]] = 1 }
			!($1 in want) { next }
			FNR == NR { before[$1] = $2; next }
			{ printf "%.0f\n", $2 - before[$1] }
		' "$dir/before.$k" "$dir/after.$k"
	done | awk '{ sum += $1 } END { if (NR) printf "%.0f\n", sum }'
}

# granted NODE: locks that it has got from the directory.
granted()
{
	counters "$1" | awk '$1 == "node.counters.lock_granted" { print $2 }'
}

# more_granted N BEFORE...: each node has got N more than BEFORE (of node 1, of node 2, ...).
more_granted()
{
	local n=$1 k

	shift
	for ((k = 1; k <= nodes; k++)); do
		[ "$(granted "node$k")" -ge $((n + ${!k})) ] || return 1
	done
}

# locks_granted N: each node gets N locks from now on: a load on them goes on, and whatever
# comes next comes in the midst of it.
locks_granted()
{
	local before=() k

	for ((k = 1; k <= nodes; k++)); do
		before+=("$(granted "node$k")")
		[ -n "${before[k - 1]}" ] || return 1
	done
	soon 60 more_granted "$1" "${before[@]}"
}

# --- The network ------------------------------------------------------------

# faults NAME VALUE...: faults of the network, in pairs: "loss 0.05 dup 0.05".
faults()
{
	while [ $# -gt 1 ]; do
		rack wire set "$1" "$2" || return 1
		shift 2
	done
}

# wire_counted NAME: what the switch has counted on all its ports.
wire_counted()
{
	rack wire stats | awk -f tools/demo/counters.awk |
		awk -v name="$1" '
			$1 ~ "^ports[.][0-9]+[.]" name "$" { sum += $2; found = 1 }
			END { if (found) printf "%.0f\n", sum }'
}
