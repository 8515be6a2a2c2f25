// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lives and ends of a memory blade with a backing file: it is stopped, killed, or its
 * machine ends, at any moment, also while it starts; then what is on the disk is any part
 * of what was written since it was last synced (disk.h).  What was promised is kept
 * (promise.h, compare.h):
 *
 *  - A block has contents that it had: the last ones that were written before a sync of
 *    the file began, or later ones.  Never a mixture, zeros or others, unless they are
 *    later ones.
 *  - If a block is not what it was last the log says that this may be.
 *  - What a call was answered stays: a region that was made, with its number and name, one
 *    that was removed, a size that became smaller, a mode.  No number is given twice.
 *  - What was written home before a SYNC that was answered is there.
 *  - If only the process has ended nothing is lost, and nothing said.
 *
 * The blade is the real one in this process, its calls and write-backs come as messages
 * do.  From time to time, and wherever it waits for the disk, it is looked what would be if
 * the machine ended now: all sets of the uncertain writes if they are few, else the sets that
 * are most likely to be of interest and some at random, whole writes and single sectors.
 * Then one of them is what the next life of the blade begins with (image.h, machine.h).
 *
 *	memd-crash [SEED [STORIES]]	mutants too, unless STORIES are given
 */
#include <sys/wait.h>

#include "cases.h"
#include "compare.h"
#include "disk.h"
#include "image.h"
#include "machine.h"
#include "mutant.h"
#include "node.h"
#include "story.h"
#include "tests/common/argument.h"
#include "tests/common/check.h"
#include "words.h"

#define STORIES		24u
#define MUTANT_STORIES	60u

static void set_up(void)
{
	/* what the check says is in there, too */
	check_at_end = words_print;
	machine_set_up();
	image_set_up();
	words_keep();
	disk_leaves_out = mutant_leaves_out;
}

static void print_counts(void)
{
	const struct compare_counts *c = &compare_counts;
	const struct image_counts *n = &image_counts;

	printf("lives: %u stopped, %u killed, %u with their machine, %u of them as they began\n",
	       story_ended[STOPPED], story_ended[KILLED], story_ended[POWER], story_ended_early);
	printf("%llu images, %llu times of all sets; %llu blocks, %llu older, %llu zeros\n",
	       (unsigned long long)n->images, (unsigned long long)n->full_sets,
	       (unsigned long long)c->blocks, (unsigned long long)c->older,
	       (unsigned long long)c->zeros);
	printf("%llu SYNC, after one in that life %llu images and %llu ends of the machine\n",
	       (unsigned long long)node_syncs, (unsigned long long)n->synced,
	       (unsigned long long)n->ends_synced);
	printf("regions without an answer: %llu there, %llu not; removed without one: %llu there\n",
	       (unsigned long long)c->asked_there, (unsigned long long)c->asked_not,
	       (unsigned long long)c->gone_back);
}

/* Or nothing was tried. */
static void check_counts(void)
{
	const struct compare_counts *c = &compare_counts;
	const struct image_counts *n = &image_counts;

	CHECK(story_ended[STOPPED] && story_ended[KILLED] && story_ended[POWER] &&
	      story_ended_early);
	CHECK(n->full_sets > 100 && c->older > 1000 && c->zeros > 100);
	CHECK(node_syncs > 100 && n->synced > 1000 && n->ends_synced > 10);
	CHECK(c->asked_there > 10 && c->asked_not > 10 && c->gone_back > 10);
}

/* What is wrong with a mutant is found. */
static void try_mutant(enum mutant which, u32 first)
{
	int out[2], status;
	char text[1024] = "", *line;
	ssize_t n, len = 0;
	pid_t child;

	CHECK(!pipe(out));
	fflush(stdout);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		dup2(out[1], STDOUT_FILENO);
		mutant = which;
		story_tell(first, MUTANT_STORIES);
		_exit(0);
	}
	close(out[1]);
	while ((n = read(out[0], text, sizeof(text) - 1)) > 0)
		len = n;
	text[len] = 0;
	close(out[0]);
	CHECK_EQ(waitpid(child, &status, 0), child);
	line = strstr(text, "not ok: ");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1 && line,
	      "not found: %s (status %x)", mutant_names[which], status);
	line[strcspn(line, "\n")] = 0;
	printf("found: %s: %s\n", mutant_names[which], strchr(line + 8, ' ') + 1);
}

int main(int argc, char **argv)
{
	u32 first = argc > 1 ? argument_u32(argv[1]) : 1, i;

	set_up();
	cases_try();
	if (argc > 3)
		mutant = argument_u32(argv[3]);
	story_tell(first, argc > 2 ? argument_u32(argv[2]) : STORIES);
	print_counts();
	if (argc <= 2)
		check_counts();
	for (i = NONE + 1; argc <= 2 && i < MUTANTS; i++)
		try_mutant(i, first);
	return check_result();
}
