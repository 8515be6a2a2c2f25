// SPDX-License-Identifier: GPL-2.0-only
/*
 * /init of a rack's guests, all that is in the initramfs beside modules (get-kernel compiles
 * it): the host's root file system becomes the guest's, read-only over 9p (hostfs in a
 * user-mode kernel) under an overlay, the network gets its address, and the agent becomes the
 * first process.
 *
 * What differs between guests comes on the kernel's command line: rack.NAME=VALUE. One
 * process does all of it: each one more costs an emulated or user-mode kernel 10 to 30 ms.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define ROOT		"/root"		/* what becomes / */
#define AGENT		"/run/weft/rackio"
#define CMDLINE_MAX	4096		/* more than kernels take */

/* What the command line says; NULL: nothing. */
static struct {
	const char *line;	/* the serial line to the agent: this is a user-mode kernel */
	const char *probe;	/* only boot, and say so */
	const char *disk;	/* MiB that the guest may write beside /weft */
	const char *tree;	/* the source tree */
	const char *name;
	const char *modules;	/* the directory of the kernel's, on the host */
	const char *address;
	const char *agent;	/* its program, on the host */
} param;
static char hosts[CMDLINE_MAX] = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n";

/* As the first process we must not end: that is a panic. Tell what is wrong, stop. */
static _Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *format, ...)
{
	int err = errno;
	va_list args;

	printf("weft-rack: guest-init: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(": %s\n", strerror(err));
	fflush(stdout);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

/* A path that is made of two. */
static const char *below(const char *directory, const char *path)
{
	static char text[2][PATH_MAX];
	static unsigned int turn;
	char *to = text[++turn % 2];

	if (snprintf(to, PATH_MAX, "%s%s", directory, path) >= PATH_MAX)
		fail("too long: %s", path);
	return to;
}

static void make_directories(const char *path)
{
	char text[PATH_MAX];

	snprintf(text, sizeof(text), "%s", path);
	for (char *end = text + 1; (end = strchr(end, '/')); end++) {
		*end = '\0';
		mkdir(text, 0755);
		*end = '/';
	}
	if (mkdir(text, 0755) && errno != EEXIST)
		fail("cannot make %s", path);
}

/* What a kernel may be without is no failure. */
static void mount_at(const char *type, const char *path, unsigned long flags, const char *options)
{
	if (mount(type, path, type, flags, options) && errno != ENODEV && errno != ENOENT)
		printf("weft-rack: guest-init: cannot mount %s: %s\n", path, strerror(errno));
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ssize_t length = strlen(text);
	bool done = fd >= 0 && write(fd, text, length) == length;

	if (fd >= 0)
		close(fd);
	return done;
}

static void read_command_line(void)
{
	static const char separators[] = { ' ', '\n', '\0' };
	static char line[CMDLINE_MAX];
	static const struct {
		const char *name;
		const char **value;
	} words[] = {
		/* Not weft.NAME: that would be a parameter of the module. */
		{ "rack.line=", &param.line },
		{ "rack.probe=", &param.probe },
		{ "rack.disk=", &param.disk },
		{ "rack.tree=", &param.tree },
		{ "rack.name=", &param.name },
		{ "rack.modules=", &param.modules },
		{ "rack.address=", &param.address },
		{ "rack.agent=", &param.agent },
	};
	int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	const char *value;
	char *colon;
	size_t used;

	if (length < 0)
		fail("cannot read the command line");
	close(fd);
	for (char *word = strtok(line, separators); word; word = strtok(NULL, separators)) {
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (!strncmp(word, words[i].name, strlen(words[i].name)))
				*words[i].value = word + strlen(words[i].name);
		if (strncmp(word, "rack.member=", 12))
			continue;
		value = word + 12;
		colon = strchr(value, ':');
		if (!colon)
			continue;
		*colon = '\0';
		used = strlen(hosts);
		snprintf(hosts + used, sizeof(hosts) - used, "%s %s\n", value, colon + 1);
	}
}

/* Those that the kernel has not built in, in the order of their names. */
static void load_modules(void)
{
	struct dirent **entries;
	int n = scandir("/modules", &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		const char *path = below("/modules/", entries[i]->d_name);
		int fd;

		if (entries[i]->d_name[0] == '.')
			continue;
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
			fail("cannot load %s", path);
		close(fd);
		unlink(path);	/* it is in memory twice, else */
	}
}

/* Mount one of the host's trees: the tag says which one QEMU's is. */
static bool mount_tree(const char *tag, const char *cache, const char *target,
		       const char *directory)
{
	char options[128];

	if (param.line)
		return !mount("none", target, "hostfs", MS_RDONLY, directory);
	snprintf(options, sizeof(options), "trans=virtio,version=9p2000.L,msize=512000,cache=%s",
		 cache);
	return !mount(tag, target, "9p", MS_RDONLY, options);
}

/* What is below the target is written to memory. */
static bool mount_over(const char *lower, const char *target)
{
	char upper[64], work[64], options[256];

	snprintf(upper, sizeof(upper), "/upper%s", lower);
	snprintf(work, sizeof(work), "/upper%s-work", lower);
	make_directories(upper);
	make_directories(work);
	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s", lower, upper, work);
	return !mount("overlay", target, "overlay", 0, options);
}

/*
 * The host's files. /usr hardly ever changes and is cached, so that programs start fast; the
 * rest is asked for each time, so that changes there show here. The source tree is not even
 * copied up: what is built is seen at once.
 */
static void mount_host(void)
{
	char options[64] = "mode=755";

	if (param.disk)
		snprintf(options, sizeof(options), "mode=755,size=%sm", param.disk);
	mount_at("tmpfs", "/upper", 0, options);
	if (!mount_tree("weftroot", "none", "/lower", "/"))
		fail("cannot mount the host's root file system");
	if (!mount_over("/lower", ROOT))
		fail("cannot mount an overlay");
	if (mount_tree("weftusr", "loose", "/lower-usr", "/usr") &&
	    !mount_over("/lower-usr", ROOT "/usr"))
		fail("cannot mount an overlay on /usr");
	if (!mount_tree("wefttree", "none", below(ROOT, param.tree), param.tree))
		fail("cannot mount %s", param.tree);
}

/* What of the file system is the guest's own. */
static void mount_own(void)
{
	static const char *const moved[] = { "/proc", "/sys", "/dev" };
	static const char *const links[][2] = {
		{ "/proc/self/fd", ROOT "/dev/fd" },
		{ "/proc/self/fd/0", ROOT "/dev/stdin" },
		{ "/proc/self/fd/1", ROOT "/dev/stdout" },
		{ "/proc/self/fd/2", ROOT "/dev/stderr" },
	};
	struct stat status;

	for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++)
		if (mount(moved[i], below(ROOT, moved[i]), NULL, MS_MOVE, NULL))
			fail("cannot move %s", moved[i]);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i][0], links[i][1]) && errno != EEXIST)
			fail("cannot make %s", links[i][1]);
	make_directories(ROOT "/dev/pts");
	make_directories(ROOT "/dev/shm");
	mount_at("devpts", ROOT "/dev/pts", 0, "gid=5,mode=620,ptmxmode=666");
	mount_at("tmpfs", ROOT "/dev/shm", 0, "mode=1777");
	mount_at("tmpfs", ROOT "/run", 0, "mode=755");
	make_directories(ROOT "/run/lock");
	make_directories(ROOT "/run/weft");
	/*
	 * The distribution's user-mode kernel has none of the two, a debug kernel the first,
	 * our own both.
	 */
	mount_at("debugfs", ROOT "/sys/kernel/debug", 0, NULL);
	mount_at("tracefs", ROOT "/sys/kernel/tracing", 0, NULL);
	mount_at("cgroup2", ROOT "/sys/fs/cgroup", 0, NULL);

	/* The host's own is /run under another name, or what belongs to one boot of it. */
	if (!lstat(ROOT "/var/run", &status) && S_ISDIR(status.st_mode)) {
		if (mount(ROOT "/run", ROOT "/var/run", NULL, MS_BIND, NULL))
			fail("cannot bind /var/run");
	} else {
		unlink(ROOT "/var/run");
		if (symlink("/run", ROOT "/var/run"))
			fail("cannot make /var/run");
	}
	chmod(ROOT "/tmp", 01777);
}

static void bind_modules(void)
{
	struct utsname kernel;
	const char *from, *to;

	if (!param.modules || access(below(ROOT, param.modules), F_OK)) {
		printf("weft-rack: guest-init: there are no modules at %s\n",
		       param.modules ? param.modules : "any place");
		return;
	}
	uname(&kernel);
	to = below(ROOT "/lib/modules/", kernel.release);
	make_directories(to);
	from = below(ROOT, param.modules);
	if (mount(from, to, NULL, MS_BIND, NULL))
		fail("cannot bind %s", param.modules);
}

static void set_up_interface(int s, const char *name)
{
	struct ifreq request = { 0 };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (ioctl(s, SIOCGIFFLAGS, &request))
		fail("there is no %s", name);
	request.ifr_flags |= IFF_UP;
	if (ioctl(s, SIOCSIFFLAGS, &request))
		fail("cannot use %s", name);
}

static void set_address(int s, unsigned long what, const char *address)
{
	struct ifreq request = { .ifr_name = "eth0" };
	struct sockaddr_in *in = (struct sockaddr_in *)&request.ifr_addr;

	in->sin_family = AF_INET;
	if (inet_pton(AF_INET, address, &in->sin_addr) != 1 || ioctl(s, what, &request))
		fail("cannot set the address %s", address);
}

/* The rack's network. Addresses and names of all members are known beforehand. */
static void set_up_network(void)
{
	struct ifreq name = { .ifr_name = "vec0", .ifr_newname = "eth0" };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (s < 0)
		fail("this kernel has no IPv4");
	set_up_interface(s, "lo");
	if (param.address) {
		/* No router is there to be asked. */
		write_file(ROOT "/proc/sys/net/ipv6/conf/all/router_solicitations", "0");
		write_file(ROOT "/proc/sys/net/ipv6/conf/default/router_solicitations", "0");
		if (param.line && ioctl(s, SIOCSIFNAME, &name))
			fail("there is no vec0");
		set_up_interface(s, "eth0");
		/*
		 * A user-mode kernel has one stack of 16 KB for all interrupts, with 3 KB of
		 * registers for each signal on it (AVX-512).  What comes from the network goes on
		 * by threads, which have their own: from an interrupt, up to weft and down to eth0
		 * again, 2 KB were left.
		 */
		if (param.line)
			write_file(ROOT "/sys/class/net/eth0/threaded", "1");
		set_address(s, SIOCSIFADDR, param.address);
		set_address(s, SIOCSIFNETMASK, "255.255.255.0");
		write_file(ROOT "/etc/hosts", hosts);
	}
	close(s);
	write_file(ROOT "/etc/hostname", below(param.name, "\n"));
}

/* Its program may be built anew on the host while it runs here. */
static void copy_agent(void)
{
	int from = open(below(ROOT, param.agent), O_RDONLY | O_CLOEXEC);
	int to = open(ROOT AGENT, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	static char text[1 << 16];
	ssize_t n = -1;

	while (from >= 0 && to >= 0 && (n = read(from, text, sizeof(text))) > 0)
		if (write(to, text, n) != n)
			break;
	if (n)
		fail("cannot copy the agent");
	close(from);
	close(to);
}

static _Noreturn void become_agent(void)
{
	char *const argv[] = { AGENT, "agent", (char *)param.line, NULL };
	char *const envp[] = { "HOME=/", "TERM=linux", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	char uptime[64] = "?";
	FILE *f = fopen(ROOT "/proc/uptime", "re");

	if (f) {
		if (fscanf(f, "%63s", uptime) != 1)
			uptime[0] = '\0';
		fclose(f);
	}
	printf("weft-rack: guest-init: done after %s s\n", uptime);
	fflush(stdout);
	unlink("/init");	/* it would stay in memory */
	if (chdir(ROOT) || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		fail("cannot change the root");
	execve(AGENT, argv, envp);
	fail("cannot run %s", AGENT);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	mount_at("proc", "/proc", 0, NULL);
	mount_at("sysfs", "/sys", 0, NULL);
	mount_at("devtmpfs", "/dev", 0, NULL);
	read_command_line();
	load_modules();
	if (param.probe) {
		printf("weft-rack: probe passed\n");
		reboot(RB_POWER_OFF);
		fail("cannot power off");
	}
	if (!param.tree || !param.name || !param.agent) {
		errno = EINVAL;
		fail("rack.tree, rack.name and rack.agent must be on the command line");
	}
	mount_host();
	sethostname(param.name, strlen(param.name));
	mount_own();
	bind_modules();
	set_up_network();
	copy_agent();
	become_agent();
}
