#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A step of test-packages.sh, in a guest of a bare rack.  The guest's first process is
# no systemd: one of its own, with its own processes, mounts and control groups but on
# this kernel and network, stands for the machine's.
#
#	guest-packages.sh prepare DPKG		module directories that can be written to;
#						DPKG: a tar file of /var/lib/dpkg
#	guest-packages.sh make MODULE SOURCES HEADERS	/usr/bin/make brings MODULE, if it is
#						asked to make it of these SOURCES; HEADERS
#						are the kernel's
#	guest-packages.sh quiet			no services but ours; part of prepare
#	guest-packages.sh boot			start systemd, wait until it is up
#	guest-packages.sh in COMMAND...		run a command there
#	guest-packages.sh halt			end it
#	guest-packages.sh left LIST		files of LIST, and whatever of weft's, that
#						is still there

set -u
export LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
PID_FILE=/tmp/systemd.pid
MODULES=/lib/modules/$(uname -r)
ROUNDS=$((120 * ${WEFT_TEST_SCALE:-1}))	# of a second, for systemd to come up, or to end

die()
{
	echo "guest-packages: $*" >&2
	exit 1
}

# The guest's modules are on the host.
prepare()
{
	mkdir -p /tmp/modules
	mount -t tmpfs modules /tmp/modules || die "cannot mount on /tmp/modules"
	mkdir -p /tmp/modules/upper /tmp/modules/work
	mount -t overlay -o "lowerdir=$MODULES,upperdir=/tmp/modules/upper,workdir=/tmp/modules/work" \
		overlay "$MODULES" || die "cannot mount an overlay on $MODULES"
	# thousands of small files take minutes from the host, one large one does not
	mount -t tmpfs dpkg /var/lib/dpkg || die "cannot mount on /var/lib/dpkg"
	tar -xf "$1" -C /var/lib || die "cannot unpack $1"
	# and so does reading all manual pages, for an index
	rm -f /var/lib/man-db/auto-update
	quiet
}

# As DKMS calls it: make ... -C HEADERS M=DIRECTORY modules, and clean.
brings()
{
	[ -e "$1" ] || die "there is no module $1"
	[ -e "$2/dkms.conf" ] || die "there are no sources $2"
	[ -e "$3/include" ] || die "there are no headers $3"
	ln -sfn "$3" "$MODULES/build" || die "cannot link $MODULES/build"
	mv /usr/bin/make /usr/bin/make.real || die "cannot rename /usr/bin/make"
	cat >/usr/bin/make <<-END || die "cannot write /usr/bin/make"
	#!/bin/sh
	for word; do
	        case \$word in
	        M=*)    dir=\${word#M=} ;;
	        esac
	done
	case \$word in
	modules) diff -r -x make.log "$2" "\$dir" && cp "$1" "\$dir/" ;;
	clean)  ;;
	*)      exec make.real "\$@" ;; # which compiler the kernel has
	esac
	END
	chmod +x /usr/bin/make
}

# What runs on the host by itself is not wanted.
quiet()
{
	# containers have one that forbids to start and stop services
	rm -rf /usr/sbin/policy-rc.d /etc/systemd/system/*.wants
	rm -f /lib/systemd/system/sysinit.target.wants/systemd-{udev*,pcr*,repart*,random*} \
		/lib/systemd/system/sysinit.target.wants/*.mount \
		/lib/systemd/system/sysinit.target.wants/{cryptsetup,veritysetup,integritysetup}.target \
		/lib/systemd/system/multi-user.target.wants/*
	# emptying /tmp at boot: it has the host's files in it, all of them
	mkdir -p /etc/tmpfiles.d
	ln -sf /dev/null /etc/tmpfiles.d/tmp.conf
	echo 0123456789abcdef0123456789abcdef >/etc/machine-id
}

# inside COMMAND...
inside()
{
	local pid

	pid=$(cat "$PID_FILE") || die "systemd does not run"
	nsenter -t "$pid" -m -p -C -- "$@"
}

boot()
{
	local i state parent

	# Mounts come to the services that have namespaces of their own, and go there, as
	# on a machine whose first process is systemd.
	# shellcheck disable=SC2016  # for the other shell
	container=weft setsid unshare --fork --kill-child --pid --mount --cgroup \
		sh -c 'mount --make-rshared / &&
			mount -t proc proc /proc && mount -t tmpfs -o mode=755 run /run &&
			{ ! mountpoint -q /sys/fs/cgroup || umount /sys/fs/cgroup; } &&
			mount -t cgroup2 cgroup /sys/fs/cgroup &&
			exec /lib/systemd/systemd --system --unit=multi-user.target' \
		</dev/null >/tmp/systemd.log 2>&1 &
	parent=$!
	for ((i = 0; i < ROUNDS; i++)); do
		sleep 1
		kill -0 "$parent" 2>/dev/null ||
			die "systemd ended at once: $(tail -n 5 /tmp/systemd.log)"
		# unshare's child; setsid need not have forked
		pgrep -f '^/lib/systemd/systemd --system' | head -n 1 >"$PID_FILE"
		[ -s "$PID_FILE" ] || continue
		state=$(inside systemctl is-system-running 2>/dev/null)
		case $state in
		running|degraded)	return 0 ;;
		esac
	done
	inside systemctl --no-pager list-jobs >&2
	die "systemd is not up after $ROUNDS s: $state"
}

halt()
{
	local i pid

	pid=$(cat "$PID_FILE") || die "systemd does not run"
	inside systemctl poweroff >/dev/null 2>&1
	for ((i = 0; i < ROUNDS; i++)); do
		kill -0 "$pid" 2>/dev/null || return 0
		sleep 1
	done
	die "systemd does not end"
}

left()
{
	local file found=0

	while read -r file; do
		if [ -e "$file" ] && [ ! -d "$file" ]; then
			echo "$file"
			found=1
		fi
	done <"$1"
	for file in /weft /etc/weft /usr/src/weft* /usr/share/weft /usr/share/doc/*weft* \
		    /usr/include/weft /var/lib/dkms/weft /var/lib/weft /var/lib/private/weft \
		    "$MODULES"/updates/dkms/weft* /var/lib/dpkg/info/*weft* \
		    /etc/systemd/system/*weft* /etc/systemd/system/*/*weft* \
		    /var/lib/systemd/deb-systemd-helper-enabled/*weft* /run/*weft-switchd* \
		    /sys/module/weft; do
		if [ -e "$file" ] || [ -L "$file" ]; then
			echo "$file"
			found=1
		fi
	done
	grep -qi ':12B9 ' /proc/net/udp && { echo "UDP port 4793"; found=1; }
	pgrep -l '^weft' && found=1
	return $found
}

case ${1-} in
prepare)	prepare "$2" ;;
make)		brings "$2" "$3" "$4" ;;
quiet)		quiet ;;
boot)		boot ;;
in)		shift; inside "$@" ;;
halt)		halt ;;
left)		left "$2" ;;
*)		die "unknown step '${1-}'" ;;
esac
