// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames: DPDK's environment, the pool of buffers, queues.
 */
#include "frame.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_memory.h>

#define DEFAULT_MEGABYTES	384
#define DEFAULT_FRAMES		8192

static struct rte_mempool *pool;

/* Registers are read at random: far fewer misses of the TLB.  A wish only. */
static int use_large_pages(const struct rte_memseg_list *list, void *arg)
{
	(void)arg;
	madvise(list->base_va, list->len, MADV_HUGEPAGE);
	return 0;
}

int frame_init(unsigned int megabytes, unsigned int n_frames, char *err)
{
	/*
	 * No lock file and no shared memory: several switches run on a machine.
	 * Static and writable, because DPDK keeps and changes its arguments.
	 */
	static char args[][20] = {
		"weft-switchd", "--no-huge", "--no-pci", "--no-telemetry",
		"--no-shconf", "--no-hpet", "--log-level", "*:error",
		"-m", "", "--lcores", "",
	};
	static char *argv[RTE_DIM(args) + 1];
	cpu_set_t cpus;
	int cpu = 0;
	unsigned int i;

	if (!megabytes)
		megabytes = DEFAULT_MEGABYTES;
	if (!n_frames)
		n_frames = DEFAULT_FRAMES;

	/*
	 * DPDK binds the thread to one CPU, which must be an allowed one.
	 * Afterwards it may run where it could run before.
	 */
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return fail(err, -errno, "cannot read the CPU affinity");
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &cpus))
		cpu++;
	snprintf(args[9], sizeof(args[9]), "%u", megabytes);
	snprintf(args[11], sizeof(args[11]), "0@%d", cpu);
	for (i = 0; i < RTE_DIM(args); i++)
		argv[i] = args[i];

	if (rte_eal_init(RTE_DIM(args), argv) < 0)
		return fail(err, -rte_errno,
			    "DPDK does not start (%s): are %u MB of memory free?",
			    rte_strerror(rte_errno), megabytes);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	rte_memseg_list_walk(use_large_pages, NULL);

	pool = rte_pktmbuf_pool_create("frames", n_frames, 256, 0,
				       RTE_PKTMBUF_HEADROOM + FRAME_MAX + 64,
				       SOCKET_ID_ANY);
	if (!pool)
		return fail(err, -rte_errno,
			    "no memory for %u frames (%s): give --memory more than %u",
			    n_frames, rte_strerror(rte_errno), megabytes);
	return 0;
}

void frame_exit(void)
{
	rte_mempool_free(pool);
	pool = NULL;
	rte_eal_cleanup();
}

unsigned int frame_pool_free(void)
{
	return rte_mempool_avail_count(pool);
}

struct rte_mbuf *frame_alloc(void)
{
	return rte_pktmbuf_alloc(pool);
}

struct rte_mbuf *frame_from(const void *bytes, size_t len)
{
	struct rte_mbuf *m;

	if (len > FRAME_MAX)
		return NULL;
	m = frame_alloc();
	if (!m)
		return NULL;
	memcpy(frame_data(m), bytes, len);
	frame_set_len(m, (uint32_t)len);
	return m;
}

struct rte_mbuf *frame_copy(const struct rte_mbuf *m)
{
	return frame_from(frame_data(m), frame_len(m));
}

int frameq_init(struct frameq *q, uint32_t size)
{
	memset(q, 0, sizeof(*q));
	q->slot = calloc(size, sizeof(q->slot[0]));
	if (!q->slot)
		return -ENOMEM;
	q->mask = size - 1;
	return 0;
}

void frameq_flush(struct frameq *q)
{
	struct rte_mbuf *m;

	while ((m = frameq_get(q)))
		frame_free(m);
}

void frameq_free(struct frameq *q)
{
	frameq_flush(q);
	free(q->slot);
	memset(q, 0, sizeof(*q));
}
