#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests tests/run itself: that failures of every kind are counted as such, that
# nothing outlives a test, that the last line is right.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

begin runner
scale=${WEFT_TEST_SCALE:-1}
# Limits here are what is tested.
export WEFT_TEST_SPEED=1 WEFT_TEST_SCALE=1

# run ARGUMENTS: run the runner on $dir/list; its output to $dir/out, status to rc.
run()
{
	BUILD=$dir/build timeout -k 5 $((60 * scale)) tests/run -l "$dir/list" "$@" \
		>"$dir/out" 2>&1
	rc=$?
}

# details: what the runner has said.
details(){ cat "$dir/out"; }
line()	{ grep -qE -- "$1" "$dir/out"; }
last()	{ [ "$(tail -n 1 "$dir/out")" = "$1" ]; }
# No process may be left of a sleep that only this test runs.
none()	{ ! pgrep -f "^sleep $1\$" >/dev/null; }

# matches PATTERN TEXT: all of it.
matches(){ grep -qxE -- "$1" <<<"$2"; }

# used_more TEST MILLISECONDS: it has used more of the processors.
used_more()
{
	local used

	used=$(sed -n "s/^ok .* - $1 (.*, processors \\([0-9]*\\)\\.\\([0-9]\\) s).*/\\1\\200/p" "$dir/out")
	[ -n "$used" ] && [ "$((10#$used))" -gt "$2" ]
}

# Sleeps of odd lengths, so that they can be told from all others.
long=4$$.25
ignored=5$$.25
orphan=6$$.25

cat >"$dir/stubborn" <<END
#!/bin/bash
trap '' TERM
(trap '' TERM; exec sleep $ignored) &
while :; do wait; done
END
cat >"$dir/many-a" <<END
#!/bin/sh
exit 0
END
cp "$dir/many-a" "$dir/many-b"
chmod +x "$dir"/stubborn "$dir"/many-*

# A suite of which a check fails, long before its end.
cat >"$dir/checks" <<'END'
#!/bin/sh
echo 'ok 1 - one'
echo 'not ok 2 - two'
echo '# wanted 2'
seq -f 'ok %g - more' 3 60
echo 'not ok: toy.c:61: last'	# as C programs say it
seq -f '# line %g' 50
exit 1
END
chmod +x "$dir/checks"

# Everything that can happen, one each.
cat >"$dir/list" <<END
# a comment

good		20	echo fine
bad		20	echo it broke; exit 3
skips		20	echo first; echo skipped: no machine for this; exit 77
hangs		1	sleep $long
crashes		20	kill -SEGV \$\$
leaves		20	setsid sleep $orphan >/dev/null 2>&1 & exit 0
many-*		20	$dir/many-* unused
none-*		20	$dir/nothing-* unused
missing		20	$dir/not-there
bare-77		20	exit 77
claims-77	20	echo skipped: this; echo but it went on; exit 77
empty-77	20	echo "skipped: "; exit 77
checks		20	$dir/checks
END
run
check 'exit status 1 when a test fails'	[ "$rc" = 1 ]
check 'plan'					line '^1\.\.14$'
check 'a pass'					line '^ok 1 - good \('
check 'a failure, with its status'		line '^not ok 2 - bad .*# exit status 3'
check 'its output is shown'			line '^#   it broke$'
check 'a skip, with its reason'		line '^ok 3 - skips .*# SKIP no machine for this$'
check 'a hang is a failure'			line '^not ok 4 - hangs .*# time limit of 1 s'
check 'and is ended'				none "$long"
check 'a crash is a failure'			line '^not ok 5 - crashes .*signal SEGV'
check 'processes left behind are a failure'	line '^not ok 6 - leaves .*# left processes behind'
check 'one of which is named'		line '^not ok 6 - leaves .*: sleep'
check 'and are ended'				none "$orphan"
check 'a pattern makes a test a file'		line '^ok 7 - many-a '
check 'all of them'				line '^ok 8 - many-b '
check 'a pattern without a match fails'	line '^not ok 9 - none-none '
check 'a command that is not there fails'	line '^not ok 10 - missing '
check 'status 77 without a reason fails'	line '^not ok 11 - bare-77 .*# exit status 77, and no'
check 'a reason that is not the last line'	line '^not ok 12 - claims-77 .*# exit status 77, and no'
check 'a reason that says nothing'	line '^not ok 13 - empty-77 .*# exit status 77, and no'
check 'the first check that failed is told'	\
	line '^not ok 14 - checks .*# exit status 1: not ok 2 - two$'
check 'and what it says'			line '^#   # wanted 2$'
check 'what failed is told again at the end'	\
	line '^# failed: checks: exit status 1: not ok 2 - two$'
check 'and each of its checks'	[ "$(tail -n 17 "$dir/out" | grep '^#   ' | tail -n 11)" = \
	"$(printf '#   %s\n' 'not ok 2 - two' '# wanted 2' 'not ok: toy.c:61: last' '# line '{1..8})" ]
check 'each of them'	[ "$(grep -c '^# failed: ' "$dir/out")" = 10 ]
check 'last line'				last '3 passed, 10 failed, 1 skipped'
check 'summary file'	[ "$(cat "$dir/build/tests/summary")" = '3 passed, 10 failed, 1 skipped' ]
check 'log file'	grep -qx fine "$dir/build/tests/log/good"

run -j 4
check 'in parallel: exit status'	[ "$rc" = 1 ]
check 'in parallel: last line'		last '3 passed, 10 failed, 1 skipped'
check 'in parallel: nothing left'	none "$long"

run good many
check 'selection: exit status 0'	[ "$rc" = 0 ]
check 'selection: by name and prefix'	last '3 passed, 0 failed, 0 skipped'

run no-such-name
check 'nothing selected is an error'	[ "$rc" = 2 ]

run -n hangs
check 'only printing'			line "^hangs +1  sleep $long"

# Its part of the runner is killed with it.
cat >"$dir/list" <<END
before		20	true
lost		20	sleep 1; kill -KILL \$(ps -o ppid= -p \$PPID)
END
run
check 'a test that gives no result fails'	line '^not ok 2 - lost .*# gave no result$'
check 'and is counted'				last '1 passed, 1 failed, 0 skipped'

mkdir -p "$dir/build/bin"
cp "$dir/many-a" "$dir/build/bin/x-1"
# shellcheck disable=SC2016  # for the runner to replace
printf '%s\n' 'one 9 $BUILD/bin/x-1' 'each-* 9 $BUILD/bin/x-*' >"$dir/list"
run
check 'the build directory in commands'	last '2 passed, 0 failed, 0 skipped'
check 'and in patterns'			line '^ok 2 - each-1 '

# What a test is given on a slow machine, and that tests within tests do not get it twice.
cat >"$dir/list" <<END
slow		1	sleep 2.5
scale		9	echo "scale \$WEFT_TEST_SCALE"
inner		9	tests/run -l $dir/inner >/dev/null; cat $dir/build/tests/log/inner-scale
END
# shellcheck disable=SC2016  # for the test to expand
echo 'inner-scale 9 echo "scale $WEFT_TEST_SCALE"' >"$dir/inner"
run slow
check 'a limit as it is written'	line '^not ok 1 - slow .*# time limit of 1 s'
WEFT_TEST_SPEED=3 WEFT_TEST_SCALE=2 run
check 'a slow machine: limits are longer'	last '3 passed, 0 failed, 0 skipped'
check 'and tests know'	grep -qx 'scale 6' "$dir/build/tests/log/scale"
check 'tests within tests have the same'	grep -qx 'scale 6' "$dir/build/tests/log/inner"
WEFT_TEST_SPEED=fast run
check 'a speed that is none is refused'	[ "$rc" = 2 ]

# measured AS: run the list on a machine for which that is the reference's time.
measured()
{
	sed "s/^REFERENCE_MS=.*/REFERENCE_MS=$1/; s|^cd .*|cd '$PWD' \|\| exit 2|" \
		tests/run >"$dir/run"
	BUILD=$dir/build WEFT_TEST_SPEED='' timeout -k 5 $((60 * scale)) bash "$dir/run" \
		-l "$dir/list" "${@:2}" >"$dir/out" 2>&1
}

measured 1 slow
check 'measured: a hundred times as slow is sixteen times'	line 'limits times 16$'
check 'and a test within that passes'	last '1 passed, 0 failed, 0 skipped'
measured 1000000 slow
check 'measured: a fast machine has the limits that are written'	line 'limits times 1$'
check 'and a test that outlasts its limit fails'	last '0 passed, 1 failed, 0 skipped'

# Several lists are one.
echo 'more 9 true' >"$dir/more"
run -l "$dir/more" scale more
check 'two lists'			last '2 passed, 0 failed, 0 skipped'
run -l "$dir/more" -l "$dir/more"
check 'with a name in both'		[ "$rc" = 2 ]

# Behind "--" stands what takes long: it does not wait for all short ones.
begun()
{
	BUILD=$dir/build timeout -k 5 $((60 * scale)) tests/run -l "$dir/list" "$@" >"$dir/out" 2>&1 ||
		echo failed
	sort -n "$dir"/at.* | cut -d' ' -f2 | tr '\n' ' '
	rm -f "$dir"/at.*
}

# lasting SHORT LONG: such a list, and how many seconds its tests take.
lasting()
{
	local name

	for name in s1 s2 s3 -- l1 l2 l3; do
		[ $name != -- ] || { echo --; continue; }
		echo "$name 60 echo \$EPOCHREALTIME $name >$dir/at.$name; sleep $([[ $name = s* ]] && echo "$1" || echo "$2")"
	done >"$dir/list"
}

lasting 0.5 0.5
check 'one at a time: in the order of the list'	[ "$(begun)" = 's1 s2 s3 l1 l2 l3 ' ]
check 'the long ones when there are no short ones'	[ "$(begun -j 1 'l*')" = 'l1 l2 l3 ' ]
lasting 2 7
check 'several: a long one beside the short ones'	matches 's1 l1 s2 .*|l1 s1 s2 .*' "$(begun -j 2)"

# Before "alone" stands what has nothing beside it: it fails if another one has begun.
{
	for name in a1 a2; do
		echo "$name 60 echo \$EPOCHREALTIME $name >$dir/at.$name; sleep 0.5; [ -z \"\$(ls $dir/at.* | grep -v 'at\\.a')\" ]"
	done
	printf '%s\n' alone "s1 60 echo \$EPOCHREALTIME s1 >$dir/at.s1" -- \
		"l1 60 echo \$EPOCHREALTIME l1 >$dir/at.l1"
} >"$dir/list"
check 'alone: first, with nothing beside it'	matches 'a1 a2 (s1 l1|l1 s1) ' "$(begun -j 4)"
check 'alone: all are counted'			last '4 passed, 0 failed, 0 skipped'

# What tests use of the processors, if that can be known: of all that they start, and of
# what somebody else waits for.
cat >"$dir/burn" <<END
#!/bin/bash
for ((i = 0; i < 300000; i++)); do :; done
touch $dir/burnt
END
chmod +x "$dir/burn"
cat >"$dir/list" <<END
burns		60	(setsid $dir/burn &); until [ -e $dir/burnt ]; do sleep 0.1; done
rests		60	sleep 1
END
run -j 2
groups=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)$(sed -n 's/^0:://p' /proc/self/cgroup)
probe=$groups/weft-probe.$$
if mkdir "$probe" 2>/dev/null && [ -r "$probe/cpu.stat" ]; then
	check 'what computes says how much'	used_more burns 100
	check 'what waits, how little'		eval '! used_more rests 500'
	check 'and all of it'			line '^# [0-9.]+ s, and [0-9.]+ s of the [0-9.]+ s that [0-9]+ processors had$'
	check 'no group is left'	[ -z "$(find "$groups" -maxdepth 1 -name 'weft-tests.*' -newer "$dir/list")" ]
else
	check 'what is not known is not said'	eval '! line processors'
fi
rmdir "$probe" 2>/dev/null

# Tests that leave processors idle are joined by others.  The processors are a file.
sed "s/^PAUSE=.*/PAUSE=0.5/; s/^MEMORY_MIB=.*/MEMORY_MIB=1/; s|^STAT=.*|STAT=$dir/stat|
	s|^cd .*|cd '$PWD' \|\| exit 2|" tests/run >"$dir/run"

# processors USER IDLE: from now on they spend so many ticks so, ten times a second.
processors()
{
	local user=0 idle=0

	[ -z "${clock-}" ] || kill "$clock"
	while sleep 0.1 && [ -e "$dir/stat" ]; do
		user=$((user + $1)) idle=$((idle + $2))
		echo "cpu $user 0 0 $idle 0 0 0 0 0 0" >"$dir/stat.new"
		mv "$dir/stat.new" "$dir/stat"
	done &
	clock=$!
}

# at_once OPTION...: the most tests of the list that have run at the same time.
at_once()
{
	BUILD=$dir/build timeout -k 5 $((60 * scale)) bash "$dir/run" -l "$dir/list" "$@" >"$dir/out" 2>&1 ||
		echo failed
	sort -n "$dir"/at.* | awk '{ n += $2; if (n > most) most = n } END { print most }'
	rm -f "$dir"/at.*
}

# at_least N NUMBER
at_least(){ [ "$2" -ge "$1" ]; }

for i in 1 2 3 4 5 6; do
	printf '%s\n' "t$i 60 echo \$EPOCHREALTIME 1 >$dir/at.$i; sleep $((2 * scale)); echo \$EPOCHREALTIME -1 >>$dir/at.$i"
done >"$dir/list"
echo 'cpu 0 0 0 0 0 0 0 0 0 0' >"$dir/stat"
processors 0 20
check 'idle processors: as many as asked for'	[ "$(at_once -j 2)" = 2 ]
check 'more, if that may be'	at_least 3 "$(at_once -j 1 -m 4)"
check 'not more than that'	[ "$(at_once -j 2 -m 3)" = 3 ]
processors 20 0
check 'busy processors: no more'	[ "$(at_once -j 2 -m 4)" = 2 ]
sed -i "s/^MEMORY_MIB=.*/MEMORY_MIB=999999999/" "$dir/run"
processors 0 20
check 'too little memory: no more'	[ "$(at_once -j 2 -m 4)" = 2 ]
kill "$clock"

# A test that ignores the request to end is killed, with its children.
printf 'stubborn 1 %s\n' "$dir/stubborn" >"$dir/list"
sed 's/^GRACE=.*/GRACE=1/; s/^SETTLE=.*/SETTLE=1/' tests/run >"$dir/run"
sed -i "s|^cd .*|cd '$PWD' \|\| exit 2|" "$dir/run"
BUILD=$dir/build timeout -k 5 $((60 * scale)) bash "$dir/run" -l "$dir/list" >"$dir/out" 2>&1
check 'a stubborn test fails'		last '0 passed, 1 failed, 0 skipped'
check 'a stubborn test is killed'	none "$ignored"

# Interrupting the runner ends its tests.
printf 'long 60 sleep %s\n' "$long" >"$dir/list"
BUILD=$dir/build tests/run -l "$dir/list" >"$dir/out" 2>&1 &
runner=$!
for ((i = 0; i < 600 * scale; i++)); do
	pgrep -f "^sleep $long\$" >/dev/null && break
	sleep 0.1
done
kill -TERM $runner
wait $runner
check 'interrupted: exit status 130'	[ $? = 130 ]
check 'interrupted: nothing left'	none "$long"
check 'interrupted: no summary'	[ ! -e "$dir/build/tests/summary" ]

# --- Trouble ----------------------------------------------------------------

# The schedule is that of the seed, and within its bounds.
cat >"$dir/schedule" <<'END'
. tests/trouble.sh
trouble_seed=$1
begin_draws "$2"
last=0
for i in {1..300}; do
	next_trouble
	[ $trouble_ms -le 3000 ] && [ $trouble_ms -gt 0 ] && [ $trouble_gap -ge $last ] || exit 1
	last=$trouble_ms
	echo "$trouble_gap $trouble_kind $trouble_ms"
done
END
schedule() { bash "$dir/schedule" "$@" >"$dir/schedule.$3"; }
differ()	{ ! cmp -s "$dir/schedule.$1" "$dir/schedule.$2"; }
check 'trouble: of at most 3 s, and as long without'	schedule 5 one a
schedule 5 one b; schedule 6 one c; schedule 5 two d
check 'a seed brings the same again'	cmp "$dir/schedule.a" "$dir/schedule.b"
check 'another seed another'		differ a c
check 'and another test'		differ a d
check 'both kinds'	\
	[ "$(cut -d' ' -f2 "$dir/schedule.a" | sort | uniq -c | awk '$1 > 50' | wc -l)" = 2 ]
check '3 s often'	at_least 50 "$(grep -c ' 3000$' "$dir/schedule.a")"
within()
{
	# shellcheck disable=SC2016  # for the other shell
	bash -c '. tests/trouble.sh; trouble_seed=5; trouble_within one 60; echo $troubled'
}
check 'how long within a minute'	equal "$(awk '{ at += $1 } at < 60000 { ms += $3 }
	END { print int((ms + 999) / 1000) }' "$dir/schedule.a")" "$(within)"

# What relies on luck, and what does not.  Each round has work of many short steps, done in 0.2 s,
# and somebody who waits for it: for a time in which it should be done, or until it is.
cat >"$dir/hopes" <<'END'
#!/bin/bash
for round in {1..60}; do
	rm -f "$1.$BASHPID"
	{ for i in {1..10}; do sleep 0.02; done; echo done >"$1.$BASHPID"; } &
	sleep 0.5
	[ -s "$1.$!" ] || { echo "round $round: not done"; kill $!; exit 1; }
	rm "$1.$!"
done
END
cat >"$dir/hurries" <<'END'
#!/bin/bash
for round in {1..60}; do
	before=${EPOCHREALTIME/./}
	for i in {1..10}; do sleep 0.02; done
	took=$(((${EPOCHREALTIME/./} - before) / 1000))
	[ $took -lt 700 ] || { echo "round $round: took $took ms"; exit 1; }
done
END
cat >"$dir/waits" <<'END'
#!/bin/bash
for round in {1..12}; do
	{ for i in {1..10}; do sleep 0.02; done; echo done >"$1.$BASHPID"; } &
	for ((i = 0; i < 600; i++)); do [ ! -s "$1.$!" ] || break; sleep 0.1; done
	[ -s "$1.$!" ] || { echo "round $round: not done"; exit 1; }
	rm "$1.$!"
done
END
cat >"$dir/stops" <<'END'
#!/bin/bash
# What it has stopped itself does not go on.
sleep 1000 &
kill -STOP $!
for i in {1..40}; do
	sleep 0.1
	[[ $(ps -o stat= -p $!) == T* ]] || { echo "goes on"; kill $!; exit 1; }
done
kill -KILL $!
END
# seen: both logs of it have all that is said of trouble.
cat >"$dir/sees" <<'END'
#!/bin/bash
seen()
{
	local log

	for log in "$@"; do
		grep -q 'still for [0-9]* ms$' "$log" && grep -q 'busy for [0-9]* ms$' "$log" &&
			grep -q 'goes on, after [0-9]* ms$' "$log" || return
	done
}
for ((i = 0; i < 900; i++)); do ! seen "$@" || exit 0; sleep 0.1; done
exit 1
END
# One loop is enough, on a machine with many processors, too: other tests run there.
mkdir "$dir/bin"
printf '#!/bin/sh\necho 1\n' >"$dir/bin/nproc"
chmod +x "$dir"/{hopes,hurries,waits,stops,sees,bin/nproc}
cat >"$dir/list" <<END
hopes		60	$dir/hopes $dir/hoped
hurries		60	$dir/hurries
waits		60	$dir/waits $dir/waited
stops		60	$dir/stops
sees		100	$dir/sees $dir/build/tests/log/sees $dir/build/tests/log-2/sees
where		60	echo "in \$PWD with \$BUILD"; nice
END
troubled()
{
	PATH=$dir/bin:$PATH BUILD=$dir/build timeout -k 30 $((200 * scale)) \
		tests/run -j 6 -l "$dir/list" "$@" >"$dir/out" 2>&1
	rc=$?
}
# each LINE: in both clones.
each()	{ line "^1: $1" && line "^2: $1"; }
# logs PATTERN NAME: in its log, of either clone.
logs()	{ grep -qE -- "$1" "$dir/build/tests/log/$2" "$dir/build/tests/log-2/$2"; }
# The second way to stop is for machines without control groups.
for groupless in '' 1; do
	how="trouble${groupless:+ without control groups}"
	WEFT_TEST_GROUPLESS=$groupless troubled --trouble 3
	check "$how: exit status 1"		[ "$rc" = 1 ]
	check "$how: what hopes fails"		line '^[12]: not ok .* - hopes '
	check "$how: and what has to be quick"	line '^[12]: not ok .* - hurries '
	check "$how: what waits does not"	each 'ok .* - waits '
	check "$how: what was stopped stays so"	each 'ok .* - stops '
	check "$how: all of it is in the logs"	each 'ok .* - sees \(.* s of them in trouble'
	check "$how: with times"	\
		logs '^# trouble: [0-9]{2}:[0-9:]+\.[0-9]{3}: goes on, after ' sees
	check "$how: nice"		logs '^19$' where
	check "$how: two clones"	logs "^in $dir/build/trouble/clone.*/build\$" where
	check "$how: of which none is left"	[ -z "$(ls "$dir/build/trouble")" ]
	check "$how: all are counted"	\
		matches '([89]|10) passed, [2-4] failed, 0 skipped' "$(tail -n 1 "$dir/out")"
	check "$how: in the summary, too"	cmp <(tail -n 1 "$dir/out") "$dir/build/tests/summary"
done

printf 'hangs 1 sleep %s\n' "$long" >"$dir/list"
troubled --trouble 3
check 'trouble: what hangs is ended'	each 'not ok 1 - hangs .*# time limit of [0-9]+ s'
check 'trouble: later than else'	eval '! line "limit of [1-4] s"'
check 'trouble: nothing is left'	none "$long"

# still: waits until a suite stands still, and has some time to go.
still()
{
	local i

	for ((i = 0; i < 600 * scale; i++)); do
		sleep 0.1
		tail -q -n 1 "$dir"/build/tests/log*/lives 2>/dev/null |
			grep -qE 'still for [23][0-9]{3} ms$' && return
	done
	return 1
}
# lives: its file grows.
lives()
{
	local size i

	size=$(wc -c <"$dir/lives")
	for ((i = 0; i < 600 * scale; i++)); do
		[ "$(wc -c <"$dir/lives")" = "$size" ] || return 0
		sleep 0.1
	done
	return 1
}
gone_all(){ ! pgrep -f "echo >>$dir/lives"; }
# Two clones: of each, somebody writes.
cat >"$dir/list" <<END
lives	600	while sleep 0.1; do echo >>$dir/lives; done
END
set -m		# it leads a group
for groupless in '' 1; do
	how="trouble${groupless:+ without control groups}"
	for signal in TERM KILL; do
		rm -rf "$dir"/build/tests/log* "$dir/lives"
		WEFT_TEST_GROUPLESS=$groupless BUILD=$dir/build tests/run -l "$dir/list" --trouble 7 \
			>"$dir/out" 2>&1 &
		runner=$!
		check "$how: a suite stands still"	still
		kill -$signal -- -$runner
		wait $runner 2>/dev/null
		rc=$?
		if [ $signal = TERM ]; then
			check "$how: interrupted: exit status 130"	[ $rc = 130 ]
			check "$how: interrupted: nothing is left"	gone_all
			check "$how: nor a clone"	[ -z "$(ls "$dir/build/trouble")" ]
			continue
		fi
		check "$how: all killed: what stood still goes on"	lives
		mapfile -t left < <(pgrep -f "^timeout .*echo >>$dir/lives")
		# One of the clones may have been about to begin.
		check "$how: in one clone at least"	at_least 1 ${#left[@]}
		kill "${left[@]}"
		for ((i = 0; i < 600 * scale; i++)); do
			gone_all && break
			sleep 0.1
		done
		check "$how: and can be ended"	gone_all
	done
done
set +m

# --- What a change touches --------------------------------------------------

# touched FILE...: the names, on a line.
touched(){ tests/run --for "$@" | tr '\n' ' '; }
# has NAME TEXT: it, or its long form.
has()	{ [[ $2 == *" $1 "* || $2 == *" $1-long "* ]] || { echo "no $1 in $2"; return 1; }; }
hasnt()	{ [[ $2 != *" $1 "* ]] || { echo "$1 in $2"; return 1; }; }
check 'each file touches a test or stands in tests/touches'	tests/run --for --check
one=$(touched tests/fuzz/codec.c)
check 'a source touches its program'	has fuzz-codec "${one//=/}"
check 'and not others'			hasnt unit-wire "$one"
check 'all tests have static checks'	has tree "${one//=/}"
one=$(touched tests/tap.sh)
check 'a script those that source it'	has runner "$one"
one=$(touched kmod/fs)
check 'a folder of the module racks'	has stress "${one//=/}"
check 'and no unit tests'		hasnt unit-wire "$one"
one=$(touched tests/unit/nothing-yet.c)
check 'a new file those of its folder'	has unit-wire "$one"
one=$(tests/run --for tests/memd/gate.c)
# shellcheck disable=SC2086  # words
check 'tests/run takes what is printed'	tests/run -n $one
check 'and selects just that'	equal "$(grep -vc ^-l <<<"$one")" "$(wc -l <"$dir/check")"
check 'a place that is not here is refused'	exits 2 'is not in the tree' tests/run --for /etc/passwd
check 'what git does not know, too'	exits 2 "git does not know" tests/run --for no-such-commit..

# Lists that make no sense are refused.
for text in 'a 0 true' 'a x true' 'a 5' 'a/b 5 true' $'a 5 true\na 5 true'; do
	printf '%s\n' "$text" >"$dir/list"
	run
	check "refused: ${text//$'\n'/, }"	[ "$rc" = 2 ]
done

finish
