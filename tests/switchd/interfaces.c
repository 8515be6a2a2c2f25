// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports that are network interfaces: a TAP device and one end of a veth pair
 * (AF_PACKET), in a network namespace of its own.  Skipped without root.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sched.h>

#include "daemon.h"

#define NOTHING_MS	100

/* The other end of an interface, for frames of the tests only. */
static int raw_socket(const char *interface)
{
	struct sockaddr_ll a = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(0x88b5),
		.sll_ifindex = (int)if_nametoindex(interface),
	};
	int one = 1, fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(0x88b5));

	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
	CHECK(fd >= 0 && !bind(fd, (struct sockaddr *)&a, sizeof(a)), "%s: %s", interface,
	      strerror(errno));
	return fd;
}

static void skip(const char *why)
{
	printf("skipped: %s\n", why);
	exit(77);
}

static bool run(const char *command_line)
{
	return system(command_line) == 0;
}

static void make_interfaces(void)
{
	if (unshare(CLONE_NEWNET))
		skip("a network namespace of its own takes root");
	if (!run("ip link add v0 type veth peer name v1 2>/dev/null"))
		skip("no veth pair (ip link add v0 type veth): is iproute2 installed?");
	if (!run("ip tuntap add t0 mode tap 2>/dev/null"))
		skip("no TAP device (/dev/net/tun)");
	/* No chatter of the kernel's own. */
	run("echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 2>/dev/null");
	CHECK(run("for i in v0 v1 t0; do ip link set $i up mtu 9000 || exit 1; done"),
	      "interfaces do not come up");
}

static void expect(int fd, const char *what, const uint8_t *f, size_t len)
{
	uint8_t g[16384];
	ssize_t n = station_receive(fd, g, sizeof(g), f ? SOON_MS : NOTHING_MS);

	if (f)
		CHECK(n == (ssize_t)len && !memcmp(f, g, len), "%s: %zd bytes instead of %zu",
		      what, n, len);
	else
		CHECK(n < 0, "%s: %zd bytes instead of none", what, n);
}

static void test_frames(int veth, int tap, int unix_fd)
{
	static const size_t lengths[] = { 60, 1514, 9014 };
	uint8_t f[16384];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		size_t len = lengths[i];

		/* veth 1, TAP 2, socket 3; all meet, then one talks to one. */
		make_frame(f, 0xff, 1, len, 1);
		CHECK(send(veth, f, len, 0) == (ssize_t)len, "%s", strerror(errno));
		expect(tap, "veth to all: TAP", f, len);
		expect(unix_fd, "veth to all: socket", f, len);
		make_frame(f, 0xff, 2, len, 2);
		CHECK(send(tap, f, len, 0) == (ssize_t)len, "%s", strerror(errno));
		expect(veth, "TAP to all: veth", f, len);
		expect(unix_fd, "TAP to all: socket", f, len);
		make_frame(f, 0xff, 3, len, 3);
		station_send(unix_fd, "s", f, len);
		expect(veth, "socket to all: veth", f, len);
		expect(tap, "socket to all: TAP", f, len);

		make_frame(f, 2, 1, len, 4);
		send(veth, f, len, 0);
		expect(tap, "veth to TAP: TAP", f, len);
		expect(unix_fd, "veth to TAP: socket", NULL, 0);
		make_frame(f, 3, 2, len, 5);
		send(tap, f, len, 0);
		expect(unix_fd, "TAP to socket: socket", f, len);
		expect(veth, "TAP to socket: veth", NULL, 0);
		make_frame(f, 1, 3, len, 6);
		station_send(unix_fd, "s", f, len);
		expect(veth, "socket to veth: veth", f, len);
		expect(tap, "socket to veth: TAP", NULL, 0);
	}
}

/* Frames to all come there, as soon as the interface carries any. */
static void until_comes(int from, int at, const char *where, uint32_t tag)
{
	uint8_t f[64], g[16384];
	int left;

	for (left = SOON_MS / 20; left; left--) {
		make_frame(f, 0xff, 3, sizeof(f), tag);
		station_send(from, "s", f, sizeof(f));
		while (station_receive(at, g, sizeof(g), 20) >= (ssize_t)sizeof(f))
			if (frame_tag(g) == tag)
				return;
	}
	CHECK(false, "socket to %s", where);
}

/* An interface goes down, comes back, goes away: the others do not notice. */
static void test_gone(int veth, int tap, int unix_fd)
{
	uint8_t f[64];
	unsigned int i;

	CHECK(run("ip link set v0 down && ip link set t0 down"), "down");
	for (i = 0; i < 10; i++) {
		make_frame(f, 0xff, 3, sizeof(f), i);
		station_send(unix_fd, "s", f, sizeof(f));
	}
	settle();
	CHECK(port_stat("veth", "tx_drop") == 10, "%ld", port_stat("veth", "tx_drop"));
	CHECK(run("ip link set v0 up && ip link set t0 up"), "up");
	until_comes(unix_fd, veth, "veth", 6);
	until_comes(unix_fd, tap, "TAP", 7);
	settle();
	while (recv(tap, f, sizeof(f), MSG_DONTWAIT) > 0 ||
	       recv(veth, f, sizeof(f), MSG_DONTWAIT) > 0)
		;
	test_frames(veth, tap, unix_fd);
	CHECK(run("ip link del v0"), "cannot delete it");
	until_comes(unix_fd, tap, "TAP, without veth", 8);
}

int main(void)
{
	int veth, tap, unix_fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	make_interfaces();
	folder_make(dir, sizeof(dir), folder_usual(), "switchd");
	unix_fd = station_open("s");
	daemon_arg(&sw, "--spec");
	daemon_arg(&sw, "none");
	daemon_arg(&sw, "--port");
	daemon_arg(&sw, "veth=packet:v0");
	daemon_arg(&sw, "--port");
	daemon_arg(&sw, "tap=tap:t0");
	station_port(&sw, "s");
	if (daemon_start(&sw)) {
		veth = raw_socket("v1");
		tap = raw_socket("t0");
		test_frames(veth, tap, unix_fd);
		test_gone(veth, tap, unix_fd);
		daemon_stop(&sw);
	}
	unlink(in_dir("log"));
	unlink(in_dir("s.q"));
	CHECK(!rmdir(dir), "%s is not empty", dir);
	return check_result();
}
