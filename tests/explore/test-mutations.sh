#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Proves that the explorer bites: each one-line bug of the list "mutations" is
# put into a copy of the protocol core, and the explorer has to find it.
#
# Usage: test-mutations.sh [PATTERN]    only bugs whose description matches

set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
limit=8000000	# states; a bug that hides deeper is not found
found=0
missed=0

trim() {
	sed 's/^ *//; s/ *$//' <<<"$1"
}

# Compile the explorer with the core of directory $1.
build() {
	"${CC:-gcc}" -std=gnu11 -O2 -w -D_GNU_SOURCE \
		-I"$top/uapi" -I"$1" -I"$top/tests/explore" \
		"$top"/tests/explore/*.c \
		"$1"/*.c -o "$1/explore"
}

while IFS= read -r entry; do
	case $entry in '#'* | '') continue ;; esac
	# the sed command may hold '|', the other fields do not
	what=$(trim "${entry%%|*}")
	rest=${entry#*|}
	file=$(trim "${rest%%|*}")
	rest=${rest#*|}
	configs=$(trim "${rest##*|}")
	command=$(trim "${rest%|*}")
	[[ $what =~ ${1:-.} ]] || continue

	rm -rf "$tmp/core"
	cp -r "$top/kmod/core" "$tmp/core"
	sed -i "$command" "$tmp/core/$file"
	changed=$(diff "$top/kmod/core/$file" "$tmp/core/$file" | grep -c '^>')
	if [ "$changed" -ne 1 ]; then
		echo "not ok - $what: changes $changed lines of $file, not 1: mend the list"
		missed=$((missed + 1))
		continue
	fi
	if ! build "$tmp/core" 2>"$tmp/err"; then
		echo "not ok - $what: does not compile: $(head -n 1 "$tmp/err")"
		missed=$((missed + 1))
		continue
	fi
	# shellcheck disable=SC2086 # a list of names
	timeout 120 "$tmp/core/explore" --limit "$limit" $configs >"$tmp/out" 2>&1
	if [ $? -eq 1 ] && grep -q '^VIOLATION' "$tmp/out"; then
		echo "ok - found: $what ($(sed -n 's/^VIOLATION in //p' "$tmp/out" | head -n 1), $(grep -c '^ *[0-9]*\. ' "$tmp/out") steps)"
		found=$((found + 1))
	else
		echo "not ok - NOT found: $what"
		tail -n 2 "$tmp/out"
		missed=$((missed + 1))
	fi
done <"$top/tests/explore/mutations"

echo "$found mutations found, $missed not"
[ "$missed" -eq 0 ] && [ "$found" -gt 0 ]
