// SPDX-License-Identifier: GPL-2.0-only
/*
 * What joins the agent to its host: a virtio-serial port, or the serial line of a
 * user-mode kernel, and that kernel's view of the host's files.
 */
#include "line.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <termios.h>
#include <unistd.h>

#include "tools/common/clock.h"

#define PORT_WAIT_S	20

/**
 * line_find() - open a virtio-serial port
 * @name: its name: there is no udev that would make links
 *
 * Return: the file, -1 with errno set.
 */
int line_find(const char *name)
{
	uint64_t end = now_ms() + PORT_WAIT_S * 1000;

	do {
		DIR *dir = opendir("/sys/class/virtio-ports");
		struct dirent *entry;

		while (dir && (entry = readdir(dir))) {
			char path[320], found[64] = "";
			FILE *f;

			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name",
				 entry->d_name);
			f = fopen(path, "re");
			if (!f)
				continue;
			if (fscanf(f, "%63s", found) != 1)
				found[0] = '\0';
			fclose(f);
			if (strcmp(found, name) != 0)
				continue;
			snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
			closedir(dir);
			return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		}
		if (dir)
			closedir(dir);
		pause_ms(20);
	} while (now_ms() < end);
	errno = ENODEV;
	return -1;
}

/**
 * line_open() - open a serial line that carries bytes and nothing else
 * @path: of the device
 *
 * Return: the file, -1 with errno set.
 */
int line_open(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct termios t;

	if (fd < 0)
		return -1;
	if (tcgetattr(fd, &t) == 0) {
		cfmakeraw(&t);
		t.c_cflag |= CLOCAL | CREAD;
		if (tcsetattr(fd, TCSANOW, &t) == 0)
			return fd;
	}
	close(fd);
	return -1;
}

/**
 * line_look_again() - show the host's files as they are now
 *
 * A user-mode kernel remembers what it has seen of the host's files, and what was not
 * there. Mounting anew makes it forget what no process uses: what the host has done
 * before a command shows in it, as in other guests.
 */
void line_look_again(void)
{
	if (mount(NULL, "/", NULL, MS_REMOUNT | MS_RELATIME, NULL))
		fprintf(stderr, "weft-rackio: files of the host may look old: %s\n",
			strerror(errno));
}
