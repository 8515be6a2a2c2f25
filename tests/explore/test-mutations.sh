#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Proves that the explorer bites: each one-line bug of the list "mutations" is
# put into a copy of the protocol core and the directory, and the explorer has to find it.
#
# Usage: test-mutations.sh [PATTERN]    only bugs whose description matches
#
# Environment: WEFT_MUTATIONS_LIMIT (8000000), states; a bug that hides deeper is not found.

set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

limit=${WEFT_MUTATIONS_LIMIT:-8000000}
begin mutations
read -ra libs < <(pkg-config --libs libsodium)	# tags are made with it

trim() {
	sed 's/^ *//; s/ *$//' <<<"$1"
}

# compile SOURCE OBJECT: with the core of $dir/core; OBJECT.d says what was included.
compile() {
	"${CC:-gcc}" -std=gnu11 -O2 -w -D_GNU_SOURCE \
		-Iuapi -I"$dir/core" -Itests/explore -I. -MMD -MF "$2.d" -c "$1" -o "$2"
}

# The source of an object, by its name.
source_of() {
	case $1 in
	core-*) echo "$dir/core/${1#core-}.c" ;;
	*) echo "tests/explore/${1#explore-}.c" ;;
	esac
}

# includes FILE: names of the objects that are made of this file of the core.
includes() {
	local d

	for d in "$dir"/obj/*.o.d; do
		tr -s '[:space:]' '\n' <"$d" | grep -qxF "$dir/core/$1" && basename "$d" .o.d
	done
}

# build FILE: link the explorer, FILE of the core being another one than when all of it
# was compiled: what is made of it is compiled anew.
build() {
	local name objects=() names

	mapfile -t names < <(includes "$1")
	[ ${#names[@]} -gt 0 ] || { echo "nothing is made of $1"; return 1; }
	rm -rf "$dir/new"
	mkdir "$dir/new"
	for name in "${names[@]}"; do
		compile "$(source_of "$name")" "$dir/new/$name.o" || return 1
	done
	for name in "$dir"/obj/*.o; do
		name=${name##*/}
		if [ -e "$dir/new/$name" ]; then
			objects+=("$dir/new/$name")
		else
			objects+=("$dir/obj/$name")
		fi
	done
	"${CC:-gcc}" "${objects[@]}" -Wl,--as-needed "${libs[@]}" -o "$dir/explore"
}

mkdir "$dir/core"
cp kmod/core/* tools/directory/* "$dir/core/"
mkdir "$dir/obj"
for source in tests/explore/*.c "$dir"/core/*.c tools/common/*.c; do
	name=$(basename "$(dirname "$source")")-$(basename "$source" .c)
	if ! compile "$source" "$dir/obj/$name.o" 2>"$dir/err"; then
		not_ok "compiles without a bug: $name" "$dir/err"
		finish
		exit
	fi
done

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

	sed -i "$command" "$dir/core/$file"
	original=kmod/core/$file
	[ -e "$original" ] || original=tools/directory/$file
	changed=$(diff "$original" "$dir/core/$file" | grep -c '^>')
	rm -f "$dir/explore"
	build "$file" >"$dir/err" 2>&1
	built=$?
	cp "$original" "$dir/core/$file"
	if [ "$changed" -ne 1 ]; then
		not_ok "$what: changes $changed lines of $file, not 1: mend the list"
		continue
	fi
	if [ "$built" -ne 0 ]; then
		not_ok "$what: does not compile" "$dir/err"
		continue
	fi
	# shellcheck disable=SC2086 # a list of names
	timeout $((120 * ${WEFT_TEST_SCALE:-1})) "$dir/explore" --limit "$limit" $configs >"$dir/out" 2>&1
	if [ $? -eq 1 ] && grep -q '^VIOLATION' "$dir/out"; then
		ok "found: $what ($(sed -n 's/^VIOLATION in //p' "$dir/out" | head -n 1), $(grep -c '^ *[0-9]*\. ' "$dir/out") steps)"
	else
		not_ok "found: $what" "$dir/out"
	fi
done <tests/explore/mutations
finish
