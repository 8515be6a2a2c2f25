#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests that the static checks of the tree, and the one that P4 sources and
# compiled program belong together, find what they are for: each is run on a
# small good tree, then on that tree with one thing wrong.

set -u
cd "$(dirname "$0")/../.." || exit 2

dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
tree=$dir/tree
bad=0

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
	mkdir -p "$tree"/{tests/check,uapi,p4/generated,tools/switchd}
	cp tests/check/check.sh "$tree/tests/check/"
	cp p4/check-generated "$tree/p4/"
	printf '/* %s */\n#define X 1\n' "$note" >"$tree/uapi/weft_wire.h"
	printf '/* %s */\n#define Z 1\n' "$tag" >"$tree/tools/switchd/p4names.h"
	printf '// %s\ncontrol c() {}\n' "$tag" >"$tree/p4/x.p4"
	printf '#!/bin/sh\n# %s\necho "%s"\n' "$tag" "\$1" >"$tree/tools/x"
	chmod +x "$tree/tools/x"
	seal
}

# verdict WHAT CHECK STATUS: run one check on the tree.
verdict()
{
	local rc=0

	# git would look for a repository above; none is meant to be found.
	GIT_CEILING_DIRECTORIES=$dir BUILD=$dir/build \
		timeout 60 "$tree/tests/check/check.sh" "$2" >"$dir/out" 2>&1 || rc=1
	if grep -q '# SKIP' "$dir/out"; then
		echo "ok $1 # SKIP $(sed -n 's/.*# SKIP //p' "$dir/out")"
	elif [ $rc = "$3" ]; then
		echo "ok $1"
	else
		sed 's/^/# /' "$dir/out"
		echo "not ok $1"
		bad=1
	fi
	good_tree
}

good_tree
for check in license paths shell text uapi p4; do
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

echo 'int x;' >>"$tree/uapi/weft_wire.h"
seal
verdict 'more than constants for P4' uapi 1
printf '/* %s */\nstruct y { undefined_t z; };\n' "$note" >"$tree/uapi/y.h"
verdict 'a header that needs another' uapi 1

echo '// changed' >>"$tree/p4/x.p4"
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

exit $bad
