#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The command line of weft-memd: what it says to mistakes, how it starts and
# ends, its backing file.

set -u
cd "$(dirname "$0")/../.." || exit 2

BUILD=${BUILD:-$PWD/build}
MEMD=$BUILD/bin/weft-memd
LIMIT=10		# seconds for anything
PORT=$((20000 + $$ % 20000))
dir=$(mktemp -d) || exit 2
failed=0
checks=0
pid=

cleanup()
{
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
	rm -rf "$dir"
}
trap cleanup EXIT

ok()
{
	checks=$((checks + 1))
}

not_ok()
{
	checks=$((checks + 1))
	failed=$((failed + 1))
	echo "not ok: $*"
	[ ! -s "$dir/err" ] || sed 's/^/	/' "$dir/err"
}

# expect WHAT COMMAND...: that it succeeds.
expect()
{
	local what=$1

	shift
	if "$@"; then ok; else not_ok "$what"; fi
}

# gone: the process ends.
gone()
{
	local i

	for ((i = 0; i < LIMIT * 20; i++)); do
		kill -0 "$pid" 2>/dev/null || return 0
		sleep 0.05
	done
	return 1
}

# refuses STATUS TEXT ARGUMENT...: ends with STATUS and a sentence with TEXT.
refuses()
{
	local status=$1 text=$2 got

	shift 2
	timeout -k 1 "$LIMIT" "$MEMD" "$@" >"$dir/out" 2>"$dir/err"
	got=$?
	if [ $got != "$status" ]; then
		not_ok "weft-memd $*: exit status $got, not $status"
	elif ! grep -qF -- "$text" "$dir/err"; then
		not_ok "weft-memd $*: does not say '$text'"
	elif [ "$(grep -c . "$dir/err")" != 1 ]; then
		not_ok "weft-memd $*: says more than one line"
	else
		ok
	fi
}

# start ARGUMENT...: run in the background of this script until it serves.
start()
{
	local i

	"$MEMD" --port "$PORT" "$@" >"$dir/out" 2>"$dir/err" &
	pid=$!
	for ((i = 0; i < LIMIT * 20; i++)); do
		grep -q ' serves ' "$dir/err" && return 0
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	not_ok "weft-memd $* does not start"
	return 1
}

# stop SIGNAL STATUS: end it.
stop()
{
	local got

	kill "-$1" "$pid"
	gone || kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	got=$?
	pid=
	expect "after SIG$1: status $got, not $2" [ $got = "$2" ]
}

# --- What people type -------------------------------------------------------

here=(--id 33 --address 127.0.0.101 --port "$PORT")

expect --version grep -q '^weft-memd [0-9]' <("$MEMD" --version)
for option in id blade interface address peers memory backing switch rack port \
	      background foreground verbose help version; do
	expect "--help lacks --$option" grep -q -- "--$option" <("$MEMD" --help)
done
refuses 1 'which blade is this' --interface lo
refuses 1 'where is the rack' --id 33
refuses 1 '--id is a number from 33 to 48' --id 32 --interface lo
refuses 1 '--blade is a number from 1 to 16' --blade 17 --interface lo
refuses 1 '--blade is a number' --blade 1x --interface lo
refuses 1 'is not an option' --id 33 --interface lo --colour
refuses 1 'lacks its value' --id
refuses 1 "what is 'more'" --id 33 --interface lo more
refuses 1 'takes an IPv4 address' --id 33 --address here
refuses 1 'is not the address of a host' --id 33 --address 239.1.1.1
refuses 1 'a size from 1M to 8T' "${here[@]}" --memory 10
refuses 1 'a size from 1M to 8T' "${here[@]}" --memory 5X
refuses 1 'a size from 1M to 8T' "${here[@]}" --memory 99999999T
refuses 1 'a size from 1M to 8T' "${here[@]}" --memory -1M
refuses 1 'auto or none' "${here[@]}" --switch yes
refuses 1 '--port is a number' --id 33 --address 127.0.0.1 --port 65536
refuses 1 '--peers has to name them all' --id 34 --address 127.0.0.102
refuses 1 '--peers names only 1' --id 34 --interface lo --peers 127.0.0.101
refuses 1 'names 127.0.0.101 twice' --id 33 --interface lo --peers 127.0.0.101,127.0.0.101
refuses 1 'not what --peers says' "${here[@]}" --peers 127.0.0.103
refuses 2 'there is no interface no-such-if' --id 33 --interface no-such-if
refuses 2 'no interface of this machine has the address' --id 33 --address 192.0.2.77
refuses 2 'does not have the address' --id 33 --interface lo --address 192.0.2.77
refuses 2 'this machine has' "${here[@]}" --memory 8T

# --- Start and stop ---------------------------------------------------------

if start --id 33 --address 127.0.0.101 --switch none; then
	refuses 2 'is in use: is another weft-memd running?' "${here[@]}" --switch none
	stop TERM 0
fi
if start --blade 1 --address 127.0.0.101 --switch none --foreground --verbose; then
	stop INT 0
fi
# In the background: the command returns when it serves, and it goes on.
expect --background timeout -k 1 "$LIMIT" "$MEMD" "${here[@]}" --switch none \
	--background 2>"$dir/err"
for ((i = 0; i < LIMIT * 20; i++)); do
	pid=$(pgrep -f -- "--port $PORT --switch none --background")
	[ -n "$pid" ] && grep -q serves "$dir/err" && break
	sleep 0.05
done
expect "--background does not stay" [ -n "$pid" ]
if [ -n "$pid" ]; then
	kill -TERM "$pid"
	expect "--background does not end" gone
	pid=
fi

# --- Backing file -----------------------------------------------------------

file=$dir/backing
echo 'something else' >"$dir/other"
mkdir "$dir/folder"
refuses 2 'is not a backing file of weft-memd' "${here[@]}" --backing "$dir/other"
refuses 2 'cannot open' "${here[@]}" --backing "$dir/folder"
refuses 2 'cannot open' "${here[@]}" --backing "$dir/none/file"
if start --id 33 --address 127.0.0.101 --switch none --memory 16M --backing "$file"; then
	refuses 2 'is in use: is another weft-memd running?' --id 33 \
		--address 127.0.0.102 --port "$PORT" --backing "$file"
	stop TERM 0
fi
refuses 2 'is part of a rack of 1 blades' "${here[@]}" \
	--peers 127.0.0.101,127.0.0.102 --backing "$file"
refuses 2 'belongs to blade 1, this is blade 2' --id 34 --address 127.0.0.102 \
	--port "$PORT" --peers 127.0.0.101,127.0.0.102 --backing "$file"
# A damaged copy of the superblock is no harm while the other one is whole.
cp "$file" "$dir/half"
printf 'xxxx' | dd of="$dir/half" bs=1 seek=24 conv=notrunc status=none
if start --id 33 --address 127.0.0.101 --switch none --backing "$dir/half"; then
	stop TERM 0
fi
cp "$file" "$dir/bad"
for at in 24 4120; do
	printf 'xxxx' | dd of="$dir/bad" bs=1 seek=$at conv=notrunc status=none
done
refuses 2 'its beginning is damaged' "${here[@]}" --backing "$dir/bad"
cp "$file" "$dir/new"
for at in 11 4107; do
	printf '\7' | dd of="$dir/new" bs=1 seek=$at conv=notrunc status=none
done
refuses 2 'has format 7, this weft-memd knows format 1' "${here[@]}" --backing "$dir/new"

echo "memd: $checks checks, $failed failed"
[ $failed = 0 ]
