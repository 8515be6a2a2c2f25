#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The services in a rack of a node and a memory blade: what make install puts down, the
# options of the blade, the three settings that a node needs, systemctl.  The node starts,
# says why when it does not, takes other settings, stops, and starts at boot.
# tests/packaging/test-packages.sh does this with the packages, and takes much longer.
#
# As tests/system/common.sh; KVER is the kernel of the module.

# Functions are run by "check"; what is in single quotes is for shells in guests.
# shellcheck disable=SC2016,SC2317

set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

GUEST=$PWD/tests/packaging/guest-packages.sh
CONF=/etc/weft/weft.conf
STEP_LIMIT=$((200 * SCALE))
begin service

# step STEP...: of guest-packages.sh, on the node.
step()
{
	on node1 "$GUEST" "$@"
}

# blade STEP...: the same, on the memory blade.
blade()
{
	on mem1 "$GUEST" "$@"
}

# set_up NAME VALUE: in the file, whether it is there as an example or not.
set_up()
{
	on node1 sed -i "s|^#*$1 = .*|$1 = $2|" "$CONF"
}

# logged TEXT: systemd's log of the service has it.
logged()
{
	step in sh -c 'journalctl --sync && journalctl --no-pager -o cat -u weft' | grep -F "$1"
}

# blade_logged TEXT: that of the memory blade.
blade_logged()
{
	blade in sh -c 'journalctl --sync && journalctl --no-pager -o cat -u weft-memd' | grep -F "$1"
}

# blade_runs: with the key, and not as root.
blade_runs()
{
	soon 20 blade_logged "the rack's key has fingerprint" &&
		on mem1 sh -c '[ "$(stat -c %u /proc/$(pgrep -x weft-memd))" != 0 ]'
}

# says TEXT: that of weft; what has just been written may be on its way to the log.
says()
{
	soon 20 logged "$1"
}

boot --nodes 1 --blades 1
version=$(on node1 uname -r)
# What is in /tmp here is not there.
mkdir -p "$BUILD/tests"
shared=$(mktemp -d "$BUILD/tests/service.XXXXXX") || exit 2
at_exit rm -rf "$shared"
env -u MAKEFLAGS -u MAKEOVERRIDES -u MFLAGS WEFT_PACKAGES_DONE=1 timeout "$STEP_LIMIT" \
	make -s B="$BUILD" DESTDIR="$shared/root" install-programs >"$dir/make" 2>&1 ||
	not_ok "make install-programs" "$dir/make"
check "the node as the rack has made it goes down" on node1 sh -c \
	'"$0" down --unmount && rmmod weft && ! mountpoint -q /weft' "$BIN/weftctl"
check "make install, there" on node1 sh -c 'cp -a "$0"/. / && weftctl --version' "$shared/root"
# A directory of modules that has this one, without what is for debuggers, and those that
# it needs.
strip --strip-debug -o "$shared/weft.ko" "$BUILD/kmod/$version/weft.ko" || exit 2
check "the module, too" on node1 sh -c 'set -e
	mkdir -p /tmp/modules/updates
	cp "$0" /tmp/modules/updates/
	for name in udp_tunnel ip6_udp_tunnel libcrc32c autofs4; do
		file=$(modinfo -n $name) || continue
		[ ! -e "$file" ] || cp "$file" /tmp/modules/updates/
	done
	mount --bind /tmp/modules /lib/modules/$1
	depmod' "$shared/weft.ko" "$version"
check "the blade as the rack has made it ends" on mem1 sh -c 'kill $(pgrep -x weft-memd)
	for try in $(seq 100); do pgrep -x weft-memd || exit 0; sleep 0.2; done; exit 1'
check "make install, there" on mem1 cp -a "$shared/root/." /
check "options of the blade" on mem1 sed -i \
	's|^WEFT_MEMD_OPTIONS=.*|WEFT_MEMD_OPTIONS="--id 33 --interface eth0 --memory 64M --backing /var/lib/weft/blade --key /etc/weft/key"|' \
	/etc/weft/memd.conf
check "no other services there" blade quiet
check "systemd boots there" blade boot || exit 1
check "systemctl enable --now weft-memd" blade in systemctl enable --now weft-memd
check "it has made the rack's key" on mem1 sh -c 'grep -qxE "[0-9a-f]{64}" /etc/weft/key &&
	[ "$(stat -c "%a %U" /etc/weft/key)" = "600 root" ]'
check "and says how to copy it" soon 20 blade_logged 'scp -p /etc/weft/key root@MACHINE:/etc/weft/key'
check "it runs with it, as another user" blade_runs
check "a copy of the key" on mem1 cp -p /etc/weft/key /etc/weft/was
check "systemctl restart weft-memd" blade in systemctl restart weft-memd
check "the key is the same" on mem1 cmp /etc/weft/key /etc/weft/was
check "the key is lost" on mem1 rm /etc/weft/key
check "systemctl restart weft-memd does not make another" blade in sh -c \
	'! systemctl restart weft-memd; [ ! -e /etc/weft/key ]'
check "and says why" soon 20 blade_logged 'has regions of a rack: copy its key from another machine of it'
check "the key is found" on mem1 mv /etc/weft/was /etc/weft/key
check "systemctl start weft-memd" blade in systemctl start weft-memd
check "no other services" step quiet
check "systemd boots" step boot || exit 1

# --- The file ---

check "it does not start before it is told what to do" step in sh -c '! systemctl start weft'
check "and says what is missing" says "$CONF: 'node' is missing"
check "node" set_up node 33
check "interface" set_up interface eth0
check "homes" set_up homes 10.87.0.101
check "it does not start with a setting that is wrong" step in sh -c '! systemctl start weft'
line=$(on node1 grep -n '^node = ' "$CONF" | cut -d : -f 1)
check "and says which" says "$CONF:$line: node: 33 is not within 1 to 32: write for example 'node = 1'"
check "node" set_up node 1
check "cache" set_up cache 8M
check "weftctl up --check" on node1 weftctl up --check

# --- The key ---

check "without the key it does not start" step in sh -c '! systemctl start weft'
check "and says so" says "do not both have a key: give all machines of the rack the same one"
check "key" set_up key /etc/weft/key
check "nor if the key is not there" step in sh -c '! systemctl start weft'
check "and says how to get it" says "there is no key /etc/weft/key: copy the rack's from another machine of it"
check "the key is copied" eval 'on mem1 cat /etc/weft/key >"$shared/key" && chmod 600 "$shared/key" &&
	on node1 cp -p "$shared/key" /etc/weft/key && on node1 chown root /etc/weft/key'

# --- Up and down ---

check "systemctl start weft" step in systemctl start weft
check "/weft is mounted, with the file's options" step in sh -c \
	'grep -E "^none /weft weft rw,nosuid,nodev,.*cache=8192K" /proc/mounts'
check "its log says who is in the rack" says "node 1 of rack 0: up, joined"
check "weftctl doctor knows that a machine had no key" step in sh -c \
	'/usr/local/bin/weftctl doctor >/tmp/doctor; [ $? = 3 ] && grep "^refused: memory blade 1 " /tmp/doctor'
# How fast an emulated network answers tells of the machine that emulates it.
check "and nothing else" step in /usr/local/bin/weftctl doctor --ignore refused,round_trip
check "a region" step in sh -c 'echo kept >/weft/region'
check "hold" set_up hold 700
check "doctor sees that it does not run" step in sh -c \
	'/usr/local/bin/weftctl doctor >/tmp/doctor; [ $? = 3 ] && grep "^config_differs: " /tmp/doctor'
check "systemctl reload weft" step in systemctl reload weft
check "it does" step in sh -c '/usr/local/bin/weftctl status -j | grep -F "\"hold_us\":700,"'
check "doctor finds nothing else" step in /usr/local/bin/weftctl doctor --ignore refused,round_trip
check "the file goes wrong" set_up node 99
check "systemctl stop weft, all the same" step in sh -c \
	'systemctl stop weft; systemctl is-failed weft && exit 1; systemctl show -p ActiveState weft | grep inactive'
check "/weft is not mounted, the module is gone" step in sh -c \
	'! mountpoint -q /weft && [ ! -e /sys/module/weft ]'
check "node" set_up node 1

# --- A blade that is not there yet ---

check "weft-memd stops" on mem1 sh -c 'kill -STOP $(pgrep -x weft-memd)'
check "it does not start without the blade" step in sh -c '! systemctl start weft'
check "and says so" says "cannot mount /weft: the memory blade 10.87.0.101 does not answer"
check "weft-memd goes on" on mem1 sh -c 'kill -CONT $(pgrep -x weft-memd)'
check "it starts" step in systemctl start weft
check "the region is there" step in sh -c '[ "$(cat /weft/region)" = kept ]'

# --- At boot ---

check "systemctl stop weft" step in systemctl stop weft
check "systemctl enable --now weft" step in systemctl enable --now weft
check "the node shuts down" step halt
check "it has left" on node1 sh -c '! grep " weft " /proc/mounts && [ ! -e /sys/module/weft ]'
check "the node boots" step boot
check "weft came up by itself" step in systemctl is-active weft weft.mount
check "the region is there" step in sh -c '[ "$(cat /weft/region)" = kept ]'
check "systemctl stop weft" step in systemctl stop weft
[ "$failures" = 0 ] || step in journalctl --no-pager -u weft | sed 's/^/# /'
[ "$failures" = 0 ] || on node1 sh -c 'for p in $(grep -l " /weft " /proc/[0-9]*/mountinfo); do echo "# $p $(tr "\0" " " <${p%/*}/cmdline)"; done'
end_rack
finish
