// SPDX-License-Identifier: GPL-2.0-only
/* The machine that the blade runs on, see machine.h. */
#include "machine.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "chance.h"
#include "promise.h"
#include "tests/common/check.h"
#include "tools/memd/store/backing.h"

static struct disk one, other;
static struct disk next_disk;		/* what is left, if @machine_ends, */
static struct promises next_promised;	/* and what was promised then */
static char boot_path[32];
static int boot_fd;
static u32 boots;

struct disk *machine_disk = &one;
u32 machine_disk_speed;
bool machine_ends;

static void set_boot(u32 n)
{
	char text[64];

	snprintf(text, sizeof(text), "%08u-1111-1111-1111-111111111111\n", n);
	CHECK_EQ(syscall(SYS_pwrite64, boot_fd, text, 37, 0), 37);
}

void machine_set_up(void)
{
	disk_make(&one);
	disk_make(&other);
	disk_make(&next_disk);
	boot_fd = memfd_create("boot", MFD_CLOEXEC);
	CHECK(boot_fd >= 0);
	snprintf(boot_path, sizeof(boot_path), "/proc/self/fd/%d", boot_fd);
	backing_boot_path = boot_path;
}

void machine_begin(void)
{
	disk_empty(&one);
	disk_empty(&other);
	machine_disk = &one;
	disk_recorded = machine_disk;
	boots = 1;
	set_boot(boots);
	machine_ends = false;
}

void machine_finish(void)
{
	disk_recorded = NULL;
}

void machine_boot(void)
{
	set_boot(++boots);
}

void machine_show_next_boot(bool next)
{
	set_boot(boots + next);
}

void machine_disk_works(void)
{
	u32 i;

	for (i = 0; i < DISK_TASKS; i++)
		if (disk_has_work(i) && chance_below(1000) < machine_disk_speed)
			disk_work(i);
}

void machine_choose_end(const struct disk *left)
{
	disk_copy(left, &next_disk);
	next_promised = promised;
	machine_ends = true;
}

void machine_forget_end(void)
{
	disk_empty(&next_disk);
	machine_ends = false;
}

void machine_end(void)
{
	struct disk *unused = machine_disk == &one ? &other : &one;

	machine_boot();
	disk_copy(&next_disk, unused);
	disk_load(unused);
	disk_empty(machine_disk);
	machine_disk = unused;
	disk_recorded = machine_disk;
	disk_forget_mappings();
	promised = next_promised;
	promised.unread = true;
	machine_ends = false;
}
