// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many pages a real memory blade serves on one processor, beside what a plain UDP
 * server moves there: over loopback, both in turns, in the same run.
 *
 *	memd-serve [PAGES [ROUNDS [NODES [LINES [THREADS]]]]]
 *
 * Nodes ask to read (GETS, to which DATA is the whole answer: what is only read takes no
 * lock and needs no COMMIT) for lines in no order, WINDOW of them at a time, PAGES in a
 * round.  The servers are on one processor, the nodes on another, if there are two.  A
 * server stands still while it is asked, and its time begins when it goes on: so each of
 * them has full batches, however fast the nodes are.
 *
 * A page counts when its DATA has come.  Of every FULL-th batch all bytes are looked at,
 * of the others the kernel is asked for the headers only: the nodes must not be what is
 * slow.  Each number is the median of the rounds, each ratio the median of theirs:
 *
 *	pages/s		by the clock
 *	pages/cpu-s	by the processor time of the server: what one processor can do
 *			when it has nothing else to do, whoever disturbs
 *	busy		processor time by the clock's: a server that has less than 1 waits
 *			for its nodes
 *	best tenth	microseconds of processor time for a page, in the rounds that were
 *			disturbed least
 *	calls/page	system calls of the server, where the kernel has tracefs
 *
 * With THREADS no plain server is asked.  The blade has that many threads, on all
 * processors, and all of a window is taken after it has ended: who plays the nodes sleeps
 * meanwhile.  Then the best that two processors can do beside one is told by
 *
 *	pages/busiest	pages by the processor time of the busiest thread: what threads that
 *			have a processor each would do by the clock
 *
 * of runs with several threads and with one, in turns.
 *
 * Fails if a page comes wrong, if more are lost than one in LOST_PART, or if a blade does
 * more system calls than one for each full batch that it gets, one for each flow by which it
 * answers that (kmod/core/flow.h), and some for a window: times are only reported.  To count
 * its instructions let WEFT_MEMD name a script that runs it under "valgrind --tool=callgrind":
 * two numbers of pages, and the difference.  (Valgrind does system calls of its own, which
 * fail the last check.)
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "echo.h"
#include "fake.h"
#include "flow.h"
#include "tests/common/argument.h"
#include "tools/memd/base/options.h"
#include "tools/memd/net/udp.h"

#define BLADE		WEFT_BLADE_MIN
#define PAGE		4096u
#define BURST		32		/* datagrams that a node sends at once */
#define WINDOW		1024		/* pages asked for, if a socket's buffer takes them */
#define FULL		16
#define SILENCE_MS	10000		/* then what has not come is lost */
#define LOST_PART	1000
#define SOCKET_BUFFER	(16 << 20)
#define ROUNDS_MAX	1000

/**
 * struct server - who is measured
 * @fd: by node, a socket to ask it by: what comes late from one is not the other's
 * @addr: where it listens
 * @pid: process
 * @clock: its processor time
 * @calls: counts its system calls; -1: nobody does
 */
struct server {
	int fd[RIG_NODES + 1];
	struct sockaddr_in addr;
	pid_t pid;
	clockid_t clock;
	int calls;
};

/* What came of one round, as in the report. */
struct round {
	double per_s;
	double per_cpu_s;
	double busy;
	double calls;
	double best;
};

static u32 lines = 16384, nodes = 1, window = WINDOW, region, page_bytes;
static u64 asked, came, lost, seen;

/* --- processors ------------------------------------------------------------- */

/* Processor @n of those that we may use, the last one if there are not so many. */
static void pin(const cpu_set_t *all, int n)
{
	cpu_set_t one;
	int i, last = 0;

	for (i = 0; i < CPU_SETSIZE && n >= 0; i++) {
		if (!CPU_ISSET(i, all))
			continue;
		last = i;
		n--;
	}
	CPU_ZERO(&one);
	CPU_SET(last, &one);
	CHECK(!sched_setaffinity(0, sizeof(one), &one));
}

static double seconds(clockid_t clock)
{
	double s = clock_seconds(clock);

	CHECK(s > 0);
	return s;
}

/* A counter of what system calls process @pid does, or -1. */
static int count_calls(pid_t pid)
{
	struct perf_event_attr a = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(a) };
	FILE *f = fopen("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "r");
	unsigned long long id;

	if (!f)
		return -1;
	if (fscanf(f, "%llu", &id) != 1)
		id = 0;
	fclose(f);
	a.config = id;
	return id ? (int)syscall(SYS_perf_event_open, &a, pid, -1, -1, PERF_FLAG_FD_CLOEXEC) : -1;
}

static double calls_so_far(const struct server *s)
{
	u64 n = 0;

	if (s->calls >= 0)
		CHECK_EQ(read(s->calls, &n, sizeof(n)), sizeof(n));
	return (double)n;
}

static void set_server(struct server *s, pid_t pid, u32 addr, u16 port)
{
	s->pid = pid;
	s->addr = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(addr),
	};
	CHECK(!clock_getcpuclockid(pid, &s->clock));
	s->calls = count_calls(pid);
}

/* --- pages ------------------------------------------------------------------ */

/* Each word of each line is another one. */
static void fill(u64 *page, u32 line)
{
	u32 i;

	for (i = 0; i < PAGE / sizeof(*page); i++)
		page[i] = (line * 8192ull + i + 1) * 0x9E3779B97F4A7C15ull;
}

static u64 line_key(u32 line)
{
	return weft_line_key(region, WEFT_KIND_PAGE, line);
}

static u32 written;

static void take_ack(u32 id, const struct weft_msg *msg)
{
	(void)id;
	written += msg->type == WEFT_MSG_WB_ACK;
}

/* All lines have contents at home. */
static void write_lines(void)
{
	void (*before)(u32, const struct weft_msg *) = rig_take;
	u64 page[PAGE / sizeof(u64)], end;
	struct weft_msg wb = {
		.type = WEFT_MSG_WB, .src = 1, .version = 1, .info = PAGE, .size = PAGE,
		.len = PAGE, .payload = page,
	};
	u32 i;

	rig_take = take_ack;
	for (i = 0; i < lines; i++) {
		fill(page, i);
		wb.txn = weft_txn(1, ++fakes[1].seq);
		wb.line = line_key(i);
		rig_send(1, BLADE, &wb);
		end = now_ms() + 20000;
		while (written <= i) {
			CHECK(now_ms() < end);
			rig_pump(1);
		}
	}
	rig_take = before;
}

static void check_page(const u8 *buf, size_t len)
{
	u64 page[PAGE / sizeof(u64)];
	struct weft_msg msg;
	u32 line;

	CHECK_EQ(weft_wire_unpack(&msg, buf, len, &rig_key), 0);
	CHECK_EQ(msg.type, WEFT_MSG_DATA);
	CHECK_EQ(msg.len, PAGE);
	CHECK_EQ(msg.version, 1);
	line = (u32)weft_line_index(msg.line);
	CHECK(line < lines && msg.line == line_key(line));
	fill(page, line);
	CHECK(!memcmp(msg.payload, page, PAGE));
	seen++;
}

/* --- nodes ------------------------------------------------------------------ */

static struct mmsghdr out[BURST], in[BURST];
static struct iovec out_iov[BURST], in_iov[BURST];
static u8 out_buf[BURST][256], in_buf[BURST][ECHO_BYTES_MAX];

static void set_up_buffers(void)
{
	u32 i;

	for (i = 0; i < BURST; i++) {
		out_iov[i].iov_base = out_buf[i];
		out[i].msg_hdr.msg_iov = &out_iov[i];
		out[i].msg_hdr.msg_iovlen = 1;
		in_iov[i].iov_base = in_buf[i];
		in[i].msg_hdr.msg_iov = &in_iov[i];
		in[i].msg_hdr.msg_iovlen = 1;
	}
}

static void set_up_sockets(struct server *s, bool own)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(int);
	int bytes;
	u32 i;

	for (i = 1; i <= nodes; i++) {
		int fd = own ? rig_socket(i) : socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

		a.sin_addr.s_addr = htonl(rig_addr(i));
		CHECK(own || !bind(fd, (struct sockaddr *)&a, sizeof(a)));
		s->fd[i] = fd;
		/* not all of that is allowed everywhere */
		(void)!setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &(int){ SOCKET_BUFFER },
				  sizeof(int));
		(void)!setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &(int){ SOCKET_BUFFER },
				  sizeof(int));
		(void)!setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &(int){ 1 }, sizeof(int));
		CHECK(!getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &len));
		/* the kernel counts what it takes to keep a datagram, twice its bytes or so */
		if (window > (u32)bytes / (4 * PAGE))
			window = (u32)bytes / (4 * PAGE) / BURST * BURST;
	}
	if (!window)
		window = BURST;
}

static void ask(struct server *s, u32 node)
{
	struct weft_msg gets = { .type = WEFT_MSG_GETS, .src = (u8)node };
	u32 i;
	int n;

	for (i = 0; i < BURST; i++) {
		gets.txn = weft_txn(node, ++fakes[node].seq);
		/* of its own: what two nodes have one of them provides, and not the blade */
		gets.line = line_key(rig_random(lines / nodes) * nodes + node - 1);
		out_iov[i].iov_len = weft_wire_pack(&gets, out_buf[i], &rig_key, rig_stamp());
		out[i].msg_hdr.msg_name = &s->addr;
		out[i].msg_hdr.msg_namelen = sizeof(s->addr);
	}
	n = sendmmsg(s->fd[node], out, BURST, 0);
	CHECK_EQ(n, BURST);
	asked += BURST;
}

/* Take what is there.  Return: whether anything was. */
static bool take(int fd, bool echo)
{
	static u32 batches;
	bool full = batches++ % FULL == 0;
	int i, n;

	for (i = 0; i < BURST; i++)
		in_iov[i].iov_len = full ? sizeof(in_buf[i]) : WEFT_WIRE_HDR_LEN;
	n = recvmmsg(fd, in, BURST, MSG_DONTWAIT | MSG_TRUNC, NULL);
	for (i = 0; i < n; i++) {
		u32 len = in[i].msg_len, at;

		CHECK(len && len % page_bytes == 0);
		came += len / page_bytes;
		for (at = 0; full && !echo && at < len; at += page_bytes)
			check_page(in_buf[i] + at, page_bytes);
	}
	return n > 0;
}

/* The server stands still. */
static void stop(const struct server *s)
{
	int status;

	CHECK(!kill(s->pid, SIGSTOP));
	/* kill() does not wait: on another processor it may still run */
	CHECK_EQ(waitpid(s->pid, &status, WUNTRACED), s->pid);
	CHECK(WIFSTOPPED(status));
}

/* All that was asked comes, or is lost. */
static void take_all(const struct server *s, bool echo)
{
	struct pollfd p[RIG_NODES];
	bool any;
	u32 i;

	for (i = 0; i < nodes; i++)
		p[i] = (struct pollfd){ .fd = s->fd[i + 1], .events = POLLIN };
	while (came < asked) {
		any = false;
		for (i = 1; i <= nodes; i++)
			any |= take(s->fd[i], echo);
		if (any || poll(p, nodes, SILENCE_MS) > 0)
			continue;
		lost += asked - came;
		came = asked;
	}
}

/* A window after the other, @pages in all. */
static struct round measure(struct server *s, u64 pages, bool echo)
{
	double wall = 0, cpu = 0, calls = 0, n;
	u64 lost_before = lost, w;

	asked = 0;
	came = 0;
	while (asked < pages) {
		stop(s);
		for (w = 0; w < window; w += BURST)
			ask(s, 1 + (u32)(w / BURST) % nodes);
		wall -= seconds(CLOCK_MONOTONIC);
		cpu -= seconds(s->clock);
		calls -= calls_so_far(s);
		CHECK(!kill(s->pid, SIGCONT));
		take_all(s, echo);
		wall += seconds(CLOCK_MONOTONIC);
		cpu += seconds(s->clock);
		calls += calls_so_far(s);
	}
	n = (double)(asked - (lost - lost_before));
	return (struct round){ n / wall, n / cpu, cpu / wall, calls / n, 1e6 * cpu / n };
}

/* --- several threads ------------------------------------------------------------ */

#define LOOK_US		100
#define STILL		20	/* looks at a blade that does nothing */

/* Nanoseconds that each thread of a process has run. */
static u32 threads_ran(pid_t pid, u64 ns[THREADS_MAX + 1])
{
	char path[64];
	struct dirent *e;
	u32 n = 0;
	FILE *f;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	CHECK(d);
	while ((e = readdir(d)) && n <= THREADS_MAX) {
		unsigned long long ran;

		if (*e->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/schedstat", (int)pid,
			 e->d_name);
		f = fopen(path, "r");
		CHECK(f && fscanf(f, "%llu", &ran) == 1);
		fclose(f);
		ns[n++] = ran;
	}
	closedir(d);
	return n;
}

/* Has it taken all that was sent to it? */
static bool all_taken(const struct server *s)
{
	unsigned int addr, port, waiting;
	FILE *f = fopen("/proc/net/udp", "r");
	bool empty = true;
	char line[256];

	CHECK(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*u: %8x:%4x %*8x:%*4x %*x %*8x:%8x", &addr, &port,
			   &waiting) == 3 &&
		    addr == s->addr.sin_addr.s_addr && port == ntohs(s->addr.sin_port))
			empty &= !waiting;
	fclose(f);
	return empty;
}

/*
 * Until it does nothing any more: not because others have the processors.  Return: when
 * that was.
 */
static double wait_still(const struct server *s)
{
	double ran = 0, now_ran, when = 0;
	u32 still = 0;

	while (still < STILL || !all_taken(s)) {
		usleep(LOOK_US);
		now_ran = seconds(s->clock);
		if (now_ran > ran) {
			ran = now_ran;
			when = seconds(CLOCK_MONOTONIC);
			still = 0;
		} else {
			still++;
		}
	}
	return when;
}

/* @busiest: pages by the time of the busiest thread. */
static struct round measure_asleep(struct server *s, u64 pages, double *busiest)
{
	u64 before[THREADS_MAX + 1], after[THREADS_MAX + 1], ran[THREADS_MAX + 1] = { 0 };
	double wall = 0, cpu = 0, n;
	u64 lost_before = lost, w, most = 0;
	u32 i, threads = 0;

	asked = 0;
	came = 0;
	while (asked < pages) {
		stop(s);
		for (w = 0; w < window; w += BURST)
			ask(s, 1 + (u32)(w / BURST) % nodes);
		threads_ran(s->pid, before);
		wall -= seconds(CLOCK_MONOTONIC);
		cpu -= seconds(s->clock);
		CHECK(!kill(s->pid, SIGCONT));
		wall += wait_still(s);
		cpu += seconds(s->clock);
		threads = threads_ran(s->pid, after);
		for (i = 0; i < threads; i++)
			ran[i] += after[i] - before[i];
		take_all(s, false);
	}
	for (i = 0; i < threads; i++)
		most = ran[i] > most ? ran[i] : most;
	n = (double)(asked - (lost - lost_before));
	*busiest = n / (1e-9 * (double)most);
	return (struct round){ n / wall, n / cpu, cpu / wall, 0, 1e6 * cpu / n };
}

/* --- report ----------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double nth(double *v, u32 n, u32 which)
{
	qsort(v, n, sizeof(*v), compare);
	return v[which];
}

static double median(double *v, u32 n)
{
	qsort(v, n, sizeof(*v), compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static struct round medians(const struct round *r, u32 n)
{
	double v[5][ROUNDS_MAX];
	u32 i;

	for (i = 0; i < n; i++) {
		v[0][i] = r[i].per_s;
		v[1][i] = r[i].per_cpu_s;
		v[2][i] = r[i].busy;
		v[3][i] = r[i].calls;
		v[4][i] = r[i].best;
	}
	return (struct round){ median(v[0], n), median(v[1], n), median(v[2], n),
			       median(v[3], n), nth(v[4], n, n / 10) };
}

static void say(const char *who, struct round r, bool calls)
{
	printf("%-6s %8.0f pages/s %8.0f pages/cpu-s %5.2f us/page, best tenth %5.2f, busy %.2f",
	       who, r.per_s, r.per_cpu_s, 1e6 / r.per_cpu_s, r.best, r.busy);
	if (calls)
		printf(" %.4f calls/page\n", r.calls);
	else
		printf(" (no tracefs: system calls not counted)\n");
}

/* One line for a number of threads. */
static void several(const char *const *args, const cpu_set_t *all, u32 threads, u64 pages,
		    u32 rounds)
{
	static struct round r[ROUNDS_MAX];
	static double busiest[ROUNDS_MAX];
	struct server blade;
	struct round m;
	char text[8];
	int status;
	u32 i;

	snprintf(text, sizeof(text), "%u", threads);
	CHECK(!setenv("WEFT_RIG_THREADS", text, 1));
	CHECK(!sched_setaffinity(0, sizeof(*all), all));
	rig_memd_start(BLADE, args);
	set_server(&blade, rig_memd_pid(BLADE), rig_addr(BLADE), (u16)rig_port());
	fake_init(1);
	for (i = 1; i <= nodes; i++)
		CHECK_EQ(fake_join(&fakes[i]), 0);
	CHECK_EQ(fake_create(&fakes[1], "pages", (u64)lines * PAGE, PAGE, &region), 0);
	for (i = 1; i <= nodes; i++)
		CHECK_EQ(fake_open(&fakes[i], region, PAGE), 0);
	written = 0;
	write_lines();
	set_up_buffers();
	window = WINDOW;
	set_up_sockets(&blade, true);
	/* each node has a buffer */
	window *= nodes;
	for (i = 0; i < rounds; i++)
		r[i] = measure_asleep(&blade, pages, &busiest[i]);
	m = medians(r, rounds);
	printf("%u threads %8.0f pages/s %8.0f pages/cpu-s %5.2f us/page, busy %.2f, %8.0f pages/busiest, best tenth %8.0f\n",
	       threads, m.per_s, m.per_cpu_s, 1e6 / m.per_cpu_s, m.busy,
	       median(busiest, rounds), nth(busiest, rounds, rounds - 1 - rounds / 10));
	CHECK_EQ(fake_stat(&fakes[1], BLADE, "other_share"), 0);
	status = rig_memd_stop(BLADE, SIGTERM);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	CHECK(seen && lost * LOST_PART <= pages * rounds * 2);
	rig_close();
}

int main(int argc, char **argv)
{
	static const char *const args[] = {
		"--switch", "none", "--memory", "256M", "--foreground", NULL
	};
	u64 pages = argc > 1 ? argument(argv[1], 1, UINT32_MAX) : 4096;
	u32 rounds = argc > 2 ? (u32)argument(argv[2], 1, ROUNDS_MAX) : 200, i;
	static struct round memd[ROUNDS_MAX], plain[ROUNDS_MAX], ratio[ROUNDS_MAX], m, p;
	struct server blade, echo;
	cpu_set_t all;
	struct echo e;
	int status;

	nodes = argc > 3 ? (u32)argument(argv[3], 1, RIG_NODES) : nodes;
	lines = argc > 4 ? (u32)argument(argv[4], 1, UINT32_MAX) : lines;
	CHECK(!sched_getaffinity(0, sizeof(all), &all));
	rig_open(false, 1);
	page_bytes = WEFT_WIRE_HDR_LEN + PAGE + weft_wire_trailer(&rig_key);
	if (argc > 5) {
		several(args, &all, (u32)argument(argv[5], 1, THREADS_MAX), pages, rounds);
		return check_result();
	}
	e = (struct echo){
		.addr = rig_addr(BLADE), .port = (u16)(rig_port() + WEFT_FLOWS), .page = page_bytes,
		/* loopback's MTU is more than any message has */
		.joined = (WEFT_MTU_MAX - 28) / page_bytes, .batch = UDP_BATCH,
	};
	pin(&all, 0);
	rig_memd_start(BLADE, args);
	set_server(&blade, rig_memd_pid(BLADE), rig_addr(BLADE), (u16)rig_port());
	set_server(&echo, echo_start(&e), e.addr, e.port);
	pin(&all, 1);
	fake_init(1);
	for (i = 1; i <= nodes; i++)
		CHECK_EQ(fake_join(&fakes[i]), 0);
	CHECK_EQ(fake_create(&fakes[1], "pages", (u64)lines * PAGE, PAGE, &region), 0);
	for (i = 1; i <= nodes; i++)
		CHECK_EQ(fake_open(&fakes[i], region, PAGE), 0);
	write_lines();
	set_up_buffers();
	set_up_sockets(&blade, true);
	set_up_sockets(&echo, false);
	/* once before it counts */
	measure(&blade, pages / 4 + 1, false);
	measure(&echo, pages / 4 + 1, true);
	for (i = 0; i < rounds; i++) {
		memd[i] = measure(&blade, pages, false);
		plain[i] = measure(&echo, pages, true);
		ratio[i] = (struct round){ memd[i].per_s / plain[i].per_s,
					   memd[i].per_cpu_s / plain[i].per_cpu_s, 0, 0,
					   0 };
	}
	m = medians(memd, rounds);
	p = medians(plain, rounds);
	printf("%u lines, %u nodes, %u rounds of %llu pages, %s\n", lines, nodes, rounds,
	       (unsigned long long)pages, rig_key.set ? "with a key" : "no key");
	say("memd", m, blade.calls >= 0);
	say("echo", p, echo.calls >= 0);
	m = medians(ratio, rounds);
	printf("ratio  %8.2f by the clock %8.2f by processor time\n", m.per_s, m.per_cpu_s);
	printf("%llu pages looked at, %llu lost\n", (unsigned long long)seen,
	       (unsigned long long)lost);
	kill(echo.pid, SIGKILL);
	status = rig_memd_stop(BLADE, SIGTERM);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	CHECK(seen && lost * LOST_PART <= pages * rounds * 2);
	if (blade.calls >= 0)
		CHECK(medians(memd, rounds).calls <=
		      (1.0 + (WEFT_FLOWS - 1)) / UDP_BATCH + 8.0 / window);
	rig_close();
	return check_result();
}
