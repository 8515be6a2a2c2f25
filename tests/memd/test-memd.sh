#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The command line of weft-memd: what it says to mistakes, how it starts and
# ends, its backing file.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

MEMD=$BUILD/bin/weft-memd
LIMIT=30		# seconds for anything
begin memd
claim_ports
: >"$dir/err"
pid=
at_exit end_memd

# end_memd: also one that went to the background, which is no job of ours.
end_memd()
{
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
}

# details: what weft-memd has said last.
details()
{
	cat "$dir/err"
}

# ended: the process is gone, or whoever is its parent now has only not heard of it yet.
ended()
{
	! kill -0 "$pid" 2>/dev/null || grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null
}

# refused STATUS TEXT ARGUMENT...: it ends with STATUS and one sentence, with TEXT.
refused()
{
	timeout -k 1 $((LIMIT * ${WEFT_TEST_SCALE:-1})) "$MEMD" "${@:3}" >"$dir/out" 2>"$dir/err"
	equal "exit status $1" "exit status $?" && grep -qF -- "$2" "$dir/err" &&
		equal 1 "$(grep -c . "$dir/err")"
}

refuses()
{
	local options=${*:3}

	check "weft-memd ${options//"$dir/"/}: $2" refused "$@"
}

serves()
{
	grep ' serves ' "$dir/err"
}

# begun: it serves, or has ended before that.
begun()
{
	serves || ended
}

# start ARGUMENT...: run in the background of this script until it serves.
start()
{
	local options=$*

	# The one before has said that it serves, until the shell opens the file anew.
	: >"$dir/err"
	"$MEMD" --port "$port" "$@" >"$dir/out" 2>"$dir/err" &
	pid=$!
	soon "$LIMIT" begun >/dev/null
	check "weft-memd ${options//"$dir/"/} starts" serves
}

# stop SIGNAL STATUS: end it.
stop()
{
	kill "-$1" "$pid"
	soon "$LIMIT" ended || kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	check "after SIG$1: status $2" equal "$2" $?
	pid=
}

# binds ADDRESS USER: a program of that user gets the blade's port at ADDRESS.
binds()
{
	# shellcheck disable=SC2016  # perl's variables
	setpriv --reuid "$2" --clear-groups perl -MIO::Socket::INET -e '
		exit !IO::Socket::INET->new(Proto => "udp", LocalAddr => $ARGV[0],
			LocalPort => $ARGV[1], ReusePort => 1)' "$1" "$port"
}

refused_port()
{
	! binds "$1" 65534
}

# --- What people type -------------------------------------------------------

here=(--id 33 --address 127.0.0.101 --port "$port")

check "--version" grep -q '^weft-memd [0-9]' <("$MEMD" --version)
for option in id blade interface address peers memory user-regions user-memory locks threads backing switch rdma rack port key \
	      make-key background foreground verbose help version; do
	check "--help has --$option" grep -q -- "--$option" <("$MEMD" --help)
done
check "what is no file has no times" grep -q '^weft-memd: ' <("$MEMD" --interface lo 2>&1)
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
refuses 1 '--user-regions is a number from 0 to 16384' "${here[@]}" --user-regions many
refuses 1 '--user-regions is a number' "${here[@]}" --user-regions 16385
refuses 1 '--user-memory is a size from 1M to 8T' "${here[@]}" --user-memory 1
refuses 1 '--locks is a number from 4096' "${here[@]}" --locks 100
refuses 1 '--threads is a number from 1 to 16' "${here[@]}" --threads 17
refuses 1 '--threads is a number' "${here[@]}" --threads 0
refuses 1 '--rdma is auto or off' "${here[@]}" --rdma always
refuses 1 '--deeds is on or off' "${here[@]}" --deeds auto
refuses 1 'auto or none' "${here[@]}" --switch yes
refuses 1 '--port is a number' --id 33 --address 127.0.0.1 --port 65529
refuses 1 '--peers has to name them all' --id 34 --address 127.0.0.102
refuses 1 '--peers names only 1' --id 34 --interface lo --peers 127.0.0.101
refuses 1 'names 127.0.0.101 twice' --id 33 --interface lo --peers 127.0.0.101,127.0.0.101
refuses 1 'names 127.0.0.101 twice' --id 33 --interface lo --peers 127.0.0.101/127.0.0.101
refuses 1 'names 127.0.0.102 twice' --id 33 --interface lo \
	--peers 127.0.0.101/127.0.0.102,127.0.0.102
refuses 1 'a blade with a twin needs --backing' "${here[@]}" --peers 127.0.0.101/127.0.0.102
refuses 1 'this blade has no twin' "${here[@]}" --witness 127.0.0.90
refuses 1 'this blade has no twin' "${here[@]}" --take-over
refuses 1 'which of the two machines' --id 33 --address 127.0.0.103 \
	--peers 127.0.0.101/127.0.0.102
refuses 1 'say one of them' "${here[@]}" --peers 127.0.0.101/127.0.0.102 \
	--backing /dev/null --alone --take-over
refuses 1 'where is the witness to listen' --be-witness "$dir/witness"
refuses 1 '--twin-port is a number' "${here[@]}" --twin-port 0
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
if start --id 33 --address 127.0.0.101 --switch none --threads 3; then
	check "it has a socket for each thread" equal 3 \
		"$(grep -c "^ *[0-9]*: 6500007F:$(printf %04X "$port") " /proc/net/udp)"
	refuses 2 'is in use: is another weft-memd running?' "${here[@]}" --switch none
	refuses 2 'is in use: is another weft-memd running?' "${here[@]}" --switch none --threads 2
	stop TERM 0
fi
# Without an RDMA device it says so to who wants to know, and listens by UDP only.
if start --id 33 --address 127.0.0.101 --switch none --rdma auto --verbose; then
	devices=(/sys/class/infiniband/*)
	if [ -e "${devices[0]}" ]; then
		skip "it says that there is no RDMA device" "there is one"
	else
		check "it says that there is no RDMA device" equal 1 \
			"$(grep -c 'no RDMA: this machine has no RDMA device$' "$dir/err")"
	fi
	stop TERM 0
fi
if start --id 33 --address 127.0.0.101 --switch none --rdma auto --verbose \
	--backing "$dir/rdma"; then
	check "it says that a file has none" grep -q 'no RDMA: blocks are in a file$' "$dir/err"
	stop TERM 0
fi
if start --id 33 --address 127.0.0.101 --switch none --rdma off --verbose; then
	check "--rdma off says nothing of it" test -z "$(grep RDMA "$dir/err")"
	stop TERM 0
fi
# Whoever reads what it says may end; the blade does not.
# start_read ARGUMENT...: as start, with one who reads until it serves.
start_read()
{
	mkfifo "$dir/say"
	"$MEMD" --port "$port" "$@" 2>"$dir/say" &
	pid=$!
	timeout $((LIMIT * ${WEFT_TEST_SCALE:-1})) sed '/ serves /q' "$dir/say" >"$dir/err"
	serves
}

if check "it serves while somebody reads what it says" start_read --id 33 --verbose \
	--address 127.0.0.101 --switch none; then
	stop TERM 0
fi
# In the background: the command returns, and it goes on.
in_background()
{
	timeout -k 1 $((LIMIT * ${WEFT_TEST_SCALE:-1})) "$MEMD" "${here[@]}" --switch none --background 2>"$dir/err"
}

serves_there()
{
	pid=$(pgrep -f -- "--port $port --switch none --background") && serves
}

check "--background" in_background
check "--background stays" soon "$LIMIT" serves_there
if [ -n "$pid" ]; then
	kill -TERM "$pid"
	check "--background ends" soon "$LIMIT" ended
	pid=
fi

# --- Key --------------------------------------------------------------------

mode_is()
{
	equal "$1" "$(stat -c %a "$2")"
}

check "--make-key" grep -q "^made the key $dir/key, fingerprint [0-9a-f]\{8\}\.$" \
	<(umask 0; "$MEMD" --make-key "$dir/key")
check "a key is for its owner only" mode_is 600 "$dir/key"
check "a key is 64 digits and a newline" grep -qE '^[0-9a-f]{64}$' "$dir/key"
cp "$dir/key" "$dir/as-it-was"
refuses 2 'is there already' --make-key "$dir/key"
check "a key is not overwritten" cmp "$dir/key" "$dir/as-it-was"
refuses 2 'there is no key' "${here[@]}" --key "$dir/nothing"
refuses 2 'is not a file' "${here[@]}" --key /dev/null
chmod 640 "$dir/key"
refuses 2 'others than its owner may use the key' "${here[@]}" --key "$dir/key"
chmod 600 "$dir/key"
head -c 63 "$dir/as-it-was" >"$dir/short"
chmod 600 "$dir/short"
refuses 2 'is no key: a key is 64 hexadecimal digits' "${here[@]}" --key "$dir/short"

# handed FILE OPTION...: what a service does with a key before a blade starts.
handed()
{
	local key=$1

	"$MEMD" --interface lo --memory 1M --key "$key" --hand-key "$dir/run" "${@:2}" &&
		cmp "$key" "$dir/run/key" && mode_is 600 "$dir/run/key"
}

mkdir -m 700 "$dir/run"
check "--hand-key copies" handed "$dir/key" --id 33
check "and makes the key of a new rack's first blade" handed "$dir/new" --id 33 \
	--backing "$dir/no-blade"
check "which is for its owner only" mode_is 600 "$dir/new"
cp "$dir/new" "$dir/as-it-was"
check "a second start takes that" handed "$dir/new" --id 33
check "it is as it was" cmp "$dir/new" "$dir/as-it-was"
echo regions >"$dir/blade"
service=(--interface lo --memory 1M --key "$dir/nothing" --hand-key "$dir/run")
refuses 2 'has regions of a rack' "${service[@]}" --id 33 --backing "$dir/blade"
refuses 2 "copy the one of the rack's first blade here" "${service[@]}" --id 34 \
	--peers 127.0.0.101,127.0.0.102
check "neither has made one" test ! -e "$dir/nothing"
chmod 755 "$dir/run"
refuses 2 'a directory that only its owner may use' "${service[@]}" --id 33
check "without a key nothing is done" "$MEMD" --interface lo --id 33 --hand-key "$dir/nothing"
if start --id 33 --address 127.0.0.101 --switch none --key "$dir/key"; then
	check "it says which key" grep -q 'key has fingerprint' "$dir/err"
	stop TERM 0
fi
if start --id 33 --address 127.0.0.101 --switch none; then
	check "it says that there is none" grep -q 'this rack has no key' "$dir/err"
	check "each line of a file says when it was" test -z "$(grep -vE \
		"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3} weft-memd: " \
		"$dir/err")"
	# The port at another address, as somebody else who would speak for the blade.
	if [ "$(id -u)" = 0 ]; then
		check "its own user may share the port" binds 127.0.0.1 0
		for address in 127.0.0.1 127.0.0.101 0.0.0.0; do
			check "another user does not get the port at $address" \
				refused_port "$address"
		done
	fi
	stop TERM 0
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
		--address 127.0.0.102 --port "$port" --backing "$file"
	stop TERM 0
fi
# Blades can be added to a rack, but its blades are named, also those that are not used any more.
if start --id 33 --address 127.0.0.101 --switch none --memory 16M --backing "$dir/two" \
		--peers 127.0.0.101,127.0.0.102; then
	stop TERM 0
fi
refuses 2 'is part of a rack of 2 blades' "${here[@]}" --backing "$dir/two"
cp "$file" "$dir/more"
if start --id 33 --address 127.0.0.101 --switch none --memory 16M --backing "$dir/more" \
		--peers 127.0.0.101,127.0.0.102; then
	stop TERM 0
fi
refuses 2 'belongs to blade 1, this is blade 2' --id 34 --address 127.0.0.102 \
	--port "$port" --peers 127.0.0.101,127.0.0.102 --backing "$file"
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
refuses 2 'has format 7, this weft-memd knows format 2' "${here[@]}" --backing "$dir/new"

finish
