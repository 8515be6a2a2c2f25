// SPDX-License-Identifier: GPL-2.0-only
/* After a standby has taken over, see takeover.h. */
#include "catalog/takeover.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/blade.h"
#include "base/log.h"
#include "lines/region.h"
#include "net/members.h"
#include "net/send.h"
#include "net/udp.h"
#include "standby/pair.h"
#include "store/backing.h"
#include "tools/common/clock.h"

#define FIRST_MS	20	/* until TWIN is repeated, doubled each time */
#define LAST_MS		500
#define LOOK_MS		20	/* whether the command has ended */

/* --- the command ------------------------------------------------------------------------ */

/* Return: wait status, or -1 with errno. */
static int wait_for(const struct takeover_command *c)
{
	int status;

	for (;;) {
		pid_t ended = waitpid(c->pid, &status, now_ms() < c->until ? WNOHANG : 0);

		if (ended == c->pid)
			return status;
		if (ended < 0 && errno != EINTR)
			return -1;
		if (now_ms() >= c->until)
			kill(-c->pid, SIGKILL);
		else
			pause_ms(LOOK_MS);
	}
}

static int run(const char *command, pid_t *pid)
{
	char *argv[] = { "/bin/sh", "-c", (char *)command, NULL };
	posix_spawnattr_t attr;
	sigset_t none, ours;
	int err;

	sigemptyset(&none);
	sigemptyset(&ours);
	/* front/main.c ignores these signals; the command must not */
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &ours);
	err = posix_spawn(pid, argv[0], NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	return err;
}

void takeover_command_begin(struct takeover_command *c, const struct options *o)
{
	char text[16];
	int err;

	c->pid = 0;
	if (!o->on_takeover || !o->role.taken)
		return;
	snprintf(text, sizeof(text), "%u", o->id);
	setenv("WEFT_BLADE", text, 1);
	snprintf(text, sizeof(text), "%u", o->role.view);
	setenv("WEFT_VIEW", text, 1);
	setenv("WEFT_ADDRESS", log_addr(o->address), 1);
	c->until = now_ms() + TAKEOVER_COMMAND_MS;
	err = run(o->on_takeover, &c->pid);
	if (err) {
		c->pid = 0;
		log_say("cannot run '%s': %s", o->on_takeover, strerror(err));
	}
}

void takeover_command_end(struct takeover_command *c, const struct options *o)
{
	int status;

	if (!c->pid)
		return;
	status = wait_for(c);
	c->pid = 0;
	if (status < 0)
		log_say("'%s' was run, what came of it is not known: %s", o->on_takeover,
			strerror(errno));
	else if (WIFSIGNALED(status))
		log_say("'%s' was ended by signal %d, or took longer than %d s", o->on_takeover,
			WTERMSIG(status), TAKEOVER_COMMAND_MS / 1000);
	else if (WEXITSTATUS(status))
		log_say("'%s' failed with exit status %d", o->on_takeover, WEXITSTATUS(status));
}

/* --- telling others ------------------------------------------------------------------------ */

/* Nodes that are members, and the other blades. */
static u64 members_of(const struct memd *m)
{
	u64 all = (u64)m->b->members->mask << WEFT_NODE_MIN;
	u32 i;

	for (i = 0; i < m->b->regions->blades; i++)
		if (WEFT_BLADE_MIN + i != m->b->opt.id)
			all |= members_bit(WEFT_BLADE_MIN + i);
	return all;
}

static void send(struct memd *m, u32 id)
{
	struct member *who = &m->b->members->by_id[id];
	struct weft_call call = {
		.op = WEFT_CALL_TWIN,
		.node = m->b->opt.id,
		.addr = m->udp->addr,
		.life = m->b->opt.role.view,
	};

	send_call(m, &call, m->b->takeover->txn[id], 0, who->addr);
	/* which of its machines serves may not be known here */
	if (who->standby)
		send_call(m, &call, m->b->takeover->txn[id], 0, who->standby);
}

static void on_timer(struct memd *m, struct timer *t)
{
	struct takeover *to = m->b->takeover;
	u64 left = members_of(m) & ~to->heard;
	u32 id;

	/* a member that left and joins again hears it again */
	to->heard &= members_of(m);
	for (id = 1; id <= WEFT_BLADE_MAX; id++)
		if (left & members_bit(id))
			send(m, id);
	to->delay = left && to->delay * 2 < LAST_MS ? to->delay * 2 : LAST_MS;
	timer_set(&m->timers, t, to->delay);
}

void takeover_init(struct memd *m)
{
	m->b->takeover->timer.fn = on_timer;
}

void takeover_tell(struct memd *m)
{
	struct takeover *to = m->b->takeover;

	if (!timer_is_set(&to->timer))
		return;
	to->delay = FIRST_MS / 2;
	on_timer(m, &to->timer);
}

void takeover_again(struct memd *m, u32 id)
{
	struct takeover *to = m->b->takeover;

	if (!timer_is_set(&to->timer))
		return;
	to->heard &= ~members_bit(id);
	to->delay = FIRST_MS;
	timer_set(&m->timers, &to->timer, 1);
}

void takeover_start(struct memd *m)
{
	struct takeover *to = m->b->takeover;
	u32 id;

	/* members know the place of the first view from their command lines */
	if (m->b->opt.role.view < 2)
		return;
	for (id = 1; id <= WEFT_BLADE_MAX; id++)
		to->txn[id] = weft_txn(m->b->opt.id, memd_seq(m));
	to->delay = FIRST_MS;
	timer_set(&m->timers, &to->timer, 1);
}

bool takeover_reply(struct memd *m, const struct weft_msg *msg)
{
	struct takeover *to = m->b->takeover;
	struct weft_call reply;

	if (msg->src > WEFT_BLADE_MAX || !msg->txn || msg->txn != to->txn[msg->src] ||
	    weft_call_unpack(&reply, msg->payload, msg->len))
		return false;
	if (reply.op == WEFT_CALL_TWIN && !reply.err)
		to->heard |= members_bit(msg->src);
	return true;
}

/* --- others' ------------------------------------------------------------------------------- */

enum answer takeover_call(struct memd *m, struct request *q)
{
	struct member *who = &m->b->members->by_id[q->src];

	if (q->call.node != q->src || q->call.addr != q->from || !q->call.life)
		return reply_refuse(q, EINVAL);
	if (q->call.life < who->view || (q->from != who->addr && q->call.life == who->view))
		return reply_refuse(q, ESTALE);
	if (q->from != who->addr)
		members_move(m, q->src);
	who->view = q->call.life;
	return ANSWER;
}

/* --- the end of it --------------------------------------------------------------------------- */

void takeover_settled(struct memd *m)
{
	struct role *role = &m->b->opt.role;
	struct pair_record r = { .there = true, .view = role->view, .primary = true };

	if (!role->taken)
		return;
	role->taken = false;
	role->had_switch = false;
	if (pair_store(m->b->backing->fd, &r))
		backing_fails(m->b->backing);
}
