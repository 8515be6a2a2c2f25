# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tests/run --for: which tests a change of files touches.  Sourced by tests/run.  --for --check
# tells what tests/touches lacks.
#
# A test is touched by what its command names, and by what that is made of, or names: a program
# is made of objects (make says which) and these of sources (the compiler has said which, so
# programs must be built); a script names others, programs and files.  Who uses what in ways
# that nobody can read there stands in tests/touches.  A file that is new, or gone, counts
# as all those of its folder.

LISTS=(tests/list tests/list-long)

# all_files: those of the tree, whether committed yet or not.
all_files()
{
	git ls-files -co --exclude-standard 2>/dev/null ||
		find . -name .git -prune -o -path ./build -prune -o -type f -printf '%P\n'
}

# made_of: what make knows of programs: "TARGET: PREREQUISITE...".  It makes nothing.
made_of()
{
	local B=${BUILD#"$PWD"/}

	WEFT_PACKAGES_DONE=1 MAKEFLAGS='' timeout 120 make -pnqr B="$B" \
		programs test-programs fuzz 2>/dev/null | grep "^$B/[^ ]*: *$B/"
}

# sources_of: what the compiler knows of objects, in the same form; also of those that a test
# had made, which says where they are from the root on.
sources_of()
{
	local B=${BUILD#"$PWD"/}

	find "$B/obj" "$B/pic" "$B/san" "$B/tsan" "$B/fuzz" -name '*.d' -print0 2>/dev/null |
		xargs -0 -r cat | sed -e :a -e '/\\$/{N;s/\\\n//;ba' -e '}' -e "s|$PWD/||g" |
		grep "^$B/.*: "
}

# all_suites: "NAME LIST COMMAND" of each test of all lists.
all_suites()
{
	local list i first

	wanted=() names=() limits=() commands=() long=() alone=()
	for list in "${LISTS[@]}"; do
		first=${#names[@]}
		read_list "$list"
		for ((i = first; i < ${#names[@]}; i++)); do
			echo "${names[i]} $list ${commands[i]//"$PWD"\//}"
		done
	done
}

# ask_touches OPTION...: what tests/touches.awk says of the files that stand in $touches/wanted.
ask_touches()
{
	all_files >"$touches/files"
	made_of >"$touches/made"
	sources_of >"$touches/sources"
	all_suites >"$touches/suites"
	[ -s "$touches/made" ] || die "make does not say what programs are made of: make test-programs"
	tests/touches.awk "$@" "$touches/files" "$touches/suites" "$touches/made" "$touches/sources" \
		tests/touches "$touches/wanted"
}

# changed REV..[REV]: the files that git says are not the same; to those of the tree as it
# stands, new ones included, without a second REV.
changed()
{
	git diff --name-only --no-renames "${1%..}" -- || die "git does not know '$1'"
	[[ $1 != *.. ]] || git ls-files -o --exclude-standard
}

# expand WORD...: the paths of the tree that they stand for, a line each.
expand()
{
	local word path

	for word; do
		if [[ $word == *..* && ! -e $word ]]; then
			changed "$word" || return
			continue
		fi
		path=$(realpath -sm --relative-to=. -- "$word")
		case $path in
		..|../*) die "'$word' is not in the tree $PWD" ;;
		esac
		echo "$path"
	done
}

# touched_by WORD...: print the tests, and before them the lists where they are, as tests/run
# takes them.
touched_by()
{
	local name list found=()

	[ $# -gt 0 ] || usage
	touches=$(mktemp -d) || die "cannot make a temporary directory"
	trap 'rm -rf "$touches"' EXIT
	if [ "$1" = --check ]; then
		: >"$touches/wanted"
		ask_touches -v check=1
		return
	fi
	expand "$@" >"$touches/wanted" || exit 2
	[ -s "$touches/wanted" ] || die "nothing has changed: $*"
	ask_touches >"$touches/found" || exit 2
	for list in "${LISTS[@]}"; do
		! grep -q " $list\$" "$touches/found" || found+=(-l "$list")
	done
	echo "${found[@]}"
	cut -d' ' -f1 "$touches/suites" | while read -r name; do
		grep -q " $name [^ ]*\$" "$touches/found" || continue
		# A name that others begin with selects those, too.
		grep -q "^$name-" "$touches/suites" && name="=$name"
		echo "$name"
	done
}
