#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make install and uninstall: what is installed is complete and fits together, the
# services are what systemd takes, and nothing stays.  Also, that the manual pages have
# the options that the programs have.
#
# Prints a line a check.  Environment: BUILD, the build directory; KVER, the kernel of
# the module to be installed, if there is one for it.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

begin install
root=$dir/root

# The goals of a test run are no goals of these.
weft_make()
{
	env -u MAKEFLAGS -u MAKEOVERRIDES -u MFLAGS WEFT_PACKAGES_DONE=1 \
		timeout $((100 * ${WEFT_TEST_SCALE:-1})) make -s B="$BUILD" DESTDIR="$root" "$@"
}

# --- Manual pages ---

# options: long options in what is read, one a line.
options()
{
	sed 's/\\//g' | grep -oE -- '--[a-z][a-z-]*[a-z]' | sort -u
}

# same_options PAGE COMMAND...: also, the other way round.  The help of some goes to
# standard error.
same_options()
{
	local page=$1

	shift
	{ "$@" 2>&1; echo --help; } | options | sort -u >"$dir/helped"
	[ "$(wc -l <"$dir/helped")" -gt 3 ] || { echo "no options in the help of $*"; return 1; }
	# Examples have options of other programs.
	{ sed '/^\.SH EXAMPLES/,$d' "$page"; echo --help; } | options >"$dir/paged"
	diff "$dir/helped" "$dir/paged"
}

ctl_help()
{
	local command

	"$BUILD/bin/weftctl" --help
	for command in up down set status stats region line lock dir monitor top trace doctor; do
		"$BUILD/bin/weftctl" "$command" --help
	done
}

check "weft-memd(8) has its options" \
	same_options tools/memd/man/weft-memd.8 "$BUILD/bin/weft-memd" --help
check "weft-switchd(8) has its options" \
	same_options tools/switchd/man/weft-switchd.8 "$BUILD/bin/weft-switchd" --help
check "weftctl(8) has its options" same_options tools/weftctl/man/weftctl.8 ctl_help
check "weft-rack(1) has its options" \
	same_options tools/rack/man/weft-rack.1 tools/rack/weft-rack help

# mount_options: those that the kernel takes are in weft(7).
mount_options()
{
	local option n=0

	while read -r option; do
		n=$((n + 1))
		grep -qE "(^\.BI |fB)$option= ?" tools/packaging/man/weft.7 && continue
		echo "weft(7) lacks the mount option $option"
		return 1
	done < <(sed -n 's/^\tfsparam_[a-z0-9]*("\([a-z]*\)".*/\1/p' kmod/fs/super.c)
	[ "$n" -gt 0 ]
}
check "weft(7) has the mount options" mount_options

# --- Installing ---

# expected: what make install has to put down, without the module.
expected()
{
	local file section

	printf '%s\n' bin/weftctl bin/weft-memd bin/weft-switchd bin/weft-kvs share/weft/weft_pna.spec \
		include/weft/lock.h lib/libweft.{a,so,so.0} lib/libweft-preload.so \
		lib/pkgconfig/libweft.pc lib/sysctl.d/60-weft.conf \
		lib/systemd/system/weft{,-memd,-switchd,-witness}.service \
		share/bash-completion/completions/weftctl
	for file in uapi/*.h; do
		echo "include/weft/${file##*/}"
	done
	for file in tools/*/man/*; do
		section=${file##*.}
		echo "share/man/man$section/${file##*/}"
	done
}

installed_files()
{
	{
		expected | sed 's|^|/usr/local/|'
		printf '/etc/weft/%s\n' weft.conf memd.conf switchd.conf witness.conf
		{
			echo Kbuild
			echo COPYING
			echo dkms.conf
			ls uapi/*.h kmod/*/*.[ch]
		} | sed "s|^|/usr/src/weft-$version/|"
	} | sort >"$dir/want"
	find "$root" ! -type d -printf '/%P\n' | sort >"$dir/have"
	diff "$dir/want" "$dir/have"
}

no_names_left()
{
	exits 1 '' grep -rnE '@[A-Z_]+@' "$root/etc" "$root/usr/local/lib/systemd" \
		"$root/usr/local/lib/pkgconfig" "$root/usr/src"/*/dkms.conf
}

version=$(sed -n 's/^#define WEFT_VERSION[[:blank:]]*"\(.*\)"$/\1/p' uapi/weft_version.h)
check "there is a version" test -n "$version"
check "weft-memd has it" \
	grep -qF "weft-memd $version," <("$BUILD/bin/weft-memd" --version)
check "make install-programs install-dkms" weft_make install-programs install-dkms
[ "$failures" = 0 ] || exit 1
check "all of it is there, and nothing else" installed_files
check "no place is left open" no_names_left

# settings_file: what make install puts there is a configuration once the node's own
# three settings are in it; all that it mentions is, with the values that it has there and
# a key that this machine has.
settings_file()
{
	local file=$root/etc/weft/weft.conf key=$dir/key

	"$BUILD/bin/weftctl" up --check --file "$file" --node 1 --interface eth0 \
		--homes 10.0.0.101 | grep -qx 'mount = /weft' || return 1
	sed 's/^#\([a-z]* = \)/\1/' "$file" >"$dir/all"
	"$BUILD/bin/weft-memd" --make-key "$key" || return 1
	grep -qx 'key = /etc/weft/key' "$dir/all" || return 1
	sed -i "s|^key = .*|key = $key|" "$dir/all"
	"$BUILD/bin/weftctl" up --check --file "$dir/all" >"$dir/settings" || return 1
	[ "$(wc -l <"$dir/settings")" = 15 ] && diff <(sort "$dir/settings") \
		<(grep -E '^[a-z]+ = ' "$dir/all" | sort)
}
check "the settings that are installed are right" settings_file
check "pkg-config has the version" test "$version" = \
	"$(PKG_CONFIG_PATH=$root/usr/local/lib/pkgconfig pkg-config --modversion libweft)"
check "DKMS has it" grep -qxF "PACKAGE_VERSION=\"$version\"" \
	"$root/usr/src/weft-$version/dkms.conf"
check "the library that was installed is its soname" \
	grep -qF "[libweft.so.0]" <(readelf -d "$root/usr/local/lib/libweft.so")

# --- Services ---

# As systemd would read them, were the programs where the units say.
units=$dir/units
mkdir "$units"
for unit in "$root"/usr/local/lib/systemd/system/*; do
	sed "s|/usr/local/bin/|$root&|g" "$unit" >"$units/${unit##*/}"
done

# verify: 0 if systemd has nothing to say of them, 1 if it has; else it has not looked.
verify()
{
	local rc

	SYSTEMD_UNIT_PATH=$units: timeout $((60 * ${WEFT_TEST_SCALE:-1})) \
		systemd-analyze verify --man=no "$units"/* >"$dir/verify" 2>&1
	rc=$?
	if [ $rc = 124 ] || [ $rc -gt 128 ]; then
		echo "systemd-analyze: exit status $rc"
		return $rc
	fi
	no_line weft "$dir/verify"
}

# programs: what the units run is installed, and is given the settings that are.
programs()
{
	local unit name program

	for unit in "$units"/*.service; do
		while read -r program; do
			[ -x "$program" ] || { echo "$unit: no $program"; return 1; }
		done < <(sed -n 's/^Exec[A-Za-z]*=[-+!:]*\([^ ]*\).*/\1/p' "$unit")
		while read -r name; do
			grep -q "^$name=" "$root"/etc/weft/*.conf || grep -q "^Environment=$name=" "$unit" ||
				{ echo "$unit: nothing sets $name"; return 1; }
		done < <(grep '^Exec' "$unit" | grep -oE '[$][{]?[A-Z_]+' | tr -cd 'A-Z_\n')
		while read -r name; do
			[ -e "$root$name" ] || { echo "$unit: no $name"; return 1; }
		done < <(sed -n 's/^EnvironmentFile=//p' "$unit")
	done
}

check "what the services run and read is installed" programs
if command -v systemd-analyze >/dev/null; then
	check "systemd takes them" verify
	# Whatever the check is, it sees an error.
	sed -i 's/^Type=.*/Type=nothing/' "$units/weft-memd.service"
	check "and would not take a wrong one" exits 1 '' verify
else
	skip "systemd takes them" "systemd is not here"
fi

# --- Uninstalling ---

# left: files and directories below the root.
left()
{
	find "$root" -mindepth 1 -printf '/%P\n' | sort
}

echo changed >>"$root/etc/weft/weft.conf"
check "make install again" weft_make install-programs
check "changed settings stay" grep -qx changed "$root/etc/weft/weft.conf"
echo other >"$root/usr/local/lib/other"
check "make uninstall" weft_make uninstall
check "nothing is left but what is not ours" \
	diff <(printf '%s\n' /etc /etc/weft /etc/weft/weft.conf /usr /usr/local \
		/usr/local/lib /usr/local/lib/other) <(left)
rm -rf "${root:?}"/*
if [ -e "$BUILD/kmod/${KVER-}/weft.ko" ]; then
	check "make install with the module" weft_make KVER="$KVER" install
	check "the module is there" \
		test -e "$root/lib/modules/$KVER/updates/weft.ko"
	check "make uninstall" weft_make KVER="$KVER" uninstall
	check "nothing is left" diff /dev/null <(left)
fi

finish
