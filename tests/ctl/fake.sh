# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# weftctl on another kernel, tests/ctl/fakes/genl: what the suites that run it there
# share; sourced by them at the top of the tree.
#
#	. tests/ctl/fake.sh
#	begin NAME
#	ctl SCENARIO ARGUMENT...	then tests of what came of it
#	finish
#
# Environment: that of tests/tap.sh.

. tests/tap.sh

# The real program with another kernel; it stops at what sanitizers find.
WEFTCTL=$BUILD/tests/weftctl-fake
built "$WEFTCTL"
# Where it runs, and weft.conf is looked for.
where=.

# ctl SCENARIO ARGUMENT...: run it; output in out and err, status in rc, what it asked
# the kernel for in log, and what that was in what.
ctl()
{
	local scenario=$1

	shift
	: >"$dir/log"
	WEFT_FAKE=$scenario WEFT_FAKE_LOG=$dir/log WEFT_FAKE_TRACE=$dir/trace timeout -k 5 20 \
		env -C "$where" "$WEFTCTL" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	rc=$?
	what="$scenario: weftctl ${*//"$dir/"/}"
}

details()
{
	echo "exit status $rc"
	sed 's/^/out: /' "$dir/out"
	sed 's/^/err: /' "$dir/err"
	sed 's/^/asked: /' "$dir/log"
}

# good: it succeeded without a word.
good()
{
	equal "exit status 0" "exit status $rc" && equal '' "$(cat "$dir/err")"
}

# --- What can be said of the last run: each is a test ---------------------------------

asked_for()
{
	equal "exit status 0" "exit status $rc" && equal "$(printf '%s\n' "$@")" "$(cat "$dir/log")"
}

# asked LINE...: exactly these requests were made.
asked()
{
	check "$what: asks for it" asked_for "$@"
}

refused()
{
	equal "exit status $1" "exit status $rc" && equal "weftctl: $2" "$(sed -n 1p "$dir/err")" &&
		equal '' "$(cat "$dir/out")"
}

# says STATUS TEXT: nothing is printed; the sentence on stderr is exactly this.
says()
{
	check "$what: ${2//"$dir/"/}" refused "$@"
}

falls_short()
{
	equal "exit status 2" "exit status $rc" &&
		equal "$(printf 'weftctl: %s\n' "$@")" "$(cat "$dir/err")" && [ -s "$dir/out" ]
}

# lacks TEXT...: it has failed with these sentences, though it has printed what it could: then
# prints and json are about that.
lacks()
{
	check "$what: says what is missing" falls_short "$@"
	rc=0
	: >"$dir/err"
}

has_lines()
{
	local regex bad=0

	for regex; do
		grep -qE -- "$regex" "$dir/out" && continue
		bad=1
		echo "no line matches: $regex"
	done
	good && [ $bad = 0 ]
}

# prints PATTERN...: text with lines that match.
prints()
{
	check "$what" has_lines "$@"
}

holds()
{
	tests/ctl/json.pl "$dir/out" "$dir/none" "$@" && good
}

# json EXPRESSION...: the output is one JSON document, and each holds of it; it
# is $j, in Perl.
json()
{
	check "$what" holds "$@"
}

# schema DEFINITION: the output is what tools/weftctl/schema.json says.
schema()
{
	check "$what: as the schema says" \
		tests/ctl/schema.pl tools/weftctl/schema.json "$1" "$dir/out"
}
