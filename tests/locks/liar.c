// SPDX-License-Identifier: GPL-2.0-only
/*
 * locks-liar: a program that writes into the words of its locks what is not true, and touches
 * the region meanwhile: that it has a lock, that others read it, that nobody has it.
 *
 *	locks-liar FILE MACHINE SECONDS
 *
 * The kernel, which looks there for who has a lock when a block is missed, must not mind.
 */
#include "tests/common/argument.h"
#include "tools/common/clock.h"
#include "tools/common/random.h"
#include "user.h"

#define LOCKS	4
#define BLOCKS	32
#define FOR_NS	10000000	/* a lock is waited for */

static struct user user;
static uint32_t slots[LOCKS];
static char *region;
static uint64_t seed, taken, lies;

static _Atomic uint64_t *word_of(uint32_t slot)
{
	return (_Atomic uint64_t *)&user.words[slot].word;
}

static _Atomic uint64_t *holder_of(uint32_t slot)
{
	return (_Atomic uint64_t *)&user.words[slot].holder;
}

static void touch(void)
{
	for (int i = 0; i < 4; i++)
		atomic_fetch_add((_Atomic uint64_t *)(region + NODE_PAGE *
						      random_below(&seed, BLOCKS)), 1);
}

static void lie(uint32_t slot)
{
	static const uint64_t nonsense = WEFT_WORD_READERS | WEFT_WORD_OWNER | WEFT_WORD_LISTED |
					 WEFT_WORD_READS;

	atomic_store(holder_of(slot), random_below(&seed, 2) ? (uint64_t)gettid() :
							       random_u64(&seed));
	switch (random_below(&seed, 4)) {
	case 0:
		atomic_fetch_or(word_of(slot), (uint64_t)user.owner << WEFT_WORD_OWNER_SHIFT);
		break;
	case 1:
		atomic_fetch_add(word_of(slot), WEFT_WORD_READER);
		break;
	case 2:
		atomic_fetch_and(word_of(slot), ~nonsense);
		break;
	default:
		atomic_store(word_of(slot), random_u64(&seed));
	}
	touch();
	/* nobody has it, so that it goes on to other nodes */
	atomic_fetch_and(word_of(slot), ~nonsense);
	user_wake(&user, slot);
	lies++;
}

static void once(void)
{
	uint32_t slot = slots[random_below(&seed, LOCKS)];
	uint32_t mode = random_below(&seed, 3) ? WEFT_LOCK_WRITE : WEFT_LOCK_READ;

	if (!user_ask(&user, slot, mode, WEFT_LOCK_UNTIL, (int64_t)now_ns() + FOR_NS)) {
		taken++;
		touch();
		if (random_below(&seed, 2))
			user_op(&user, WEFT_IOC_LOCK_RELEASE, slot, mode, 0, 0);
	}
	lie(slot);
}

int main(int argc, char **argv)
{
	uint64_t end;
	int fd;

	if (argc != 4) {
		fprintf(stderr, "usage: locks-liar FILE MACHINE SECONDS\n");
		return 2;
	}
	node_begin("locks-liar");
	seed = random_stream(3, argument_u32(argv[2]));
	end = now_ns() + argument_u32(argv[3]) * 1000000000ull;
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, BLOCKS * NODE_PAGE))
		node_die("cannot make %s: %s", argv[1], strerror(errno));
	region = mmap(NULL, BLOCKS * NODE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (region == MAP_FAILED)
		node_die("cannot map %s: %s", argv[1], strerror(errno));
	user_open(&user, argv[1], LOCKS);
	for (uint32_t i = 0; i < LOCKS; i++)
		slots[i] = user_slot(&user, i * NODE_PAGE);
	while (now_ns() < end)
		once();
	printf("%llu lies, %llu locks were had\n", (unsigned long long)lies,
	       (unsigned long long)taken);
	return 0;
}
