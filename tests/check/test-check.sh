#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests that the static checks of the tree, and the one that P4 sources and
# compiled program belong together, find what they are for: each is run on a
# small good tree, then on that tree with one thing wrong.

set -u
cd "$(dirname "$0")/../.." || exit 2
top=$PWD

. tests/tap.sh

begin check
tree=$dir/tree
where=.

tag='SPDX-License-Identifier: GPL-2.0-only'
note='SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note'

# seal: give the compiled program the head that "make p4" would.
seal()
{
	local body=$tree/body

	printf 'struct x {\n}\n' >"$body"
	{
		echo "# $tag"
		echo "# sources sha256 $("$tree/p4/check-generated" --sources)"
		echo "# interface sha256 $("$tree/p4/check-generated" --interface)"
		echo "# body sha256 $("$tree/p4/check-generated" --body "$body")"
		cat "$body"
	} >"$tree/p4/generated/x.spec"
	rm "$body"
}

# good_tree: a tree that passes.
good_tree()
{
	rm -rf "$tree"
	mkdir -p "$tree"/{tests/check,uapi,p4/generated,tools/switchd,tools/man,docs} \
		"$tree"/{kmod/{core,net,control},tools/layered/{base,front}}
	cp "$top"/tests/check/{check.sh,layers.awk} "$tree/tests/check/"
	cp "$top/p4/check-generated" "$tree/p4/"
	printf '/* %s */\n#define X 1\n#define WEFT_COUNT_A_B\t0\n' "$note" \
		>"$tree/uapi/weft_wire.h"
	printf '/* %s */\n#define Z 1\n#define P4_STAT_NAMES { "a_b" }\n' "$tag" \
		>"$tree/tools/switchd/p4names.h"
	printf '// %s\n[WEFT_COUNT_A_B]\t= "a_b",\n' "$tag" >"$tree/kmod/control/netlink_list.c"
	# shellcheck disable=SC2016  # of Markdown
	printf '%s\n' "<!-- $tag -->" '| `core` | | a |' '| `net` | `core` | b |' \
		'| `control` | `core`, `net` | c |' >"$tree/docs/kernel.md"
	# shellcheck disable=SC2016  # of Markdown
	printf '%s\n' "<!-- $tag -->" '| files | what |' '|---|---|' '| `a` | x |' \
		>"$tree/kmod/core/README.md"
	printf '/* %s */\nint weft_a(void);\n' "$tag" >"$tree/kmod/core/a.h"
	printf '// %s\n#include "a.h"\nint weft_a(void)\n' "$tag" >"$tree/kmod/core/a.c"
	printf '/* %s */\nint weft_b(void);\n' "$tag" >"$tree/kmod/net/b.h"
	printf '// %s\n#include "core/a.h"\n#include "net/b.h"\nint weft_b(void)\n' "$tag" \
		>"$tree/kmod/net/b.c"
	# shellcheck disable=SC2016  # of Markdown
	printf '%s\n' "<!-- $tag -->" '| `base` | | a |' '| `front` | `base` | b |' \
		>"$tree/tools/layered/README.md"
	printf '/* %s */\nvoid say(int what);\n' "$tag" >"$tree/tools/layered/base/log.h"
	printf '// %s\n#include "base/log.h"\nvoid say(int what)\n{\n' "$tag" \
		>"$tree/tools/layered/base/log.c"
	printf '// %s\n#include "base/log.h"\n#include "a.h"\n#include "%s"\nint main(void)\n{\n' \
		"$tag" tools/common/hist.h >"$tree/tools/layered/front/main.c"
	printf '// %s\ncontrol c() {}\n' "$tag" >"$tree/p4/x.p4"
	printf '#!/bin/sh\n# %s\necho "%s"\n' "$tag" "\$1" >"$tree/tools/x"
	chmod +x "$tree/tools/x"
	{
		echo ".\\\" $tag"
		echo '.TH X 8 2026-11-21 weft "System Manager'\''s Manual"'
		printf '%s\n' .SH\ NAME 'x \- nothing'
	} >"$tree/tools/man/x.8"
	printf '%s\n' ".\\\" $tag" '.so man8/x.8' >"$tree/tools/man/y.8"
	seal
}

# verdict WHAT CHECK STATUS [FILE...]: run one check, or "" for those that check.sh
# takes itself, on the tree or some of its files; in the directory $where of it.
verdict()
{
	local rc=0

	# git would look for a repository above; none is meant to be found.
	(
		cd "$tree/$where" || exit 3
		GIT_CEILING_DIRECTORIES=$dir BUILD=$dir/build \
			CHECKPATCH=$dir/checkpatch.pl \
			timeout 60 "$tree/tests/check/check.sh" ${2:+"$2"} "${@:4}" \
			>"$dir/out" 2>&1 </dev/null
	) || rc=$?
	if grep -q '# SKIP' "$dir/out"; then
		skip "$1" "$(sed -n 's/.*# SKIP //p' "$dir/out")"
	elif [ $rc = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "$dir/out"
	fi
	good_tree
}

# In place of the kernel's: complains of "bad", edits check.sh at "edit".
cat >"$dir/checkpatch.pl" <<'END'
my ($edit, $bad);
@ARGV = @ARGV[1 + (grep { $ARGV[$_] eq '-f' } 0 .. $#ARGV)[0] .. $#ARGV];
@ARGV or die "no files: would wait for a patch\n";
while (<>) { $bad |= /bad/; $edit |= /edit/; }
if ($edit) {
	# in place, longer than it was, and nothing that a shell takes
	open(my $f, '+<', 'tests/check/check.sh') or die;
	print $f "((( ;; fi\n" x 2000;
}
exit !!$bad;
END

good_tree
for check in license paths shell text man uapi counters layers once p4; do
	verdict "good tree: $check" $check 0
done

echo 'no tag' >"$tree/tools/y"
verdict 'a file without a licence' license 1
sed -i "s/$note/$tag/" "$tree/uapi/weft_wire.h"
verdict 'a uapi header without the syscall note' license 1

printf '# %s\nx=%s/y\n' "$tag" "$tree" >"$tree/tools/y"
verdict 'a path of this machine' paths 1
printf '# %s\nx=/ho''me/me/y\n' "$tag" >"$tree/tools/y"
verdict 'a path of a home' paths 1

# shellcheck disable=SC2016  # meant literally
printf '#!/bin/sh\n# %s\nrm $1\n' "$tag" >"$tree/tools/x"
verdict 'a script that does not quote' shell 1
chmod -x "$tree/tools/x"
verdict 'a script that is not executable' shell 1

printf '# %s \n' "$tag" >"$tree/tools/y"
verdict 'blanks at the end of a line' text 1
printf '# %s\nx' "$tag" >"$tree/tools/y"
verdict 'no newline at the end' text 1

echo '.SX NOTHING' >>"$tree/tools/man/x.8"
verdict 'a manual page with an unknown macro' man 1
sed -i 's/^.TH X/.TH Z/' "$tree/tools/man/x.8"
verdict 'a manual page with the title of another' man 1
sed -i 's/x.8/z.8/' "$tree/tools/man/y.8"
verdict 'a manual page that stands for none' man 1

echo 'int x;' >>"$tree/uapi/weft_wire.h"
seal
verdict 'more than constants for P4' uapi 1
printf '/* %s */\nstruct y { undefined_t z; };\n' "$note" >"$tree/uapi/y.h"
verdict 'a header that needs another' uapi 1

echo '#define WEFT_COUNT_C 1' >>"$tree/uapi/weft_wire.h"
verdict 'a counter of the switch without a name' counters 1
sed -i 's/"a_b"/"c"/' "$tree/tools/switchd/p4names.h"
verdict 'a counter with the name of another' counters 1
sed -i 's/"a_b"/&, "c"/' "$tree/tools/switchd/p4names.h"
verdict 'a name without a counter' counters 1
echo >"$tree/kmod/control/netlink_list.c"
verdict 'a counter that the module has no name for' counters 1
sed -i '/COUNT/d' "$tree/uapi/weft_wire.h"
verdict 'no counters' counters 1

echo '#include "net/b.h"' >>"$tree/kmod/core/a.c"
verdict 'a folder that uses one above it' layers 1
echo '#include "control/x.h"' >>"$tree/kmod/net/b.c"
verdict 'a folder that uses one that its row does not name' layers 1
# shellcheck disable=SC2016  # of Markdown
sed -i 's/| `core` | b/| `control` | b/' "$tree/docs/kernel.md"
verdict 'a row that names a folder below it in the table' layers 1
mkdir "$tree/kmod/new" && cp "$tree/kmod/core/a.h" "$tree/kmod/new/"
verdict 'a folder without a row' layers 1
printf '// %s\n' "$tag" >"$tree/kmod/core/d.c"
verdict 'a file that the page of its folder does not name' layers 1
# shellcheck disable=SC2016  # of Markdown
sed -i 's/`a`/`a`, `d.h`/' "$tree/kmod/core/README.md"
verdict 'a page that names a file that is not there' layers 1
echo 'int weft_c(void)' >>"$tree/kmod/net/b.c"
verdict 'a function that its own header does not declare' layers 1
for unit in x:y y:z z:x; do
	printf '// %s\n#include "net/%s.h"\n' "$tag" "${unit#*:}" >"$tree/kmod/net/${unit%:*}.c"
done
verdict 'a circle of three files' layers 1
for unit in x:y y:x; do
	printf '// %s\n#include "net/%s.h"\n' "$tag" "${unit#*:}" >"$tree/kmod/net/${unit%:*}.c"
done
verdict 'two files that call each other' layers 0
echo '#include "front/main.h"' >>"$tree/tools/layered/base/log.c"
verdict 'a folder of a program that uses one above it' layers 1
echo 'const char *text(int what)' >>"$tree/tools/layered/base/log.c"
verdict 'a function of a program that its own header does not declare' layers 1
echo 'static const char *text(int what)' >>"$tree/tools/layered/base/log.c"
verdict 'one that is static' layers 0
# shellcheck disable=SC2016  # of Markdown
sed -i '/`front`/d' "$tree/tools/layered/README.md"
verdict 'a folder of a program without a row' layers 1

while read -r what line; do
	printf '// %s\n%s\n' "$tag" "$line" >"$tree/tools/x.c"
	verdict "a second one of what stands once: $what" once 1
done <<'END'
clock		clock_gettime(CLOCK_MONOTONIC, &t);
numbers		value = strtoull(text, &end, 0);
randomness	x = rand_r(&seed);
generator	*state ^= *state << 13;
mixture		z = (z ^ z >> 27) * 0x94d049bb133111ebull;
JSON		printf("{\"count\":%u}", n);
histogram	struct hist {
check		#define CHECK(x) do {
END
mkdir "$tree/tools/common"
printf '// %s\nclock_gettime(id, &t);\n' "$tag" >"$tree/tools/common/clock.h"
verdict 'the one that there is' once 0
mkdir "$tree/tools/common"
printf '// %s\nclock_gettime(id, &t);\n' "$tag" >"$tree/tools/common/clock.h"
verdict 'the one that there is, alone' once 0 tools/common/clock.h
printf '// %s\nmy_strtol_like(x); /* clock_gettime */ hist_part(x);\n' "$tag" >"$tree/tools/x.c"
verdict 'what only looks like it' once 0

printf '/* no\n * change */ // at all\n' >>"$tree/p4/x.p4"
verdict 'a comment on the P4 sources' p4 0
echo 'control d() {}' >>"$tree/p4/x.p4"
verdict 'P4 sources newer than the program' p4 1
echo '#define Y 1' >>"$tree/uapi/weft_wire.h"
verdict 'constants newer than the program' p4 1
echo '/* nothing */' >>"$tree/tools/switchd/p4names.h"
verdict 'a comment on the names of weft-switchd' p4 0
printf '#define Y \\\n\t1\n' >>"$tree/tools/switchd/p4names.h"
verdict 'names of weft-switchd newer than the program' p4 1
echo 'rx' >>"$tree/p4/generated/x.spec"
verdict 'a program edited by hand' p4 1
sed -i '/sources/d' "$tree/p4/generated/x.spec"
verdict 'a program without a hash' p4 1
rm "$tree/p4/generated/x.spec"
verdict 'no program' p4 1

# Files: only these are looked at.
echo 'no tag' >"$tree/tools/y"
verdict 'a file without a licence, by its name' license 1 tools/y
echo 'no tag' >"$tree/tools/y"
verdict 'another file than that' license 0 tools/x
echo 'no tag' >"$tree/tools/y"
verdict 'both' license 1 tools/x tools/y
# shellcheck disable=SC2016  # meant literally
printf '#!/bin/sh\n# %s\nrm $1\n' "$tag" >"$tree/tools/x"
verdict 'a script that does not quote, by its name' '' 1 tools/x
verdict 'a good file, all checks for files' '' 0 "$tree/tools/x"
named=$(sed -n 's/^ok \([a-z0-9]*\).*/\1/p' "$dir/out" | tr '\n' ' ')
check 'and no others' equal 'license paths shell text man once checkpatch ' "$named"
echo 'no tag' >"$tree/tools/y"
where=tools
verdict 'a file named from another directory' license 1 y
where=.
verdict 'no such file or check' '' 2 tools/nothing
verdict 'a file of somewhere else' '' 2 "$dir/checkpatch.pl"

# C files go to checkpatch, those of the kernel and others with their own rules,
# and nothing is waited for where there is none.
printf '// %s\nint x;\n' "$tag" >"$tree/tools/z.c"
verdict 'a C file without complaints' checkpatch 0 tools/z.c
printf '// %s\nint bad;\n' "$tag" >"$tree/tools/z.c"
verdict 'a C file with one' checkpatch 1 tools/z.c
verdict 'checkpatch without C files' checkpatch 0 tools/x

# The script is edited while it runs.
printf '// %s\nint edit;\n' "$tag" >"$tree/tools/z.c"
verdict 'an edit meanwhile' '' 0 tools/z.c

finish
