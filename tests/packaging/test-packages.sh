#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The Debian packages of "make deb", in a rack of two guests, one a node and one a
# memory blade: installed, configured, started and stopped by systemd, also at boot;
# then purged, after which nothing is left.  The module is the one that DKMS makes of
# the package's sources: here, as an emulated machine takes ten times as long.  In the
# guest DKMS does all that it does when the package is installed, but what it calls as
# make brings the module that was made here.
#
# Not part of "make test": it takes long.  Needs "make deb", and what that installs.
# As tests/system/common.sh; WEFT_DKMS_TREE is a tree of DKMS in which the module of these
# packages is built already, to save time.

# Functions are run by "check"; what is in single quotes is for shells in guests.
# shellcheck disable=SC2016,SC2317

set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/system/common.sh
. tests/system/common.sh

GUEST=$PWD/tests/packaging/guest-packages.sh
version=$(sed -n 's/^#define WEFT_VERSION[[:blank:]]*"\(.*\)"$/\1/p' uapi/weft_version.h)
STEP_LIMIT=$((300 * SCALE))
begin packages

# step WHERE STEP...: of guest-packages.sh.
step()
{
	on "$1" "$GUEST" "${@:2}"
}

# packages NAME...: their files.
packages()
{
	local name

	for name; do
		printf '%s\n' "$BUILD/deb/${name}_${version}"_*.deb
	done
}

node=(weft-dkms weft-tools libweft0 libweft-preload libweft-dev)
blade=(weft-memd weft-switchd)
for file in $(packages "${node[@]}" "${blade[@]}"); do
	[ -e "$file" ] || { echo "there is no $file: make deb"; exit 2; }
done

# --- DKMS, here ---

kernel=$("$PWD/tools/rack/get-kernel" | sed -n 's/^version=//p')
# What is in /tmp here is not there.
mkdir -p "$BUILD/tests"
shared=$(mktemp -d "$BUILD/tests/packages.XXXXXX") || exit 2
at_exit rm -rf "$shared"
dpkg-deb -x "$(packages weft-dkms)" "$shared/package"
dpkg-deb -x "$(packages weft-tools)" "$shared/package"

# With keys of its own to sign with, not new ones for this machine: where DKMS has no
# option for the file that names them, it takes them from the environment.
dkms_here()
{
	local framework=()

	mkdir -p "$shared/dkms"
	if grep -q -e --dkmsframework "$(command -v dkms)"; then
		printf 'mok_%s="%s"\n' signing_key "$shared/mok.key" \
			certificate "$shared/mok.pub" >"$shared/framework"
		framework=(--dkmsframework "$shared/framework")
	fi
	mok_signing_key="$shared/mok.key" mok_certificate="$shared/mok.pub" \
		timeout 900 dkms "$1" -m weft -v "$version" -k "$kernel" \
		--dkmstree "$shared/dkms" --sourcetree "$shared/package/usr/src" \
		"${framework[@]}" "${@:2}"
}

if [ -z "${WEFT_DKMS_TREE-}" ]; then
	check "dkms add" dkms_here add
	check "dkms build for $kernel" dkms_here build || exit 1
fi
built=${WEFT_DKMS_TREE-$shared/dkms}/weft/$version/$kernel
check "it is a module of this version" \
	test "$(modinfo -F version "$built"/*/module/weft.ko)" = "$version"

# The program of the README, which a region is mapped with.
sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' >"$dir/counter.c"
check "the program of the README compiles" \
	gcc -O2 -o "$shared/counter" "$dir/counter.c"

# --- Installing ---

tar -C /var/lib -cf "$shared/dpkg.tar" dpkg || exit 2
boot --bare --nodes 2 --blades 0
check "prepare the node" step node1 prepare "$shared/dpkg.tar"
check "prepare the blade" step node2 prepare "$shared/dpkg.tar"
check "what DKMS compiles there was compiled here" step node1 make "$(echo "$built"/*/module/weft.ko)" \
	"$shared/package/usr/src/weft-$version" "$(readlink -f "/lib/modules/$kernel/build")"
mapfile -t files < <(packages "${node[@]}")
check "install ${node[*]}" on node1 dpkg -i "${files[@]}"
mapfile -t files < <(packages "${blade[@]}")
check "install ${blade[*]}" on node2 dpkg -i "${files[@]}"
on node1 sh -c "dpkg -L ${node[*]} | sort -u >/tmp/list; dkms status weft"
on node2 sh -c "dpkg -L ${blade[*]} | sort -u >/tmp/list"
check "DKMS has installed the module" on node1 sh -c "dkms status weft | grep -q ': installed'"

check "configure the node" on node1 sed -i -e 's/^#node = .*/node = 1/' \
	-e 's/^#interface = .*/interface = eth0/' -e 's/^#homes = .*/homes = 10.87.0.2/' \
	-e 's/^#cache = .*/cache = 8M/' /etc/weft/weft.conf
check "the configuration is right" on node1 weftctl up --check
check "configure the blade" on node2 sed -i \
	's|^WEFT_MEMD_OPTIONS=.*|WEFT_MEMD_OPTIONS="--id 33 --interface eth0 --memory 64M --backing /var/lib/weft/blade"|' \
	/etc/weft/memd.conf
check "interfaces for the switch" on node2 sh -c \
	'modprobe veth && ip link add sw0 type veth peer name sw1 && ip link set sw0 up && ip link set sw1 up'
check "configure the switch" on node2 sed -i \
	's|^WEFT_SWITCHD_OPTIONS=.*|WEFT_SWITCHD_OPTIONS="--port a=packet:sw0 --node 1=a --blade 33=a"|' \
	/etc/weft/switchd.conf

# --- Started by hand ---

check "systemd boots on the blade" step node2 boot
check "nothing of weft has started by itself" step node2 in sh -c \
	'! systemctl is-active weft-memd && ! systemctl is-enabled weft-memd'
check "systemctl enable --now weft-memd" step node2 in systemctl enable --now weft-memd
check "its socket has the buffer that it wants" on node2 sh -c \
	'test "$(sysctl -n net.core.rmem_max)" -ge 8388608'
check "it runs without privilege" on node2 sh -c \
	'test "$(stat -c %u /proc/$(pgrep -x weft-memd))" != 0 &&
	 grep -q "^CapEff:.0000000000000000$" /proc/$(pgrep -x weft-memd)/status'
check "systemctl start weft-switchd" step node2 in systemctl start weft-switchd
check "the switch answers" step node2 in weft-switchd --control /run/weft-switchd/control --send dir
check "systemctl stop weft-switchd" step node2 in systemctl stop weft-switchd

check "systemd boots on the node" step node1 boot
check "/weft is not mounted" step node1 in sh -c '! mountpoint -q /weft'
check "systemctl start weft" step node1 in systemctl start weft
check "/weft is mounted" step node1 in mountpoint -q /weft
check "with the options of the file" step node1 in sh -c \
	'grep -qE "^none /weft weft [^ ]*nosuid,nodev[^ ]*,cache=8192K" /proc/mounts'
check "a region is mapped" test "$(step node1 in "$shared/counter")" = 1
check "and again" test "$(step node1 in "$shared/counter")" = 2
check "systemctl stop weft" step node1 in systemctl stop weft
check "/weft is not mounted, the module is gone" step node1 in sh -c \
	'! mountpoint -q /weft && [ ! -e /sys/module/weft ]'

# --- At boot ---

check "systemctl enable weft" step node1 in systemctl enable weft
check "the node shuts down" step node1 halt
check "the blade shuts down" step node2 halt
check "the blade boots" step node2 boot
check "the node boots" step node1 boot
check "weft came up by itself" step node1 in systemctl is-active weft weft.mount
check "/weft is mounted" step node1 in mountpoint -q /weft
check "the region has its contents" test "$(step node1 in "$shared/counter")" = 3

# --- A blade that dies is started again, and gets back what the node has of it. ---

check "kill weft-memd" on node2 sh -c \
	'pgrep -x weft-memd >/tmp/memd.pid && kill -KILL $(cat /tmp/memd.pid)'
check "it is started again" step node2 in sh -c 'for try in $(seq 60); do
		now=$(pgrep -x weft-memd) && [ "$now" != "$(cat /tmp/memd.pid)" ] &&
			systemctl is-active weft-memd && exit 0
		sleep 1
	done; exit 1'
check "the region has what the node had not written home" \
	test "$(step node1 in "$shared/counter")" = 4
check "systemctl restart weft" step node1 in systemctl restart weft
check "the region has its contents" test "$(step node1 in "$shared/counter")" = 5

# --- Removing ---

check "purge the node's packages" step node1 in dpkg -P "${node[@]}"
check "nothing is left on the node" step node1 left /tmp/list
check "purge the blade's packages" step node2 in dpkg -P "${blade[@]}"
check "nothing is left on the blade" step node2 left /tmp/list
[ "$failures" = 0 ] || {
	on node1 cat /tmp/systemd.log | sed 's/^/# /'
	step node1 in journalctl --no-pager -n 60 | sed 's/^/# node: /'
	step node2 in journalctl --no-pager -n 60 | sed 's/^/# blade: /'
}
end_rack
finish
