// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of tests/common/check.h: what all other tests rely on.  Children fail, and this
 * looks how; it does without what it tests.
 */
#include "tests/common/check.h"

#include <fcntl.h>
#include <sys/wait.h>

static unsigned int wrong;

/* How a child ends that runs @what: its status, -1: otherwise; what it says goes to @said. */
static int status_of(int (*what)(void), char *said, size_t room)
{
	int out[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe(out))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(out[1], 1);
		dup2(out[1], 2);
		exit(what());
	}
	close(out[1]);
	for (*said = '\0'; (n = read(out[0], said, room - 1)) > 0; said += n, room -= (size_t)n)
		said[n] = '\0';
	close(out[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static void expect(const char *name, int (*what)(void), int wanted, const char *text)
{
	char said[2000];
	int status = status_of(what, said, sizeof(said));

	if (status == wanted && strstr(said, text))
		return;
	fprintf(stderr, "not ok: %s: status %d, not %d, says '%s', not '%s'\n", name, status,
		wanted, said, text);
	wrong++;
}

static int nothing(void)
{
	return check_result();
}

static int all_hold(void)
{
	CHECK(1 == 1, "never said");
	CHECK_EQ(-1, -1ll);
	return check_result();
}

static int one_fails(void)
{
	printf("before");
	errno = ENOENT;
	CHECK(1 == 2, "because of %d", 5);
	return 0;
}

static int unequal(void)
{
	errno = 0;
	CHECK_EQ(2 + 3, -1);
	return 0;
}

static int goes_on(void)
{
	check_goes_on = true;
	CHECK(1 == 2);
	CHECK_EQ(1, 2);
	printf("the end");
	return check_result();
}

static int gives_up(void)
{
	check_goes_on = true;
	CHECK_FAIL("no way %s", "out");
	return 0;
}

static void tidy_up(void)
{
	fputs("tidies up", stderr);
	/* It is not called for what goes wrong in it. */
	CHECK(0);
}

static int tidies_up(void)
{
	check_at_end = tidy_up;
	CHECK(0);
	return 0;
}

static int too_late(void)
{
	check_limit(1);
	CHECK(pause() == 5);
	return 0;
}

int main(void)
{
	expect("no check", nothing, 1, "0 checks, 0 failed");
	expect("all hold", all_hold, 0, "2 checks, 0 failed");
	expect("one fails", one_fails, 1, "before");
	expect("one fails", one_fails, 1, ": 1 == 2 because of 5 (errno: ENOENT)\n");
	expect("unequal", unequal, 1, ": 2 + 3 is 5 (0x5), not -1 (0xffffffffffffffff)\n");
	expect("goes on", goes_on, 1, "the end");
	expect("goes on", goes_on, 1, "2 checks, 2 failed");
	expect("gives up", gives_up, 1, "no way out");
	expect("tidies up", tidies_up, 1, "tidies up");
	expect("too late", too_late, 1, "the last check was at tests/");
	return wrong != 0;
}
