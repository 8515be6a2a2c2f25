# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tests/run --trouble: what an unlucky machine does to a suite.  Sourced by tests/run.
#
# The whole list runs twice at the same time, from this tree and from a second clone, in
# BUILD/trouble.  Their suites run with nice 19.  Of each suite, again and again, either
# everything stands still for up to 3 s, or each processor has a loop that is busy for that
# long.  When, for how long and which of the two follows from the seed, the clone and the
# name of the suite: so the same seed brings the same to a suite that is run alone.  After it
# the suite is left in peace for at least as long as that took: half of any time is its own.
#
# All that stands still does so at once, as on a machine that gets no processor: the control
# group of the suite is frozen, which nothing in it can see but from clocks.  Where there are
# no control groups that we may make, or WEFT_TEST_GROUPLESS is set, each process of the suite
# gets SIGSTOP, and SIGCONT after it: but not what the suite has stopped itself, nor what
# somebody traces, as user-mode kernels do with their programs, who would take the signal for
# an error of the program; it stands still when who traces it does.
#
# Nothing stays stopped: a process of a group of its own, which heeds no signal that can be
# ignored, stops the suite and lets it go on; if that one is killed, who began it lets the
# suite go on, and the other way round.  Busy loops have a limit of processor time.
#
# The clock does not jump here.  Only who may set the clock of the whole machine can make it
# jump; time namespaces have no wall clock of their own, and a preloaded library that tells
# another time (faketime) leaves the kernel's as it is: files, absolute time-outs and what is
# linked statically or with sanitizers would contradict it, as on no real machine.  Racks'
# guests have clocks of their own that a suite can set.
#
# tests/run counts the time of trouble as none that the suite had: its limit is longer by that
# much, and four times as long besides, for the priority, the second clone, and what is busy
# for other suites.  Limits of the suites' own are for half of the machine each
# (WEFT_TEST_SCALE), and know of nothing else.

TROUBLE_MOST=3000	# milliseconds of one trouble
TROUBLE_SOON=300	# half of the time the next one comes within so many,
TROUBLE_GAP=12000	# else within those, in suites that last; at first within:
TROUBLE_GAP_FIRST=1000
TROUBLE_SLOW=4		# what limits are multiplied with
TROUBLE_NICE=19
CLONE_LIMIT=600		# seconds for making the second clone
FREEZER=cgroup.freeze	# of a control group: the file that freezes it

# draw N: sets drawn to a number from 0 to N - 1 (N up to 2^23), the next one of the seed.
draw()
{
	random_state=$(((random_state * 1103515245 + 12345) & 0x7fffffff))
	drawn=$(((random_state >> 8) % $1))
}

# begin_draws NAME: for the trouble of this suite.
begin_draws()
{
	read -r random_state _ < <(cksum <<<"$trouble_seed $1")
	trouble_at=0
	trouble_ms=0
}

# next_trouble: sets trouble_gap, the milliseconds until it comes, trouble_ms, those that it
# takes, and trouble_kind.
next_trouble()
{
	local most=$((TROUBLE_GAP_FIRST + trouble_at / 4))

	[ $most -le $TROUBLE_GAP ] || most=$TROUBLE_GAP
	draw 2
	[ "$drawn" = 1 ] || most=$TROUBLE_SOON
	draw $most
	trouble_gap=$((trouble_ms + drawn))
	# As long as may be, or anything.
	draw 4
	trouble_ms=$TROUBLE_MOST
	if [ "$drawn" != 0 ]; then
		draw $((TROUBLE_MOST - 20))
		trouble_ms=$((20 + drawn))
	fi
	draw 3
	trouble_kind=still
	[ "$drawn" != 0 ] || trouble_kind=busy
	trouble_at=$((trouble_at + trouble_gap))
}

# trouble_within NAME SECONDS: sets troubled to how many seconds of trouble this suite has
# while it runs for so many.
trouble_within()
{
	local sum=0

	begin_draws "$1"
	while next_trouble; [ $trouble_at -lt $(($2 * 1000)) ]; do
		sum=$((sum + trouble_ms))
	done
	troubled=$(((sum + 999) / 1000))
}

# --- Standing still ---------------------------------------------------------

# may_stop PID: whether we may stop it: it is neither stopped nor traced.
may_stop()
{
	local key value

	while read -r key value _; do
		case $key in
		State:)		[[ $value != [TtZX] ]] || return 1 ;;
		TracerPid:)	[ "$value" = 0 ]; return ;;
		esac
	done 2>/dev/null <"/proc/$1/status"
	return 1
}

# stop_all: everything of the suite whose group is $trouble_group, or that has $trouble_mark.
# What is begun meanwhile is found when it is looked for again.
stop_all()
{
	local pid found turn

	if [ -n "$trouble_group" ]; then
		echo 1 >"$trouble_group/$FREEZER"
		return
	fi
	for turn in 1 2 3 4 5; do
		found=
		for pid in $(of_mark "$trouble_mark" | sort -n); do
			grep -qx "$pid" "$trouble_stopped" && continue
			may_stop "$pid" || continue
			# first, so that whoever comes after us knows
			echo "$pid" >>"$trouble_stopped"
			kill -STOP "$pid" 2>/dev/null && found=1
		done
		[ -n "$found" ] || return 0
	done
}

# go_on: what stop_all has stopped.  The youngest first: who is going to stop one of its
# children must not do so before that one has had its SIGCONT.
go_on()
{
	local pids

	if [ -n "$trouble_group" ]; then
		[ ! -e "$trouble_group/$FREEZER" ] || echo 0 >"$trouble_group/$FREEZER"
		return
	fi
	mapfile -t pids < <(sort -nr "$trouble_stopped")
	[ ${#pids[@]} = 0 ] || kill -CONT "${pids[@]}" 2>/dev/null
	: >"$trouble_stopped"
}

# hold MILLISECONDS: be the one who stops the suite and lets it go on.
hold()
{
	trap '' INT TERM HUP
	stop_all
	sleep "$(seconds_of "$1")"
	go_on
}

# spin: be busy, until we are killed, or have used more of a processor than we may.
spin()
{
	ulimit -t $((TROUBLE_MOST / 1000 + 1))
	while :; do :; done
}

# seconds_of MILLISECONDS
seconds_of()
{
	printf '%d.%03d\n' $(($1 / 1000)) $(($1 % 1000))
}

# say_trouble TEXT: in the log of the suite.
say_trouble()
{
	local time=$EPOCHREALTIME

	printf '# trouble: %(%T)T.%.3s: %s\n' "${time%[.,]*}" "${time#*[.,]}" "$1" >>"$trouble_log"
}

# end_holders: whoever works for us is killed, and what they have stopped goes on.
end_holders()
{
	local pid

	# each leads a group: with what it runs
	for pid in $(jobs -p); do kill -KILL -- "-$pid" 2>/dev/null; done
	wait 2>/dev/null	# the shell would tell what killed them
	go_on
}

# trouble_suite NAME LOG MARK GROUP FILES RUNNER: trouble for a suite until we are told to
# end, or RUNNER, who would tell us, is gone.  Its processes are in the control group GROUP or,
# if that is empty, have the mark.  FILES begins the names of our files: in FILES.troubled is
# for how many milliseconds the suite was in trouble.
trouble_suite()
{
	local name=$1 runner=$6 start total=0 i

	trouble_log=$2 trouble_mark=$3 trouble_group=$4 trouble_stopped=$5.stopped
	[ -w "$4/$FREEZER" ] || trouble_group=
	: >"$trouble_stopped"
	trap 'end_holders; exit 0' TERM INT HUP
	set -m			# who works for us leads a group
	begin_draws "$name"
	while next_trouble; do
		sleep "$(seconds_of "$trouble_gap")" &
		wait $!
		kill -0 "$runner" 2>/dev/null || break
		now
		start=$now
		if [ "$trouble_kind" = still ]; then
			say_trouble "everything stands still for $trouble_ms ms"
			hold "$trouble_ms" &
			wait $!
		else
			say_trouble "all processors are busy for $trouble_ms ms"
			for ((i = 0; i < processors; i++)); do spin & done
			sleep "$(seconds_of "$trouble_ms")" &
			wait $!
		fi
		end_holders
		now
		total=$((total + now - start))
		echo "$total" >"$5.troubled"
		say_trouble "goes on, after $((now - start)) ms"
	done
	end_holders
}

# --- Two clones -------------------------------------------------------------

# make_clone: a second clone beside this tree, as it is: sets clone.  Those that a run which was
# killed has left are taken away.
make_clone()
{
	local dir pid

	for dir in "$BUILD"/trouble/clone.*; do
		pid=${dir##*.}
		[ ! -d "$dir" ] || kill -0 "$pid" 2>/dev/null || rm -rf "$dir"
	done
	clone=$BUILD/trouble/clone.$$
	mkdir -p "$clone/build" &&
		copy_but . "$clone" ! -name build ! -samefile "$BUILD" &&
		copy_but "$BUILD" "$clone/build" ! -name trouble
}

# copy_but FROM TO CONDITION...: what is in a directory and meets find's conditions.
copy_but()
{
	find "$1" -mindepth 1 -maxdepth 1 "${@:3}" -print0 |
		timeout "$CLONE_LIMIT" xargs -0 -r cp -a --reflink=auto -t "$2"
}

# end_clones: whatever happened.
end_clones()
{
	local pid

	trap '' INT TERM HUP
	for pid in "${clone_pids[@]}"; do kill -TERM "$pid" 2>/dev/null; done
	wait
	rm -rf "$clone" "$results"
}

# add_summary FILE: add what it says to passed, failed and skipped.
add_summary()
{
	local a b c

	IFS=' ,' read -r a _ b _ c _ <"$1" 2>/dev/null || return
	passed=$((passed + a)) failed=$((failed + b)) skipped=$((skipped + c))
}

# run_troubled OPTION...: the list in two clones at the same time; the options are tests/run's.
# The logs of the second one are beside those of the first, as the clone will be gone.
run_troubled()
{
	local status=0 i tree=$PWD build=$BUILD logs=$BUILD/tests/log

	echo "# trouble: seed $trouble_seed: with it a suite has the same trouble again," \
		"alone or with others"
	clone=
	clone_pids=()
	results=$(mktemp -d) || die "cannot make a temporary directory"
	trap 'end_clones; exit 130' INT TERM HUP
	make_clone || { end_clones; die "cannot make a second clone in $BUILD/trouble"; }
	for i in 1 2; do
		mkdir -p "$build/tests"
		rm -f "$build/tests/summary"
		mkfifo "$results/$i"
		# Also what they say when all are told to end.
		(trap '' INT TERM HUP; exec sed -u "s/^/$i: /") <"$results/$i" &
		BUILD=$build WEFT_TEST_SPEED=$((speed * 2)) "$tree/tests/run" \
			--troubled "$trouble_seed.$i:$logs" "$@" >"$results/$i" 2>&1 &
		clone_pids+=($!)
		tree=$clone build=$clone/build logs+=-2
	done
	for i in "${clone_pids[@]}"; do wait "$i" || status=1; done
	clone_pids=()
	wait			# for their last lines
	add_summary "$BUILD/tests/summary" && add_summary "$clone/build/tests/summary" || status=1
	end_clones
	summary >"$BUILD/tests/summary"
	echo "# trouble: seed $trouble_seed"
	summary
	[ $status = 0 ] && [ "$failed" = 0 ]
}
