// SPDX-License-Identifier: GPL-2.0-only
/*
 * A memory blade and its twin, with a witness, as real processes over loopback; the nodes are
 * played.  What was promised is kept whenever one of them is killed or stopped:
 *
 *  - What was written home of a region with durability=mirror, and was acknowledged, is there
 *    after the twin has taken over, though no node gives it back.
 *  - So is a region whose CREATE was answered, with its number.
 *  - Who has not everything never takes over, however long the other one is away.
 *  - Who was deposed answers nothing, not what came while it was stopped, either.
 *
 *	memd-twin [NAME [SEED]]		all but "switch" without a NAME
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include "tests/common/argument.h"

#define BLADE		WEFT_BLADE_MIN
#define OTHER_BLADE	(WEFT_BLADE_MIN + 1)
#define FIRST		0x7F000065u	/* 127.0.0.101, which begins */
#define SECOND		0x7F000066u
#define THIRD		0x7F000069u	/* of the other blade */
#define WITNESS		0x7F00005Au
#define LEASE_MS	3000
#define SLOW_MOST	3	/* times as long at most, on a machine that is slow */
#define LIMIT_MS	60000		/* for anything that is waited for */
#define BLOCKS		16u
#define BUFFERED	300u		/* blocks of 64 KiB */
#define NAMES		256u
#define ROUNDS		4u
#define TRIES		5u	/* of what a machine that stands still makes void */

/* Processes; the first two are the blade's machines. */
enum { A, B, W, OTHER, MACHINES };

/* Milliseconds, and as an argument: in a third of it much must be done. */
static u32 lease;
static char lease_text[16];

static struct machine {
	u32 addr;
	const char *name;
	pid_t pid;
} machines[MACHINES] = {
	[A] = { FIRST, "a", 0 }, [B] = { SECOND, "b", 0 }, [W] = { WITNESS, "w", 0 },
	[OTHER] = { THIRD, "other", 0 },
};

static bool with_witness, two_blades, with_switch;

/* The one that serves has heard its twin at this time, or later. */
static u64 heard;

/* The longest time between two step(), since this was 0: the machine stood still so long. */
static u64 stood;

/* What is at home for certain, and the last that may be: all between both may be. */
static u8 home[BLOCKS], sent[BLOCKS];
static u32 region, plain, made[NAMES], n_made, may_make;

/* --- processes ------------------------------------------------------------------------ */

static void run(u32 i, const char *once)
{
	const char *build = getenv("BUILD"), *other = getenv("WEFT_MEMD");
	const char *threads = getenv("WEFT_RIG_THREADS"), *argv[40] = { "weft-memd" };
	char program[256], file[128], log[128], key[128], port[8], twin_port[8];
	char addr[MACHINES][16], peers[64], command[512];
	int n = 1, fd;
	u32 k;

	snprintf(program, sizeof(program), "%s%s", other ? other : build ? build : "build",
		 other ? "" : "/bin/weft-memd");
	snprintf(file, sizeof(file), "%s/%s", rig_dir(), machines[i].name);
	snprintf(log, sizeof(log), "%s/twin-%s.log", rig_dir(), machines[i].name);
	snprintf(key, sizeof(key), "%s/key", rig_dir());
	snprintf(port, sizeof(port), "%u", rig_port());
	/* below those that the kernel gives to whoever connects */
	snprintf(twin_port, sizeof(twin_port), "%u", rig_port());
	for (k = 0; k < MACHINES; k++) {
		struct in_addr in = { .s_addr = htonl(machines[k].addr) };

		inet_ntop(AF_INET, &in, addr[k], sizeof(addr[k]));
	}
	snprintf(peers, sizeof(peers), "%s/%s%s%s", addr[A], addr[B], two_blades ? "," : "",
		 two_blades ? addr[OTHER] : "");
	argv[n++] = "--address";
	argv[n++] = addr[i];
	argv[n++] = "--twin-port";
	argv[n++] = twin_port;
	if (rig_key.set) {
		argv[n++] = "--key";
		argv[n++] = key;
	}
	argv[n++] = i == W ? "--be-witness" : "--backing";
	argv[n++] = file;
	if (i != W) {
		argv[n++] = "--id";
		argv[n++] = i == OTHER ? "34" : "33";
		argv[n++] = "--port";
		argv[n++] = port;
		argv[n++] = "--switch";
		argv[n++] = with_switch ? "auto" : "none";
		argv[n++] = "--memory";
		argv[n++] = "64M";
		argv[n++] = "--peers";
		argv[n++] = peers;
		argv[n++] = "--lease";
		argv[n++] = lease_text;
	}
	if (with_witness && i < W) {
		argv[n++] = "--witness";
		argv[n++] = addr[W];
	}
	if (threads && i != W) {
		argv[n++] = "--threads";
		argv[n++] = threads;
	}
	snprintf(command, sizeof(command),
		 "echo $WEFT_BLADE $WEFT_ADDRESS $WEFT_VIEW >>'%s/taken'; sed -n 's/^SigIgn:[^0-9a-f]*//p' /proc/self/status >'%s/ignored'",
		 rig_dir(), rig_dir());
	if (i < W) {
		argv[n++] = "--on-takeover";
		argv[n++] = command;
	}
	if (once)
		argv[n++] = once;
	argv[n] = NULL;
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(fd, STDERR_FILENO);
	execv(program, (char **)argv);
	_exit(127);
}

static void start(u32 i, const char *once)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid)
		run(i, once);
	machines[i].pid = pid;
	if (i < W)
		heard = now_ms();
}

static void stop(u32 i, int sig)
{
	struct machine *c = &machines[i];
	u64 end = now_ms() + LIMIT_MS;
	int status;

	if (!c->pid)
		return;
	CHECK(!kill(c->pid, sig));
	while (waitpid(c->pid, &status, WNOHANG) != c->pid) {
		CHECK(now_ms() < end);
		fake_step(1);
	}
	c->pid = 0;
	if (sig == SIGTERM)
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

static void halt(u32 i)
{
	int status;

	CHECK(!kill(machines[i].pid, SIGSTOP));
	CHECK_EQ(waitpid(machines[i].pid, &status, WUNTRACED), machines[i].pid);
	CHECK(WIFSTOPPED(status));
}

static void stop_all(void)
{
	u32 i;

	for (i = 0; i < MACHINES; i++)
		if (machines[i].pid) {
			kill(machines[i].pid, SIGKILL);
			waitpid(machines[i].pid, NULL, 0);
			machines[i].pid = 0;
		}
}

static void give_up(void)
{
	stop_all();
	rig_show();
	rig_close();
}

/* Does it take messages of the rack: is something bound to its port? */
static bool serves(u32 i)
{
	char want[32], line[256];
	FILE *f = fopen("/proc/net/udp", "r");
	bool found = false;

	snprintf(want, sizeof(want), "%08X:%04X", htonl(machines[i].addr), rig_port());
	while (f && fgets(line, sizeof(line), f))
		found |= !!strstr(line, want);
	if (f)
		fclose(f);
	return found;
}

static void wait_ms(u64 ms)
{
	u64 end = now_ms() + ms;

	while (now_ms() < end)
		fake_step(5);
}

static void until_serves(u32 i)
{
	u64 end = now_ms() + LIMIT_MS;

	while (!serves(i)) {
		CHECK(now_ms() < end);
		fake_step(10);
	}
}

/* The twin of the one that serves has everything. */
static void until_complete(void)
{
	u64 end = now_ms() + LIMIT_MS;

	while (!fake_stat(&fakes[1], BLADE, "twin_complete")) {
		CHECK(now_ms() < end);
		wait_ms(50);
	}
}

/* What the witness's file says. */
static bool register_says(const char *what)
{
	char path[128], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/w", rig_dir());
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		found |= line[0] != '#' && strstr(line, what);
	if (f)
		fclose(f);
	return found;
}

/* --- work ------------------------------------------------------------------------------ */

static void set_policy(u32 policy)
{
	struct weft_call c = {
		.op = WEFT_CALL_SETATTR, .region = region, .valid = WEFT_SET_DURABILITY,
		.policy = policy,
	};

	CHECK_EQ(fake_call(&fakes[1], BLADE, &c, LIMIT_MS), 0);
}

/* Both machines are there and the rack has a region. */
static void begin(bool witness)
{
	char command[256];

	with_witness = witness;
	snprintf(command, sizeof(command), "cd '%s' && rm -f a b w other taken", rig_dir());
	CHECK(!system(command));
	memset(fakes, 0, sizeof(fakes));
	memset(fake_view, 0, sizeof(fake_view));
	memset(home, 0, sizeof(home));
	memset(sent, 0, sizeof(sent));
	n_made = 0;
	may_make = NAMES / 8;
	rig_move(BLADE, 0);
	if (witness)
		start(W, NULL);
	start(A, NULL);
	start(B, NULL);
	if (two_blades)
		start(OTHER, NULL);
	fake_init(two_blades ? 2 : 1);
	until_serves(A);
	CHECK(!serves(B));
	CHECK_EQ(fake_join(&fakes[1]), 0);
	CHECK_EQ(fake_create(&fakes[1], "mirrored", BLOCKS * 4096, 4096, &region), 0);
	until_complete();
	if (!two_blades)
		set_policy(WEFT_POLICY_MIRROR);
	CHECK_EQ(fake_open(&fakes[1], region, 4096), 0);
	CHECK_EQ(fake_create(&fakes[1], "plain", BLOCKS * 65536, 65536, &plain), 0);
	CHECK_EQ(fake_open(&fakes[1], plain, 65536), 0);
}

static void end(void)
{
	wait_ms(50);
	stop(A, SIGTERM);
	stop(B, SIGTERM);
	stop(OTHER, SIGTERM);
	stop(W, SIGTERM);
}

/* fake_step(), which notes how long ago the last one was. */
static void step(int ms)
{
	static u64 last;
	u64 now;

	fake_step(ms);
	now = now_ms();
	if (last && now - last > stood)
		stood = now - last;
	last = now;
}

/* Does a line come to rest by then? */
static bool rests(const struct fake_line *fl, u64 by)
{
	while (!weft_line_idle(&fl->l)) {
		if (now_ms() >= by)
			return false;
		step(1);
	}
	return true;
}

/* A block gets other contents, which go home.  Return: false: it was not answered by then. */
static bool write_one(u64 by)
{
	u32 i = rig_random(BLOCKS);
	struct fake_line *fl = fake_line(&fakes[1], region, i);

	fake_want(&fakes[1], fl, WEFT_M);
	if (!rests(fl, by))
		return false;
	CHECK(!fl->failed);
	if (weft_line_perm(&fl->l) < WEFT_M)
		return true;
	sent[i]++;
	memset(fl->data, sent[i], 4096);
	if (!fake_clean(&fakes[1], fl) || !rests(fl, by))
		return false;
	home[i] = sent[i];
	return true;
}

/* A region is made.  Return: false: that was not answered by then. */
static bool make_one(u64 by)
{
	struct weft_call c = {
		.op = WEFT_CALL_CREATE, .mode = 0640, .uid = 7, .gid = 8, .valid = 1,
	};
	u64 now = now_ms();

	if (n_made >= may_make || now >= by)
		return true;
	c.name_len = (u16)snprintf(c.name, sizeof(c.name), "made%u", n_made);
	if (fake_call(&fakes[1], BLADE, &c, (int)(by - now)))
		return false;
	made[n_made++] = c.region;
	return true;
}

static void work_until(u64 by)
{
	while (now_ms() < by)
		if (!(rig_random(16) ? write_one(by) : make_one(by)))
			return;
}

/*
 * So much of a region that is not mirrored goes home that neither system's buffers have room
 * for more: what comes now is with nobody but the machine that serves.  Return: false: there
 * was no time for that.
 */
static bool fill_buffers(void)
{
	u64 by = now_ms() + lease / 3;
	u32 i;

	for (i = 0; i < BUFFERED && now_ms() < by; i++) {
		struct fake_line *fl = fake_line(&fakes[1], plain, i % BLOCKS);

		fake_fill(&fakes[1], fl, (u8)i);
		CHECK(rests(fl, now_ms() + LIMIT_MS));
		CHECK(fake_clean(&fakes[1], fl) && rests(fl, now_ms() + LIMIT_MS));
	}
	return fake_stat(&fakes[1], BLADE, "twin_behind_bytes") > 1 << 20;
}

/* The node loses all that it has cached, and nobody can give it back. */
static void forget(void)
{
	u32 i;

	for (i = 0; i < 2 * BLOCKS; i++) {
		u32 of = i < BLOCKS ? region : plain;
		struct fake_line *fl = fake_line(&fakes[1], of, i % BLOCKS);
		u8 *data = fl->data;

		memset(fl, 0, sizeof(*fl));
		fl->data = data;
		weft_line_init(&fl->l, weft_line_key(of, WEFT_KIND_PAGE, i % BLOCKS),
			       (u8)fakes[1].id);
	}
}

/* All that was answered is there. */
static void look(void)
{
	struct weft_call c;
	char name[16];
	u32 i;

	for (i = 0; i < BLOCKS; i++) {
		struct fake_line *fl = fake_line(&fakes[1], region, i);

		CHECK(fake_get(&fakes[1], fl, WEFT_S));
		CHECK(fake_is_filled(fl, 4096, fl->data[0]));
		CHECK((u8)(fl->data[0] - home[i]) <= (u8)(sent[i] - home[i]));
		home[i] = sent[i] = fl->data[0];
	}
	for (i = 0; i < n_made; i++) {
		snprintf(name, sizeof(name), "made%u", i);
		CHECK_EQ(fake_call_named(&fakes[1], WEFT_CALL_LOOKUP, name, &c), 0);
		CHECK_EQ(c.region, made[i]);
	}
}

/* The witness knows that this one serves and its twin has not everything: nobody takes over. */
static bool is_alone(u32 i, u32 view)
{
	struct in_addr in = { .s_addr = htonl(machines[i].addr) };
	char want[64];

	snprintf(want, sizeof(want), "view %u owner %s complete 0", view, inet_ntoa(in));
	return register_says(want);
}

/*
 * The machine takes over, in a view that nodes hear of.  Return: false: the other one had gone
 * on alone.
 */
static bool is_taken(u32 i, u32 view)
{
	u64 end = now_ms() + LIMIT_MS;

	while (fake_view[0] != view) {
		CHECK(now_ms() < end);
		/* here, as the witness may read what it said only after its death */
		if (is_alone(!i, view - 1))
			return false;
		fake_step(10);
	}
	CHECK_EQ(rig_addr(BLADE), machines[i].addr);
	return true;
}

static void until_taken(u32 i, u32 view)
{
	CHECK(is_taken(i, view));
}

/* --- tests ----------------------------------------------------------------------------- */

/*
 * The twin takes nothing for a while: nothing is answered that it has not.  Return: whether the
 * buffers were full.
 */
static bool work_without(u32 twin, u32 view)
{
	u64 now = now_ms();
	bool filled;

	/* answered by the twin, too, unless the other one had gone on alone before */
	CHECK(write_one(now + LIMIT_MS));
	if (!is_alone(!twin, view))
		heard = now;
	halt(twin);
	filled = fill_buffers();
	may_make = n_made + 1;
	CHECK(may_make <= NAMES);
	make_one(now_ms() + 300);
	write_one(now_ms() + 100 + rig_random(300));
	return filled;
}

/* Return: false: who was killed had gone on alone. */
static bool kill_at_work(u32 round, u32 active, u32 *filled)
{
	may_make = NAMES / 8 * (round + 1);
	work_until(now_ms() + 300 + rig_random(1500));
	if (round & 1)
		*filled += work_without(!active, round + 1);
	stop(active, SIGKILL);
	CHECK(!kill(machines[!active].pid, SIGCONT));
	forget();
	return is_taken(!active, round + 2);
}

/* The one that serves is killed at any moment, the other takes over, and back. */
static void kills(void)
{
	u32 round, active = A, filled = 0, tries;

	begin(true);
	for (round = 0; round < ROUNDS; round++) {
		/* it may go on alone after a lease, as when the machine stood still */
		for (tries = 0; !kill_at_work(round, active, &filled); tries++) {
			CHECK(now_ms() - heard >= lease);
			CHECK(tries < TRIES);
			start(active, NULL);
			until_serves(active);
			look();
			until_complete();
		}
		look();
		CHECK_EQ(fake_stat(&fakes[1], BLADE, "view"), round + 2);
		start(active, NULL);
		until_complete();
		CHECK(!serves(active));
		active = !active;
	}
	CHECK(filled);
	CHECK(write_one(now_ms() + LIMIT_MS));
	CHECK(fake_stat(&fakes[1], BLADE, "acks_held") > 0);
	CHECK_EQ(fake_stat(&fakes[1], BLADE, "acks_held_too_many"), 0);
	end();
}

/* A standby that was away while the other one went on, alone, is of no use to anybody. */
static void stale(void)
{
	u32 i;

	begin(true);
	work_until(now_ms() + 500);
	fake_settle();
	halt(B);
	/* those that wait for the twin are answered when the witness knows that it is away */
	for (i = 0; i < 8; i++)
		CHECK(write_one(now_ms() + LIMIT_MS));
	CHECK(register_says("owner 127.0.0.101 complete 0"));
	CHECK_EQ(fake_stat(&fakes[1], BLADE, "twin_complete"), 0);
	stop(A, SIGKILL);
	CHECK(!kill(machines[B].pid, SIGCONT));
	wait_ms(3 * lease);
	CHECK(!serves(B));
	CHECK(register_says("view 1 owner 127.0.0.101 complete 0"));
	/* also when it starts anew, or is told to by hand: then it ends with a sentence */
	stop(B, SIGKILL);
	start(B, NULL);
	wait_ms(2 * lease);
	CHECK(!serves(B));
	forget();
	start(A, NULL);
	until_serves(A);
	look();
	until_complete();
	CHECK(register_says("view 1 owner 127.0.0.101 complete 1"));
	CHECK_EQ(fake_view[0], 0);
	end();
}

/* Does the command line of a machine have an option that begins so? */
static bool was_told(u32 i, const char *option)
{
	char path[32], line[4096], *arg;
	bool found = false;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", machines[i].pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	n = read(fd, line, sizeof(line) - 1);
	CHECK(n > 0 && n < (ssize_t)sizeof(line) - 1);
	line[n] = 0;
	close(fd);
	for (arg = line; arg < line + n; arg += strlen(arg) + 1)
		found |= !strncmp(arg, option, strlen(option));
	return found;
}

/* One that stood still is not heard, and hears of nothing that came meanwhile. */
static void deposed(void)
{
	struct weft_call c = { .op = WEFT_CALL_STATS };
	u8 payload[WEFT_CALL_LEN_MAX], buf[2048];
	struct weft_msg msg = {
		.type = WEFT_MSG_CALL, .src = 1, .payload = payload,
	};
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons((u16)rig_port()),
		.sin_addr.s_addr = htonl(FIRST),
	};
	u32 i;

	begin(true);
	until_complete();
	/* what it is told holds for this start, however short it is said */
	stop(B, SIGKILL);
	stop(A, SIGKILL);
	forget();
	start(A, "--alo");
	start(B, NULL);
	until_serves(A);
	look();
	work_until(now_ms() + 300);
	fake_settle();
	until_complete();
	CHECK(was_told(A, "--alo"));
	halt(A);
	forget();
	until_taken(B, 2);
	look();
	for (i = 0; i < 4; i++)
		CHECK(write_one(now_ms() + LIMIT_MS));
	/* it has these in its socket when it goes on */
	for (i = 0; i < 32; i++) {
		msg.txn = weft_txn(1, ++fakes[1].seq);
		msg.len = weft_call_pack(&c, payload);
		CHECK(sendto(rig_socket(1), buf, rig_pack(&msg, buf), 0, (struct sockaddr *)&to,
			     sizeof(to)) > 0);
	}
	rig_from_former = 0;
	CHECK(!kill(machines[A].pid, SIGCONT));
	wait_ms(2000);
	until_complete();
	CHECK_EQ(rig_from_former, 0);
	CHECK(!serves(A));
	CHECK(was_told(A, "--backing") && !was_told(A, "--alo"));
	CHECK(register_says("view 2 owner 127.0.0.102 complete 1"));
	/* and back: it has what was written meanwhile */
	stop(B, SIGKILL);
	forget();
	until_taken(A, 3);
	look();
	start(B, NULL);
	until_complete();
	end();
}

/*
 * The witness dies: the twin is enough, unless the machine stands still.  Return: how often who
 * serves was suspended.
 */
static u64 until_without_witness(void)
{
	u64 before, now = fake_stat(&fakes[1], BLADE, "suspensions");
	u32 tries = 0;

	step(0);
	stood = 0;
	stop(W, SIGKILL);
	do {
		before = now;
		work_until(now_ms() + 2 * lease);
		fake_settle();
		now = fake_stat(&fakes[1], BLADE, "suspensions");
		step(0);
		CHECK(now == before || (stood > lease / 2 && ++tries < TRIES));
		stood = 0;
	} while (now != before);
	return now;
}

/* The witness dies, and the standby: nobody is answered until one of them is back. */
static void no_witness(void)
{
	u64 limit, suspensions;
	char path[128];

	begin(true);
	suspensions = until_without_witness();
	halt(B);
	wait_ms(lease + 1000);
	CHECK(!write_one(now_ms() + 2000));
	start(W, NULL);
	fake_settle();
	CHECK(write_one(now_ms() + LIMIT_MS));
	CHECK(fake_stat(&fakes[1], BLADE, "suspensions") > suspensions);
	CHECK(register_says("view 1 owner 127.0.0.101 complete 0"));
	CHECK(!kill(machines[B].pid, SIGCONT));
	until_complete();
	/* it has lost all that it knew, and hears it from who serves */
	stop(W, SIGKILL);
	snprintf(path, sizeof(path), "%s/w", rig_dir());
	CHECK(!unlink(path));
	start(W, NULL);
	limit = now_ms() + LIMIT_MS;
	while (!register_says("view 1 owner 127.0.0.101 complete 1")) {
		CHECK(now_ms() < limit);
		wait_ms(50);
	}
	CHECK(write_one(now_ms() + LIMIT_MS));
	end();
}

/* Signals that the command that is run at a take-over does not end by: a mask. */
static unsigned long long ignored(void)
{
	unsigned long long mask;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/ignored", rig_dir());
	f = fopen(path, "r");
	CHECK(f && fscanf(f, "%llx", &mask) == 1);
	fclose(f);
	return mask;
}

/* Without a witness an administrator says who takes over. */
static void by_hand(void)
{
	char taken[128], line[64];
	int status;
	FILE *f;

	begin(false);
	work_until(now_ms() + 500);
	until_complete();
	stop(A, SIGKILL);
	wait_ms(2 * lease);
	CHECK(!serves(B));
	stop(B, SIGTERM);
	forget();
	start(B, "--take-over");
	until_taken(B, 2);
	look();
	snprintf(taken, sizeof(taken), "%s/taken", rig_dir());
	f = fopen(taken, "r");
	CHECK(f && fgets(line, sizeof(line), f));
	CHECK(!strcmp(line, "33 127.0.0.102 2\n"));
	CHECK(!fgets(line, sizeof(line), f));
	fclose(f);
	/* what is no end of a blade is one of other programs */
	CHECK(!(ignored() & (1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1))), "%llx", ignored());
	/* the one that served before does not serve, whatever it is told */
	start(A, "--take-over");
	CHECK_EQ(waitpid(machines[A].pid, &status, 0), machines[A].pid);
	machines[A].pid = 0;
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 2);
	start(A, NULL);
	until_complete();
	CHECK(!serves(A));
	end();
}

/* Another blade follows the first one to where it is. */
static void blades(void)
{
	u64 limit;
	u32 i;

	two_blades = true;
	begin(true);
	until_complete();
	stop(A, SIGKILL);
	until_taken(B, 2);
	/* all blades have to be there for this */
	CHECK_EQ(fake_create(&fakes[1], "after", 4 * 65536, 65536, &i), 0);
	CHECK_EQ(fake_stat(&fakes[1], OTHER_BLADE, "regions"),
		 fake_stat(&fakes[1], BLADE, "regions"));
	/* that one begins anew and does not know where the first one is */
	stop(OTHER, SIGKILL);
	start(OTHER, NULL);
	limit = now_ms() + LIMIT_MS;
	while (fake_set_size(&fakes[1], i, 8 * 65536)) {
		CHECK(now_ms() < limit);
		wait_ms(50);
	}
	CHECK_EQ(fake_stat(&fakes[1], OTHER_BLADE, "nodes"), 1);
	end();
	two_blades = false;
}

/*
 * A P4 switch was in use: who takes over serves when that has heard it, which it does when it
 * knows where the blade is; here that is when nodes do.
 */
static void told_switch(void)
{
	u32 i;

	begin(true);
	CHECK_EQ(fake_stat(&fakes[1], BLADE, "switch"), 1);
	work_until(now_ms() + 500);
	fake_settle();
	CHECK(fake_stat(&fakes[1], BLADE, "lines_in_switch") > 0);
	/* the standby has heard of the switch by the next beat */
	wait_ms(lease / 4);
	until_complete();
	stop(A, SIGKILL);
	forget();
	fakes[1].deaf = true;
	until_serves(B);
	rig_from_elsewhere = 0;
	/* longer than a switch is looked for that was not there, and less than a lease */
	wait_ms(lease / 2);
	CHECK_EQ(rig_from_elsewhere, 0);
	fakes[1].deaf = false;
	until_taken(B, 2);
	look();
	CHECK_EQ(fake_stat(&fakes[1], BLADE, "switch"), 1);
	for (i = 0; i < 8; i++)
		CHECK(write_one(now_ms() + LIMIT_MS));
	end();
}

int main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{ "kills", kills }, { "stale", stale }, { "deposed", deposed },
		{ "no_witness", no_witness }, { "by_hand", by_hand }, { "blades", blades },
		{ 0 }
	};
	static const struct rig_test in_network[] = { { "switch", told_switch }, { 0 } };

	with_switch = argc > 1 && !strcmp(argv[1], "switch");
	lease = LEASE_MS * (rig_scale() < SLOW_MOST ? rig_scale() : SLOW_MOST);
	snprintf(lease_text, sizeof(lease_text), "%u", lease);
	rig_open(with_switch, argc > 2 ? argument_u32(argv[2]) : 4);
	check_at_end = give_up;
	if (!with_switch)
		return rig_run(tests, argc > 1 ? argv[1] : NULL);
	/* in a network of its own, through which all goes that blades and nodes send */
	rig_p4 = true;
	machines[A].addr = rig_addr(BLADE);
	machines[B].addr = rig_addr(OTHER_BLADE);
	machines[W].addr = rig_addr(OTHER_BLADE + 1);
	return rig_run(in_network, NULL);
}
