// SPDX-License-Identifier: GPL-2.0-only
/*
 * locks-passed: counters that locks guard, and what of them another node has handed over.
 *
 *	locks-passed add FILE SEEN SECONDS PAUSE_US	increments them; SEEN is a file of this node
 *	locks-passed seen SEEN			prints what FILE's counters were at least
 *
 * Who gets a lock, and finds in its counter what it has not left there itself, has it from
 * another node: so much has been made under a lock that was released.  That goes into SEEN at
 * once, which outlives the process.  Counters of different locks share blocks, so that blocks
 * go from node to node while other locks of them are held.
 *
 * A counter is written to at once, by an atomic addition, and never only read: a read would make
 * its block shared, which the home takes part in, and who then writes waits for the home.
 */
#include <signal.h>

#include "tests/common/argument.h"
#include "tools/common/random.h"
#include "user.h"

#define COUNTERS	8
#define A_PAGE		4
#define STRIDE		64
#define LOCKS_AT	65536	/* where the locks are, in the file; nobody touches that */

static uint64_t *counter(char *p, unsigned int i)
{
	return (uint64_t *)(p + (size_t)(i / A_PAGE) * NODE_PAGE + (size_t)(i % A_PAGE) * STRIDE);
}

static char *map(const char *path, size_t size, int flags)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
	char *p;

	if (fd < 0 || (flags && ftruncate(fd, (off_t)size)))
		node_die("cannot open %s: %s", path, strerror(errno));
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		node_die("cannot map %s: %s", path, strerror(errno));
	close(fd);
	return p;
}

static int add(const char *path, const char *seen_path, unsigned int seconds, unsigned int pause)
{
	uint64_t own[COUNTERS] = { 0 }, random = random_stream(now_ns(), (uint64_t)getpid());
	volatile uint64_t *seen = (uint64_t *)map(seen_path, NODE_PAGE, O_CREAT);
	uint64_t end = now_ns() + seconds * 1000000000ull, handed = 0, made = 0;
	char *p = map(path, 2 * NODE_PAGE, 0);
	uint32_t slot[COUNTERS];
	struct user user;
	unsigned int i;

	user_open(&user, path, COUNTERS);
	for (i = 0; i < COUNTERS; i++)
		slot[i] = user_slot(&user, LOCKS_AT + i * STRIDE);
	while (now_ns() < end) {
		uint64_t was;

		i = (unsigned int)random_below(&random, COUNTERS);
		if (!user_take(&user, 0, slot[i], WEFT_LOCK_WRITE) &&
		    user_ask(&user, slot[i], WEFT_LOCK_WRITE, 0, 0))
			break;
		was = __atomic_fetch_add(counter(p, i), 1, __ATOMIC_SEQ_CST);
		if (was != own[i]) {
			seen[i] = was;
			handed++;
		}
		own[i] = was + 1;
		made++;
		user_leave(&user, 0, slot[i], WEFT_LOCK_WRITE);
		if (pause)
			pause_us(random_below(&random, 2 * pause));
	}
	printf("%llu increments, %llu times from another node\n", (unsigned long long)made,
	       (unsigned long long)handed);
	return 0;
}

static int print_seen(const char *path)
{
	const uint64_t *seen = (uint64_t *)map(path, NODE_PAGE, 0);
	unsigned int i;

	for (i = 0; i < COUNTERS; i++)
		printf("%llu%c", (unsigned long long)seen[i], i + 1 < COUNTERS ? ' ' : '\n');
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "add"))
		return add(argv[2], argv[3], argument_u32(argv[4]), argument_u32(argv[5]));
	if (argc == 3 && !strcmp(argv[1], "seen"))
		return print_seen(argv[2]);
	fputs("usage: locks-passed add FILE SEEN SECONDS PAUSE_US, or seen SEEN\n", stderr);
	return 2;
}
