// SPDX-License-Identifier: GPL-2.0-only
/* A blade and its partner, see pair.h. */
#include "standby/pair.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/flush.h"
#include "base/log.h"
#include "store/backing.h"
#include "wire.h"

#define PAIR_MAGIC	0x7477696eu
#define TELL_MS		10000	/* between sentences */

/* Magic, sum of the rest, view, flags, boot. */
enum {
	T_MAGIC = 0, T_SUM = 4, T_VIEW = 8, T_FLAGS = 12, T_BOOT = 16,
	T_LEN = T_BOOT + BACKING_BOOT_LEN,
};

#define FLAG_PRIMARY	0x01u
#define FLAG_COMPLETE	0x02u
#define FLAG_TAKEN	0x04u
#define FLAG_SWITCH	0x08u

static char **arguments;
static int n_arguments;

int pair_load(int fd, struct pair_record *r)
{
	u8 t[T_LEN] = { 0 }, boot[BACKING_BOOT_LEN];
	u32 flags;

	memset(r, 0, sizeof(*r));
	if (pread(fd, t, sizeof(t), BACKING_PAIR_AT) < 0)
		return -1;
	if (get_unaligned_be32(t + T_MAGIC) != PAIR_MAGIC ||
	    get_unaligned_be32(t + T_SUM) != weft_wire_psum(t + T_VIEW, T_LEN - T_VIEW))
		return 0;
	flags = get_unaligned_be32(t + T_FLAGS);
	backing_boot(boot);
	*r = (struct pair_record){
		.there = true,
		.view = get_unaligned_be32(t + T_VIEW),
		.primary = flags & FLAG_PRIMARY,
		.complete = flags & FLAG_COMPLETE,
		.taken = flags & FLAG_TAKEN,
		.had_switch = flags & FLAG_SWITCH,
		.here = boot[0] && !memcmp(boot, t + T_BOOT, sizeof(boot)),
	};
	return 0;
}

int pair_store(int fd, struct pair_record *r)
{
	u8 t[T_LEN] = { 0 };

	put_unaligned_be32(PAIR_MAGIC, t + T_MAGIC);
	put_unaligned_be32(r->view, t + T_VIEW);
	put_unaligned_be32((r->primary ? FLAG_PRIMARY : 0) | (r->complete ? FLAG_COMPLETE : 0) |
			   (r->taken ? FLAG_TAKEN : 0) | (r->had_switch ? FLAG_SWITCH : 0),
			   t + T_FLAGS);
	backing_boot(t + T_BOOT);
	put_unaligned_be32(weft_wire_psum(t + T_VIEW, T_LEN - T_VIEW), t + T_SUM);
	if (pwrite(fd, t, sizeof(t), BACKING_PAIR_AT) != sizeof(t))
		return -1;
	r->here = true;
	return flush_part(fd, 0, BACKING_PAGE);
}

bool pair_may_tell(u64 *told)
{
	if (*told && boot_since(*told) < TELL_MS)
		return false;
	*told = boot_ms();
	return true;
}

void pair_arguments(int argc, char **argv)
{
	arguments = argv;
	n_arguments = argc;
}

void pair_begin_anew(void)
{
	char **argv = calloc((size_t)n_arguments + 1, sizeof(*argv));

	if (argv) {
		options_again(n_arguments, arguments, argv);
		execv("/proc/self/exe", argv);
	}
	log_say("cannot begin anew: %s", strerror(errno));
	_exit(2);
}
