// SPDX-License-Identifier: GPL-2.0-only
/* The memory blades of a rack in one process, see rig.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define START_LIMIT_MS	(10000 * rig_scale())

static pid_t blade_pid[RIG_BLADES];

static void exec_memd(u32 id, const char *const *args)
{
	const char *build = getenv("BUILD"), *other = getenv("WEFT_MEMD");
	const char *threads = getenv("WEFT_RIG_THREADS");
	const char *argv[30] = { "weft-memd" };
	char program[256], id_text[8], addr[16], port_text[8], log[128], key[128];
	struct in_addr a = { .s_addr = htonl(rig_addr(id)) };
	int n = 1, fd;

	snprintf(program, sizeof(program), "%s%s", other ? other : build ? build : "build",
		 other ? "" : "/bin/weft-memd");
	snprintf(id_text, sizeof(id_text), "%u", id);
	snprintf(port_text, sizeof(port_text), "%u", rig_port());
	snprintf(log, sizeof(log), "%s/memd-%u.log", rig_dir(), id);
	inet_ntop(AF_INET, &a, addr, sizeof(addr));
	argv[n++] = "--id";
	argv[n++] = id_text;
	argv[n++] = "--address";
	argv[n++] = addr;
	argv[n++] = "--port";
	argv[n++] = port_text;
	snprintf(key, sizeof(key), "%s/key", rig_dir());
	if (rig_key.set) {
		argv[n++] = "--key";
		argv[n++] = key;
	}
	if (threads) {
		argv[n++] = "--threads";
		argv[n++] = threads;
	}
	/* nodes that are played say nothing while they have nothing to say; @args may differ */
	argv[n++] = "--lease";
	argv[n++] = "0";
	while (*args && n < 29)
		argv[n++] = *args++;
	argv[n] = NULL;
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(fd, STDERR_FILENO);
	execv(program, (char **)argv);
	fprintf(stderr, "cannot run %s: %s\n", program, strerror(errno));
	_exit(127);
}

/* Whether something is bound to the blade's port, as /proc tells it. */
static bool listens(u32 id)
{
	char want[32], line[256];
	FILE *f = fopen("/proc/net/udp", "r");
	bool found = false;

	snprintf(want, sizeof(want), "%08X:%04X", htonl(rig_addr(id)), rig_port());
	while (f && fgets(line, sizeof(line), f))
		found |= !!strstr(line, want);
	if (f)
		fclose(f);
	return found;
}

void rig_memd_start(u32 id, const char *const *args)
{
	u64 end = now_ms() + START_LIMIT_MS;
	pid_t pid = fork();

	if (pid < 0)
		CHECK_FAIL("fork: %s", strerror(errno));
	if (!pid)
		exec_memd(id, args);
	blade_pid[id - WEFT_BLADE_MIN] = pid;
	while (!listens(id)) {
		bool ended = waitpid(pid, NULL, WNOHANG) == pid;

		if (ended || now_ms() > end) {
			if (ended)
				blade_pid[id - WEFT_BLADE_MIN] = 0;
			CHECK_FAIL("weft-memd does not start");
		}
		usleep(2000);
	}
}

pid_t rig_memd_pid(u32 id)
{
	return blade_pid[id - WEFT_BLADE_MIN];
}

void rig_memd_signal(u32 id, int sig)
{
	pid_t pid = blade_pid[id - WEFT_BLADE_MIN];
	int status;

	CHECK(!kill(pid, sig));
	/* kill() does not wait: on another processor it may still run */
	if (sig == SIGSTOP) {
		CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
		CHECK(WIFSTOPPED(status));
	}
}

void rig_memd_limit(u32 id, const struct rlimit *l)
{
	CHECK(!prlimit(blade_pid[id - WEFT_BLADE_MIN], RLIMIT_FSIZE, l, NULL));
}

int rig_memd_stop(u32 id, int sig)
{
	pid_t *pid = &blade_pid[id - WEFT_BLADE_MIN];
	u64 end = now_ms() + START_LIMIT_MS;
	int status = 0;

	kill(*pid, sig);
	while (waitpid(*pid, &status, WNOHANG) != *pid) {
		if (now_ms() > end) {
			kill(*pid, SIGKILL);
			waitpid(*pid, &status, 0);
			break;
		}
		usleep(1000);
	}
	*pid = 0;
	return status;
}

void rig_memd_stop_all(void)
{
	u32 i;

	for (i = 0; i < RIG_BLADES; i++)
		if (blade_pid[i])
			rig_memd_stop(WEFT_BLADE_MIN + i, SIGKILL);
}

void rig_blade_start(u32 count, u32 i)
{
	static const char peers[] = "10.87.0.101,10.87.0.105";
	char file[128];
	const char *const args[] = {
		"--memory", "64M", "--backing", file,
		count > 1 ? "--peers" : NULL, peers, NULL
	};

	snprintf(file, sizeof(file), "%s/file-%u", rig_dir(), i);
	rig_memd_start(WEFT_BLADE_MIN + i, args);
}

void rig_blades_start(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		rig_blade_start(count, i);
}

void rig_blades_stop(u32 count, int sig)
{
	u32 i;

	for (i = 0; i < count; i++) {
		int status = rig_memd_stop(WEFT_BLADE_MIN + i, sig);

		if (sig == SIGTERM)
			CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	}
}
