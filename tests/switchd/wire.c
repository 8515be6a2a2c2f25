// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the running switch makes of the wire: latency, and each fault as often
 * as told by command and by option.  On the plain switch and on a P4 program.
 */
#include "daemon.h"
#include "program.h"

#define STREAM_LEN	128
#define DELAY_S		5

/**
 * struct stream - what became of frames sent from a to b
 * @n: number that came
 * @twice: of these, repetitions
 * @damaged: of these, with other bytes than sent
 * @back: of these, after one that was sent later
 * @hash: of all that came, in this order
 */
struct stream {
	unsigned int n, twice, damaged, back;
	uint64_t hash;
};

/* The number of the frame is in the source address, which no fault changes. */
static void stream_frame(uint8_t *f, uint32_t i)
{
	make_frame(f, 2, 1, STREAM_LEN, i);
	memcpy(f + 7, &i, 4);
}

static void stream_take(struct stream *s, const uint8_t *g, uint8_t *seen,
			unsigned int count, uint32_t *newest)
{
	uint8_t f[STREAM_LEN];
	uint32_t i, k;

	memcpy(&i, g + 7, 4);
	if (i >= count) {
		CHECK(false, "frame %u of %u came", i, count);
		return;
	}
	stream_frame(f, i);
	s->n++;
	s->twice += seen[i];
	seen[i] = 1;
	s->damaged += !!memcmp(f, g, STREAM_LEN);
	s->back += i < *newest;
	if (i > *newest)
		*newest = i;
	for (k = 0; k < STREAM_LEN; k++)
		s->hash = (s->hash ^ g[k]) * 0x100000001b3ull;
}

/* Sends @count frames; so many of them, @certain, come however late. */
static struct stream stream(unsigned int count, unsigned int certain)
{
	struct stream s = { .hash = 1 };
	uint8_t f[STREAM_LEN], g[STREAM_LEN + 1];
	uint8_t *seen = calloc(count, 1);
	uint32_t i, newest = 0;

	for (i = 0; i < count; i++) {
		stream_frame(f, i);
		CHECK(station_send(fd[0], "a", f, STREAM_LEN), "frame %u", i);
		/* Never more on the way than a socket takes. */
		while (station_receive(fd[1], g, sizeof(g), i % 8 == 7 ? 5 : 0) == STREAM_LEN) {
			stream_take(&s, g, seen, count, &newest);
			if (i % 8 == 7 && newest == i)
				break;
		}
	}
	settle();
	while (station_receive(fd[1], g, sizeof(g), s.n < certain ? SOON_MS : 100) == STREAM_LEN)
		stream_take(&s, g, seen, count, &newest);
	free(seen);
	drain();
	return s;
}

static bool near(double count, double p, double n)
{
	double off = count - p * n;

	return off * off <= 25 * n * p * (1 - p) + 1e-9;
}

static void test_faults(void)
{
	const unsigned int n = 3000;
	struct stream s;

	s = stream(n, n);
	CHECK(s.n == n && !s.twice && !s.damaged && !s.back,
	      "no faults: %u came, %u twice, %u damaged, %u back", s.n, s.twice,
	      s.damaged, s.back);

	OK("set loss 0.2");
	s = stream(n, 0);
	CHECK(near(s.n, 0.8, n) && !s.twice && !s.damaged && !s.back,
	      "loss 0.2: %u of %u came", s.n, n);
	CHECK(port_stat("a", "lost") == (long)(n - s.n), "%ld counted", port_stat("a", "lost"));
	OK("set loss 0");

	OK("set dup 0.1 a");
	s = stream(n, n);
	CHECK(near(s.twice, 0.1, n) && s.n == n + s.twice && !s.damaged && !s.back,
	      "dup 0.1: %u of %u came, %u twice", s.n, n, s.twice);
	CHECK(port_stat("a", "dup") == (long)s.twice, "%ld counted", port_stat("a", "dup"));
	OK("set dup 0");

	OK("set corrupt 0.1");
	s = stream(n, n);
	CHECK(near(s.damaged, 0.1, n) && s.n == n && !s.back,
	      "corrupt 0.1: %u of %u came, %u damaged", s.n, n, s.damaged);
	CHECK(port_stat("a", "damaged") == (long)s.damaged, "%ld counted",
	      port_stat("a", "damaged"));
	OK("set corrupt 0");

	OK("set reorder 0.05");
	s = stream(n, n);
	CHECK(s.n == n && !s.twice && !s.damaged && s.back > n / 100 && s.back < n / 10,
	      "reorder 0.05: %u of %u came, %u late", s.n, n, s.back);
	CHECK(near(port_stat("a", "held"), 0.05, n) &&
	      port_stat("a", "reordered") == (long)s.back,
	      "%ld held, %ld counted, %u seen", port_stat("a", "held"),
	      port_stat("a", "reordered"), s.back);
	OK("set reorder 0");

	OK("set delay 20000");
	s = stream(40, 40);
	CHECK(s.n == 40 && !s.back, "delay: %u of 40 came", s.n);
	OK("set delay 0");
}

/* --- How long it takes --- */

/* Another process: what this machine takes, just now, for the same without a switch. */
static int echo_fd;
static pid_t echo_pid;

static void echo_begin(void)
{
	int ends[2];
	uint32_t us;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends))
		CHECK(false, "no sockets");
	echo_fd = ends[0];
	echo_pid = fork();
	if (echo_pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (recv(ends[1], &us, sizeof(us), 0) == sizeof(us)) {
		if (us)
			pause_us(us);
		send(ends[1], &us, sizeof(us), 0);
	}
	_exit(0);
}

static void echo_end(void)
{
	kill(echo_pid, SIGKILL);
	waitpid(echo_pid, NULL, 0);
	close(echo_fd);
}

static double echo(uint32_t us)
{
	double begin = now_seconds();
	uint32_t back;

	send(echo_fd, &us, sizeof(us), 0);
	CHECK(station_receive(echo_fd, &back, sizeof(back), SOON_MS) == sizeof(back), "no echo");
	return now_seconds() - begin;
}

static double frame_time(uint32_t i)
{
	uint8_t f[106], g[106];
	double begin;

	make_frame(f, 2, 1, sizeof(f), i);
	begin = now_seconds();
	station_send(fd[0], "a", f, sizeof(f));
	CHECK(station_receive(fd[1], g, sizeof(g), SOON_MS) == sizeof(f), "lost");
	return now_seconds() - begin;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* One frame after the other, the switch sleeping in between. */
static void test_latency(void)
{
	double t, sum = 0, min = 1e9, plain = 1e9;
	const int n = 1000;
	int i;

	for (i = 0; i < n; i++) {
		t = frame_time((uint32_t)i);
		sum += t;
		min = least(min, t);
		plain = least(plain, echo(0));
	}
	printf("# from socket to socket: %.0f us on average, %.0f us the fastest; %.0f us there and back without a switch\n",
	       sum / n * 1e6, min * 1e6, plain * 1e6);
	CHECK(min < 0.002 || min < 5 * plain, "%.0f us, %.0f us without a switch", min * 1e6,
	      plain * 1e6);
}

/* One frame after the other: every one takes as long as told, and little more. */
static void test_delay(void)
{
	double t, min = 1e9, plain = 1e9;
	int i;

	OK("set delay 20000 a");
	/* while this machine has other things to do all are late */
	for (i = 0; i < 10 || (i < 200 && min >= 0.03); i++) {
		t = frame_time(0);
		CHECK(t >= 0.02, "%.1f ms", t * 1e3);
		min = least(min, t);
		plain = least(plain, echo(20000));
	}
	CHECK(min < 0.03 || min - 0.02 < 5 * (plain - 0.02),
	      "%.1f ms instead of 20, %.1f without a switch", min * 1e3, plain * 1e3);
	CHECK(port_stat("a", "delayed") == i, "%ld counted", port_stat("a", "delayed"));
	OK("set delay 0 a");
}

/* The same seed, the same frames: the same faults.  From the command line. */
static void test_seed(void)
{
	static const char *const seeds[] = { "7", "7", "8" };
	struct stream s[3];
	int i;

	for (i = 0; i < 3; i++) {
		daemon_arg(&sw, "--loss");
		daemon_arg(&sw, "0.1");
		daemon_arg(&sw, "--dup");
		daemon_arg(&sw, "0.1");
		daemon_arg(&sw, "--corrupt");
		daemon_arg(&sw, "0.1");
		start("--seed", seeds[i]);
		if (!sw.pid)
			return;
		s[i] = stream(1000, 0);
		daemon_stop(&sw);
	}
	CHECK(s[0].n < 1100 && s[0].n > 900 && s[0].damaged, "%u came", s[0].n);
	CHECK(s[0].hash == s[1].hash && s[0].n == s[1].n, "same seed: %u and %u came",
	      s[0].n, s[1].n);
	CHECK(s[0].hash != s[2].hash, "another seed gives the same");
}

static long dropped(void)
{
	long n = 0;
	int i;

	for (i = 0; i < N_STATIONS; i++)
		n += port_stat(names[i], "drop");
	return n;
}

/* How many of 14000 frames are dropped that would all be on the way at once; -1: they were not. */
static long overload(void)
{
	double begin = now_seconds();
	long before = dropped(), lost;
	uint8_t f[64];
	unsigned int i;

	OK("set delay %u", DELAY_S * 1000000);
	for (i = 0; i < 14000; i++) {
		make_frame(f, 1 + (i + 1) % N_STATIONS, 1 + i % N_STATIONS, sizeof(f), i);
		if (!station_send(fd[i % N_STATIONS], names[i % N_STATIONS], f, sizeof(f)))
			CHECK(false, "frame %u: %s", i, strerror(errno));
	}
	settle();
	lost = dropped() - before;
	if (now_seconds() - begin > DELAY_S)
		lost = -1;
	OK("set delay 0");
	for (i = 0; i < 10 * DELAY_S * check_scale(); i++) {
		drain();
		if (frames_missing(N_STATIONS) <= 0)
			break;
		usleep(100000);
	}
	return lost;
}

/*
 * More frames on the way than the switch has buffers: some are dropped, none
 * is kept for ever.
 */
static void test_overload(void)
{
	int tries = 0;
	long lost;

	/* a machine that stood still meanwhile had fewer of them on the way */
	do
		lost = overload();
	while (lost < 0 && ++tries < 5);
	CHECK(lost > 14000 - 4 * 2048 - 1000 && lost < 14000, "%ld dropped", lost);
	meet();
	CHECK(reached(0, 2, 64, 1) == 0x2, "frames do not come any more");
	CHECK(frames_missing(N_STATIONS) <= 0, "%ld frames are missing",
	      frames_missing(N_STATIONS));
}

static void everything(const char *program)
{
	char path[128];

	snprintf(path, sizeof(path), "%s", program);
	spec = path;
	printf("# %s\n", strcmp(program, "none") ? "a P4 program" : "the plain switch");
	start(NULL, NULL);
	if (!sw.pid)
		return;
	meet();
	echo_begin();
	test_latency();
	test_delay();
	echo_end();
	test_faults();
	test_overload();
	daemon_stop(&sw);
	test_seed();
}

int main(void)
{
	char *text = program_text();

	if (!set_up(text))
		return 1;
	everything("none");
	everything(in_dir("program.spec"));
	free(text);
	return check_result();
}
