// SPDX-License-Identifier: GPL-2.0-only
/*
 * The running switch, as a rack uses it: unix sockets, commands, peers that
 * hang, go and come back, bad input.  Everything on the plain switch and on a
 * P4 program.
 */
#include "daemon.h"
#include "program.h"
#include "tools/common/random.h"

#define BIG		9018

static void test_forwarding(void)
{
	unsigned int mask;

	mask = reached(0, 2, 64, 1);
	CHECK(mask == 0xe, "unknown: reached 0x%x", mask);
	meet();
	mask = reached(0, 2, 64, 2);
	CHECK(mask == 0x2, "known: reached 0x%x", mask);
	mask = reached(1, 0xff, BIG, 3);
	CHECK(mask == 0xd, "all, %d bytes: reached 0x%x", BIG, mask);
	mask = reached(3, 1, BIG, 4);
	CHECK(mask == 0x1, "known, %d bytes: reached 0x%x", BIG, mask);
	CHECK(strstr(command("stations"), "{\"mac\":\"020000000002\",\"port\":\"b\"}"),
	      "%s", command("stations"));
}

static void test_cut(void)
{
	unsigned int mask;

	OK("cut b");
	mask = reached(0, 2, 64, 1) | reached(1, 1, 64, 2);
	CHECK(!mask, "cut off: reached 0x%x", mask);
	CHECK(port_stat("b", "cut_drop") == 2, "%ld", port_stat("b", "cut_drop"));
	CHECK(strstr(command("stats"), "\"name\":\"b\",\"kind\":\"unix\",\"cut\":true"),
	      "%s", command("stats"));
	OK("heal b");
	mask = reached(0, 2, 64, 3);
	CHECK(mask == 0x2, "healed: reached 0x%x", mask);
}

/* --- Peers that are not there --- */

static void test_peers(void)
{
	uint8_t f[64], g[64];
	unsigned int i, n, mask;
	long drops = port_stat("c", "tx_drop");

	/* c does not read: the others do not notice, and nothing waits. */
	drain();
	for (i = 0; i < 4000; i++) {
		make_frame(f, 0xff, 1, sizeof(f), i);
		station_send(fd[0], "a", f, sizeof(f));
		CHECK(station_receive(fd[1], g, sizeof(g), SOON_MS) == sizeof(f), "frame %u", i);
		CHECK(station_receive(fd[3], g, sizeof(g), SOON_MS) == sizeof(f), "frame %u", i);
	}
	drops = port_stat("c", "tx_drop") - drops;
	CHECK(drops > 2000 && drops < 4000, "%ld dropped", drops);
	/* It reads again: all that the switch has kept comes, in order. */
	for (n = 0; station_receive(fd[2], g, sizeof(g), n + (unsigned long)drops < 4000 ?
				    SOON_MS : 500) == sizeof(g); n++)
		CHECK(frame_tag(g) == n, "frame %u instead of %u", frame_tag(g), n);
	CHECK(n + (unsigned long)drops == 4000, "%u came, %ld dropped", n, drops);

	/* It goes without reading the last ones, while the switch has more ... */
	for (i = 0; i < 100; i++) {
		make_frame(f, 3, 1, sizeof(f), i);
		station_send(fd[0], "a", f, sizeof(f));
	}
	settle();
	close(fd[2]);
	mask = reached(0, 0xff, 64, 1);
	CHECK(mask == 0xa, "without c: reached 0x%x", mask);
	unlink(in_dir("c.q"));
	mask = reached(0, 0xff, 64, 1);
	CHECK(mask == 0xa, "without c: reached 0x%x", mask);
	/* ... and is there again, and can be heard before it is spoken to. */
	fd[2] = station_open("c");
	mask = reached(2, 2, 64, 2);
	CHECK(mask == 0x2, "from c: reached 0x%x", mask);
	soon_reached(0, 3, 0x4);
}

/* A switch without work does not use the CPU. */
static void test_idle(void)
{
	unsigned long user = 0, system = 0, before;
	char path[64], line[1024] = "";
	FILE *f;
	int i;

	for (i = 0, before = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/%d/stat", sw.pid);
		f = fopen(path, "r");
		if (!f || !fgets(line, sizeof(line), f) ||
		    sscanf(strchr(line, ')'), ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
			   &user, &system) != 2)
			CHECK(false, "no %s", path);
		if (f)
			fclose(f);
		if (i == 0) {
			before = user + system;
			sleep(1);
		}
	}
	CHECK(user + system - before <= 2, "%lu ticks in an idle second",
	      user + system - before);
}

/* --- Bad input --- */

static void test_random_frames(void)
{
	uint8_t f[12000] = { 0 };
	unsigned int i, mask;
	uint64_t seed = 3;
	size_t k, len;

	for (i = 0; i < 5000; i++) {
		len = random_below(&seed, i % 100 ? 200 : sizeof(f));
		for (k = 0; k < len; k++)
			f[k] = (uint8_t)random_u64(&seed);
		if (len > 13 && i % 2) {
			f[12] = 0x88;
			f[13] = (uint8_t)(0xb5 + i % 3);
		}
		f[6] &= 0xfe;
		if (!station_send(fd[i % N_STATIONS], names[i % N_STATIONS], f, len))
			CHECK(false, "frame %u of %zu bytes: %s", i, len, strerror(errno));
		if (i % 8 == 7)
			for (k = 0; k < N_STATIONS; k++)
				while (recv(fd[k], f, sizeof(f), MSG_DONTWAIT) >= 0)
					;
	}
	drain();
	CHECK(port_stat("a", "rx_drop") > 0, "no frame was too short");
	meet();
	drain();
	mask = reached(0, 2, 64, 1);
	CHECK(mask == 0x2, "afterwards: reached 0x%x", mask);
}

static void test_bad_commands(void)
{
	static const struct { const char *line, *answer; } bad[] = {
		{ "", "error: no command" },
		{ "jump", "error: unknown command 'jump'" },
		{ "cut", "error: expected: cut PORT" },
		{ "cut x", "error: there is no port 'x'" },
		{ "cut a b", "error: expected: cut PORT" },
		{ "set loss", "error: expected: set" },
		{ "set loss 2", "error: a probability is" },
		{ "set loss -1", "error: a probability is" },
		{ "set loss nan", "error: a probability is" },
		{ "set loss x", "error: 'x' is not a number" },
		{ "set luck 0.5", "error: 'luck' is no fault" },
		{ "set delay 1e9", "error: a delay is" },
		{ "set loss 0.5 x", "error: there is no port 'x'" },
		{ "seed x", "error: a seed is a number" },
		{ "node 1=x", "error: node 1: there is no port 'x'" },
		{ "node x", "error: node 'x': expected ID=PORT" },
		{ "a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 5 6 7 8",
		  "error: too many words" },
	};
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char noise[4096];
	unsigned int i;
	int s[32];

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!strncmp(command("%s", bad[i].line), bad[i].answer, strlen(bad[i].answer)),
		      "'%s': %s", bad[i].line, command("%s", bad[i].line));
	/* Clients that talk without end, say nothing, hang up early. */
	memset(noise, 'x', sizeof(noise));
	strcpy(a.sun_path, in_dir("ctl"));
	for (i = 0; i < 12; i++) {
		s[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(s[i], (struct sockaddr *)&a, sizeof(a)))
			CHECK(false, "client %u: %s", i, strerror(errno));
		if (i % 3 == 0)
			send(s[i], noise, sizeof(noise), MSG_NOSIGNAL);
		if (i % 3 == 1)
			send(s[i], "stats\nstats\nstats\nst", 20, MSG_NOSIGNAL);
	}
	CHECK(reached(0, 2, 64, 1) == 0x2, "the switch does not switch any more");
	/* More than it takes: once they have gone, it listens again. */
	for (; i < 32; i++) {
		s[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		/* There may be no room for it to wait, which is all right. */
		(void)connect(s[i], (struct sockaddr *)&a, sizeof(a));
	}
	while (i)
		close(s[--i]);
	for (i = 0; i < 1000; i++) {
		char err[ERR_MAX], *answer;

		if (!control_send(in_dir("ctl"), "help", &answer, err)) {
			free(answer);
			break;
		}
		usleep(5000);
	}
	CHECK(i < 1000, "no command is taken any more");
	CHECK(!strncmp(command("help"), "set ", 4), "%s", command("help"));
	/* Two commands at once, two answers. */
	s[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	if (!connect(s[0], (struct sockaddr *)&a, sizeof(a)))
		send(s[0], "heal a\nheal b\n", 14, MSG_NOSIGNAL);
	settle();
	CHECK(recv(s[0], noise, sizeof(noise), MSG_DONTWAIT) == 6 &&
	      !memcmp(noise, "ok\nok\n", 6), "no two answers");
	close(s[0]);
}

/* --- With a program --- */

static void test_program(void)
{
	static const char *const counters[] = P4_STAT_NAMES;
	char expected[64];
	unsigned int i;
	uint8_t f[64], g[64];
	const char *answer;
	unsigned long epoch;

	CHECK(!strcmp(command("register " P4_REG_GEN " 0 3"), "[500,500,500]"), "%s",
	      command("register " P4_REG_GEN " 0 3"));
	CHECK(strstr(command("register " P4_REG_GEN " 256"),
		     "error: register " P4_REG_GEN " has cells 0 to 255"), "%s",
	      command("register " P4_REG_GEN " 256"));
	CHECK(!strncmp(command("register cells 255 2"), "error: '2' is too many", 22), "%s",
	      command("register cells 255 2"));
	CHECK(!strncmp(command("register none 0"), "error: the program has no register", 34),
	      "%s", command("register none 0"));
	OK("write cells 4 0x10");
	CHECK(!strcmp(command("register cells 3 3"), "[7,16,7]"), "%s",
	      command("register cells 3 3"));

	/* Copies for nodes 1 and 2, who are at c and d. */
	OK("node 2=d");
	make_frame(f, 9, 9, sizeof(f), 0);
	f[13] = 0xb6;
	memset(f + 14, 0, 4);
	f[17] = 4;
	for (i = 0; i < 10; i++) {
		station_send(fd[0], "a", f, sizeof(f));
		CHECK(station_receive(fd[2], g, sizeof(g), SOON_MS) == sizeof(f) &&
		      g[21] == 16 + i, "node 1, message %u", i);
		CHECK(station_receive(fd[3], g, sizeof(g), SOON_MS) == sizeof(f) &&
		      g[21] == 16 + i, "node 2, message %u", i);
	}
	answer = command("dir");
	snprintf(expected, sizeof(expected), "{\"epoch\":500,\"%s\":10,", counters[0]);
	CHECK(!strncmp(answer, expected, strlen(expected)), "%s", answer);
	CHECK(strstr(command("stats"), "\"tables\":{\"" P4_TABLE_L2 "\":{\"hit\":"), "%s", command("stats"));

	OK("entry " P4_TABLE_L2 " match 0x0200000000fe action " P4_ACTION_L2
	   " " P4_ACTION_L2_PORT " 3");
	CHECK(reached(0, 0xfe, 64, 1) == 0x8, "entry by hand");
	CHECK(strstr(command("entry " P4_TABLE_L2 " match 1 action nothing"),
		     "does not take the entry"),
	      "%s", command("entry " P4_TABLE_L2 " match 1 action nothing"));

	/* A restart: everything as at first, and new generations. */
	OK("write " P4_REG_GEN " 7 4000000000");
	OK("clear");
	CHECK(!strcmp(command("register cells 4"), "[7]"), "%s", command("register cells 4"));
	snprintf(expected, sizeof(expected), "\"%s\":0,", counters[0]);
	CHECK(strstr(command("dir"), expected), "%s", command("dir"));
	epoch = strtoul(command("register " P4_REG_GEN " 9") + 1, NULL, 10);
	CHECK(epoch == 4000000001, "new generations start with %lu", epoch);
	CHECK(!strcmp(command("stations"), "[]"), "%s", command("stations"));
	CHECK(reached(0, 2, 64, 2) == 0xe, "b is still known");
	meet();
}

static void test_no_program(void)
{
	CHECK(strstr(command("dir"), "error: the switch runs no P4 program"), "%s",
	      command("dir"));
	CHECK(strstr(command("register " P4_REG_GEN " 0"), "error: the switch runs no P4 program"), "%s",
	      command("register " P4_REG_GEN " 0"));
	OK("clear");
	meet();
}

static void everything(const char *program)
{
	char path[128];

	snprintf(path, sizeof(path), "%s", program);
	spec = path;
	printf("# %s\n", strcmp(program, "none") ? "a P4 program" : "the plain switch");
	if (strcmp(program, "none")) {
		daemon_arg(&sw, "--epoch");
		daemon_arg(&sw, "500");
	}
	start("--node", "1=c");
	if (check_failures)
		return;
	test_forwarding();
	test_cut();
	if (strcmp(program, "none"))
		test_program();
	else
		test_no_program();
	OK("clear");
	meet();
	test_peers();
	test_idle();
	test_bad_commands();
	test_random_frames();
	CHECK(frames_missing(N_STATIONS) <= 0, "%ld frames are missing",
	      frames_missing(N_STATIONS));
	daemon_stop(&sw);
	CHECK(access(in_dir("ctl"), F_OK) && access(in_dir("a.s"), F_OK),
	      "sockets are left behind");
}

/* The program that racks run, if this is the top of the tree. */
static void test_shipped(void)
{
	spec = "p4/generated/weft_pna.spec";
	if (access(spec, R_OK)) {
		printf("# no %s here\n", spec);
		return;
	}
	printf("# %s\n", spec);
	start("--epoch", "77");
	if (!sw.pid)
		return;
	test_forwarding();
	test_cut();
	CHECK(!strcmp(command("register %s 65535", P4_REG_GEN), "[77]"), "%s",
	      command("register %s 65535", P4_REG_GEN));
	CHECK(!strncmp(command("dir"), "{\"epoch\":77,", 12), "%s", command("dir"));
	test_random_frames();
	daemon_stop(&sw);
}

/* --- Starting and ending --- */

static void refused(const char *words)
{
	int code;

	daemon_exec(&sw);
	code = daemon_wait(&sw, END_S);
	CHECK(code == 1, "exit status %d: %s", code, daemon_log());
	CHECK(!strncmp(daemon_log(), "weft-switchd: ", 14) && strstr(daemon_log(), words),
	      "'%s' instead of '%s'", daemon_log(), words);
	daemon_forget_args(&sw);
}

static void test_bad_options(void)
{
	static const struct { const char *args[5]; const char *words; } bad[] = {
		{ { "--port", "a=null:" }, "--spec FILE|none is missing" },
		{ { "--spec", "none" }, "at least one --port" },
		{ { "--spec", "/nonexistent", "--port", "a=null:" }, "cannot read the program" },
		{ { "--spec", "none", "--port", "a" }, "expected NAME=KIND" },
		{ { "--spec", "none", "--port", "a/b=null:" }, "expected NAME=KIND" },
		{ { "--spec", "none", "--port", "a=pipe:x" }, "is no kind of port" },
		{ { "--spec", "none", "--port", "a=unix:x" }, "expected unix:LOCAL:REMOTE" },
		{ { "--spec", "none", "--port", "a=unix:/nonexistent/x:y" }, "cannot create" },
		{ { "--spec", "none", "--port", "a=packet:nothere" }, "no interface 'nothere'" },
		{ { "--spec", "none", "--port", "a=tap:" }, "expected tap:INTERFACE" },
		{ { "--spec", "none", "--loss", "1.5" }, "--loss '1.5': expected a number" },
		{ { "--spec", "none", "--seed", "x" }, "--seed 'x': expected a number" },
		{ { "--spec", "none", "--send", "stats" }, "--send needs --control" },
		{ { "--control", "/nonexistent/c", "--send", "stats" }, "no switch answers" },
	};
	unsigned int i, k;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		for (k = 0; k < 5 && bad[i].args[k]; k++)
			daemon_arg(&sw, "%s", bad[i].args[k]);
		refused(bad[i].words);
	}
	/* The program of these tests is not weft's own. */
	daemon_arg(&sw, "--spec");
	daemon_arg(&sw, "%s", in_dir("program.spec"));
	daemon_arg(&sw, "--port");
	daemon_arg(&sw, "a=null:");
	refused("does not say which weft-switchd it is for: take the program that came with");
	daemon_arg(&sw, "--spec");
	daemon_arg(&sw, "none");
	for (i = 0; i < 2; i++) {
		daemon_arg(&sw, "--port");
		daemon_arg(&sw, "a=null:");
	}
	refused("two ports 'a'");
}

static void test_restart(void)
{
	struct daemon first;
	int code;

	spec = "none";
	start(NULL, NULL);
	if (!sw.pid)
		return;
	first = sw;
	/* Another one at the same sockets. */
	memset(&sw, 0, sizeof(sw));
	daemon_arg(&sw, "--spec");
	daemon_arg(&sw, "none");
	station_port(&sw, "a");
	refused("is in use: is another switch running?");
	daemon_arg(&sw, "--spec");
	daemon_arg(&sw, "none");
	daemon_arg(&sw, "--port");
	daemon_arg(&sw, "x=null:");
	daemon_arg(&sw, "--control");
	daemon_arg(&sw, "%s", in_dir("ctl"));
	refused("is in use: is another switch running?");
	sw = first;
	CHECK(reached(0, 2, 64, 1) == 0xe, "the first one was disturbed");
	/* Killed: the next one starts over what is left. */
	kill(sw.pid, SIGKILL);
	daemon_wait(&sw, END_S);
	daemon_forget_args(&sw);
	CHECK(!access(in_dir("ctl"), F_OK), "it has cleaned up");
	start(NULL, NULL);
	CHECK(reached(0, 2, 64, 1) == 0xe, "after the restart");
	/* The client program. */
	first = sw;
	memset(&sw, 0, sizeof(sw));
	daemon_arg(&sw, "--control");
	daemon_arg(&sw, "%s", in_dir("ctl"));
	daemon_arg(&sw, "--send");
	daemon_arg(&sw, "stations");
	daemon_exec(&sw);
	code = daemon_wait(&sw, END_S);
	CHECK(code == 0 && !strcmp(daemon_log(), "[{\"mac\":\"020000000001\",\"port\":\"a\"}]\n"),
	      "%d: %s", code, daemon_log());
	free(sw.args[--sw.n_args]);
	daemon_arg(&sw, "frob");
	refused("unknown command 'frob'");
	sw = first;
	/* A signal ends it in order. */
	kill(sw.pid, SIGTERM);
	code = daemon_wait(&sw, END_S);
	CHECK(code == 0 && access(in_dir("ctl"), F_OK), "exit status %d", code);
	daemon_forget_args(&sw);
}

int main(void)
{
	char *text = program_text();

	if (!set_up(text))
		return 1;
	test_bad_options();
	test_restart();
	everything("none");
	everything(in_dir("program.spec"));
	test_shipped();
	free(text);
	return check_result();
}
