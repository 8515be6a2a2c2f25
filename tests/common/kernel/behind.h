/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What stands behind the played kernel: the C library and the kernel themselves, not
 * the preload library, which is in the middle of something when it calls us.
 */
#ifndef WEFT_TESTS_COMMON_KERNEL_BEHIND_H
#define WEFT_TESTS_COMMON_KERNEL_BEHIND_H

#include <pthread.h>
#include <sys/types.h>

/* The function of the C library that is called @name. */
void *behind(const char *name);

int behind_lock(pthread_mutex_t *mutex);
int behind_unlock(pthread_mutex_t *mutex);
int behind_recover(pthread_mutex_t *mutex);
int behind_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);

void *behind_mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset);

/* Zeroed memory, not malloc()'s, which is the program's; NULL: none. */
void *behind_memory(size_t size);
int behind_open(const char *name, int flags);

#endif /* WEFT_TESTS_COMMON_KERNEL_BEHIND_H */
