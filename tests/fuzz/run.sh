#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A fuzz target for some seconds, beginning with seeds (tests/seeds) that get further than
# an empty corpus does.
#
#	tests/fuzz/run.sh TARGET [SECONDS]	(5)
#
# Environment: BUILD.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

target=$1
seconds=${2:-5}
PROGRAM=$BUILD/tests/fuzz-$target
SEEDS=$BUILD/tests/seeds-seeds
LIMIT=$((200 + seconds))
options=(-error_exitcode=1 -max_len=4096 -artifact_prefix="$BUILD/tests/log/")

# reach DIR: how many edges of the program what is in DIR reaches.
reach()
{
	local edges

	edges=$(timeout -k 5 "$LIMIT" "$PROGRAM" "${options[@]}" -runs=0 "$1" 2>&1 |
		sed -n 's/^#.*INITED cov: \([0-9]*\) .*/\1/p')
	# an empty corpus that reaches nothing at all has no count
	echo "${edges:-0}"
}

further()
{
	local empty seeds

	empty=$(reach "$dir/empty")
	seeds=$(reach "$dir/seeds")
	echo "edges reached: $empty from nothing, $seeds from the seeds"
	[ "$seeds" -gt "$empty" ]
}

built "$PROGRAM" "$SEEDS"
mkdir -p "$BUILD/tests/log"
begin "fuzz-$target" "$(in_memory)"
mkdir "$dir/empty" "$dir/seeds"
check "seeds are made" timeout "$LIMIT" "$SEEDS" "$target" "$dir/seeds"
show
check "they reach more than an empty corpus" further
show
check "$seconds s without a fault" timeout -k 5 "$LIMIT" "$PROGRAM" "${options[@]}" \
	-max_total_time="$seconds" "$dir/seeds"
tail -n 3 "$dir/check" | sed 's/^/# /'
finish
