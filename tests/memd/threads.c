// SPDX-License-Identifier: GPL-2.0-only
/*
 * A memory blade with several threads: each datagram comes to the thread that has the
 * line, none of them is stopped for a page, and what comes to another one is handled all
 * the same.  Regions come and go meanwhile.
 *
 *	memd-threads [THREADS]
 */
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include "tests/common/argument.h"

#define BLADE	WEFT_BLADE_MIN
#define BLOCK	4096u
#define BLOCKS	64u
#define APART	16u		/* of 16 runs */
#define NODES	4u
#define ROUNDS	20u

static u32 region;
static u32 n_threads = 2;

static void start(void)
{
	static char number[8];
	const char *const args[] = {
		"--switch", "none", "--memory", "64M", "--threads", number, NULL
	};
	u32 i;

	snprintf(number, sizeof(number), "%u", n_threads);
	unsetenv("WEFT_RIG_THREADS");
	rig_memd_start(BLADE, args);
	fake_init(1);
	fake_apart = APART;
	for (i = 1; i <= NODES; i++)
		CHECK_EQ(fake_join(&fakes[i]), 0);
	CHECK_EQ(fake_create(&fakes[1], "threads", BLOCKS * APART * BLOCK, BLOCK, &region), 0);
	for (i = 1; i <= NODES; i++)
		CHECK_EQ(fake_open(&fakes[i], region, BLOCK), 0);
}

static u64 stat_of(const char *name)
{
	return fake_stat(&fakes[1], BLADE, name);
}

static u8 value(u32 index, u32 round)
{
	return (u8)(1 + (index * 7 + round) % 255);
}

/* Every block written by one node, taken home, and read by another one. */
static void use_all(u32 round)
{
	u32 i;

	for (i = 0; i < BLOCKS; i++) {
		struct fake *f = &fakes[1 + (i + round) % NODES];

		fake_fill(f, fake_line(f, region, i), value(i, round));
	}
	fake_evict_all();
	for (i = 0; i < BLOCKS; i++) {
		struct fake *f = &fakes[1 + (i + round + 1) % NODES];
		struct fake_line *fl = fake_line(f, region, i);

		CHECK(fake_get(f, fl, WEFT_S));
		CHECK(fake_is_filled(fl, BLOCK, value(i, round)));
	}
	fake_evict_all();
}

/* A copy of the descriptor that the blade has for its port. */
static int socket_of_blade(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, rig_memd_pid(BLADE), 0), fd, n, type;
	socklen_t len;

	CHECK(pidfd >= 0);
	for (n = 3; n < 64; n++) {
		fd = (int)syscall(SYS_pidfd_getfd, pidfd, n, 0);
		len = sizeof(type);
		if (fd >= 0 && !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) &&
		    type == SOCK_DGRAM)
			break;
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	close(pidfd);
	return fd;
}

/* The kernel chooses by a hash of its own then. */
static bool take_program_away(void)
{
	int fd = socket_of_blade(), none = 0;
	bool gone;

	if (fd < 0)
		return false;
	gone = !setsockopt(fd, SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, &none, sizeof(none));
	close(fd);
	CHECK(gone);
	return true;
}

/* A region that a node has closed. */
static void forget(struct fake *f, u32 id)
{
	u32 i, k;

	for (i = 0; i < FAKE_REGIONS; i++) {
		if (f->region[i].id != id)
			continue;
		for (k = 0; k < FAKE_LINES; k++)
			free(f->region[i].line[k].data);
		memset(&f->region[i], 0, sizeof(f->region[i]));
	}
}

/* Regions that come, are written, shrink and go, between blocks of the other one. */
static void regions_in_turns(u32 n)
{
	u32 i, k, id;

	for (k = 0; k < n; k++) {
		struct fake *f = &fakes[1 + k % NODES];
		struct weft_call c;

		CHECK_EQ(fake_create(f, "other", BLOCKS * APART * BLOCK, BLOCK, &id), 0);
		CHECK_EQ(fake_open(f, id, BLOCK), 0);
		for (i = 0; i < BLOCKS; i += 4)
			fake_fill(f, fake_line(f, id, i), value(i, k));
		for (i = 0; i < BLOCKS; i += 4)
			CHECK(fake_get(&fakes[1 + (k + i) % NODES],
				       fake_line(&fakes[1 + (k + i) % NODES], region, i), WEFT_S));
		fake_evict_all();
		CHECK_EQ(fake_set_size(f, id, BLOCKS / 2 * APART * BLOCK), 0);
		CHECK_EQ(fake_call_named(f, WEFT_CALL_UNLINK, "other", &c), 0);
		CHECK_EQ(fake_call_region(f, WEFT_CALL_CLOSE, id, &c), 0);
		forget(f, id);
	}
}

int main(int argc, char **argv)
{
	u64 stopped, pages;
	u32 round;
	int status;

	if (argc > 1)
		n_threads = (u32)argument(argv[1], 2, 16);
	rig_open(false, 1);
	start();
	CHECK_EQ(stat_of("threads"), n_threads);
	stopped = stat_of("threads_stopped");
	pages = stat_of("reads") + stat_of("write_backs");
	for (round = 0; round < ROUNDS; round++)
		use_all(round);
	pages = stat_of("reads") + stat_of("write_backs") - pages;
	stopped = stat_of("threads_stopped") - stopped;
	CHECK(pages >= ROUNDS * 2 * BLOCKS);
	CHECK_EQ(stat_of("other_share"), 0);
	/* for calls, most of them these questions, and for timers: not for pages */
	CHECK(stopped * 10 < pages);
	regions_in_turns(20);
	CHECK_EQ(stat_of("other_share"), 0);
	rig_faults = (struct rig_faults){ .loss = 50, .dup = 50, .reorder = 200 };
	use_all(round++);
	regions_in_turns(5);
	rig_faults = (struct rig_faults){ 0 };
	if (take_program_away()) {
		use_all(round++);
		regions_in_turns(5);
		CHECK(stat_of("other_share") > BLOCKS / 2);
		printf("%llu messages came to another thread\n",
		       (unsigned long long)stat_of("other_share"));
	} else {
		printf("the blade's socket cannot be had here: all messages came right\n");
	}
	CHECK_EQ(stat_of("bad_messages"), 0);
	status = rig_memd_stop(BLADE, SIGTERM);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	rig_close();
	return check_result();
}
