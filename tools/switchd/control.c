// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control socket.
 *
 * No call waits for a client: an answer that a client does not read is kept,
 * and its next command is not read before that.
 */
#include "control.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "fail.h"

#define CLIENTS_MAX	16
#define COMMAND_MAX	512
/* A client waits for an answer that long: the switch is never that busy. */
#define ANSWER_SECONDS	10
#define ANSWER_MAX	(64u << 20)

/**
 * struct client - somebody connected
 * @fd: its socket, or -1
 * @in: beginning of a command
 * @n_in: its length
 * @out: rest of an answer, or NULL
 * @n_out: length of the whole answer
 * @n_sent: how much of it was sent
 */
struct client {
	int fd;
	char in[COMMAND_MAX];
	size_t n_in;
	char *out;
	size_t n_out;
	size_t n_sent;
};

struct control {
	int fd;
	int epoll;
	unsigned long long tag;
	char *(*run)(void *arg, char *line);
	void *arg;
	struct sockaddr_un address;
	struct client clients[CLIENTS_MAX];
};

static int address_of(struct sockaddr_un *a, const char *path, char *err)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (!path[0] || strlen(path) >= sizeof(a->sun_path))
		return fail(err, -ENAMETOOLONG,
			    "control socket: the path must have 1 to %zu letters, this one has %zu",
			    sizeof(a->sun_path) - 1, strlen(path));
	strcpy(a->sun_path, path);
	return 0;
}

static int watch(const struct control *c, int fd, int op, unsigned int which,
		 unsigned int events)
{
	struct epoll_event event = {
		.events = events,
		.data.u64 = c->tag | which,
	};

	return epoll_ctl(c->epoll, op, fd, &event);
}

/* What an earlier run left goes; a running switch or a file do not. */
static int make_way(const struct sockaddr_un *a, char *err)
{
	int fd, code = 0;
	struct stat st;

	if (lstat(a->sun_path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return fail(err, -EEXIST, "control socket: %s exists and is not a socket",
			    a->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(err, -errno, "control socket: %s", strerror(errno));
	if (!connect(fd, (const struct sockaddr *)a, sizeof(*a)) ||
	    errno != ECONNREFUSED)
		code = fail(err, -EADDRINUSE,
			    "control socket: %s is in use: is another switch running?",
			    a->sun_path);
	else
		unlink(a->sun_path);
	close(fd);
	return code;
}

struct control *control_open(const char *path, int epoll, unsigned long long tag,
			     char *(*run)(void *arg, char *line), void *arg,
			     char *err)
{
	struct control *c = calloc(1, sizeof(*c));
	mode_t mask;
	int i;

	if (!c) {
		fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	for (i = 0; i < CLIENTS_MAX; i++)
		c->clients[i].fd = -1;
	c->epoll = epoll;
	c->tag = tag;
	c->run = run;
	c->arg = arg;
	c->fd = -1;
	if (address_of(&c->address, path, err) || make_way(&c->address, err)) {
		free(c);
		return NULL;
	}
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* Who may cut ports: the owner of the switch. */
	mask = umask(077);
	if (c->fd < 0 ||
	    bind(c->fd, (struct sockaddr *)&c->address, sizeof(c->address)) ||
	    listen(c->fd, CLIENTS_MAX) ||
	    watch(c, c->fd, EPOLL_CTL_ADD, CLIENTS_MAX, EPOLLIN)) {
		fail(err, -errno, "control socket: cannot create %s: %s", path,
		     strerror(errno));
		umask(mask);
		if (c->fd >= 0)
			close(c->fd);
		free(c);
		return NULL;
	}
	umask(mask);
	return c;
}

static void hang_up(struct client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	free(client->out);
	memset(client, 0, sizeof(*client));
	client->fd = -1;
}

void control_close(struct control *c)
{
	int i;

	if (!c)
		return;
	for (i = 0; i < CLIENTS_MAX; i++)
		hang_up(&c->clients[i]);
	close(c->fd);
	unlink(c->address.sun_path);
	free(c);
}

/* False: the client did not take all of it, or has gone. */
static bool send_answer(struct client *client)
{
	while (client->n_sent < client->n_out) {
		ssize_t n = send(client->fd, client->out + client->n_sent,
				 client->n_out - client->n_sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			if (errno != EAGAIN)
				hang_up(client);
			return false;
		}
		client->n_sent += (size_t)n;
	}
	free(client->out);
	client->out = NULL;
	return true;
}

/* Runs the complete commands that were received, one after the other. */
static void run_commands(struct control *c, struct client *client)
{
	char *end;

	while (!client->out && (end = memchr(client->in, '\n', client->n_in))) {
		size_t len = (size_t)(end - client->in) + 1;
		char *answer;

		*end = 0;
		answer = c->run(c->arg, client->in);
		client->n_in -= len;
		memmove(client->in, client->in + len, client->n_in);
		if (!answer || asprintf(&client->out, "%s\n", answer) < 0) {
			client->out = NULL;
			free(answer);
			hang_up(client);
			return;
		}
		free(answer);
		client->n_out = strlen(client->out);
		client->n_sent = 0;
		send_answer(client);
	}
	if (client->fd >= 0 && client->n_in == sizeof(client->in))
		hang_up(client);	/* longer than any command */
}

static void new_client(struct control *c)
{
	int fd = accept4(c->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	unsigned int i;

	if (fd < 0)
		return;
	for (i = 0; i < CLIENTS_MAX; i++)
		if (c->clients[i].fd < 0)
			break;
	if (i == CLIENTS_MAX || watch(c, fd, EPOLL_CTL_ADD, i, EPOLLIN)) {
		close(fd);
		return;
	}
	c->clients[i].fd = fd;
}

void control_event(struct control *c, unsigned int which)
{
	struct client *client;
	ssize_t n;

	if (which == CLIENTS_MAX) {
		new_client(c);
		return;
	}
	client = &c->clients[which];
	if (client->fd < 0)
		return;
	if (client->out) {
		if (!send_answer(client))
			return;
	} else {
		n = recv(client->fd, client->in + client->n_in,
			 sizeof(client->in) - client->n_in, MSG_DONTWAIT);
		if (n <= 0) {
			if (n == 0 || (errno != EAGAIN && errno != EINTR))
				hang_up(client);
			return;
		}
		client->n_in += (size_t)n;
	}
	run_commands(c, client);
	if (client->fd >= 0)
		watch(c, client->fd, EPOLL_CTL_MOD, which,
		      client->out ? EPOLLOUT : EPOLLIN);
}

/* --- The client's side --- */

static int read_answer(int fd, char **answer, char *err)
{
	size_t used = 0, size = 0;
	char *text = NULL, *bigger;
	ssize_t n;

	for (;;) {
		if (size - used < 4096) {
			size = size * 2 + 8192;
			bigger = size > ANSWER_MAX ? NULL : realloc(text, size);
			if (!bigger) {
				free(text);
				return fail(err, -ENOMEM, "the answer is too long");
			}
			text = bigger;
		}
		n = recv(fd, text + used, size - used - 1, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			free(text);
			if (n < 0 && errno == EAGAIN)
				return fail(err, -ETIMEDOUT, "the switch does not answer");
			return fail(err, -ECONNRESET, "the switch has hung up");
		}
		used += (size_t)n;
		if (text[used - 1] == '\n')
			break;
	}
	text[used - 1] = 0;
	*answer = text;
	return 0;
}

int control_send(const char *path, const char *line, char **answer, char *err)
{
	const struct timeval patience = { .tv_sec = ANSWER_SECONDS };
	struct sockaddr_un a;
	size_t len = strlen(line);
	int fd, code;

	if (len + 1 >= COMMAND_MAX || strchr(line, '\n'))
		return fail(err, -EINVAL, "a command is one line of less than %d letters",
			    COMMAND_MAX - 1);
	code = address_of(&a, path, err);
	if (code)
		return code;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(err, -errno, "no socket: %s", strerror(errno));
	/* Sending includes connecting. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
		code = fail(err, -errno, "no switch answers at %s (%s): is weft-switchd running?",
			    path, strerror(errno));
	else if (send(fd, line, len, MSG_NOSIGNAL) != (ssize_t)len ||
		 send(fd, "\n", 1, MSG_NOSIGNAL) != 1)
		code = fail(err, -EPIPE, "the switch has hung up");
	else
		code = read_answer(fd, answer, err);
	close(fd);
	return code;
}
