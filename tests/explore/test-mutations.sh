#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Proves that the explorer bites: each one-line bug of the list "mutations" is
# put into a copy of the protocol core, and the explorer has to find it.
#
# Usage: test-mutations.sh [PATTERN]    only bugs whose description matches

set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

limit=8000000	# states; a bug that hides deeper is not found
begin mutations
read -ra libs < <(pkg-config --libs libsodium)	# tags are made with it

trim() {
	sed 's/^ *//; s/ *$//' <<<"$1"
}

# Compile the explorer with the core of directory $1.
build() {
	"${CC:-gcc}" -std=gnu11 -O2 -w -D_GNU_SOURCE \
		-Iuapi -I"$1" -Itests/explore -I. tests/explore/*.c "$1"/*.c \
		-Wl,--as-needed "${libs[@]}" -o "$1/explore"
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

	rm -rf "$dir/core"
	cp -r kmod/core "$dir/core"
	sed -i "$command" "$dir/core/$file"
	changed=$(diff "kmod/core/$file" "$dir/core/$file" | grep -c '^>')
	if [ "$changed" -ne 1 ]; then
		not_ok "$what: changes $changed lines of $file, not 1: mend the list"
		continue
	fi
	if ! build "$dir/core" 2>"$dir/err"; then
		not_ok "$what: does not compile" "$dir/err"
		continue
	fi
	# shellcheck disable=SC2086 # a list of names
	timeout 120 "$dir/core/explore" --limit "$limit" $configs >"$dir/out" 2>&1
	if [ $? -eq 1 ] && grep -q '^VIOLATION' "$dir/out"; then
		ok "found: $what ($(sed -n 's/^VIOLATION in //p' "$dir/out" | head -n 1), $(grep -c '^ *[0-9]*\. ' "$dir/out") steps)"
	else
		not_ok "found: $what" "$dir/out"
	fi
done <tests/explore/mutations
finish
