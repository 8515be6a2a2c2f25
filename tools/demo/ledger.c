// SPDX-License-Identifier: GPL-2.0-only
/*
 * Money moves between accounts: a plain POSIX program that knows nothing of weft.
 *
 *	weft-ledger FILE --open			once
 *	weft-ledger FILE TRANSFERS		as often as there are processes
 *	weft-ledger FILE TRANSFERS --audit PROCESSES	when all have ended
 *
 * All processes map FILE and share what is in it by process-shared rwlocks, one an
 * account.  On one machine that is nothing new; with libweft-preload.so and FILE in a
 * region it works for processes on all machines.
 *
 * A transfer write-locks two accounts.  One operation in eight is a look: it
 * read-locks a branch, eight accounts that only pass money among themselves, and
 * their sum must be what it was at first.  Each process mostly works in a branch
 * of its own, so most of its locks are cached.  The audit counts all money and all
 * transfers: none may be lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BRANCHES	8
#define ACCOUNTS	8	/* of a branch */
#define DEPOSIT		1000	/* in each account at first */
#define ABROAD		20	/* one operation in so many is in another branch */
#define TELL		100	/* transfers between two lines that tell how far it is */
#define LOOKS		8	/* one operation in so many is a look */

/* On pages of their own, so that who changes one does not disturb the others. */
struct account {
	pthread_rwlock_t lock;
	long balance;
	long transfers;
	char rest[4096 - sizeof(pthread_rwlock_t) - 2 * sizeof(long)];
};

struct ledger {
	pthread_rwlock_t lock;
	int customers;
	char rest[4096 - sizeof(pthread_rwlock_t) - sizeof(int)];
	struct account account[BRANCHES][ACCOUNTS];
};

static struct ledger *ledger;

__attribute__((format(printf, 1, 2), noreturn))
static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("weft-ledger: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static void must(int err, const char *what)
{
	if (err)
		die("cannot %s: %s", what, strerror(err));
}

static void map(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*ledger)))
		die("cannot make %s: %s", path, strerror(errno));
	ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ledger == MAP_FAILED)
		die("cannot map %s: %s", path, strerror(errno));
	close(fd);
}

static void open_accounts(void)
{
	pthread_rwlockattr_t shared;
	int b, a;

	must(pthread_rwlockattr_init(&shared), "make attributes");
	must(pthread_rwlockattr_setpshared(&shared, PTHREAD_PROCESS_SHARED),
	     "share locks between processes");
	must(pthread_rwlock_init(&ledger->lock, &shared), "make a lock");
	for (b = 0; b < BRANCHES; b++)
		for (a = 0; a < ACCOUNTS; a++) {
			must(pthread_rwlock_init(&ledger->account[b][a].lock, &shared),
			     "make a lock");
			ledger->account[b][a].balance = DEPOSIT;
		}
}

/* Return: how many came before. */
static int enter(void)
{
	int number;

	must(pthread_rwlock_wrlock(&ledger->lock), "lock the ledger");
	number = ledger->customers++;
	must(pthread_rwlock_unlock(&ledger->lock), "unlock the ledger");
	return number;
}

/* Two accounts of a branch, in the order of their addresses. */
static void transfer(struct account *branch, unsigned int from, unsigned int to, long sum)
{
	struct account *first = &branch[from < to ? from : to];
	struct account *second = &branch[from < to ? to : from];

	must(pthread_rwlock_wrlock(&first->lock), "lock an account");
	must(pthread_rwlock_wrlock(&second->lock), "lock an account");
	branch[from].balance -= sum;
	branch[to].balance += sum;
	branch[from].transfers++;
	must(pthread_rwlock_unlock(&second->lock), "unlock an account");
	must(pthread_rwlock_unlock(&first->lock), "unlock an account");
}

static void look(struct account *branch)
{
	long sum = 0;
	int a;

	for (a = 0; a < ACCOUNTS; a++)
		must(pthread_rwlock_rdlock(&branch[a].lock), "lock an account");
	for (a = 0; a < ACCOUNTS; a++)
		sum += branch[a].balance;
	for (a = 0; a < ACCOUNTS; a++)
		must(pthread_rwlock_unlock(&branch[a].lock), "unlock an account");
	if (sum != ACCOUNTS * DEPOSIT)
		die("WRONG: a branch has %ld, not %d", sum, ACCOUNTS * DEPOSIT);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void work(long transfers)
{
	int number = enter(), looks = 0;
	unsigned int seed = 1 + number;
	double start = seconds();
	long done = 0;

	while (done < transfers) {
		unsigned int abroad = rand_r(&seed) % ABROAD == 0;
		unsigned int branch = number + (abroad ? rand_r(&seed) : 0);
		unsigned int from = rand_r(&seed) % ACCOUNTS;
		unsigned int step = 1 + rand_r(&seed) % (ACCOUNTS - 1);
		struct account *b = ledger->account[branch % BRANCHES];

		if (rand_r(&seed) % LOOKS == 0) {
			look(b);
			looks++;
		} else {
			transfer(b, from, (from + step) % ACCOUNTS, 1 + rand_r(&seed) % 100);
			done++;
			if (done % TELL == 0)
				fprintf(stderr, "progress %ld %ld\n", done, transfers);
		}
	}
	printf("%ld transfers, %d looks in %.1f s\n", done, looks, seconds() - start);
}

static void audit(long transfers, long processes)
{
	long money = 0, done = 0;
	int b, a;

	for (b = 0; b < BRANCHES; b++)
		for (a = 0; a < ACCOUNTS; a++) {
			struct account *at = &ledger->account[b][a];

			must(pthread_rwlock_rdlock(&at->lock), "lock an account");
			money += at->balance;
			done += at->transfers;
			must(pthread_rwlock_unlock(&at->lock), "unlock an account");
		}
	if (money != BRANCHES * ACCOUNTS * DEPOSIT)
		die("WRONG: there is %ld of money, not %d", money,
		    BRANCHES * ACCOUNTS * DEPOSIT);
	if (done != transfers * processes)
		die("WRONG: %ld transfers are in the accounts, %ld were made", done,
		    transfers * processes);
	printf("%ld transfers, no money lost\n", done);
}

int main(int argc, char **argv)
{
	long transfers = argc > 2 ? atol(argv[2]) : 0;
	long processes = argc == 5 && !strcmp(argv[3], "--audit") ? atol(argv[4]) : 0;

	bool first = argc == 3 && !strcmp(argv[2], "--open");

	if (!first && (transfers < 1 || (argc != 3 && processes < 1))) {
		fputs("usage: weft-ledger FILE --open | TRANSFERS [--audit PROCESSES]\n",
		      stderr);
		return 2;
	}
	map(argv[1]);
	if (first)
		open_accounts();
	else if (processes)
		audit(transfers, processes);
	else
		work(transfers);
	return 0;
}
