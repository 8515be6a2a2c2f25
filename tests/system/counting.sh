#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What counters and histograms cost: a miss may take LIMIT per cent longer with them than
# without.  A copy of the module is compiled whose counting, and reading the clock for it,
# can be switched while it runs; a node takes batches of misses with it and without in
# turns (counting.c), in one rack, and their lower quartiles are compared.
#
#	tests/system/counting.sh [ROUNDS [PAGES]]	(3 16384)
#
# Not part of "make test": it takes minutes, on a machine that does nothing else.  When it
# was disturbed too much to tell, it says so and fails: more rounds help.  As common.sh;
# KVER is the kernel of the module.

# Functions are run by "check"; what is in single quotes is for shells in guests.
# shellcheck disable=SC2016,SC2317,SC2329
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

ROUNDS=${1:-3}
LIMIT=2			# per cent
PAGES=${2:-16384}
PART=4096		# pages that one command takes
STEP_LIMIT=$((200 * SCALE))
COUNTING=$BUILD/tests/system-counting
copy=$BUILD/counting

built "$COUNTING"
begin counting

# change FILE REGEX TEXT: in the copy, wherever it is; it must be there.
change()
{
	grep -qE -- "$2" "$copy/$1" || { echo "$1: no '$2': mend counting.sh"; return 1; }
	sed -i -E "s~$2~$3~" "$copy/$1"
}

# What is read of the clock for tracepoints and histograms alone goes, too.
compile()
{
	local now='ktime_get_ns\(\)' on='READ_ONCE(weft_count)'

	rm -rf "$copy" && mkdir -p "$copy" && cp -r Kbuild Makefile kmod uapi "$copy" || return 1
	change kmod/base/stats.h '^(struct weft_stats \{)' 'extern bool weft_count;\n\1' &&
	change kmod/base/stats.h '^(\s*this_cpu_.*)' "\tif ($on)\n\1" &&
	change kmod/base/stats.c '^(#include <linux/kernel.h>)' '\1\n#include <linux/module.h>' &&
	change kmod/base/stats.c '^(#include "core/wire.h")' \
		'\1\nbool weft_count = true;\nmodule_param_named(count, weft_count, bool, 0644);' &&
	change kmod/blocks/arrive.c "took = $now - blk->began" "took = $on ? ktime_get_ns() - blk->began : 0" &&
	change kmod/blocks/step.c "$now - blk->heard" "$on ? ktime_get_ns() - blk->heard : 0" &&
	change kmod/blocks/step.c "^(\s*blk->began = $now;)" "\tif ($on)\n\1" || return 1
	timeout 900 make -C "$copy" B="$copy/build" WEFT_PACKAGES_DONE=1 \
		${KVER:+KVER="$KVER"} module
}

# counting_module: in the place of the rack's own on node 2, with an empty cache.
counting_module()
{
	on node2 sh -c 'set -e
		umount /weft
		"$0" down
		rmmod weft
		insmod "$1"
		"$0" up --node 2 --interface eth0 --homes 10.87.0.101 --no-mount
		mount -t weft -o cache=256M none /weft' "$BIN/weftctl" "$1"
}

measured()
{
	on node2 "$COUNTING" measure /weft/data "$1" "$PART" >>"$dir/samples"
}

# Half of the misses have been counted, if the switch does what it should.
half_counted()
{
	local misses

	misses=$(counters node2 | awk '/miss_(read|write|upgrade)/ { n += $2 } END { print n }')
	echo "$misses misses were counted of $((2 * PAGES))"
	[ "$misses" -gt $((9 * PAGES / 10)) ] && [ "$misses" -lt $((11 * PAGES / 10)) ]
}

check "a module whose counting can be switched" compile || finish
module=$(echo "$copy"/build/kmod/*/weft.ko)
boot --nodes 2 --blades 1 --switch p4 --cache 256M
check "a region of $PAGES pages" on node1 "$COUNTING" fill /weft/data "$PAGES"
check "which nobody has in its cache" on node1 umount /weft
for ((round = 1; round <= ROUNDS; round++)); do
	check "round $round: the module, an empty cache" counting_module "$module" || finish
	for ((from = 0; from < PAGES; from += PART)); do
		check "pages from $from on" measured "$from" || finish
	done
	check "half of the misses were counted" half_counted
done
"$COUNTING" compare "$LIMIT" <"$dir/samples" >"$dir/result" 2>&1
rc=$?
sed 's/^/# /' "$dir/result"
check "a miss takes at most $LIMIT % longer with counting" [ $rc = 0 ]
finish
