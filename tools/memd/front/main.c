// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-memd, the memory blade of a weft rack: start, event loop, stop.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/blade.h"
#include "base/key.h"
#include "base/log.h"
#include "base/wake.h"
#include "catalog/journal.h"
#include "catalog/takeover.h"
#include "front/memd.h"
#include "lines/region.h"
#include "net/held.h"
#include "net/udp.h"
#include "rdma/ops.h"
#include "rdma/rdma.h"
#include "standby/mirror.h"
#include "standby/pair.h"
#include "standby/role.h"
#include "standby/witness.h"

#define SUSPENDED_MS	20	/* between looks whether that is over */
#define BATCHES_MAX	128	/* before timers have their turn */

static struct memd memd;
static pthread_t threads[THREADS_MAX];

/* @fd -1: there is nothing to wait for. */
static int watch(int epoll_fd, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	return fd < 0 ? 0 : epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

/* SIGTERM and SIGINT, by a descriptor; -1 if it cannot be.  See takeover.c for its command. */
static int signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -1;
	/* at the limit of a file's size writes fail and are logged; the blade goes on */
	signal(SIGXFSZ, SIG_IGN);
	/* the reader of its log may end; the blade goes on */
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/*
 * All that has come, within reason.  It counts before time does: after something that
 * took long, of those that seem to have been silent most have their messages waiting
 * here.
 */
static void receive(struct memd *m)
{
	static const struct udp_taker taker = { memd_far, memd_near, memd_receive };
	u32 i;

	for (i = 0; i < BATCHES_MAX; i++) {
		if (udp_receive(m->udp, m, &taker) < UDP_BATCH)
			break;
		udp_flush(m->udp);
		turn_pause(m);
	}
}

/* Run the timers that are due, alone.  Return: milliseconds until the next one. */
static int run_timers(struct memd *m)
{
	if (memd_suspended(m))
		return SUSPENDED_MS;
	if (timers_due(&m->timers)) {
		turn_alone(m);
		timers_run(&m->timers, m);
		turn_together(m);
	}
	return timers_wait(&m->timers);
}

static int run(struct memd *m, int epoll_fd, int signal_fd)
{
	int i, n, wait = timers_wait(&m->timers);
	struct epoll_event e[4];

	for (;;) {
		n = epoll_wait(epoll_fd, e, 4, wait);
		if (n < 0 && errno != EINTR) {
			log_say("waiting for messages failed: %s",
				strerror(errno));
			return EXIT_FAILURE;
		}
		if (turn_ending(m))
			return EXIT_SUCCESS;
		turn_begin(m);
		for (i = 0; i < n; i++) {
			if (e[i].data.fd == signal_fd) {
				turn_end(m);
				return EXIT_SUCCESS;
			}
			if (e[i].data.fd == m->turn.wake)
				wake_heard(m->turn.wake);
			else if (e[i].data.fd == m->udp->fd)
				receive(m);
			else if (e[i].data.fd == commit_fd(&m->b->journal->commit))
				commit_work(m, &m->b->journal->commit);
			else if (e[i].data.fd == commit_fd(m->b->sync))
				commit_work(m, m->b->sync);
			else if (e[i].data.fd == held_fd(m))
				held_work(m);
			else
				rdma_work(m);
		}
		wait = run_timers(m);
		if (!m->nth && rdma_mend(m))
			wait = 0;
		udp_flush(m->udp);
		turn_end(m);
	}
}

/* --- several threads -------------------------------------------------------- */

static void *run_thread(void *arg)
{
	struct memd *m = arg;
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

	if (epoll_fd < 0 || watch(epoll_fd, m->udp->fd) || watch(epoll_fd, m->turn.wake) ||
	    watch(epoll_fd, held_fd(m))) {
		log_say("cannot set up the event loop of thread %u: %s", m->nth + 1,
			strerror(errno));
		exit(2);
	}
	if (run(m, epoll_fd, -1))
		exit(EXIT_FAILURE);
	close(epoll_fd);
	return NULL;
}

/* Signals are blocked: they come to the first thread. */
static int begin_threads(struct memd *m)
{
	struct memd *other;
	int err;
	u32 i;

	for (i = 0; i < m->b->threads && m->b->threads > 1; i++) {
		other = m->b->thread[i];
		other->turn.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (other->turn.wake < 0)
			return -1;
	}
	for (i = 1; i < m->b->threads; i++) {
		err = pthread_create(&threads[i], NULL, run_thread, m->b->thread[i]);
		if (err) {
			errno = err;
			return -1;
		}
	}
	return 0;
}

static void end_threads(struct memd *m)
{
	u32 i;

	turn_end_all(m);
	for (i = 1; i < m->b->threads; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < m->b->threads; i++)
		if (m->b->thread[i]->turn.wake >= 0)
			close(m->b->thread[i]->turn.wake);
}

static int open_others(struct memd *m, char *err)
{
	u32 i;

	for (i = 1; i < m->b->threads; i++)
		if (udp_open_another(m->b->thread[i]->udp, m->udp, &m->b->opt, err))
			return -1;
	return udp_steer(m->udp, &m->b->opt, err);
}

/* --- start and stop --------------------------------------------------------- */

static int start(struct memd *m, const struct options *o, const struct weft_key *key, char *err)
{
	struct takeover_command command;
	struct options opt = *o;
	struct udp udp;
	int bad;
	u32 i;

	/* the socket first: it tells whether there is another one of us */
	if (udp_open(&udp, o, key, err))
		return -1;
	if (o->blades == 1 && !o->peers[0])
		opt.peers[0] = udp.addr;
	/* the file can be long, and so can what the command does */
	takeover_command_begin(&command, o);
	bad = memd_init(m, &opt, key, err);
	takeover_command_end(&command, o);
	if (bad)
		return -1;
	*m->udp = udp;
	if (open_others(m, err))
		return -1;
	for (i = 0; i < m->b->threads; i++)
		m->b->thread[i]->udp->until = &m->b->until;
	memd_start(m);
	return 0;
}

/* Once: whoever waits for the command goes on. */
static int leave_terminal(const struct options *o)
{
	static bool left;

	if (!o->background || left)
		return 0;
	left = true;
	if (!daemon(0, 1) && freopen("/dev/null", "r", stdin) &&
	    freopen("/dev/null", "w", stdout))
		return 0;
	log_say("cannot go to the background: %s", strerror(errno));
	return -1;
}

static void say_key(const struct weft_key *key)
{
	if (key->set)
		log_say("the rack's key has fingerprint %08x", weft_key_fingerprint(key));
	else
		log_say("this rack has no key: whoever reaches its network can read and change what is in it (see --make-key)");
}

static bool all_may_read(const struct memd *m)
{
	return !m->b->regions->restricted;
}

/* Return: exit status. */
static int failed(const char *why)
{
	log_say("%s", why);
	return 2;
}

/* The blade serves.  Return: exit status. */
static int serve(const struct options *o, const struct weft_key *key, int signal_fd)
{
	static const struct rdma_ops rdma_ops = {
		.receive = memd_receive,
		.receive_home = memd_receive_home,
		.may_read = all_may_read,
	};
	int epoll_fd, status;
	char err[ERR_MAX];

	if (start(&memd, o, key, err))
		return failed(err);
	/* before anything waits: what comes up to then is kept in the socket */
	if (leave_terminal(o))
		return 2;
	/* a process that comes of another one has nothing of the card */
	rdma_start(&memd, &rdma_ops);
	if (options_partner(o) && held_start(&memd))
		return failed("not enough memory, or descriptors");
	if (mirror_start(&memd, held_wake, err))
		return failed(err);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0 || watch(epoll_fd, signal_fd) || watch(epoll_fd, memd.udp->fd) ||
	    watch(epoll_fd, commit_fd(&memd.b->journal->commit)) ||
	    watch(epoll_fd, commit_fd(memd.b->sync)) || watch(epoll_fd, held_fd(&memd)) ||
	    watch(epoll_fd, rdma_fd(&memd)) || begin_threads(&memd) ||
	    watch(epoll_fd, memd.turn.wake)) {
		log_say("cannot set up the event loop: %s", strerror(errno));
		return 2;
	}
	log_say("blade %u serves %llu MiB at %s, port %u",
		options_blade(o) + 1, (unsigned long long)(o->memory >> 20),
		log_addr(memd.udp->addr), memd.udp->port);
	say_key(&memd.b->key);
	status = run(&memd, epoll_fd, signal_fd);
	end_threads(&memd);
	log_say("blade %u ends", options_blade(o) + 1);
	memd_exit(&memd);
	close(epoll_fd);
	return status;
}

static int run_service(struct options *o)
{
	struct weft_key key = { .set = false };
	int signal_fd = signals();
	char err[ERR_MAX];

	if (signal_fd < 0) {
		log_say("cannot set up the event loop: %s", strerror(errno));
		return 2;
	}
	if (o->key && key_read(o->key, &key, err))
		return failed(err);
	if (o->be_witness)
		return witness_run(o, &key, signal_fd, leave_terminal);
	switch (role_find(o, &key, signal_fd, leave_terminal, err)) {
	case ROLE_SERVE:
		return serve(o, &key, signal_fd);
	case ROLE_END:
		return EXIT_SUCCESS;
	default:
		return failed(err);
	}
}

int main(int argc, char **argv)
{
	struct options o;
	char err[ERR_MAX];

	pair_arguments(argc, argv);
	switch (options_parse(&o, argc, argv, err)) {
	case OPTIONS_DONE:
		return EXIT_SUCCESS;
	case OPTIONS_BAD:
		log_say("%s", err);
		return 1;
	default:
		break;
	}
	log_verbose = o.verbose;
	if (o.make_key || o.hand_key) {
		if (!(o.make_key ? key_make(o.make_key, err) : key_hand(&o, o.hand_key, err)))
			return EXIT_SUCCESS;
		return failed(err);
	}
	setvbuf(stderr, NULL, _IOLBF, 0);
	return run_service(&o);
}
