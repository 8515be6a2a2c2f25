// SPDX-License-Identifier: GPL-2.0-only
/*
 * The main() of the tests of a conformance suite, which call themselves test_main().
 *
 * With WEFT_PLACE=FILE in the environment, FILE being a new region, all that the
 * test's own code keeps in variables is moved into it before the test begins: static
 * ones, as the region is mapped over the program's data, and those of the first
 * thread's functions, which run on a stack in the region.  So locks that no test
 * would ever put into a file are inside a region.  The test must not fork: parent and
 * child would share what is theirs.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define PLACE_STACK	(1u << 20)

#pragma GCC diagnostic ignored "-Wmissing-declarations"

int test_main(int argc, char **argv);

/* Where the program's data is, in whole pages. */
struct place {
	uintptr_t begin;
	uintptr_t end;
};

static void give_up(const char *what)
{
	perror(what);
	_exit(99);
}

static uintptr_t page_up(uintptr_t address)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	return (address + page - 1) & ~(page - 1);
}

/* Of the program itself, which comes first: what may be written, but no more is it. */
static int find_data(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct place *data = arg;
	uintptr_t read_only = 0, begin;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];

		begin = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_GNU_RELRO)
			read_only = begin + p->p_memsz;
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
			continue;
		data->begin = begin;
		data->end = page_up(begin + p->p_memsz);
	}
	if (read_only > data->begin)
		data->begin = read_only;
	data->begin = page_up(data->begin - (uintptr_t)sysconf(_SC_PAGESIZE) + 1);
	return 1;
}

/* Maps the region over the data, with what is in it.  Nothing static may be used. */
static void move_data(const struct place *data, int fd)
{
	size_t size = data->end - data->begin;
	void *kept = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (kept == MAP_FAILED)
		give_up("mmap");
	memcpy(kept, (void *)data->begin, size);
	if (pwrite(fd, kept, size, 0) != (ssize_t)size)
		give_up("pwrite");
	if (mmap((void *)data->begin, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 fd, 0) == MAP_FAILED)
		give_up("mmap");
	munmap(kept, size);
}

struct call {
	int argc;
	char **argv;
	int result;
	ucontext_t before;
	ucontext_t test;
};

/* makecontext() passes nothing but ints. */
static struct call *call;

static void run(void)
{
	call->result = test_main(call->argc, call->argv);
}

static int new_region(const char *name, size_t size)
{
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)size))
		give_up(name);
	return fd;
}

static void *map_region(int fd, size_t size, size_t offset)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	if (p == MAP_FAILED)
		give_up("mmap");
	return p;
}

int main(int argc, char **argv)
{
	const char *name = getenv("WEFT_PLACE"), *beside = getenv("WEFT_BESIDE");
	struct call here = { .argc = argc, .argv = argv };
	struct place data = { 0, 0 };
	void *stack;
	size_t size;
	int fd;

	if (!name) {
		if (beside) {
			fd = new_region(beside, PLACE_STACK);
			map_region(fd, PLACE_STACK, 0);
			close(fd);
			unlink(beside);
		}
		return test_main(argc, argv);
	}
	dl_iterate_phdr(find_data, &data);
	size = data.end - data.begin;
	fd = new_region(name, size + PLACE_STACK);
	move_data(&data, fd);
	stack = map_region(fd, PLACE_STACK, size);
	close(fd);
	unlink(name);
	call = &here;
	if (getcontext(&here.test))
		give_up("getcontext");
	here.test.uc_link = &here.before;
	here.test.uc_stack.ss_sp = stack;
	here.test.uc_stack.ss_size = PLACE_STACK;
	makecontext(&here.test, run, 0);
	if (swapcontext(&here.before, &here.test))
		give_up("swapcontext");
	return here.result;
}
