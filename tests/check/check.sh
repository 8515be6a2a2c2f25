#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Static checks (make check).  Each is a function check_NAME below.
#
#	check.sh [NAME|FILE...]
#
# Names select checks, "tree" stands for those that need nothing built and no
# download.  With files, only these are looked at, by the checks that look at
# files one by one unless others are named.  Prints a line a check, and what was
# found above it.
#
# Environment: BUILD, KVER as from the Makefile.  CHECKPATCH names the
# kernel's checkpatch.pl; without it, it is taken from the headers, or out of
# Debian's linux-source (a large download, made once, into build/checkpatch).

set -u
export LC_ALL=C
here=$PWD
cd "$(dirname "$0")/../.." || exit 2

BUILD=${BUILD:-$PWD/build}
ALL='license paths shell text man uapi counters layers once p4 module clang tidy checkpatch'
TREE='license paths shell text man uapi counters layers once p4'
EACH='license paths shell text man once checkpatch'
SKIP=77
only=()			# the files to look at; none: all

# files: what belongs to the tree, whether committed yet or not.
files()
{
	[ ${#only[@]} = 0 ] || { printf '%s\n' "${only[@]}" | sort -u; return; }
	{
		git ls-files -co --exclude-standard 2>/dev/null ||
			find . -name .git -prune -o -path ./build -prune -o \
				-type f -printf '%P\n'
	} | while read -r file; do
		[ -f "$file" ] && [ ! -L "$file" ] && echo "$file"
	done | sort -u
}

# of_suffix SUFFIX...: the files whose names end like this.
of_suffix()
{
	local pattern

	pattern=$(printf '\\.%s$|' "$@")
	files | grep -E "${pattern%|}"
}

scripts()
{
	files | while read -r file; do
		head -n 1 "$file" | grep -qE '^#!.*\b(ba|da)?sh\b' && echo "$file"
	done
}

# need PROGRAM: or skip the check.
need()
{
	command -v "$1" >/dev/null && return 0
	echo "$1 is not installed"
	return 1
}

# --- Checks: print what is wrong and return 1 -------------------------------

# Every file says what its licence is, at its top.
check_license()
{
	local file want bad=0

	while read -r file; do
		case $file in
		COPYING)	continue ;;
		uapi/*)		want='GPL-2.0 WITH Linux-syscall-note' ;;
		*)		want='GPL-2.0-only' ;;
		esac
		# A data file of a few bytes can carry none: say so here then.
		head -n 2 "$file" |
			grep -qE "SPDX-License-Identifier: $want( \*/| -->|\",)?\$" && continue
		echo "$file: no 'SPDX-License-Identifier: $want' in its first two lines"
		bad=1
	done < <(files)
	return $bad
}

# Nothing depends on, or tells about, the machine it was written on: where this
# tree is, whose home that is, how the machine is called.
check_paths()
{
	local here=$PWD patterns=('/hom[e]/' '/op[t]/') bad=0
	local usual='^/(usr|tmp|var|var/tmp|root|run|srv|mnt|media)?/*$'	# on all machines

	while [ "${here%/*}" != '' ]; do
		patterns+=("$here\\b")
		here=${here%/*}
	done
	[[ $here =~ $usual ]] || patterns+=("(^|[^[:alnum:]_.*-])$here/")
	# Who has no home has the name of one that is nowhere, or of a place that all have.
	[[ ! -d ${HOME-} || $HOME =~ $usual ]] || patterns+=("$HOME\\b")
	for pattern in "${patterns[@]}"; do
		if files | xargs -d '\n' -r grep -nIHE -- "$pattern"; then
			bad=1
		fi
	done
	[ $bad = 0 ] || echo "these lines name paths of one machine"
	return $bad
}

check_shell()
{
	local bad=0

	need shellcheck || return $SKIP
	scripts | xargs -d '\n' -r shellcheck -x || bad=1
	while read -r file; do
		[ -x "$file" ] && continue
		echo "$file: begins with #! but is not executable"
		bad=1
	done < <(scripts)
	return $bad
}

# Plain text, as git and editors like it.
check_text()
{
	local bad=0

	files | grep -v '^COPYING$' | xargs -d '\n' -r grep -nIHE '[[:blank:]]+$' &&
		{ echo 'these lines end in blanks'; bad=1; }
	files | xargs -d '\n' -r grep -nIH $'\r' &&
		{ echo 'these lines end in carriage returns'; bad=1; }
	while read -r file; do
		[ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] ||
			{ echo "$file: no newline at its end"; bad=1; }
	done < <(files)
	return $bad
}

# Manual pages say nothing that groff, or mandoc, does not understand, and have
# their own name in the title.  A page that only stands for another has that in the tree.
check_man()
{
	local bad=0 file other name title

	need groff || return $SKIP
	while read -r file; do
		name=${file##*/}
		other=$(sed -n 's|^\.so .*/||p' "$file")
		if [ -n "$other" ]; then
			compgen -G "${file%/*}/$other" >/dev/null ||
				{ echo "$file: there is no $other beside it"; bad=1; }
			continue
		fi
		title=$(sed -n 's/\\//g; s/^\.TH \([^ ]*\) \([^ ]*\) .*/\1.\2/p' "$file")
		[ "${title,,}" = "${name,,}" ] ||
			{ echo "$file: its title is '$title'"; bad=1; }
		# groff's exit status does not tell
		groff -man -ww -z -Tutf8 "$file" 2>&1 | grep . && bad=1
		! command -v mandoc >/dev/null ||
			mandoc -T lint -W warning "$file" || bad=1
	done < <(of_suffix 1 3 5 7 8 | grep '/man/')
	return $bad
}

# Each header of the user interface compiles alone, as C and C++, and the one
# that P4 includes holds nothing but constants.
check_uapi()
{
	local bad=0 header lang

	for header in uapi/*.h; do
		for lang in c c++; do
			command -v "${lang/c++/g++}" >/dev/null || continue
			gcc -x "$lang" -fsyntax-only -Wall -Wextra -Wpedantic \
				-Werror -include "$header" /dev/null || bad=1
		done
	done
	if gcc -x c -fpreprocessed -dD -E -P uapi/weft_wire.h |
	   grep -vE '^#(define|ifndef|endif)|^$'; then
		echo 'uapi/weft_wire.h: these lines are no constants'
		bad=1
	fi
	return $bad
}

# Whoever shows the switch's counters has a name for each, in the order of their
# numbers: the name of WEFT_COUNT_* in small letters.
check_counters()
{
	local bad=0 names shown name number i=0

	names=$(sed -n 's/^#define WEFT_COUNT_\([A-Z_]*\)[[:blank:]]\+\([0-9]\+\).*/\2 \1/p' \
		uapi/weft_wire.h | sort -n | tr '[:upper:]' '[:lower:]')
	[ -n "$names" ] || { echo 'uapi/weft_wire.h: no WEFT_COUNT_*'; return 1; }
	mapfile -t shown < <(sed -n '/define P4_STAT_NAMES/,/}/p' tools/switchd/p4names.h |
		grep -o '"[a-z_]*"' | tr -d '"')
	while read -r number name; do
		[ "$number" = $i ] ||
			{ echo "uapi/weft_wire.h: no counter has the number $i"; bad=1; }
		[ "${shown[i]-}" = "$name" ] ||
			{ echo "tools/switchd/p4names.h: name $i is '${shown[i]-}', not '$name'"; bad=1; }
		grep -qE "\[WEFT_COUNT_${name^^}\][[:blank:]]*= \"$name\"," kmod/control/netlink_list.c ||
			{ echo "kmod/control/netlink_list.c: no name for WEFT_COUNT_${name^^}"; bad=1; }
		i=$((number + 1))
	done <<<"$names"
	[ ${#shown[@]} -le $i ] ||
		{ echo "tools/switchd/p4names.h: ${#shown[@]} names for $i counters"; bad=1; }
	return $bad
}

# files_of PAGE: what the table of files of a folder's page names, one a line.
files_of()
{
	# shellcheck disable=SC2016  # of Markdown
	sed -n '/^| files | what |$/,/^$/p' "$1" | cut -d'|' -f2 | grep -o '`[^`]*`' |
		sed 's/`//g; s/\.[ch]$//' | sort
}

# Which folder of the module uses which, as docs/kernel.md says; and of each program whose files
# are in folders, as its README.md does.  The page of a folder of the module has all its files.
check_layers()
{
	local bad=0 table page

	tests/check/layers.awk docs/kernel.md kmod/*/*.[ch] || bad=1
	for table in tools/*/README.md; do
		[ ! -e "$table" ] || tests/check/layers.awk "$table" "${table%/*}"/*/*.[ch] || bad=1
	done
	for page in kmod/*/README.md; do
		[ -e "$page" ] || continue
		diff <(files_of "$page") <(printf '%s\n' "${page%/*}"/*.[ch] |
			sed 's|.*/||; s/\.[ch]$//' | sort -u) |
			sed -n "s|^< |$page: there is no file |p; s|^> |$page: its table lacks |p" |
			grep . && bad=1
	done
	return $bad
}

# What stands once, for all programs: a pattern of what a second one would have, where it
# stands, and where else it may be:
#
# ledger.c		is to be a program that knows nothing of weft
# lock.c of libweft	has a clock that its caller names, which need not exist
# weftctl, conf.c	numbers within lines of a form that somebody else has made
# badinput.c		numbers that are wrong on purpose
# family.h		a client of netlink that is to share nothing
# shellcheck disable=SC2016  # patterns
ONCE='
\<clock_gettime\(	tools/common/clock.h	tools/(demo/ledger|libweft/lock)\.c
\<(strto(l|ul|ll|ull|d|f|ld)|ato(i|l|ll|f))\(	tools/common/number.h	tools/common/json\.c|tools/(demo/ledger|bench/hist|weftctl/(doctor/kernellog|(command|view)/trace))\.c|tests/(fuzz/conf|switchd/daemon|common/kernel/lock|system/badinput)\.c
\<(s?rand|random|rand_r|[dlm]rand48)\(|>> (12|27|30)\) \*|0x2545f4914f6cdd1d|<< 13;	tools/common/random.h	tools/demo/ledger\.c
printf\(.*\\"[a-z_]+\\":[%\\]	tools/common/json.h	tests/switchd/daemon\.[ch]
(bucket|part|class|cell)[a-z_]*\(.*\<clzll|\<struct (hist|histogram) \{	tools/common/hist.h	kmod/.*
\<weft_key_parse\(	tools/common/rackkey.h	tests/.*
^#define[[:blank:]]+(CHECK|EXPECT|MUST|ASSERT|check|must)[A-Z_]*\(	tests/common/check.h	tests/netlink/family\.h|tests/fuzz/fuzz\.h
'

check_once()
{
	local pattern where others sources found bad=0

	sources=$(of_suffix c h | grep -E '^(tools|tests)/')
	while IFS=$'\t' read -r pattern where others; do
		[ -n "$pattern" ] || continue
		found=$(grep -vE "^(${where%.h}\\.[ch]|$others)\$" <<<"$sources" |
			xargs -d '\n' -r grep -nHE -- "$pattern")
		[ -n "$found" ] || continue
		echo "$found"
		echo "this stands once, in $where: use that (docs/contributing.md)"
		bad=1
	done <<<"$ONCE"
	return $bad
}

check_p4()
{
	compgen -G 'p4/*.p4' >/dev/null || { echo 'no P4 sources'; return $SKIP; }
	p4/check-generated
}

# sparse on the module, with warnings as errors.
check_module()
{
	local log=$BUILD/sparse.log

	need sparse || return $SKIP
	compgen -G 'kmod/*/*.c' >/dev/null || { echo 'no kmod/*/*.c'; return $SKIP; }
	make -s module C=2 >"$log" 2>&1 || { cat "$log"; return 1; }
	grep -E '(warning|error):' "$log" && return 1
	return 0
}

# Everything in user space compiles without warnings with clang as well.
check_clang()
{
	need clang || return $SKIP
	make -s -j2 B="$BUILD/clang" CC=clang programs long-programs
}

# commands: how make would compile what is no test, as clang-tidy wants to know it.
commands()
{
	make -n V=1 B="$BUILD/tidy" CC=clang programs |
		grep -E ' -c -o [^ ]+ [^ ]+\.c$' |
		sed -e 's/[\\"]/\\&/g' -e "s|^\(.* \([^ ]*\)\)\$|{ \"directory\": \"$PWD\", \"file\": \"\2\", \"command\": \"\1\" },|" \
		    -e '1s/^/[ /' -e '$s/,$/ ]/'
}

# .clang-tidy says what is looked for.
check_tidy()
{
	local dir=$BUILD/tidy

	need clang-tidy || return $SKIP
	mkdir -p "$dir"
	commands >"$dir/commands" &&
		mv "$dir/commands" "$dir/compile_commands.json" || return 1
	sed -n 's/.*"file": "\([^"]*\)".*/\1/p' "$dir/compile_commands.json" |
		xargs -d '\n' -r -P 2 -n 4 clang-tidy --quiet -p "$dir" \
		2>"$dir/log" || { grep -vE ' warnings? generated' "$dir/log"; return 1; }
}

# find_checkpatch: print its path, or why there is none.
find_checkpatch()
{
	local dir=$BUILD/checkpatch path

	for path in "${CHECKPATCH-}" "$dir/checkpatch.pl" \
		    /usr/src/linux-headers-*/scripts/checkpatch.pl; do
		[ -f "$path" ] && { echo "$path"; return 0; }
	done
	mkdir -p "$dir"
	(
		set -e
		cd "$dir"
		timeout 900 apt-get -q -o Acquire::Retries=3 download linux-source-6.1
		dpkg-deb --fsys-tarfile linux-source-6.1_*.deb |
			tar -xO --wildcards '*/linux-source-6.1.tar.xz' |
			tar -xJ --strip-components=2 --wildcards \
			'*/scripts/checkpatch.pl' '*/scripts/spelling.txt' \
			'*/scripts/const_structs.checkpatch'
		rm -f linux-source-6.1_*.deb
	) >"$dir/log" 2>&1
	[ -f "$dir/checkpatch.pl" ] && { echo "$dir/checkpatch.pl"; return 0; }
	echo "checkpatch.pl is not here and could not be fetched (see $dir/log): say CHECKPATCH="
	return 1
}

# The kernel's style, for all C.  Not asked for, as they do not hold here:
# LINUX_VERSION_CODE	one source for two kernels has to ask
# FILE_PATH_CHANGES	MAINTAINERS is the kernel's
# COMPLEX_MACRO, BRACKET_SPACE	lists of X(...) and trace events have no other form
# EMBEDDED_FUNCTION_NAME	words like "full" and "join" name functions as well
# and for user space what presumes the kernel's types and functions.
check_checkpatch()
{
	local script kernel programs bad=0
	local ignore=LINUX_VERSION_CODE,FILE_PATH_CHANGES,CONSTANT_COMPARISON
	ignore+=,COMPLEX_MACRO,BRACKET_SPACE,EMBEDDED_FUNCTION_NAME
	local user=$ignore,PREFER_KERNEL_TYPES,NEW_TYPEDEFS,VOLATILE,PREFER_DEFINED_ATTRIBUTE_MACRO,CAMELCASE,SSCANF_TO_KSTRTO,STRCPY,AVOID_EXTERNS,ENOSYS,USE_FUNC,PREFER_FALLTHROUGH,SPDX_LICENSE_TAG,TRAILING_STATEMENTS,ARRAY_SIZE,REPEATED_WORD,UNNECESSARY_ELSE
	user+=,LEADING_SPACE,USE_NEGATIVE_ERRNO,STATIC_CONST_CHAR_ARRAY

	need perl || return $SKIP
	script=$(find_checkpatch) || { echo "$script"; return $SKIP; }
	# without files it would wait for a patch
	kernel=$(of_suffix c h | grep -E '^(kmod|uapi)/')
	programs=$(of_suffix c h | grep -E '^(tools|tests)/')
	# shellcheck disable=SC2086  # names without blanks
	[ -z "$kernel" ] ||
		perl "$script" --no-tree --no-summary --terse --show-types \
			--ignore "$ignore" -f $kernel || bad=1
	# shellcheck disable=SC2086
	[ -z "$programs" ] ||
		perl "$script" --no-tree --no-summary --terse --show-types \
			--ignore "$user" -f $programs || bad=1
	return $bad
}

# --- All of them ------------------------------------------------------------

# add_file FILE: one of the tree's files, named from where we were called.
add_file()
{
	local path

	path=$(realpath -s --relative-to=. -- "$1") || return 1
	case $path in
	..|../*)
		echo "tests/check/check.sh: '$1' is not in the tree $PWD" >&2
		return 1 ;;
	esac
	[ ! -L "$path" ] || return 0
	only+=("$path")
}

# As a function whose caller ends the script: bash reads a script as it goes, and
# an edit while the checks run, which takes minutes, would put other text in the
# place where it reads on.
main()
{
	local name out word failed=0 names=()

	for word in "$@"; do
		# shellcheck disable=SC2206  # a list of words
		[ "$word" = tree ] && { names+=($TREE); continue; }
		[ "$(type -t "check_$word")" = function ] && { names+=("$word"); continue; }
		case $word in
		/*)	[ -f "$word" ] && { add_file "$word" || exit 2; continue; } ;;
		*)	[ -f "$here/$word" ] && { add_file "$here/$word" || exit 2; continue; } ;;
		esac
		echo "tests/check/check.sh: no check and no file '$word': $ALL, or tree" >&2
		exit 2
	done
	# shellcheck disable=SC2206  # a list of words
	if [ ${#names[@]} = 0 ]; then
		[ ${#only[@]} = 0 ] && names=($ALL) || names=($EACH)
	fi

	mkdir -p "$BUILD"
	for name in "${names[@]}"; do
		out=$("check_$name" 2>&1)
		case $? in
		0)	echo "ok $name" ;;
		"$SKIP") echo "ok $name # SKIP ${out##*$'\n'}" ;;
		*)	echo "$out"
			echo "not ok $name"
			failed=$((failed + 1)) ;;
		esac
	done
	[ $failed = 0 ] || { echo "$failed of ${#names[@]} checks failed"; exit 1; }
	echo "all checks passed"
}

main "$@" && exit 0 || exit 1
