// SPDX-License-Identifier: GPL-2.0-only
/* Histories as they were written, see history.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "tools/common/clock.h"

#define LINE_MAX_LEN 512

void *soak_more(void *list, size_t n, size_t *room, size_t size)
{
	if (n == *room) {
		*room = *room ? *room * 2 : 64;
		list = reallocarray(list, *room, size);
		if (!list) {
			fputs("soak-check: out of memory\n", stderr);
			exit(2);
		}
	}
	memset((char *)list + n * size, 0, size);
	return list;
}

void soak_free(struct soak_history *h)
{
	free(h->ops.at);
	free(h->acks.at);
	free(h->errors.at);
	free(h->processes.at);
	free(h->deaths.at);
	free(h->lost.at);
	free(h->faults.at);
	free(h->blades.at);
	free(h->machines.at);
	free(h->unsafe.at);
	free(h->still.at);
	memset(h, 0, sizeof(*h));
}

static struct soak_process *process_of(struct soak_history *h, uint32_t node, uint32_t worker)
{
	size_t i;

	for (i = h->processes.n; i--;)
		if (h->processes.at[i].worker == worker && h->processes.at[i].node == node)
			return &h->processes.at[i];
	return NULL;
}

static bool did(struct soak_history *h, uint32_t node, uint32_t worker, uint64_t t, uint64_t tag)
{
	struct soak_process *p = process_of(h, node, worker);

	if (!p)
		return false;
	if (t > p->last)
		p->last = t;
	if (tag && (uint32_t)tag > p->seq)
		p->seq = (uint32_t)tag;
	return true;
}

static bool good_slot(unsigned int kind, uint32_t slot)
{
	return kind < SOAK_KINDS && slot < soak_about[kind].slots;
}

static bool read_op(struct soak_history *h, const char *line)
{
	struct soak_op o = { 0 };
	unsigned int kind;
	char flags[8];
	int end = 0;

	if (sscanf(line, "o %" SCNu32 " %" SCNu32 " %u %" SCNu32 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %7s%n",
		   &o.node, &o.worker, &kind, &o.slot, &o.t0, &o.ta, &o.tr, &o.t1, &o.seen,
		   &o.prev, &o.mine, flags, &end) != 12 || line[end] || !good_slot(kind, o.slot) || o.node > 32 ||
	    o.t0 > o.ta || o.ta > o.tr || o.tr > o.t1)
		return false;
	o.kind = (uint8_t)kind;
	o.told = strchr(flags, 't');
	o.mixed = strchr(flags, 'm');
	o.inside = strchr(flags, 'i');
	if (!did(h, o.node, o.worker, o.t1, o.mine))
		return false;
	soak_add(h->ops);
	h->ops.at[h->ops.n - 1] = o;
	return true;
}

static bool read_ack(struct soak_history *h, const char *line)
{
	struct soak_ack a = { 0 };
	uint32_t worker;
	int end = 0;

	if (sscanf(line, "s %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNx64
		   "%n", &a.node, &worker, &a.slot, &a.t0, &a.t1, &a.tag, &end) != 6 ||
	    line[end] || !good_slot(SOAK_SYNC, a.slot) || a.t0 > a.t1 ||
	    !did(h, a.node, worker, a.t1, a.tag))
		return false;
	soak_add(h->acks);
	h->acks.at[h->acks.n - 1] = a;
	return true;
}

static bool read_error(struct soak_history *h, const char *line)
{
	struct soak_error e = { 0 };
	unsigned int kind;
	int end = 0;

	if (sscanf(line, "e %" SCNu32 " %" SCNu32 " %u %" SCNu32 " %" SCNu64 " %" SCNu64
		   " %d %15s%n", &e.node, &e.worker, &kind, &e.slot, &e.t0, &e.t1, &e.error,
		   e.where, &end) != 8 || line[end] || kind >= SOAK_KINDS ||
	    !did(h, e.node, e.worker, e.t1, 0))
		return false;
	e.kind = (uint8_t)kind;
	soak_add(h->errors);
	h->errors.at[h->errors.n - 1] = e;
	return true;
}

static bool read_process(struct soak_history *h, const char *line)
{
	uint32_t node, worker, kind;
	struct soak_process *p;
	uint64_t t;
	int end = 0;

	if (*line == 'b') {
		if (sscanf(line, "b %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu64 "%n", &node,
			   &worker, &kind, &t, &end) != 4 || line[end] ||
		    process_of(h, node, worker))
			return false;
		p = soak_add(h->processes);
		p->node = node;
		p->worker = worker;
		p->begun = p->last = t;
		return true;
	}
	if (sscanf(line + 1, "%" SCNu32 " %" SCNu32 " %" SCNu64 "%n", &node, &worker, &t,
		   &end) != 3 || line[1 + end])
		return false;
	p = process_of(h, node, worker);
	/* one that was killed before it had said anything */
	if (!p && *line == 'k')
		return true;
	if (!p || p->well || p->killed)
		return false;
	p->ended = t;
	p->well = *line == 'z';
	p->killed = *line == 'k';
	return true;
}

static struct soak_death *death_of(struct soak_history *h, uint32_t number)
{
	size_t i;

	for (i = 0; i < h->deaths.n; i++)
		if (h->deaths.at[i].number == number)
			return &h->deaths.at[i];
	return NULL;
}

static int kind_named(const char *name)
{
	int i;

	for (i = 0; i < SOAK_KINDS; i++)
		if (!strcmp(name, soak_about[i].name))
			return i;
	return -1;
}

static bool read_fault(struct soak_history *h, const char *line)
{
	struct soak_death d = { 0 }, *of;
	struct soak_lost l = { 0 };
	struct soak_fault f = { 0 };
	struct soak_still still = { 0 };
	struct soak_span s = { 0 };
	char name[64];
	int end = 0;

	switch (*line) {
	case 'D':
		if (sscanf(line, "D %" SCNu32 " %" SCNu32 " %11s %" SCNu64 " %" SCNu64 " %" SCNu64
			   " %" SCNu64 " %" SCNu64 "%n", &d.number, &d.node, d.how, &d.iso, &d.sure,
			   &d.out, &d.heal, &d.back, &end) != 8 || line[end] || death_of(h, d.number))
			return false;
		*soak_add(h->deaths) = d;
		return true;
	case 'L':
		if (sscanf(line, "L %" SCNu32 " %" SCNu64 " %" SCNu64 " %63s%n", &l.death,
			   &l.offset, &l.bytes, name, &end) != 4 || line[end] ||
		    !death_of(h, l.death))
			return false;
		if (kind_named(name) < 0)	/* of somebody else */
			return true;
		l.kind = (uint8_t)kind_named(name);
		*soak_add(h->lost) = l;
		return true;
	case 'Y':
		if (sscanf(line, "Y %" SCNu32 "%n", &l.death, &end) != 1 || line[end])
			return false;
		of = death_of(h, l.death);
		if (of)
			of->listed = true;
		return of;
	case 'F':
		if (sscanf(line, "F %15s %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n", f.name,
			   &f.node, &f.t0, &f.t1, &f.bound, &end) != 5 || line[end] ||
		    f.t0 > f.t1)
			return false;
		f.bound *= NS_IN_MS;
		*soak_add(h->faults) = f;
		return true;
	case 'B':
	case 'M':
	case 'U':
		if (sscanf(line + 1, "%" SCNu64 " %" SCNu64 "%n", &s.t0, &s.t1, &end) != 2 ||
		    line[1 + end] || s.t0 > s.t1)
			return false;
		if (*line == 'B')
			*soak_add(h->blades) = s;
		else if (*line == 'M')
			*soak_add(h->machines) = s;
		else
			*soak_add(h->unsafe) = s;
		return true;
	case 'P':
		if (sscanf(line, "P %" SCNu64 " %" SCNu64 " %" SCNu64 "%n", &still.t0, &still.t1,
			   &still.more, &end) != 3 || line[end] || still.t0 > still.t1)
			return false;
		still.more *= NS_IN_MS;
		*soak_add(h->still) = still;
		return true;
	case 'O':
		return sscanf(line, "O %" SCNu64 "%n", &h->over, &end) == 1 && !line[end];
	}
	return false;
}

/* What a node wrote last before it died may be cut off: then it is not @whole. */
int soak_line(struct soak_history *h, const char *line, bool whole)
{
	bool good;

	switch (*line) {
	case 'o':
		good = read_op(h, line);
		break;
	case 's':
		good = read_ack(h, line);
		break;
	case 'e':
		good = read_error(h, line);
		break;
	case 'b': case 'z': case 'k':
		good = read_process(h, line);
		break;
	default:
		good = read_fault(h, line);
	}
	if (good)
		return 0;
	if (!whole) {
		h->cut++;
		return 0;
	}
	fprintf(stderr, "soak-check: this line makes no sense: %s\n", line);
	return -EINVAL;
}

int soak_read(struct soak_history *h, const char *path)
{
	char line[LINE_MAX_LEN];
	FILE *f = fopen(path, "r");
	int error = 0;

	if (!f) {
		fprintf(stderr, "soak-check: %s: %s\n", path, strerror(errno));
		return -errno;
	}
	while (!error && fgets(line, sizeof(line), f)) {
		size_t len = strcspn(line, "\r\n");
		bool whole = line[len];

		line[len] = 0;
		/* of weft-rack, when a guest ends */
		if (!strncmp(line, "weft-rack", 9))
			continue;
		error = soak_line(h, line, whole);
	}
	fclose(f);
	return error;
}
