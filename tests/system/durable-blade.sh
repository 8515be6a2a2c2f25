#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# On the memory blade's machine, for tests/system/durable.sh and tests/soak/soak.sh:
#
#	durable-blade.sh look FILE REGION OFFSET...	what the home has just now: while it looks
#							nothing changes there
#	durable-blade.sh end				the blade ends as with its machine, and
#							begins again: the file says that another
#							boot has used it
#
# Environment: BUILD.

set -u

pid=$(pgrep -x weft-memd) || exit 1
case $1 in
look)
	kill -STOP "$pid"
	cp --sparse=always "$2" /run/home-copy
	kill -CONT "$pid"
	"$BUILD/tests/memd-look" /run/home-copy "${@:3}" 2>/run/home-said ||
		{ cat /run/home-said; exit 1; }
	;;
end)
	mapfile -d "" -t args <"/proc/$pid/cmdline"
	exe=$(readlink "/proc/$pid/exe")
	kill -KILL "$pid"
	while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
	cat /proc/sys/kernel/random/uuid >/run/boot
	grep -q random/boot_id /proc/self/mounts ||
		mount --bind /run/boot /proc/sys/kernel/random/boot_id || exit 1
	case " ${args[*]} " in *" --background "*) ;; *) args+=(--background) ;; esac
	"$exe" "${args[@]:1}" >>/var/log/weft-memd.log 2>&1
	;;
esac
