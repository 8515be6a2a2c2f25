/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What RDMA for the distribution's user-mode kernel (get-uml.sh) is compiled with: that
 * kernel lacks two things that RDMA would have made it have.
 *
 * lib/irq_poll.c, built into a kernel, has a softirq of its own.  As a module it gets a
 * tasklet; these kernels have one processor, and so one queue.
 *
 * Memory of other devices (dma_buf) cannot be registered; what would be done with it when it
 * is given back is nothing.
 */
#ifdef WEFT_IRQ_POLL

#include <linux/interrupt.h>
#include <linux/module.h>

MODULE_LICENSE("GPL");

static void irq_poll_softirq(struct softirq_action *action);

static void weft_irq_poll(struct tasklet_struct *tasklet)
{
	irq_poll_softirq(NULL);
}

static DECLARE_TASKLET(weft_irq_poll_tasklet, weft_irq_poll);

#define open_softirq(number, action)	do { } while (0)
#define raise_softirq_irqoff(number)	tasklet_schedule(&weft_irq_poll_tasklet)
#define __raise_softirq_irqoff(number)	tasklet_schedule(&weft_irq_poll_tasklet)

#else

#include <rdma/ib_umem.h>

#define ib_umem_dmabuf_release(umem)	((void)(umem))

#endif
