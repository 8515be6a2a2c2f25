#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A suite on the oldest or the newest kernel that racks of user-mode kernels can have here: what
# is right on one of them need not be on the other.
#
#	tests/kernels/on-kernel.sh package|own [NAME=VALUE]... COMMAND...	oldest, newest
#	tests/kernels/on-kernel.sh --list	for tests/run: the suites of tests/list that boot
#						racks, on both
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2

if [ "${1-}" = --list ]; then
	exec awk '
		/tests\/system\// && !/^#/ && !/WEFT_RACK_ACCEL=/ {
			name = $1
			limit = $2
			sub(/^[^\t]+\t+[0-9]+\t+/, "")
			print name "-oldest\t" limit "\ttests/kernels/on-kernel.sh package " $0
			print name "-newest\t" limit "\ttests/kernels/on-kernel.sh own " $0
			n++
		}
		END { exit !n }' tests/list
fi
[ $# -ge 2 ] || { sed -n '3,/^set /s/^# \{0,1\}//p' "$0"; exit 2; }
way=uml-$1
shift
found=$(tools/rack/weft-rack accel) || exit 1
found=$(sed -n "s/^$way: //p" <<<"$found")
case $found in
yes*)	;;
*)	echo "skipped: no rack runs on $way here: ${found#no; }"; exit 77 ;;
esac
# What was compiled is preferred: the package's is taken where that is not there.
[ "$way" != uml-package ] || export WEFT_CACHE=/nonexistent
export WEFT_RACK_ACCEL=uml
exec env "$@"
