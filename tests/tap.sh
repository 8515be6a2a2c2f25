# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What all test suites in shell share: results as TAP, a directory for files, and that
# nothing of a suite is left when it has ended.  Sourced at the top of the tree:
#
#	. tests/tap.sh
#	begin NAME
#	check "what must hold" COMMAND...	as often as needed
#	finish
#
# What a check prints is in $dir/check until the next one; of a check that fails, the
# end of it and the exit status are shown, as comments.  What else helps to understand a
# failure is what details() prints, if the suite has such a function.  It ends with such a
# check if it has a function hopeless() that succeeds then: nothing else could be tested.
#
# A suite whose caller may select says pattern=$1: then only checks run with that text
# in their names.
#
# Environment: BUILD, the build directory; TMPDIR.

BUILD=${BUILD:-$PWD/build}
export BUILD LC_ALL=C
NOISE=40		# lines of each kind shown with a failure
number=0
failures=0
checking=		# what is checked just now
pattern=
exit_commands=()

# --- Beginning and end ------------------------------------------------------------

# begin NAME [PARENT]: $dir is a directory of this run, below PARENT, and $run_name is
# what no other suite that runs is called.
begin()
{
	run_name=$1-$$
	dir=$(mktemp -d "${2:-${TMPDIR:-/tmp}}/weft-$run_name.XXXXXX") || exit 2
	begun_by=$BASHPID
	exec {said}>&2		# also for a trap in the midst of a check
	trap cleanup EXIT
	trap 'ended_by INT' INT
	trap 'ended_by TERM' TERM
	trap 'ended_by HUP' HUP
}

# ended_by SIGNAL
# shellcheck disable=SC2317,SC2329  # called by a trap
ended_by()
{
	[ "$BASHPID" != "$begun_by" ] || echo "# $0: ended by SIG$1" >&"$said"
	exit 1
}

# in_memory: print where files are kept in memory, if there is such a place.
in_memory()
{
	if [ -w /dev/shm ]; then
		echo /dev/shm
	else
		echo "${TMPDIR:-/tmp}"
	fi
}

# claim_ports: $port is the first of 16 ports, of UDP and of TCP, that no other test and no
# other program has: they are this suite's until it ends.
claim_ports()
{
	local from

	built "$BUILD/tests/runner-ports"
	exec {from}< <(exec "$BUILD/tests/runner-ports")
	at_exit kill $!
	read -r port <&"$from" && [ -n "$port" ] && return
	echo "$0: no ports are free" >&2
	exit 2
}

# at_exit COMMAND...: however the suite ends; what was added last comes first.
at_exit()
{
	exit_commands=("$(printf '%q ' "$@")" "${exit_commands[@]}")
}

# end_jobs: tell what runs in the background to end.  A signal that finds one of them between
# fork and exec is lost with the traps that the shell takes back there: so those that still
# run are told again, a few times.
# shellcheck disable=SC2317,SC2329  # called by a trap
end_jobs()
{
	local pids pause

	for pause in 0.02 0.1 0.3 1 3; do
		mapfile -t pids < <(jobs -pr)
		[ ${#pids[@]} -gt 0 ] || return
		kill "${pids[@]}" 2>/dev/null
		sleep $pause
	done
}

# shellcheck disable=SC2317,SC2329  # called by a trap
cleanup()
{
	local command

	# What the suite runs in the background still has its traps for a moment.
	[ "$BASHPID" = "$begun_by" ] || return
	trap - EXIT
	trap '' INT TERM HUP
	# What ended the suite, if it was no signal, stands in there.
	[ -z "$checking" ] || {
		echo "# $0: ended in the midst of: $checking"
		tail -n "$NOISE" "$dir/check" | sed 's/^/# /'
	} >&"$said"
	end_jobs
	for command in "${exit_commands[@]}"; do
		eval "$command"
	done
	rm -rf "$dir"
}

# built FILE...: nothing can be tested without them.
built()
{
	local file

	for file; do
		[ -e "$file" ] && continue
		echo "$0: $file is not built: run make test-programs" >&2
		exit 2
	done
}

# finish: the last command of a suite, whose exit status it gives: without a check
# nothing was tested.
finish()
{
	echo "1..$number"
	[ "$number" -gt 0 ] && [ "$failures" = 0 ]
}

# --- Results ------------------------------------------------------------------------

ok()
{
	echo "ok $((++number)) - $1"
}

# not_ok NAME [FILE...]: the files tell why.
not_ok()
{
	echo "not ok $((++number)) - $1"
	failures=$((failures + 1))
	{
		[ $# = 1 ] || tail -q -n "$NOISE" "${@:2}" 2>/dev/null
		[ "$(type -t details)" != function ] || details 2>&1 | tail -n "$NOISE"
	} | cut -c 1-2000 | sed 's/^/# /'
}

# skip NAME REASON: what cannot be tested here.
skip()
{
	echo "ok $((++number)) - $1 # SKIP $2"
}

# report STATUS NAME [FILE...]: what came of a test that was made already.
report()
{
	if [ "$1" = 0 ]; then
		ok "$2"
	else
		not_ok "${@:2}"
	fi
}

note()
{
	echo "# $*"
}

# show: what the last check has printed.
show()
{
	sed 's/^/# /' "$dir/check"
}

# check NAME COMMAND...: the command must succeed.  It is run by this shell, and may set
# variables: none are local here.
check()
{
	if [[ $1 != *"$pattern"* ]]; then
		: >"$dir/check"
	elif checking=$1 && "${@:2}" >"$dir/check" 2>&1; then
		checking=
		ok "$1"
	else
		checked=$? checking=
		echo "exit status $checked (124: its time was up)" >>"$dir/check"
		not_ok "$1" "$dir/check"
		[ "$(type -t hopeless)" != function ] || ! hopeless || exit 1
		return 1
	fi
}

# --- Commands to check --------------------------------------------------------------

# equal WANTED FOUND
equal()
{
	[ "$1" = "$2" ] && return
	printf "wanted '%s'\n found '%s'\n" "$1" "$2"
	return 1
}

# at_least WANTED FOUND
at_least()
{
	echo "wanted at least $1, found '$2'"
	[ "$2" -ge "$1" ]
}

# exits STATUS TEXT COMMAND...: it ends with that exit status, and says that.
exits()
{
	local rc

	"${@:3}" >"$dir/exits" 2>&1
	rc=$?
	cat "$dir/exits"
	echo "exit status $rc, wanted $1, with '$2'"
	[ "$rc" = "$1" ] || return 1
	[ -z "$2" ] || grep -qF -- "$2" "$dir/exits"
}

# no_line PATTERN FILE...: none of these files, which are there, has a line with that extended
# regular expression.  "! grep" would be content with a file that is not there.
no_line()
{
	grep -E -- "$@"
	[ $? = 1 ]
}

# soon SECONDS COMMAND...: it succeeds within that time.  What does not come at once is looked
# for less often: a look can be a dozen processes, in a guest.
soon()
{
	local now end tenths=1

	read_now
	end=$((now + $1 * 1000 * ${WEFT_TEST_SCALE:-1}))
	shift
	until "$@"; do
		read_now
		[ "$now" -lt "$end" ] || return 1
		sleep 0.$tenths
		[ $tenths = 5 ] || tenths=$((tenths + 1))
	done
}

# --- A machine that stands still ------------------------------------------------------

# watch_clock: from here on stood_since() knows when this machine stood still, as a virtual
# one does whose host has other work: what is measured then says nothing of the programs.
watch_clock()
{
	: >"$dir/stood"
	{
		exec {never}<> <(:)	# to sleep without a process
		read_now
		was=$now
		# also if the suite is killed
		while kill -0 "$begun_by" 2>/dev/null; do
			read -r -t 0.2 -u "$never"
			read_now
			[ $((now - was)) -lt 500 ] ||
				echo "$now $((now - was - 200))" >>"$dir/stood"
			was=$now
		done
	} &
}

# read_now: now is the time in milliseconds, by a clock that nobody sets; those of the shell
# (SECONDS) jump with the machine's.
read_now()
{
	read -r now _ </proc/uptime
	now=${now/./}0
}

# now_ms: the time, in milliseconds, for stood_since.
now_ms()
{
	local now

	read_now
	echo "$now"
}

# stood_since MS: for how many milliseconds it has stood still since then.
stood_since()
{
	awk -v since="$1" '$1 >= since { ms += $2 } END { printf "%d\n", ms }' "$dir/stood"
}

# wait_all PID...: all of them have ended, and none has failed.
wait_all()
{
	local pid bad=0

	for pid; do
		wait "$pid" || bad=1
	done
	return $bad
}
