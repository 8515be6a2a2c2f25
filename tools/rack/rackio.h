/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of weft-rackio: one program, one main function for each of its uses.
 */
#ifndef WEFT_RACK_RACKIO_H
#define WEFT_RACK_RACKIO_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Exit status of weft-rack when it is the rack that failed: the guest is gone, or
 * its kernel complained. Below 126-165, which say what became of a command.
 */
#define RACK_TROUBLE	125

int agent_main(int argc, char **argv);
int keep_main(int argc, char **argv);
int stop_main(int argc, char **argv);
int run_main(int argc, char **argv);
int scan_main(int argc, char **argv);
int tsc_main(int argc, char **argv);
int apart_main(int argc, char **argv);

pid_t lock_holder(const char *path);
int trouble_scan(const char *path, const char *name, long long from);

#endif
