// SPDX-License-Identifier: GPL-2.0-only
/*
 * Histories as files: one log a thread, one image a node, each with a head and,
 * at its end, a sum over all of it, so that a file that was cut or damaged on
 * its way is not taken for a short run.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "history.h"

static uint64_t sum_of(uint64_t sum, const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t i;

	for (i = 0; i < len; i++)
		sum = (sum ^ p[i]) * 0x100000001b3ull;
	return sum;
}

/**
 * history_write() - write a log or an image
 * @path:	file to create
 * @head:	its head
 * @data:	records or bytes
 * @len:	bytes of @data
 *
 * Returns 0, or -1 with errno set.
 */
int history_write(const char *path, const struct history_head *head,
		  const void *data, size_t len)
{
	uint64_t sum = sum_of(sum_of(HISTORY_MAGIC, head, sizeof(*head)), data, len);
	FILE *f = fopen(path, "w");
	bool ok;

	if (!f)
		return -1;
	ok = fwrite(head, sizeof(*head), 1, f) == 1 &&
		(!len || fwrite(data, len, 1, f) == 1) &&
		fwrite(&sum, sizeof(sum), 1, f) == 1;
	if (fclose(f) || !ok)
		return -1;
	return 0;
}

static char problem[512];

#define REFUSE(...) (snprintf(problem, sizeof(problem), __VA_ARGS__), problem)

/* The head must agree with the files before it. */
static const char *take_head(struct history *h, const char *path,
			     const struct history_head *head, bool first)
{
	if (head->magic != HISTORY_MAGIC)
		return REFUSE("%s: not a history file", path);
	if (first) {
		h->nodes = head->nodes;
		h->threads = head->threads;
		h->pages = head->pages;
		h->run = head->run;
	}
	if (h->nodes != head->nodes || h->threads != head->threads ||
	    h->pages != head->pages || h->run != head->run)
		return REFUSE("%s: from another run than the files before it", path);
	if (!h->threads || h->threads > HISTORY_THREADS || !h->nodes ||
	    h->nodes > h->threads || head->node < 1 || head->node > h->nodes ||
	    head->thread >= h->threads || !h->pages ||
	    h->pages > UINT32_MAX / HISTORY_PAGE)
		return REFUSE("%s: numbers in its head cannot be", path);
	return NULL;
}

static const char *read_one(struct history *h, const char *path, bool first)
{
	struct history_head head;
	const char *wrong;
	struct stat st;
	uint64_t sum, len;
	void *data;
	FILE *f;

	f = fopen(path, "r");
	if (!f || fstat(fileno(f), &st)) {
		wrong = REFUSE("%s: %s", path, strerror(errno));
		if (f)
			fclose(f);
		return wrong;
	}
	if (fread(&head, sizeof(head), 1, f) != 1) {
		fclose(f);
		return REFUSE("%s: too short to be a history", path);
	}
	wrong = take_head(h, path, &head, first);
	len = st.st_size - sizeof(head) - sizeof(sum);
	if (!wrong && ((uint64_t)st.st_size < sizeof(head) + sizeof(sum) ||
		       head.count != (head.type == HISTORY_LOG ?
				      len / sizeof(struct history_record) : len) ||
		       (head.type == HISTORY_LOG &&
			len % sizeof(struct history_record)) ||
		       (head.type == HISTORY_IMAGE &&
			len != (uint64_t)h->pages * HISTORY_PAGE)))
		wrong = REFUSE("%s: its length is wrong, it was cut", path);
	if (wrong) {
		fclose(f);
		return wrong;
	}
	data = malloc(len + 1);
	if (!data || (len && fread(data, len, 1, f) != 1) ||
	    fread(&sum, sizeof(sum), 1, f) != 1) {
		fclose(f);
		free(data);
		return REFUSE("%s: cannot be read: %s", path, strerror(errno));
	}
	fclose(f);
	if (sum != sum_of(sum_of(HISTORY_MAGIC, &head, sizeof(head)), data, len))
		wrong = REFUSE("%s: its sum is wrong, it is damaged", path);
	else if (head.type == HISTORY_LOG && !h->log[head.thread]) {
		h->log[head.thread] = data;
		h->count[head.thread] = head.count;
		h->node_of[head.thread] = head.node;
		return NULL;
	} else if (head.type == HISTORY_IMAGE && !h->image[head.node - 1]) {
		h->image[head.node - 1] = data;
		return NULL;
	} else
		wrong = REFUSE("%s: the same log or image was there before", path);
	free(data);
	return wrong;
}

/**
 * history_read() - read all files of a run
 * @h:		filled
 * @files:	number of files
 * @paths:	their names
 *
 * Returns NULL, or what is wrong: the set must be complete.
 */
const char *history_read(struct history *h, int files, char **paths)
{
	const char *wrong;
	uint32_t i;
	int k;

	memset(h, 0, sizeof(*h));
	for (k = 0; k < files; k++) {
		wrong = read_one(h, paths[k], k == 0);
		if (wrong)
			return wrong;
	}
	for (i = 0; i < h->threads; i++)
		if (!h->log[i])
			return REFUSE("the log of thread %u of %u is missing", i,
				      h->threads);
	for (i = 0; i < h->nodes; i++)
		if (!h->image[i])
			return REFUSE("the final image of node %u of %u is missing",
				      i + 1, h->nodes);
	return files ? NULL : "no files were given";
}

/**
 * history_free() - free what a history points to
 * @h:		the history
 */
void history_free(struct history *h)
{
	uint32_t i;

	for (i = 0; i < HISTORY_THREADS; i++) {
		free(h->log[i]);
		free(h->image[i]);
	}
	memset(h, 0, sizeof(*h));
}
