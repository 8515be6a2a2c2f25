// SPDX-License-Identifier: GPL-2.0-only
/* Events that programs of all nodes wait for; see eventcount.h. */
#include <linux/hrtimer.h>
#include <linux/sched/signal.h>

#include "locks/eventcount.h"
#include "locks/step.h"
#include "locks/wait.h"
#include "locks/word.h"
#include "net/outbox.h"

int weft_eventcount_read(struct weft_klock *kl, const struct weft_holder *h,
			 const struct weft_patience *patience, u32 *count)
{
	bool came;
	int err;

	if (!READ_ONCE(weft_lock_tuning.keep))
		return -EOPNOTSUPP;
	/* first: if the lock is lost from here on this count is an old one */
	*count = (u32)atomic_read_acquire(weft_word_event(kl));
	if (READ_ONCE(kl->here))
		return 0;
	err = weft_klock_acquire(kl, h, patience, &came);
	return err ? err : weft_klock_release(kl, h);
}

void weft_eventcount_count(struct weft_klock *kl)
{
	spin_lock_bh(&kl->lock);
	if (!kl->uncounted)
		atomic_inc(weft_word_waiting(kl));
	kl->uncounted = true;
	spin_unlock_bh(&kl->lock);
}

int weft_eventcount_await(struct weft_klock *kl, u32 count, const struct weft_patience *p)
{
	ktime_t deadline = p->deadline;
	DEFINE_WAIT(wait);
	int err = 0;

	for (;;) {
		prepare_to_wait(&kl->awaiting, &wait, TASK_INTERRUPTIBLE);
		if ((u32)atomic_read(weft_word_event(kl)) != count)
			break;
		/* as futex(): what has a deadline is not begun anew after a handler */
		err = p->until ? -ERESTARTNOHAND : -ERESTARTSYS;
		if (signal_pending(current))
			break;
		err = -ETIMEDOUT;
		if (!schedule_hrtimeout_range_clock(p->until ? &deadline : NULL,
						    current->timer_slack_ns, HRTIMER_MODE_ABS,
						    p->until ? p->clock : CLOCK_MONOTONIC))
			break;
		err = 0;
	}
	finish_wait(&kl->awaiting, &wait);
	return err;
}

void weft_eventcount_advance(struct weft_klock *kl)
{
	struct weft_outbox outbox;

	weft_klock_begin(kl, &outbox);
	kl->advance = true;
	weft_klock_event(kl);
	weft_klock_end(kl, &outbox);
}
