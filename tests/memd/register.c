// SPDX-License-Identifier: GPL-2.0-only
/*
 * The witness's register.  Every transition from every entry: what is not in register.h is
 * refused and changes nothing.  And the witness itself: what it has answered it knows when it
 * was killed right after that, or ended with its disk; and who has a newer connection is not
 * heard on an older one.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/common/check.h"
#include "tests/common/folder.h"
#include "tests/common/ports.h"
#include "tools/common/clock.h"
#include "tools/memd/base/options.h"
#include "tools/memd/standby/ask.h"
#include "tools/memd/standby/register.h"
#include "tools/memd/standby/stream.h"
#include "tools/memd/standby/witness.h"

#define ME	0x7F000065u
#define OTHER	0x7F000066u
#define AT	0x7F00005Bu	/* the witness */
#define LEASE	3000u
#define LIMIT_MS	60000

/* --- rules ------------------------------------------------------------------------------- */

/* What register.h promises, said once more. */
static u16 expected(const struct entry *e, const struct question *q, struct entry *then)
{
	bool mine = e->view && e->owner == q->who && e->view == q->view;
	u32 lease = e->lease > q->lease ? e->lease : q->lease;

	*then = *e;
	switch (q->op) {
	case REGISTER_LOOK:
		return 0;
	case REGISTER_CLAIM:
		if (!e->view && q->view) {
			then->view = q->view;
			then->owner = q->who;
			then->complete = false;
		} else if (!mine) {
			return ESTALE;
		}
		break;
	case REGISTER_BEAT:
	case REGISTER_ALONE:
	case REGISTER_COMPLETE:
		if (!mine)
			return ESTALE;
		if (q->op != REGISTER_BEAT)
			then->complete = q->op == REGISTER_COMPLETE;
		break;
	case REGISTER_TAKE:
	case REGISTER_TAKE_BY_HAND:
		if (e->view == q->view + 1 && e->owner == q->who)
			return 0;
		if (!e->view || e->view != q->view || e->owner == q->who)
			return ESTALE;
		if (q->op == REGISTER_TAKE && !(e->complete && e->lease))
			return ESTALE;
		if (q->now - e->heard <= (lease ? lease : 20000))
			return EAGAIN;
		then->view = e->view + 1;
		then->owner = q->who;
		then->complete = false;
		then->heard = q->now;
		return 0;
	default:
		return EINVAL;
	}
	then->lease = q->lease;
	then->heard = q->now;
	return 0;
}

static void one(struct entry e, struct question q)
{
	struct entry then, was = e;
	u16 want = expected(&e, &q, &then), got = register_change(&e, &q);

	CHECK_EQ(got, want);
	CHECK(register_same(&e, &then) && e.heard == then.heard);
	if (want)
		CHECK(register_same(&e, &was) && e.heard == was.heard);
	/* the same once more is no mistake, and changes nothing */
	if (want)
		return;
	CHECK_EQ(register_change(&e, &q), 0);
	CHECK(register_same(&e, &then));
}

/* The last digit of @n to that base, which is taken away. */
static u32 digit(u32 *n, u32 base)
{
	u32 last = *n % base;

	*n /= base;
	return last;
}

static void rules(void)
{
	static const u32 owners[] = { ME, OTHER }, leases[] = { 0, LEASE, 2 * LEASE };
	static const u64 silent[] = { 0, LEASE, LEASE + 1, 2 * LEASE, 2 * LEASE + 1, 20001 };
	u32 n, all = 3 * 2 * 2 * 3 * 3 * (REGISTER_OPS + 1) * 4 * 6;

	for (n = 0; n < all; n++) {
		u32 k = n, view = digit(&k, 3);
		struct entry e = {
			.rack = 1, .blade = 33, .view = view, .owner = owners[digit(&k, 2)],
			.complete = digit(&k, 2), .lease = leases[digit(&k, 3)], .heard = 100000,
		};
		struct question q = {
			.op = (u8)digit(&k, REGISTER_OPS + 1), .view = digit(&k, 4), .who = ME,
			.lease = leases[digit(&k, 3)], .now = 100000 + silent[digit(&k, 6)],
		};

		if (!view)
			e = (struct entry){ .rack = 1, .blade = 33, .heard = 100000 };
		one(e, q);
	}
}

/* --- the file ------------------------------------------------------------------------------ */

static char dir[FOLDER_MAX], path[128];

static void put(const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

static void file(void)
{
	static struct registers rs, back;
	struct entry *e;
	char err[ERR_MAX];
	u32 i;

	CHECK(!registers_read(&rs, path, 5, err));
	CHECK_EQ(rs.n, 0);
	for (i = 0; i < REGISTERS_MAX; i++) {
		e = registers_of(&rs, i / 16, (u8)(33 + i % 16), 5);
		CHECK(e && e == registers_of(&rs, i / 16, (u8)(33 + i % 16), 5));
		e->view = i + 1;
		e->owner = OTHER + i;
		e->complete = i & 1;
		e->lease = i * 7;
	}
	CHECK(!registers_of(&rs, 1000, 33, 5));
	CHECK(!registers_write(&rs));
	CHECK(!registers_read(&back, path, 9, err));
	CHECK_EQ(back.n, REGISTERS_MAX);
	for (i = 0; i < back.n; i++) {
		CHECK(register_same(&rs.entry[i], &back.entry[i]));
		CHECK(back.entry[i].heard == 9 && back.entry[i].rack == i / 16);
	}
	put("rack 0 blade 33 view 1 owner 10.0.0.1 complete 1 lease 5\n");
	CHECK(!registers_read(&back, path, 0, err));
	put("rack 0 blade 33 view 0 owner 10.0.0.1 complete 1 lease 5\n");
	CHECK(registers_read(&back, path, 0, err));
	put("rack 0 blade 33 view 1 owner 10.0.0.1 complete 2 lease 5\n");
	CHECK(registers_read(&back, path, 0, err));
	put("rack 0 blade 3 view 1 owner 10.0.0.1 complete 1 lease 5\n");
	CHECK(registers_read(&back, path, 0, err));
	put("rack 0 blade 33 view 1 owner somebody complete 1 lease 5\n");
	CHECK(registers_read(&back, path, 0, err));
	put("rack 0 blade 33 view 1 owner 10.0.0.1 complete 1 lease 5\n"
	    "rack 0 blade 33 view 2 owner 10.0.0.2 complete 1 lease 5\n");
	CHECK(registers_read(&back, path, 0, err));
	CHECK(strstr(err, "line 2"));
	put("rack 0 blade 33 view 1 own");
	CHECK(registers_read(&back, path, 0, err));
	CHECK(!unlink(path));
}

/* --- the witness ------------------------------------------------------------------------------ */

static pid_t witness;
static struct weft_key none;
static u16 port;

static void start(void)
{
	const char *build = getenv("BUILD");
	char program[256], text[8], log[128];

	witness = fork();
	CHECK(witness >= 0);
	if (witness)
		return;
	snprintf(program, sizeof(program), "%s/bin/weft-memd", build ? build : "build");
	snprintf(text, sizeof(text), "%u", port);
	snprintf(log, sizeof(log), "%s/log", dir);
	if (freopen(log, "a", stderr))
		execl(program, "weft-memd", "--be-witness", path, "--address", "127.0.0.91",
		      "--twin-port", text, NULL);
	_exit(127);
}

static void stop(int sig)
{
	int status;

	CHECK(!kill(witness, sig));
	CHECK_EQ(waitpid(witness, &status, 0), witness);
	if (sig == SIGTERM)
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	witness = 0;
}

static void give_up(void)
{
	if (witness > 0)
		kill(witness, SIGKILL);
	folder_remove();
}

static void init(struct ask *a, u32 who)
{
	const struct options o = {
		.id = 33, .rack = 3, .address = who, .witness = AT, .pair_port = port,
		.lease = LEASE,
	};

	ask_init(a, &o, &none, STREAM_PRIMARY);
}

static void until_ready(struct ask *a)
{
	u64 end = now_ms() + LIMIT_MS;
	struct told t;

	while (!ask_ready(a)) {
		CHECK(now_ms() < end);
		CHECK(!ask_answer(a, &t));
		pause_ms(2);
	}
}

static struct told ask(struct ask *a, u8 op, u32 view)
{
	u64 end = now_ms() + LIMIT_MS;
	struct told t;

	do {
		CHECK(now_ms() < end);
		/* the connection was to a witness that has been killed since */
		if (!a->op) {
			until_ready(a);
			ask_send(a, op, view, LEASE);
		}
		pause_ms(1);
	} while (!ask_answer(a, &t));
	CHECK_EQ(t.op, op);
	return t;
}

static void is(struct ask *a, u32 view, u32 owner, bool complete)
{
	struct told t = ask(a, REGISTER_LOOK, 0);

	CHECK(!t.err && t.view == view && t.owner == owner && t.complete == complete);
}

/*
 * The lease of who serves, which the witness has not heard since @began, is over, and then it is
 * taken.  How long it was silent the witness says itself: if the machine stands still that one
 * has a whole lease more.
 */
static void take_over(struct ask *a, u64 began)
{
	u64 end = now_ms() + LIMIT_MS;
	struct told t;

	while ((t = ask(a, REGISTER_TAKE, 1)).err) {
		CHECK_EQ(t.err, EAGAIN);
		CHECK(t.silent <= LEASE, "%u ms", t.silent);
		CHECK(now_ms() < end);
		pause_ms(10);
	}
	CHECK(now_ms() - began >= LEASE);
}

/* In the place of libc's, in this program: names do not get to the disk while @bad is there. */
static char bad[128];

int fsync(int fd)
{
	struct stat st;

	if (bad[0] && !access(bad, F_OK) && !fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

static int is_ready(const struct options *o)
{
	(void)o;
	return 0;
}

/* One whose disk may become bad. */
static void start_here(void)
{
	const struct options o = {
		.be_witness = path, .address = AT, .pair_port = port, .lease = LEASE,
	};
	sigset_t none_of_them;

	witness = fork();
	CHECK(witness >= 0);
	if (witness)
		return;
	sigemptyset(&none_of_them);
	_exit(witness_run(&o, &none, signalfd(-1, &none_of_them, SFD_CLOEXEC), is_ready));
}

/* It ends by itself, and has said nothing.  Return: its exit status. */
static int until_ended(struct ask *a)
{
	u64 end = now_ms() + LIMIT_MS;
	struct told t;
	int status;

	while (!waitpid(witness, &status, WNOHANG)) {
		CHECK(now_ms() < end);
		CHECK(!ask_answer(a, &t), "it answers %u", t.err);
		pause_ms(1);
	}
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/*
 * The register has its name, and that does not get to the disk: what a witness says now would
 * not be what the next one reads.  So it says nothing, and ends.
 */
static void names(void)
{
	struct ask a;
	FILE *f;

	init(&a, ME);
	CHECK(!unlink(path));
	start_here();
	CHECK_EQ(ask(&a, REGISTER_CLAIM, 1).err, 0);
	f = fopen(bad, "w");
	CHECK(f && !fclose(f));
	until_ready(&a);
	ask_send(&a, REGISTER_COMPLETE, 1, LEASE);
	CHECK_EQ(until_ended(&a), EXIT_FAILURE);
	/* nor does one begin with what may not be there later */
	start_here();
	CHECK_EQ(until_ended(&a), EXIT_FAILURE);
	CHECK(!unlink(bad));
	start();
	CHECK_EQ(ask(&a, REGISTER_ALONE, 1).err, 0);
	stop(SIGKILL);
	start();
	is(&a, 1, ME, false);
	stop(SIGTERM);
	ask_close(&a);
}

/* Killed right after each answer, it knows what it has said. */
static void kills(void)
{
	struct ask a, b;
	u64 began = 0;
	u16 err;
	u32 i;

	init(&a, ME);
	init(&b, OTHER);
	start();
	is(&a, 0, 0, false);
	CHECK_EQ(ask(&b, REGISTER_TAKE, 0).err, ESTALE);
	CHECK_EQ(ask(&a, REGISTER_CLAIM, 1).err, 0);
	stop(SIGKILL);
	start();
	is(&b, 1, ME, false);
	CHECK_EQ(ask(&b, REGISTER_CLAIM, 1).err, ESTALE);
	for (i = 0; i < 5; i++) {
		CHECK_EQ(ask(&a, i & 1 ? REGISTER_ALONE : REGISTER_COMPLETE, 1).err, 0);
		stop(SIGKILL);
		began = now_ms();
		start();
		is(&b, 1, ME, !(i & 1));
	}
	/* it has just begun, so that it could not hear who serves: that one has a lease */
	take_over(&b, began);
	stop(SIGKILL);
	began = now_ms();
	start();
	is(&a, 2, OTHER, false);
	CHECK_EQ(ask(&a, REGISTER_BEAT, 1).err, ESTALE);
	err = ask(&a, REGISTER_TAKE_BY_HAND, 2).err;
	CHECK(err == EAGAIN || now_ms() - began >= LEASE);
	stop(SIGTERM);
	ask_close(&a);
	ask_close(&b);
}

/* The witness has stopped, not only been told to. */
static void halt(void)
{
	int status;

	CHECK(!kill(witness, SIGSTOP));
	CHECK_EQ(waitpid(witness, &status, WUNTRACED), witness);
	CHECK(WIFSTOPPED(status));
}

/* The witness has been through what waits in this connection, and does not listen to it. */
static void until_dropped(struct ask *a)
{
	u64 end = now_ms() + LIMIT_MS;
	struct told t;

	while (a->s.fd >= 0) {
		CHECK(now_ms() < end);
		(void)ask_answer(a, &t);
		pause_ms(1);
	}
}

/* What waits in an older connection is not carried out after a newer one was answered. */
static void connections(void)
{
	struct ask old, new;

	init(&old, ME);
	init(&new, ME);
	CHECK(!unlink(path));
	start();
	CHECK_EQ(ask(&old, REGISTER_CLAIM, 1).err, 0);
	until_ready(&old);
	halt();
	/* both are there when it goes on; the new one calls meanwhile */
	ask_send(&old, REGISTER_COMPLETE, 1, LEASE);
	(void)ask_ready(&new);
	CHECK(!kill(witness, SIGCONT));
	CHECK_EQ(ask(&new, REGISTER_ALONE, 1).err, 0);
	until_dropped(&old);
	is(&new, 1, ME, false);
	/* a machine at another address is another one */
	init(&old, OTHER);
	is(&old, 1, ME, false);
	is(&new, 1, ME, false);
	CHECK_EQ(ask(&old, REGISTER_ALONE, 1).err, ESTALE);
	stop(SIGTERM);
	ask_close(&old);
	ask_close(&new);
}

int main(void)
{
	check_at_end = give_up;
	port = (u16)ports_claim();
	folder_make(dir, sizeof(dir), folder_usual(), "register");
	snprintf(path, sizeof(path), "%s/register", dir);
	snprintf(bad, sizeof(bad), "%s/bad", dir);
	rules();
	file();
	kills();
	connections();
	names();
	return check_result();
}
