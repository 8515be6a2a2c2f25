#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests tests/tap.sh, which all suites in shell rely on, without relying on it: small
# suites must print just what they should, and end with the right status.

# What is in single quotes is for the small suites.
# shellcheck disable=SC2016
set -u
cd "$(dirname "$0")/../.." || exit 2

dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/tmp"
count=0
bad=0
limit=$((20 * ${WEFT_TEST_SCALE:-1}))	# seconds for one of them

# result STATUS WHAT: of a test of ours.
result()
{
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		bad=1
	fi
}

# suite WHAT STATUS OUTPUT SCRIPT [ARGUMENT...]: such a suite has that output and status,
# and leaves nothing in the directory for files.
suite()
{
	local rc

	printf '%s\n' 'set -u' '. tests/tap.sh' "$4" >"$dir/suite"
	# Its own times are as they are written there, however slow this machine is.
	TMPDIR=$dir/tmp WEFT_TEST_SCALE=1 timeout "$limit" \
		bash "$dir/suite" "${@:5}" >"$dir/out" 2>&1
	rc=$?
	diff <(printf '%s' "$3") "$dir/out" >"$dir/differ" && [ $rc = "$2" ] &&
		[ -z "$(ls "$dir/tmp")" ]
	result $? "$1" || { echo "# exit status $rc, not $2"; sed 's/^/# /' "$dir/differ"; ls "$dir/tmp"; }
}

suite "checks that hold" 0 $'ok 1 - one\nok 2 - two\nok 3 - three # SKIP why\n# so\n1..3\n' '
	begin x
	check "one" true
	ok "two"
	skip "three" "why"
	note so
	finish'
suite "a check that fails" 1 $'not ok 1 - one\n# why\n# else\n# exit status 3 (124: its time was up)\nok 2 - two\n1..2\n' '
	begin x
	check "one" sh -c "echo why; echo else >&2; exit 3"
	check "two" true
	finish'
suite "a result that is none" 1 $'not ok 1 - one\n# reason\nnot ok 2 - two\nok 3 - three\n1..3\n' '
	begin x
	echo reason >"$dir/file"
	not_ok "one" "$dir/file"
	report 1 "two"
	report 0 "three" "$dir/file"
	finish'
suite "a suite without a check" 1 $'1..0\n' 'begin x; finish'
suite "what the suite can tell" 1 $'not ok 1 - one\n# exit status 1 (124: its time was up)\n# state 5\nok 2 - two\n1..2\n' '
	details() { echo "state $state"; }
	begin x
	state=5
	check "one" false
	check "two" true
	finish'
suite "it ends when nothing else could be tested" 1 $'ok 1 - one\nnot ok 2 - two\n# exit status 1 (124: its time was up)\n# lost\n' '
	hopeless() { echo "# lost"; }
	begin x
	check "one" true
	check "two" false
	check "three" true
	finish'
suite "only the end of much, and of long lines" 1 "not ok 1 - one
$(seq 62 100 | sed 's/^/# /')
# exit status 1 (124: its time was up)
not ok 2 - two
# $(printf '%02000d' 0)
# exit status 1 (124: its time was up)
1..2
" '
	begin x
	check "one" sh -c "seq 100; exit 1"
	check "two" sh -c "printf %03000d\\\\n 0; exit 1"
	finish'
suite "a check tells whether it held, and is run by the suite itself" 1 \
	$'ok 1 - one\nnot ok 2 - two\n# exit status 1 (124: its time was up)\n# 1 1 7\n1..2\n' '
	begin x
	set_it() { rc=7; }
	check "one" set_it && held=1
	check "two" false || failed=1
	note "$held $failed $rc"
	finish'
suite "what a check has printed" 0 $'ok 1 - one\n# said\n1..1\n' '
	begin x
	check "one" echo said && show
	finish'
suite "a line that is not there, and a file that is not" 1 \
	$'ok 1 - none\nnot ok 2 - one\n# a line\n# exit status 1 (124: its time was up)\nnot ok 3 - no file\n# grep: /nowhere/it: No such file or directory\n# exit status 1 (124: its time was up)\n1..3\n' '
	begin x
	echo "a line" >"$dir/file"
	check "none" no_line "^(line|another)" "$dir/file"
	check "one" no_line "^(a|the) line$" "$dir/file"
	check "no file" no_line "a line" /nowhere/it
	finish'
suite "ports that nobody else has" 0 $'ok 1 - some\nok 2 - two at a time\nok 3 - one is used\n1..3\n' '
	begin x
	claim_ports
	check "some" [ "$port" -gt 1024 ]
	exec {one}< <(exec "$BUILD/tests/runner-ports" 7)
	read -r first <&$one
	exec {two}< <(exec "$BUILD/tests/runner-ports" 7)
	read -r second <&$two
	check "two at a time" [ "$second" != "$first" ]
	exec {two}<&-
	exec {used}< <(exec perl -MIO::Socket::INET -e "\$s = IO::Socket::INET->new(Proto => q(udp),
		LocalAddr => q(127.0.0.9), LocalPort => $second + 15) or die; print qq(x\n);
		close(STDOUT); sleep(60)")
	perl=$!
	read -r _ <&$used
	exec {three}< <(exec "$BUILD/tests/runner-ports" 7)
	read -r third <&$three
	kill $perl
	check "one is used" eval "[ $third != $first ] && [ $third != $second ]"
	finish'
suite "a selection" 0 $'ok 1 - the one\nok 2 - one more\n1..2\n' '
	begin x
	pattern=$1
	check "the one" true
	check "another" false && show
	check "one more" true
	finish' one
suite "what is not built" 2 "$dir/suite: /nowhere/it is not built: run make test-programs
" 'built /dev/null /nowhere/it; begin x; ok "one"; finish'
suite "at exit, the last first" 0 $'ok 1 - one\n1..1\nthird\nsecond a  b\nfirst\n' '
	begin x
	at_exit echo first
	at_exit echo second "a  b"
	say() { echo third; }
	at_exit say
	ok "one"
	finish'
suite "an end in the midst of it" 3 $'ok 1 - one\nended\n' '
	begin x
	at_exit echo ended
	sleep 1000 &
	ok "one"
	exit 3'
suite "what is deaf to the first signal is told again" 0 $'ok 1 - one\n1..1\n' '
	begin x
	deaf() { trap "trap - TERM" TERM; touch "$dir/deaf"; while sleep 0.02; do :; done; }
	deaf &
	echo $! >"'"$dir"'/pid"
	until [ -e "$dir/deaf" ]; do sleep 0.02; done
	ok "one"
	finish'
! kill -KILL "$(cat "$dir/pid")" 2>/dev/null
result $? "and ends"
suite "an end in the midst of a check, which nobody wanted" 1 \
	"ok 1 - one
# $dir/suite: ended in the midst of: two
# so far
# $dir/suite: line 4: nowhere: unbound variable
" '
	begin x; check "one" true; two() { echo "so far"; echo "$nowhere"; }; check "two" two
	finish'
suite "equal" 1 $'ok 1 - same\nnot ok 2 - other\n# wanted \'a\'\n#  found \'b\'\n# exit status 1 (124: its time was up)\n1..2\n' '
	begin x
	check "same" equal "a b" "a b"
	check "other" equal a b
	finish'
suite "at_least" 1 $'ok 1 - 5\nnot ok 2 - 4\n# wanted at least 5, found \'4\'\n# exit status 1 (124: its time was up)\n1..2\n' '
	begin x
	check "5" at_least 5 5
	check "4" at_least 5 4
	finish'
suite "exits" 1 "ok 1 - both
not ok 2 - status
# text
# exit status 2, wanted 1, with 'text'
# exit status 1 (124: its time was up)
not ok 3 - text
# text
# exit status 2, wanted 2, with 'Text'
# exit status 1 (124: its time was up)
ok 4 - any text
1..4
" '
	begin x
	says() { echo text; return 2; }
	check "both" exits 2 "ex" says
	check "status" exits 1 "text" says
	check "text" exits 2 "Text" says
	check "any text" exits 2 "" says
	finish'
suite "soon" 1 $'ok 1 - third\nnot ok 2 - never\n# exit status 1 (124: its time was up)\n1..2\n' '
	begin x
	turn=0
	third() { turn=$((turn + 1)); [ $turn = 3 ]; }
	check "third" soon 10 third
	check "never" soon 1 false
	finish'
suite "wait_all" 1 $'ok 1 - both\nnot ok 2 - one fails\n# exit status 1 (124: its time was up)\n1..2\n' '
	begin x
	true & a=$!
	true & b=$!
	check "both" wait_all $a $b
	false & a=$!
	true & b=$!
	check "one fails" wait_all $a $b
	finish'

# Told to end from outside.
printf '%s\n' '. tests/tap.sh' 'begin x' 'at_exit echo ended' 'sleep 9'"$$"'.25 &' \
	'echo begun' 'wait' 'finish' >"$dir/suite"
TMPDIR=$dir/tmp timeout "$limit" bash "$dir/suite" >"$dir/out" 2>&1 &
suite=$!
for ((i = 0; i < limit * 10; i++)); do
	grep -q begun "$dir/out" && break
	sleep 0.1
done
[ -n "$(ls "$dir/tmp")" ]
result $? "there is a directory while a suite runs"
kill -TERM $suite
wait $suite
[ "$(cat "$dir/out")" = $'begun\n'"# $dir/suite: ended by SIGTERM"$'\nended' ] && [ -z "$(ls "$dir/tmp")" ]
result $? "told to end: nothing is left"
! pgrep -f "^sleep 9$$.25\$" >/dev/null
result $? "nor what ran in the background"

echo "1..$count"
exit $bad
