# SPDX-License-Identifier: GPL-2.0-only
#
# weft: one coherent memory for the machines of a rack.
#
#	make			everything: programs and kernel module
#	make uml		the module for racks of user-mode kernels (weft-rack up --accel uml)
#	make uml-rdma		RDMA for those racks (--rdma)
#	make uml-kernel		a user-mode kernel of our own, compiled of sources, and the module for it
#	make demo		boot a rack, run the main job on it, check the result
#	make test		build, then run the tests that each promise stands on: a quarter of an
#				hour ($T selects: make test T=unit; $J at a time)
#	make test-long		all tests, in every form (tests/list-long): hours
#	make check		static checks: sparse, checkpatch, clang, shellcheck, ...
#	make bench		measure, compare, plot
#	make bench-locks	the same for locks, against others
#	make debug-kernel	a kernel with KASAN and lockdep for racks, built from sources
#	make debug-kernel-uml	the same for racks of user-mode kernels
#	make p4			compile the P4 program anew (needs p4c-dpdk: P4C=)
#	make install		also uninstall; DESTDIR, PREFIX, KVER
#	make deb		Debian packages, in build/deb
#	make clean
#	make deps		only install the packages that the rest needs
#
# KVER is the kernel version to build the module for: the newest whose headers
# are here unless told (the running kernel need not be the racks').  KDIR is
# where its headers are, KCC its compiler if not the one they name.  B is where
# everything built goes.  CC=clang works.

B		?= build
PREFIX		?= /usr/local
DESTDIR		?=
CC		:= $(if $(filter default,$(origin CC)),gcc,$(CC))
CLANG		?= clang
P4C		?= p4c-dpdk
# Warnings are errors; WERROR= for compilers that we have not met.
WERROR		?= -Werror

VERSION		:= $(shell sed -n 's/^.define WEFT_VERSION[[:blank:]]*"\(.*\)"$$/\1/p' \
		   uapi/weft_version.h)

.DEFAULT_GOAL	:= all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS	+= --no-builtin-rules

# --- Packages ---------------------------------------------------------------
#
# Read as a makefile, so that it is brought up to date before anything below
# is looked at: pkg-config and the kernel headers are needed to go on.

goals		:= $(or $(MAKECMDGOALS),all)
package_groups	:= compile build \
		   $(if $(filter demo test test-long test-programs long-programs uml uml-rdma uml-kernel,$(goals)),rack) \
		   $(if $(filter test test-long,$(goals)),test) \
		   $(if $(filter test-long long-programs fuzz,$(goals)),long) \
		   $(if $(filter check,$(goals)),check) \
		   $(if $(filter debug-kernel debug-kernel-uml,$(goals)),rack debug) \
		   $(if $(filter bench bench-locks,$(goals)),rack bench) \
		   $(if $(filter deb,$(goals)),deb)
ifneq ($(filter deps,$(goals)),)
package_groups	:= compile build rack test long check debug bench deb
endif
package_groups	:= $(sort $(package_groups))

ifneq ($(filter-out clean help uninstall p4,$(goals)),)
ifndef WEFT_PACKAGES_DONE
$(shell mkdir -p $(B) && test -e $(B)/packages.mk || echo '# see Makefile' >$(B)/packages.mk)
include $(B)/packages.mk
# Touched only if there was something to do: then make starts over.  It runs
# this even when only asked what it would do; it costs 0.1 s.  Installing packages keeps less
# than one processor busy: for what takes long, root, who is not asked for a password, has
# programs compiled beside it as soon as there is what they need.
$(B)/packages.mk: FORCE
	@+test -z "`tools/packages --missing $(package_groups)`" || { \
		if test -n "$(filter demo test test-long,$(goals))" && test `id -u` = 0; then \
			tools/packages compile && WEFT_PACKAGES_DONE=1 $(build_all) \
				ahead='$(goals)' later_groups='$(package_groups)' \
				packages-later headers-ahead rack-ahead programs-ahead rest-ahead; \
		else \
			tools/packages $(package_groups); \
		fi && touch $@; }
endif
endif
export WEFT_PACKAGES_DONE := 1

# --- Programs ---------------------------------------------------------------

# = and not := for what pkg-config says: only the commands that need it ask.
CFLAGS		?= -O2 -g
all_cflags	= -std=gnu11 -D_GNU_SOURCE -Wall -Wextra $(WERROR) \
		  -Iuapi -Ikmod/core -Itools/directory -I. $(layered_cflags) $(CFLAGS) $(cflags_of) -MMD -MP
cflags_of	=
ldlibs_of	= -pthread

dpdk_cflags	= $(shell pkg-config --cflags libdpdk)
dpdk_libs	= $(shell pkg-config --libs libdpdk)
# The blade's card: what of it a program has is linked with it.
rdma_libs	= -Wl,--push-state,--as-needed $(shell pkg-config --libs librdmacm libibverbs) \
		  -Wl,--pop-state
weftctl_pkgs	= libnl-genl-3.0	# and libkmod, loaded when it is needed

define newline


endef
quiet		:= $(if $(V),,@)
say		= $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

# Programs whose files are in folders, one a layer: these name headers by "FOLDER/FILE.h", and so
# do the tests of such a program.
layered		:= tools/memd tools/weftctl
folders		= $(1) $(addsuffix /*,$(filter $(layered),$(1)))
layered_cflags	= $(addprefix -I,$(foreach d,$(layered),\
		  $(if $(filter $d/% $(d:tools/%=tests/%)/%,$<),$d)))

# objects DIR...: the objects of the C files in the directories; of those with
# a main(); of the others, which are what can be linked elsewhere.
sources		= $(sort $(wildcard $(addsuffix /*.c,$(call folders,$(1)))))
objects		= $(patsubst %.c,$(B)/obj/%.o,$(call sources,$(1)))
mains		:= $(shell grep -ls '^\(int \)\?main\>' $(call sources,tools/* tools/*/* tests/* \
		   tests/memd/crash tests/memd/land))
main_objects	= $(filter $(mains:%.c=$(B)/obj/%.o),$(call objects,$(1)))
part_objects	= $(filter-out $(mains:%.c=$(B)/obj/%.o) $(own_objects),$(call objects,$(1)))

# Those of a program in a folder below that of others, which are not to be linked with them:
# some have calls of libc in the place of libc.
own_objects	:= $(call objects,tests/memd/crash tests/memd/land tests/rack/preload)

# The protocol, which the kernel module has as well, and the directory, which it has not.
core_objects	:= $(call objects,kmod/core tools/directory)
core_lib	:= $(B)/lib/libweftcore.a
# What of it makes tags needs that; what does not is not linked with it.
core_libs	= -Wl,--push-state,--as-needed $(shell pkg-config --libs libsodium) -Wl,--pop-state
# What programs have in common: tools/common, whose headers say what.
common_objects	:= $(call objects,tools/common)
common_lib	:= $(B)/lib/libweftcommon.a
# What tests/list needs, and what only tests/list-long does.
programs	:=
test_programs	:=
long_programs	:=

# program FILE, OBJECTS, LIST: link the objects, the core and what is common to FILE, a
# program that belongs to the list programs, test_programs or long_programs.
define program
$(1): $(2) $(core_lib) $(common_lib)
all_objects += $(2)
$(3) += $(1)
endef

# one_program DIRECTORY, FILE, MORE OBJECTS, LIST: all of a directory and of
# those below is one program.
one_program	= $(if $(call main_objects,$(1)),$(eval \
		  $(call program,$(2),$(call objects,$(1) $(1)/*) $(3),$(4))))

# each_program DIRECTORY, PREFIX, MORE OBJECTS, LIST: each file with a main() is
# a program, the other files are linked into each.
each_program	= $(foreach o,$(call main_objects,$(1)),$(eval \
		  $(call program,$(2)$(notdir $(o:.o=)),$o \
		  $(call part_objects,$(1) $(1)/*) $(3),$(4))))

# What people type.
$(call one_program,tools/memd,$(B)/bin/weft-memd,,programs)
$(call one_program,tools/switchd,$(B)/bin/weft-switchd,,programs)
$(call one_program,tools/weftctl,$(B)/bin/weftctl,,programs)
$(call each_program,tools/rack,$(B)/bin/weft-,,programs)
$(call each_program,tools/demo,$(B)/bin/weft-,,programs)
$(call one_program,tools/kvs,$(B)/bin/weft-kvs,$(call objects,tools/libweft),programs)
# Two programs: tools/bench alone is one, too.
$(eval $(call program,$(B)/bin/weft-bench,$(call objects,tools/bench),test_programs))
# With what weftctl has to ask the kernel.
netlink_objects	:= $(patsubst %,$(B)/obj/tools/weftctl/%.o,base/fail base/output base/rack base/text \
		   $(addprefix kernel/,genl kernel module mountpoint request))
$(call one_program,tools/bench/locks,$(B)/bin/weft-lockbench,\
	$(call objects,tools/libweft) $(netlink_objects),test_programs)
$(call each_program,tests/stress,$(B)/bin/weft-,,test_programs)
$(call one_program,tests/litmus,$(B)/bin/weft-litmus,,test_programs)
$(call one_program,tests/explore,$(B)/bin/weft-explore,,test_programs)
$(call one_program,tests/netlink,$(B)/tests/netlink,,long_programs)
$(call one_program,tests/memd/crash,$(B)/tests/memd-crash,$(call part_objects,tools/memd),\
	test_programs)
$(call one_program,tests/memd/land,$(B)/tests/memd-land,,long_programs)
$(call one_program,tests/diff,$(B)/bin/weft-diff,$(call part_objects,tools/switchd),test_programs)

# What else is in tests/DIRECTORY: build/tests/DIRECTORY-FILE, with the parts
# of tools/DIRECTORY, if there is one.
test_dirs	:= $(filter-out stress litmus explore netlink diff fuzz unit preload posix conformance\
		kvs bench-locks libweft soak,\
		   $(patsubst tests/%/,%,$(sort $(dir $(wildcard tests/*/*.c)))))
$(foreach d,$(test_dirs),\
	$(call each_program,tests/$d,$(B)/tests/$d-,$(call part_objects,tools/$d),test_programs))

# The kernel's part of locks, played.
fake_objects	:= $(call objects,tests/common/kernel)
$(call each_program,tests/libweft,$(B)/tests/libweft-,$(call part_objects,tools/libweft) \
	$(fake_objects),test_programs)
# On a rack, with what is preloaded before it.
$(call each_program,tests/soak,$(B)/tests/soak-,$(call part_objects,tools/libweft),test_programs)
$(call each_program,tests/kvs,$(B)/tests/kvs-,$(call part_objects,tools/kvs tools/libweft) \
	$(fake_objects),test_programs)
kvs_programs	:= $(B)/bin/weft-kvs $(filter $(B)/tests/kvs-%,$(test_programs))
$(kvs_programs): ldlibs_of = -lm -pthread

# Their locks are those of tools/bench/locks, one of them libweft's, on a kernel that
# is played.
$(call each_program,tests/bench-locks,$(B)/tests/bench-locks-,\
	$(call part_objects,tools/bench/locks tools/libweft) $(netlink_objects) \
	$(fake_objects),long_programs)

# --- Libraries --------------------------------------------------------------
#
# libweft: of ordinary objects for libweft.a, of others for what is shared.  Their
# symbols are hidden unless a header says otherwise.  libweft-preload.so contains
# libweft, so that a program which is linked with libweft uses the same one.

lib_soname	:= libweft.so.0
lib_objects	:= $(call objects,tools/libweft)
lib_pic		:= $(lib_objects:$(B)/obj/%=$(B)/pic/%)
preload_pic	:= $(patsubst $(B)/obj/%,$(B)/pic/%,$(call objects,tools/preload))
libraries	:= $(B)/lib/libweft.a $(B)/lib/$(lib_soname) $(B)/lib/libweft.so \
		   $(B)/lib/libweft-preload.so $(B)/lib/libweft.pc
all_objects	+= $(lib_objects) $(lib_pic) $(preload_pic)

# The preload library's tests are programs that know nothing of it; where there is
# no rack, the kernel's part is played by what is preloaded behind it.
$(call each_program,tests/preload,$(B)/tests/preload-,,test_programs)
$(call one_program,tests/posix,$(B)/tests/preload-posix,,test_programs)
fake_pic	:= $(fake_objects:$(B)/obj/%=$(B)/pic/%)
kvs_locks_pic	:= $(B)/pic/tests/kvs/none.o
mapping_pic	:= $(B)/pic/tests/preload/allocator/mapping.o
baddisk_pic	:= $(B)/pic/tests/system/preload/baddisk.o
xsave_pic	:= $(B)/pic/tests/rack/preload/xsave.o
# Locks of weft-lockbench for weft-kvs: its sources, without those that measure.
bench_locks_pic	:= $(patsubst $(B)/obj/%,$(B)/pic/%,$(call objects,tools/bench/kvs)) \
		   $(patsubst %,$(B)/pic/tools/bench/locks/%.o,\
		   central mcs pernode cohort service address)
test_libraries	:= $(B)/tests/libweft-fake.so $(B)/tests/kvs-locks.so $(B)/tests/preload-mapping.so \
		   $(B)/tests/system-baddisk.so $(B)/tests/rack-xsave.so $(B)/lib/kvs-bench-locks.so
all_objects	+= $(fake_pic) $(kvs_locks_pic) $(mapping_pic) $(baddisk_pic) $(xsave_pic) $(bench_locks_pic)

$(lib_objects) $(lib_pic) $(preload_pic): cflags_of = -fvisibility=hidden

$(B)/lib/libweft.a: $(lib_objects)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(quiet)$(AR) rcs $@ $^

# Never unloaded: threads that end later run our destructor.
$(B)/lib/$(lib_soname): $(lib_pic)
$(B)/lib/libweft-preload.so: $(lib_pic) $(preload_pic)
$(B)/tests/libweft-fake.so: $(fake_pic)
$(B)/tests/kvs-locks.so: $(kvs_locks_pic)
$(B)/tests/preload-mapping.so: $(mapping_pic)
$(B)/tests/system-baddisk.so: $(baddisk_pic)
$(B)/tests/rack-xsave.so: $(xsave_pic)
$(B)/lib/kvs-bench-locks.so: $(bench_locks_pic) $(common_lib)
$(B)/lib/$(lib_soname) $(B)/lib/libweft-preload.so $(test_libraries):
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-z,defs \
		-Wl,-z,nodelete -Wl,-z,now -o $@ $^ -pthread

$(B)/lib/libweft.so: $(B)/lib/$(lib_soname)
	$(quiet)ln -sf $(lib_soname) $@

# Anew each time: PREFIX may be another one than the last time.
$(B)/lib/libweft.pc: tools/libweft/libweft.pc.in FORCE
	@mkdir -p $(@D)
	$(quiet)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIB_DIR@|$(LIB_DIR)|' \
		-e 's|@VERSION@|$(VERSION)|' $< >$@

$(B)/pic/%.o: %.c Makefile
	$(call say,CC,$< (shared))
	@mkdir -p $(@D)
	$(quiet)$(CC) $(all_cflags) -fPIC -c -o $@ $<

# What DPDK's headers and libraries touch.
$(call objects,tools/switchd tests/diff tests/switchd): cflags_of = $(dpdk_cflags) -Itools/switchd
# Which P4 programs are for it.
switchd_interface = $(dpdk_cflags) -Itools/switchd \
	-DWEFT_INTERFACE='"$(shell p4/check-generated --interface)"'
$(B)/obj/tools/switchd/interface.o: cflags_of = $(switchd_interface)
$(B)/bin/weft-switchd $(B)/bin/weft-diff $(filter $(B)/tests/switchd-%,$(test_programs)): \
	ldlibs_of = $(dpdk_libs) -pthread

$(call objects,tools/weftctl): cflags_of = $(shell pkg-config --cflags $(weftctl_pkgs) libkmod)
$(B)/obj/tools/bench/locks/kernel.o: cflags_of = -Itools/weftctl
$(B)/bin/weftctl $(B)/bin/weft-lockbench $(filter $(B)/tests/bench-locks-%,$(long_programs)): \
	ldlibs_of = $(shell pkg-config --libs $(weftctl_pkgs)) -pthread

memd_programs	:= $(B)/bin/weft-memd $(filter $(B)/tests/memd-%,$(test_programs) $(long_programs))
$(memd_programs): ldlibs_of = $(rdma_libs) -pthread

$(B)/tests/netlink: ldlibs_of = $(shell pkg-config --libs libmnl)

# Until here all of them are linked alike.
$(sort $(programs) $(test_programs) $(long_programs)):
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(common_lib) $(core_lib) \
		$(core_libs) $(ldlibs_of)

# Shared libraries may have parts of it, which are then not for others to call.
$(common_objects): cflags_of = -fPIC -fvisibility=hidden
$(core_lib): $(core_objects)
$(common_lib): $(common_objects)
$(core_lib) $(common_lib):
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(quiet)$(AR) rcs $@ $^

$(B)/obj/%.o: %.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(all_cflags) -c -o $@ $<

# Unit tests run with the sanitizers: build/tests/unit-FILE, with a core of
# their own, and what is common, stopping at the first report.  -O1 compiles in two thirds
# of the time, takes away none of what the sanitizers look at, and runs as fast; -g1 says
# all that their reports name, in four fifths of what is left.
san_cflags	:= -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all \
		   -fno-omit-frame-pointer
san_core	:= $(patsubst $(B)/obj/%,$(B)/san/%,$(core_objects) $(common_objects))
unit_objects	:= $(patsubst %.c,$(B)/san/%.o,$(call sources,tests/unit))
unit_mains	:= $(filter $(mains:%.c=$(B)/san/%.o),$(unit_objects))
unit_programs	:= $(patsubst $(B)/san/tests/unit/%.o,$(B)/tests/unit-%,$(unit_mains))
test_programs	+= $(unit_programs)
all_objects	+= $(core_objects) $(common_objects) $(san_core) $(unit_objects)

$(B)/san/%.o: %.c Makefile
	$(call say,CC,$< (sanitized))
	@mkdir -p $(@D)
	$(quiet)$(CC) $(all_cflags) $(san_cflags) -c -o $@ $<

$(unit_programs): $(B)/tests/unit-%: $(B)/san/tests/unit/%.o $(san_core) \
		$(filter-out $(unit_mains),$(unit_objects))
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(CFLAGS) $(san_cflags) $(LDFLAGS) -o $@ $^ $(core_libs) -pthread

# What stands in the network, with the sanitizers: build/san/bin, for the tests that
# send what nobody should send.
san_of		= $(patsubst $(B)/obj/%,$(B)/san/%,$(1))
san_programs	:= $(B)/san/bin/weft-memd $(B)/san/bin/weft-switchd
test_programs	+= $(B)/san/bin/weft-memd
long_programs	+= $(B)/san/bin/weft-switchd
all_objects	+= $(call san_of,$(call objects,tools/memd tools/switchd tests/san))
$(B)/san/bin/weft-memd: $(call san_of,$(call objects,tools/memd tests/san)) $(san_core)
$(B)/san/bin/weft-switchd: $(call san_of,$(call objects,tools/switchd tests/san)) $(san_core)
$(B)/san/bin/weft-memd: ldlibs_of = $(rdma_libs) -pthread
$(B)/san/bin/weft-switchd: ldlibs_of = $(dpdk_libs) -pthread
$(call san_of,$(call objects,tools/switchd)): cflags_of = $(dpdk_cflags) -Itools/switchd
$(B)/san/tools/switchd/interface.o: cflags_of = $(switchd_interface)

$(san_programs):
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(CFLAGS) $(san_cflags) $(LDFLAGS) -o $@ $^ $(core_libs) $(ldlibs_of)

# weftctl on another kernel, with the sanitizers, for tests/ctl/fake.sh.  Its configuration
# file is one in the directory where it runs.
fake_weftctl	:= $(B)/tests/weftctl-fake
fake_weftctl_objects := $(call san_of,$(filter-out %/genl.o %/module.o %/mounting.o %/mountpoint.o \
		   %/tracefs.o,$(call objects,tools/weftctl)) $(call objects,tests/ctl/fakes/genl))
test_programs	+= $(fake_weftctl)
all_objects	+= $(fake_weftctl_objects)
$(fake_weftctl_objects): cflags_of = -Itools/weftctl $(shell pkg-config --cflags libnl-genl-3.0) \
		   -DCONF_FILE='"weft.conf"'
$(fake_weftctl): $(fake_weftctl_objects) $(san_core)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(CFLAGS) $(san_cflags) $(LDFLAGS) -o $@ $^ $(core_libs) \
		$(shell pkg-config --libs libnl-genl-3.0)

# The blade, which may have several threads, with the sanitizer of threads.
tsan_cflags	:= -fsanitize=thread -fno-omit-frame-pointer
tsan_objects	:= $(patsubst $(B)/obj/%,$(B)/tsan/%,$(call objects,tools/memd) $(core_objects) \
		   $(common_objects))
long_programs	+= $(B)/tsan/bin/weft-memd
all_objects	+= $(tsan_objects)

$(B)/tsan/%.o: %.c Makefile
	$(call say,CC,$< (for races))
	@mkdir -p $(@D)
	$(quiet)$(CC) $(all_cflags) $(tsan_cflags) -c -o $@ $<

$(B)/tsan/bin/weft-memd: $(tsan_objects)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(CFLAGS) $(tsan_cflags) $(LDFLAGS) -o $@ $^ $(core_libs) $(rdma_libs) -pthread

# Fuzz targets: clang only, and only where its runtime is.
fuzz_cflags	:= -g1 -fsanitize=fuzzer-no-link,address,undefined \
		   -fno-sanitize-recover=all -fno-omit-frame-pointer
fuzz_core	:= $(patsubst $(B)/obj/%,$(B)/fuzz/%,$(core_objects) $(common_objects))
fuzz_objects	:= $(patsubst %.c,$(B)/fuzz/%.o,$(wildcard tests/fuzz/*.c))
fuzz_programs	:= $(patsubst $(B)/fuzz/tests/fuzz/%.o,$(B)/tests/fuzz-%,$(fuzz_objects))
fuzz_possible	= $(wildcard $(shell $(CLANG) -print-file-name=libclang_rt.fuzzer-x86_64.a \
		  2>/dev/null) $(shell $(CLANG) --print-runtime-dir 2>/dev/null)/libclang_rt.fuzzer*)
fuzz_memd	:= $(patsubst $(B)/obj/%,$(B)/fuzz/%,$(call part_objects,tools/memd))
fuzz_conf	:= $(patsubst %,$(B)/fuzz/tools/weftctl/%.o,config/conf config/setting base/fail base/text base/value)
all_objects	+= $(fuzz_core) $(fuzz_objects) $(fuzz_memd) $(fuzz_conf)

$(B)/fuzz/%.o: %.c Makefile
	$(call say,CLANG,$< (for fuzzing))
	@mkdir -p $(@D)
	$(quiet)$(CLANG) $(all_cflags) $(fuzz_cflags) -c -o $@ $<

$(B)/tests/fuzz-memd $(B)/tests/fuzz-backing: $(fuzz_memd)
$(B)/fuzz/tests/fuzz/memd.o $(B)/fuzz/tests/fuzz/backing.o: cflags_of = -Itools/memd
$(B)/tests/fuzz-conf: $(fuzz_conf)
$(B)/fuzz/tests/fuzz/conf.o: cflags_of = -Itools/weftctl
$(fuzz_programs): $(B)/tests/fuzz-%: $(B)/fuzz/tests/fuzz/%.o $(fuzz_core)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(quiet)$(CLANG) $(CFLAGS) $(fuzz_cflags) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(core_libs) $(rdma_libs)

-include $(patsubst %.o,%.d,$(sort $(all_objects)))

# --- Kernel module ----------------------------------------------------------
#
# Built on links to the sources in a directory a version, so that several
# versions stay beside each other and the tree stays clean.

newest		= $(lastword $(shell printf '%s\n' $(1) | sort -V))
ifeq ($(origin KVER),undefined)
KVER		:= $(call newest,$(notdir $(patsubst %/build,%,$(wildcard /lib/modules/*/build))) \
		   $(patsubst /usr/src/linux-headers-%/Makefile,%,$(filter-out %-common/Makefile,\
		   $(wildcard /usr/src/linux-headers-*/Makefile))))
endif
KDIR		?= $(firstword $(wildcard /lib/modules/$(KVER)/build \
		   /usr/src/linux-headers-$(KVER) \
		   $(abspath $(or $(WEFT_KERNELS),$(B)/kernel)/$(KVER)/headers)))
kmod_dir	:= $(abspath $(B))/kmod/$(KVER)
kmod_sources	:= $(shell grep -ls '^MODULE_LICENSE' kmod/*/*.c)
# W=1: what the kernel's own build calls new warnings.  KMOD_CFLAGS: more for its compiler;
# KMOD_SETTINGS: what of its configuration is to be otherwise.
kmod_make	= $(MAKE) -C $(KDIR) M=$(kmod_dir) W=1 KCFLAGS="$(WERROR) $(KMOD_CFLAGS)" \
		  $(KMOD_SETTINGS) $(if $(V),V=$(V)) $(if $(KCC),CC="$(KCC)") --no-print-directory \
		  $(if $(pahole),,CONFIG_DEBUG_INFO_BTF_MODULES=)
# With KBUILD_MODPOST_WARN, where the kernel's list of what it exports is not at hand,
# symbols that are not found are no failure.
missing_symbols	= $(if $(KBUILD_MODPOST_WARN),(Module.symvers is missing|modpost: (".*" \[.*\] undefined!|suppressed [0-9]* unresolved symbol)),none)
# Type information for BPF, where there is what makes it.
pahole		= $(shell command -v pahole)

# What is linked: directories as such, files by reference.  Links whose source is gone, or is in
# another tree, as this one has been copied, would still be compiled, and are taken away.  Who makes
# a module for the same kernel at the same time waits (tests do).
define link_sources
	$(quiet)mkdir -p $(kmod_dir)
	$(quiet)flock -w 900 $(kmod_dir)/lock cp -rsf $(abspath Kbuild kmod uapi) $(kmod_dir)/
	$(quiet)find $(kmod_dir) \( -xtype l -o -type l ! -lname '$(abspath .)/*' \) -delete
endef

# BUNDLE=1: the files of a folder are compiled as one (Kbuild), in a quarter of the time, as
# most of the compiler's goes into the kernel's headers. For modules that only tests load.
# Without it, as users have it, every file shows that it includes what it needs.
bundled		= $(filter-out core,$(notdir $(patsubst %/,%,$(wildcard kmod/*/))))
define make_bundles
	$(quiet)mkdir -p $(kmod_dir)/bundle
	$(quiet)set -e; for folder in $(bundled); do bundle=$(kmod_dir)/bundle/$$folder.c; \
		grep -L '^#define CREATE_TRACE_POINTS' kmod/$$folder/*.c | \
			sed 's/.*/#include "&"/' >$$bundle.$$$$; \
		cmp -s $$bundle.$$$$ $$bundle && rm $$bundle.$$$$ || mv $$bundle.$$$$ $$bundle; \
	done
endef
no_bundles	= $(quiet)rm -rf $(kmod_dir)/bundle

# For a user-mode kernel.
ifneq ($(UML),)
kmod_make	+= ARCH=um
endif

.PHONY: module uml uml-package uml-own uml-kernel uml-rdma debug-kernel debug-kernel-uml
ifeq ($(kmod_sources),)
module:
else
module: FORCE
	@test -n "$(KDIR)" || { echo "weft: no kernel headers for '$(KVER)':" \
		"install linux-headers-$(KVER), or say KDIR=where they are" >&2; exit 1; }
	$(call say,KBUILD,$(B)/kmod/$(KVER)/weft.ko)
	$(link_sources)
	$(if $(BUNDLE),$(make_bundles),$(no_bundles))
	$(quiet)+flock -w 900 $(kmod_dir)/lock $(kmod_make) modules $(if $(V),,>$(kmod_dir)/build.log 2>&1 || \
		{ sed 's|$(kmod_dir)/||g' $(kmod_dir)/build.log; rm -f $(kmod_dir)/weft.ko; exit 1; })
	$(quiet)$(if $(V),:,! grep -E '[Ww]arning:|WARNING:' $(kmod_dir)/build.log | \
		grep -vE '^WARNING: $(missing_symbols)')
endif

# The module for racks of user-mode kernels: that of the distribution, whose headers are fetched
# the first time, and our own, if it has been made on this machine.
uml: uml-package uml-own
uml-package: FORCE
	$(quiet)found=`tools/rack/get-kernel --headers uml` && eval "$$found" && \
		$(MAKE) --no-print-directory module UML=1 BUNDLE=1 KBUILD_MODPOST_WARN=1 KVER="$$version" \
		KDIR="$$headers" KMOD_SETTINGS="$$rdma_settings UBSAN_SANITIZE=y" KMOD_CFLAGS="$$rdma_flags"
own_module	= eval "$$found" && $(MAKE) --no-print-directory module UML=1 BUNDLE=1 \
		  KVER="$$version" KDIR="$$headers"
uml-own: FORCE
	$(quiet)+! found=`tools/rack/get-kernel own` || { $(own_module); }

# That kernel is compiled once for a machine; make and its jobs take part.
uml-kernel: FORCE
	$(quiet)+found=`tools/rack/get-kernel --build own` && $(own_module)

# RDMA for them: modules that the distribution's user-mode kernel does not have.
uml-rdma: FORCE
	$(quiet)+tools/rack/get-kernel --rdma uml >/dev/null

# A debug kernel for racks, and a user-mode one: each is a WEFT_KERNELS of its own.
debug-kernel: FORCE
	@+tools/rack/debug-kernel.sh '$(abspath $(B))/debug'
debug-kernel-uml: FORCE
	@+tools/rack/debug-kernel.sh '$(abspath $(B))/debug-uml' uml

# --- What people type -------------------------------------------------------

.PHONY: all programs fuzz test-programs long-programs uml-found uml-here demo test test-long check bench bench-locks p4 \
	install install-programs install-module install-dkms uninstall deb \
	clean deps help FORCE

# Which kernel the module is for, and where everything is.
for_scripts	= KVER='$(KVER)' BUILD='$(abspath $(B))'

all: programs module

programs: $(programs) $(libraries) $(core_lib)

fuzz: $(if $(fuzz_programs),$(if $(fuzz_possible),$(fuzz_programs)))

test-programs: programs $(test_programs) $(test_libraries)

long-programs: test-programs $(long_programs) fuzz

# What is built first is built as many at a time as there are processors, and one more, as
# fetching headers waits for the network; unless make was told how many.  A make of its own,
# as tests run makes, too, which have no part in the jobs of this one.
one_more	= $(shell expr `nproc` + 1)
build_all	= $(MAKE) --no-print-directory \
		  $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(one_more))

# The module for the user-mode kernel that boots here, if one does (weft-rack accel): then $way.
uml_module	= case "$$way" in \
		  uml-own)	$(MAKE) --no-print-directory uml-own ;; \
		  uml-*)	$(MAKE) --no-print-directory uml-package ;; \
		  esac || echo "weft: no module for user-mode kernels: racks are emulated" >&2

# What the demo runs on is what works here as it is: nobody waits for a kernel that is compiled.
uml-found: FORCE
	@+way=`$(for_scripts) tools/rack/weft-rack accel --best`; $(uml_module)

demo:
	@+$(build_all) uml-found all
	@$(for_scripts) tools/demo/demo.sh

# What is made while packages are installed (packages.mk), for the goals in $(ahead): headers of
# user-mode kernels, which are fetched, unpacked and prepared one step after the other, as soon as
# there is what that takes; what racks need; and, when these leave a processor, programs that need
# none of the packages, and then the rest.  Not nicer than that: beside other work they would starve.
.PHONY: packages-rack packages-later headers-ahead rack-ahead programs-ahead programs-alone rest-ahead
packages-rack: FORCE
	@tools/packages $(filter-out build,$(later_groups))
packages-later: packages-rack
	@tools/packages $(later_groups)
headers-ahead: packages-rack
	@+$(if $(filter test%,$(ahead)),-tools/rack/get-kernel --headers uml >/dev/null)
rack-ahead: packages-later headers-ahead
	@+$(MAKE) --no-print-directory ahead= $(if $(filter test%,$(ahead)),uml-here,uml-found)
programs-ahead: FORCE
	@+nice -n 3 $(MAKE) --no-print-directory programs-alone
rest-ahead: packages-later programs-ahead
	@+nice -n 3 $(MAKE) --no-print-directory ahead= all $(if $(filter test%,$(ahead)),test-programs $(test_bundle))
programs-alone: $(filter-out %/weft-switchd %/weft-diff $(B)/tests/switchd-%,\
		$(programs) $(if $(filter test%,$(ahead)),$(test_programs)))

# J tests at a time, and up to J_MOST while those leave part of a processor idle.  Many of
# them wait more than they compute.
J		?= $(one_more)
J_MOST		?= $(shell expr 3 '*' `nproc`)

# Where no user-mode kernel boots that can be had, one is compiled, if namespaces can be had:
# that takes less than emulating what the tests do.  KVM is tried meanwhile, not by a test.
uml-here: FORCE
	@+$(for_scripts) tools/rack/weft-rack accel --best >/dev/null; \
		way=`$(for_scripts) tools/rack/weft-rack accel --best uml` || \
		{ $(B)/bin/weft-rackio apart 2>/dev/null && \
		$(MAKE) --no-print-directory uml-kernel && way=none; }; $(uml_module)

# The headers of user-mode kernels first: they are fetched, unpacked and prepared one step after
# the other, which takes half a minute, in which all the rest can be compiled.  The module for
# KVER, which few tests load, is bundled, unless it is there as users have it: that would be
# compiled again.
test_bundle	= $(if $(wildcard $(kmod_dir)/weft.ko),$(if $(wildcard $(kmod_dir)/bundle),BUNDLE=1),BUNDLE=1)
test:
	@+$(build_all) uml-here all test-programs $(test_bundle)
	@$(for_scripts) tools/rack/weft-rack accel
	@$(for_scripts) $(test_bundle) tests/run -j $(J) -m $(J_MOST) $(T)

# Racks on the oldest and on the newest kernel, too, as far as they can be had here.
kernel_list	= $(B)/tests/list-kernels
test-long:
	@+$(build_all) uml-here all long-programs
	@+-$(MAKE) --no-print-directory uml-kernel uml-package
	@tests/kernels/on-kernel.sh --list >$(kernel_list)
	@$(for_scripts) tools/rack/weft-rack accel
	@$(for_scripts) tests/run -j $(J) -m $(J_MOST) -l tests/list -l tests/list-long \
		-l $(kernel_list) $(T)

check:
	@$(for_scripts) tests/check/check.sh $(T)

bench: all test-programs
	@$(for_scripts) tools/bench/bench.sh

bench-locks: all test-programs
	@$(for_scripts) tools/bench/locks/locks.sh

p4:
	@P4C="$(P4C)" p4/generate

help:
	@sed -n '3,/^$$/s/^# \{0,1\}//p' Makefile

deps:
	@echo "weft: all packages are here"

clean:
	rm -rf $(B)

deb:
	@BUILD='$(abspath $(B))' tools/packaging/make-deb

# Install.  Programs, libraries, pages and services; the module; the module's
# sources for DKMS.  What is in /etc is only put there if nothing is, and only
# taken away if it is as it was put there.  UNIT_DIR and so on are for packages.
LIB_DIR		?= $(PREFIX)/lib
UNIT_DIR	?= $(PREFIX)/lib/systemd/system
SYSCTL_DIR	?= $(PREFIX)/lib/sysctl.d
ETC_DIR		?= /etc/weft
bin_dir		= $(DESTDIR)$(PREFIX)/bin
share_dir	= $(DESTDIR)$(PREFIX)/share/weft
include_dir	= $(DESTDIR)$(PREFIX)/include/weft
lib_dir		= $(DESTDIR)$(LIB_DIR)
man_dir		= $(DESTDIR)$(PREFIX)/share/man
completion_dir	= $(DESTDIR)$(PREFIX)/share/bash-completion/completions
unit_dir	= $(DESTDIR)$(UNIT_DIR)
sysctl_dir	= $(DESTDIR)$(SYSCTL_DIR)
etc_dir		= $(DESTDIR)$(ETC_DIR)
dkms_dir	= $(DESTDIR)/usr/src/weft-$(VERSION)
module_root	= $(DESTDIR)/lib/modules/$(KVER)
man_pages	= $(wildcard tools/*/man/*.[1-8])
man_page	= $(man_dir)/man$(subst .,,$(suffix $(1)))/$(notdir $(1))
installed	= weftctl weft-memd weft-switchd weft-kvs
units		= $(wildcard tools/packaging/*.service)
completions	= $(wildcard tools/*/completion/*)
sysctls		= $(wildcard tools/packaging/sysctl/*.conf)
settings	= $(wildcard tools/packaging/etc/*.conf)
# The distribution's key is not here to sign with, nor its System.map, which the
# kernel's own way of calling depmod asks for.
not_ours	= CONFIG_MODULE_SIG_ALL= cmd_depmod=true

# install_filled FILE, TARGET: with @NAMES@ replaced.
define install_filled
	sed -e 's|@BIN_DIR@|$(PREFIX)/bin|' -e 's|@SHARE_DIR@|$(PREFIX)/share/weft|' \
		-e 's|@ETC_DIR@|$(ETC_DIR)|' -e 's|@VERSION@|$(VERSION)|' $(1) >$(2)
	chmod 644 $(2)

endef

install: install-programs install-module

install-programs: programs
	install -d $(bin_dir) $(share_dir) $(include_dir) $(lib_dir)/pkgconfig \
		$(unit_dir) $(sysctl_dir) $(etc_dir) $(completion_dir) \
		$(sort $(dir $(foreach m,$(man_pages),$(call man_page,$m))))
	install -m 755 $(addprefix $(B)/bin/,$(installed)) $(bin_dir)/
	install -m 644 $(wildcard p4/generated/*.spec) $(share_dir)/
	install -m 644 $(wildcard uapi/*.h) tools/libweft/lock.h $(include_dir)/
	install -m 644 $(B)/lib/libweft.a $(lib_dir)/
	install -m 755 $(B)/lib/$(lib_soname) $(B)/lib/libweft-preload.so $(lib_dir)/
	ln -sf $(lib_soname) $(lib_dir)/libweft.so
	install -m 644 $(B)/lib/libweft.pc $(lib_dir)/pkgconfig/
	$(foreach m,$(man_pages),install -m 644 $m $(call man_page,$m)$(newline))
	$(foreach u,$(units),$(call install_filled,$u,$(unit_dir)/$(notdir $u)))
	install -m 644 $(sysctls) $(sysctl_dir)/
	install -m 644 $(completions) $(completion_dir)/
	$(foreach c,$(settings),test -e $(etc_dir)/$(notdir $c) || \
		install -m 644 $c $(etc_dir)/$(newline))

install-module: module
ifneq ($(kmod_sources),)
	$(quiet)+$(kmod_make) INSTALL_MOD_PATH=$(DESTDIR) INSTALL_MOD_DIR=updates \
		INSTALL_MOD_STRIP=1 $(not_ours) modules_install
	$(if $(DESTDIR),,depmod $(KVER))
endif

# For DKMS, which compiles them for each kernel: dkms install weft/VERSION.
install-dkms:
	install -d $(addprefix $(dkms_dir)/,uapi $(sort $(dir $(wildcard kmod/*/))))
	install -m 644 Kbuild COPYING $(dkms_dir)/
	install -m 644 $(wildcard uapi/*.h) $(dkms_dir)/uapi/
	$(foreach f,$(wildcard kmod/*/*.[ch]),install -m 644 $f $(dkms_dir)/$f$(newline))
	$(call install_filled,tools/packaging/dkms.conf,$(dkms_dir)/dkms.conf)

# Directories that are empty then go: all of ours below DESTDIR, and else those that
# only weft, or nobody before it, has needed.
own_dirs	= $(unit_dir) $(patsubst %/,%,$(dir $(unit_dir))) $(sysctl_dir) $(etc_dir) \
		  $(module_root)/updates
all_dirs	= $(own_dirs) $(bin_dir) $(lib_dir)/pkgconfig $(completion_dir) $(patsubst %/,%,$(sort $(dir \
		  $(share_dir) $(include_dir) $(dkms_dir) \
		  $(foreach m,$(man_pages),$(call man_page,$m)))))

uninstall:
	rm -f $(addprefix $(bin_dir)/,$(installed))
	rm -rf $(share_dir) $(include_dir) $(dkms_dir)
	rm -f $(addprefix $(lib_dir)/,libweft.a libweft.so $(lib_soname) libweft-preload.so \
		pkgconfig/libweft.pc) $(foreach m,$(man_pages),$(call man_page,$m)) \
		$(addprefix $(unit_dir)/,$(notdir $(units))) \
		$(addprefix $(sysctl_dir)/,$(notdir $(sysctls))) \
		$(addprefix $(completion_dir)/,$(notdir $(completions)))
	$(foreach c,$(settings),! cmp -s $c $(etc_dir)/$(notdir $c) || \
		rm -f $(etc_dir)/$(notdir $c)$(newline))
	rm -f $(foreach m,weft weft_rdma,$(module_root)/updates/$m.ko $(module_root)/updates/$m.ko.*)
	test ! -d '$(DESTDIR)/' || { cd '$(DESTDIR)/' && \
		for d in $(patsubst $(DESTDIR)/%,%,$(if $(DESTDIR),$(all_dirs),$(own_dirs))); do \
		test ! -d $$d || rmdir $(if $(DESTDIR),-p) --ignore-fail-on-non-empty $$d; \
		done; }
	$(if $(DESTDIR),,depmod $(KVER))
