// SPDX-License-Identifier: GPL-2.0-only
/* Command line, see options.h. */
#include "base/options.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include "flow.h"
#include "tools/common/number.h"
#include "weft_version.h"

#define MEMORY_DEFAULT	(1ull << 30)
#define MEMORY_MIN	(1ull << 20)
#define USER_REGIONS	1024
#define LEASE_DEFAULT	20000	/* longer than a blade waits for a node in RENEW */
#define LEASE_MIN	200
#define LEASE_MAX	3600000
#define LOCKS_MIN	4096
#define LOCKS_TOP	(1u << 28)
#define MEMORY_MAX	BLADE_BYTES_MAX	/* frames have 32-bit numbers */

static const char help[] =
"usage: weft-memd --id ID | --blade N   --interface IF | --address A   [option...]\n"
"\n"
"Memory blade of a weft rack: keeps the home copy of every block, the directory of\n"
"lines that the switch does not hold and, on blade 1, the catalog of regions.\n"
"\n"
"  --id ID              id of this blade, 33 to 48; blade 1 has id 33\n"
"  --blade N            the same, as 1 to 16\n"
"  --interface IF       interface that leads to the rack\n"
"  --address A          own IPv4 address; without it the interface's first\n"
"  --peers A[,A...]     addresses of all blades of the rack, blade 1 first;\n"
"                       needed if there are several; A/T: with the blade's twin, which\n"
"                       stands by with a copy of its file (needs --backing)\n"
"  --memory SIZE        memory for regions (1G); K, M, G and T are understood\n"
"  --user-regions N     regions that one user but root may have (1024); 0: any number\n"
"  --user-memory SIZE   memory that they may have together (half of the rack's); 0: any\n"
"  --locks N            locks of regions that this blade keeps (one for 2K of --memory,\n"
"                       262144 at least)\n"
"  --threads N          processors that it may keep busy (1)\n"
"  --lease MS           milliseconds without a sign of a node after which it is taken for\n"
"                       dead (20000); 0: never\n"
"  --witness A          address of the witness: it lets a twin take over by itself\n"
"  --twin-port N        TCP port of twins and witness (4794)\n"
"  --on-takeover CMD    run by the shell when this machine takes over\n"
"  --take-over          take over: an administrator is sure that the other machine is off\n"
"  --alone              serve without hearing of twin or witness: they are off for good\n"
"  --be-witness FILE    be the witness of blades, with what it knows in FILE; only with\n"
"                       --address, --twin-port, --key, --background, --verbose\n"
"  --backing FILE       keep regions and contents in FILE across restarts\n"
"  --switch auto|none   use the directory in a P4 switch if there is one (auto)\n"
"  --rdma auto|off      write blocks into the memory of nodes that ask so, if the network\n"
"                       card can (auto)\n"
"  --deeds on|off       let them read blocks from this blade's memory by themselves (on)\n"
"  --rack N             number of the rack; messages of others are ignored (0)\n"
"  --port N             UDP port (4793); it and the 7 after it are used\n"
"  --key FILE           key of the rack: only who has it is heard\n"
"  --make-key FILE      make a new key, tell what to do with it, and end\n"
"  --hand-key DIR       copy the key to a directory for the user whose that is, and end;\n"
"                       of a new rack's first blade it is made before: for services\n"
"  --background         leave the terminal once everything is set up\n"
"  --foreground         stay, which is what it does anyhow\n"
"  --verbose            tell more on stderr\n"
"  --help, --version\n";

enum {
	O_ID = 256, O_BLADE, O_INTERFACE, O_ADDRESS, O_PEERS, O_MEMORY,
	O_USER_REGIONS, O_USER_MEMORY, O_LOCKS, O_THREADS, O_LEASE, O_BACKING, O_SWITCH,
	O_WITNESS, O_TWIN_PORT, O_ON_TAKEOVER, O_TAKE_OVER, O_ALONE, O_BE_WITNESS,
	O_RDMA, O_DEEDS, O_RACK, O_PORT, O_KEY, O_MAKE_KEY, O_HAND_KEY, O_BACKGROUND,
	O_FOREGROUND, O_VERBOSE, O_HELP, O_VERSION,
};

static const struct option long_options[] = {
	{ "id", required_argument, NULL, O_ID },
	{ "blade", required_argument, NULL, O_BLADE },
	{ "interface", required_argument, NULL, O_INTERFACE },
	{ "address", required_argument, NULL, O_ADDRESS },
	{ "peers", required_argument, NULL, O_PEERS },
	{ "memory", required_argument, NULL, O_MEMORY },
	{ "user-regions", required_argument, NULL, O_USER_REGIONS },
	{ "user-memory", required_argument, NULL, O_USER_MEMORY },
	{ "locks", required_argument, NULL, O_LOCKS },
	{ "threads", required_argument, NULL, O_THREADS },
	{ "lease", required_argument, NULL, O_LEASE },
	{ "backing", required_argument, NULL, O_BACKING },
	{ "witness", required_argument, NULL, O_WITNESS },
	{ "twin-port", required_argument, NULL, O_TWIN_PORT },
	{ "on-takeover", required_argument, NULL, O_ON_TAKEOVER },
	{ "take-over", no_argument, NULL, O_TAKE_OVER },
	{ "alone", no_argument, NULL, O_ALONE },
	{ "be-witness", required_argument, NULL, O_BE_WITNESS },
	{ "switch", required_argument, NULL, O_SWITCH },
	{ "rdma", required_argument, NULL, O_RDMA },
	{ "deeds", required_argument, NULL, O_DEEDS },
	{ "rack", required_argument, NULL, O_RACK },
	{ "port", required_argument, NULL, O_PORT },
	{ "key", required_argument, NULL, O_KEY },
	{ "make-key", required_argument, NULL, O_MAKE_KEY },
	{ "hand-key", required_argument, NULL, O_HAND_KEY },
	{ "background", no_argument, NULL, O_BACKGROUND },
	{ "foreground", no_argument, NULL, O_FOREGROUND },
	{ "verbose", no_argument, NULL, O_VERBOSE },
	{ "help", no_argument, NULL, O_HELP },
	{ "version", no_argument, NULL, O_VERSION },
	{ NULL, 0, NULL, 0 }
};

static int number(const char *what, const char *text, u64 min, u64 max,
		  u64 *value, char *err)
{
	if (number_u64(text, min, max, value))
		return fail(err, "%s is a number from %llu to %llu, not '%s'",
			    what, (unsigned long long)min,
			    (unsigned long long)max, text);
	return 0;
}

static int size(const char *what, const char *text, u64 *value, char *err)
{
	if (number_size(text, MEMORY_MIN, MEMORY_MAX, value))
		return fail(err, "%s is a size from 1M to 8T such as 512M or 4G, not '%s'",
			    what, text);
	return 0;
}

static int address(const char *what, const char *text, u32 *value, char *err)
{
	struct in_addr a;

	if (inet_pton(AF_INET, text, &a) != 1)
		return fail(err, "%s takes an IPv4 address such as 10.0.0.101, not '%s'",
			    what, text);
	*value = ntohl(a.s_addr);
	if (!*value || *value >> 28 >= 0xE)
		return fail(err, "%s: %s is not the address of a host", what, text);
	return 0;
}

/* Is the address one of those before blade @n, or of their standbys? */
static bool is_listed(const struct options *o, u32 addr, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (o->peers[i] == addr || o->standbys[i] == addr)
			return true;
	return false;
}

/* A blade's address, and its standby's behind a slash. */
static int peer(struct options *o, char *one, char *err)
{
	u32 n = o->blades;
	char *standby = strchr(one, '/');

	o->standbys[n] = 0;
	if (standby)
		*standby++ = 0;
	if (address("--peers", one, &o->peers[n], err) ||
	    (standby && address("--peers", standby, &o->standbys[n], err)))
		return -1;
	if (is_listed(o, o->peers[n], n) || o->peers[n] == o->standbys[n])
		return fail(err, "--peers names %s twice", one);
	if (standby && is_listed(o, o->standbys[n], n))
		return fail(err, "--peers names %s twice", standby);
	o->blades++;
	return 0;
}

static int peers(struct options *o, const char *text, char *err)
{
	char one[48];

	o->blades = 0;
	for (;;) {
		size_t n = strcspn(text, ",");

		if (o->blades == BLADES_MAX)
			return fail(err, "--peers names more than %d blades",
				    BLADES_MAX);
		memcpy(one, text, n < sizeof(one) ? n : sizeof(one) - 1);
		one[n < sizeof(one) ? n : sizeof(one) - 1] = 0;
		if (peer(o, one, err))
			return -1;
		if (!text[n])
			return 0;
		text += n + 1;
	}
}

/* What users and nodes may; 1: it is another option. */
static int limit(struct options *o, int c, const char *arg, char *err)
{
	u64 v;

	switch (c) {
	case O_USER_REGIONS:
		if (number("--user-regions", arg, 0, REGIONS_MAX, &v, err))
			return -1;
		o->user_regions = (u32)v;
		return 0;
	case O_USER_MEMORY:
		if (!strcmp(arg, "0")) {
			o->user_memory = 0;
			return 0;
		}
		return size("--user-memory", arg, &o->user_memory, err);
	case O_LOCKS:
		if (number("--locks", arg, LOCKS_MIN, LOCKS_TOP, &v, err))
			return -1;
		o->locks = (u32)v;
		return 0;
	case O_LEASE:
		if (!strcmp(arg, "0")) {
			o->lease = 0;
			return 0;
		}
		if (number("--lease", arg, LEASE_MIN, LEASE_MAX, &v, err))
			return -1;
		o->lease = (u32)v;
		return 0;
	default:
		return 1;
	}
}

/* What concerns pairs and their witness; 1: it is another option. */
static int pair(struct options *o, int c, const char *arg, char *err)
{
	u64 v;

	switch (c) {
	case O_WITNESS:
		return address("--witness", arg, &o->witness, err);
	case O_TWIN_PORT:
		if (number("--twin-port", arg, 1, 65535, &v, err))
			return -1;
		o->pair_port = (u16)v;
		return 0;
	case O_ON_TAKEOVER:
		o->on_takeover = arg;
		return 0;
	case O_TAKE_OVER:
		o->take_over = true;
		return 0;
	case O_ALONE:
		o->alone = true;
		return 0;
	case O_BE_WITNESS:
		o->be_witness = arg;
		return 0;
	default:
		return 1;
	}
}

/* @yes or @no. */
static int choice(const char *what, const char *text, const char *yes, const char *no,
		  bool *value, char *err)
{
	*value = !strcmp(text, yes);
	if (!*value && strcmp(text, no))
		return fail(err, "%s is %s or %s, not '%s'", what, yes, no, text);
	return 0;
}

/* What of the network is used; 1: it is another option. */
static int use(struct options *o, int c, const char *arg, char *err)
{
	switch (c) {
	case O_SWITCH:
		return choice("--switch", arg, "auto", "none", &o->use_switch, err);
	case O_RDMA:
		return choice("--rdma", arg, "auto", "off", &o->rdma, err);
	case O_DEEDS:
		return choice("--deeds", arg, "on", "off", &o->deeds, err);
	default:
		return 1;
	}
}

static int one_option(struct options *o, int c, const char *arg, char *err)
{
	int rc = limit(o, c, arg, err);
	u64 v;

	if (rc > 0)
		rc = pair(o, c, arg, err);
	if (rc > 0)
		rc = use(o, c, arg, err);
	if (rc <= 0)
		return rc;
	switch (c) {
	case O_ID:
		if (number("--id", arg, WEFT_BLADE_MIN, WEFT_BLADE_MAX, &v, err))
			return -1;
		o->id = (u8)v;
		return 0;
	case O_BLADE:
		if (number("--blade", arg, 1, BLADES_MAX, &v, err))
			return -1;
		o->id = (u8)(WEFT_BLADE_MIN - 1 + v);
		return 0;
	case O_INTERFACE:
		o->interface = arg;
		return 0;
	case O_ADDRESS:
		return address("--address", arg, &o->address, err);
	case O_PEERS:
		return peers(o, arg, err);
	case O_MEMORY:
		return size("--memory", arg, &o->memory, err);
	case O_THREADS:
		if (number("--threads", arg, 1, THREADS_MAX, &v, err))
			return -1;
		o->threads = (u32)v;
		return 0;
	case O_BACKING:
		o->backing = arg;
		return 0;
	case O_RACK:
		if (number("--rack", arg, 0, 0xFFFFFFFFu, &v, err))
			return -1;
		o->rack = (u32)v;
		return 0;
	case O_PORT:
		if (number("--port", arg, 1, 65536 - WEFT_FLOWS, &v, err))
			return -1;
		o->port = (u16)v;
		return 0;
	case O_KEY:
		o->key = arg;
		return 0;
	case O_MAKE_KEY:
		o->make_key = arg;
		return 0;
	case O_HAND_KEY:
		o->hand_key = arg;
		return 0;
	case O_BACKGROUND:
	case O_FOREGROUND:
		o->background = c == O_BACKGROUND;
		return 0;
	case O_VERBOSE:
		o->verbose = true;
		return 0;
	default:
		return fail(err, "see weft-memd --help");
	}
}

/* Is it an address of this machine, or of the interface that was named? */
static bool is_own(const struct options *o, u32 addr)
{
	struct ifaddrs *all, *i;
	struct sockaddr_in in;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (i = all; i && !found; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET ||
		    (o->interface && strcmp(i->ifa_name, o->interface)))
			continue;
		memcpy(&in, i->ifa_addr, sizeof(in));
		found = ntohl(in.sin_addr.s_addr) == addr;
	}
	freeifaddrs(all);
	return found;
}

/* Which of a blade's two machines this is: from here on the other one is its partner. */
static int find_self(struct options *o, char *err)
{
	u32 *other = &o->standbys[options_blade(o)];
	u32 *own = &o->peers[options_blade(o)], swap = *own;

	if (o->address ? o->address == *own : !*other || is_own(o, *own)) {
		o->address = *own;
		return 0;
	}
	if (!*other || (o->address ? o->address != *other : !is_own(o, *other)))
		return fail(err, *other ?
			    "which of the two machines of blade %u is this? Say --address with one of those that --peers names" :
			    "--address is not what --peers says of blade %u",
			    options_blade(o) + 1);
	*own = o->address = *other;
	*other = swap;
	return 0;
}

static int complete_twin(const struct options *o, char *err)
{
	if (!options_partner(o)) {
		if (o->witness || o->on_takeover || o->take_over || o->alone)
			return fail(err, "this blade has no twin: --peers names one behind a slash, as 10.0.0.33/10.0.0.133");
		return 0;
	}
	if (!o->backing)
		return fail(err, "a blade with a twin needs --backing: what the twin has is a copy of that file");
	if (o->take_over && o->alone)
		return fail(err, "--take-over is for the machine that stood by, --alone for the one that served: say one of them");
	return 0;
}

static int complete(struct options *o, char *err)
{
	if (o->make_key)
		return 0;
	if (o->be_witness) {
		if (o->address)
			return 0;
		return fail(err, "where is the witness to listen? Say --address A");
	}
	if (!o->id)
		return fail(err, "which blade is this? Say --id 33 (or --blade 1) for the first");
	if (!o->interface && !o->address)
		return fail(err, "where is the rack? Say --interface IF or --address A");
	if (!o->blades && options_blade(o))
		return fail(err, "blade %u is one of several: --peers has to name them all, blade 1 first",
			    options_blade(o) + 1);
	if (o->blades && options_blade(o) >= o->blades)
		return fail(err, "this is blade %u, but --peers names only %u",
			    options_blade(o) + 1, o->blades);
	if (o->blades && find_self(o, err))
		return -1;
	if (!o->blades)
		o->blades = 1;	/* its address comes with the interface */
	return complete_twin(o, err);
}

enum options_result options_parse(struct options *o, int argc, char **argv,
				  char *err)
{
	int c;

	memset(o, 0, sizeof(*o));
	o->port = WEFT_WIRE_UDP_PORT;
	o->pair_port = PAIR_PORT;
	o->memory = MEMORY_DEFAULT;
	o->user_regions = USER_REGIONS;
	o->lease = LEASE_DEFAULT;
	o->user_memory = USER_MEMORY_HALF;
	o->use_switch = true;
	o->rdma = true;
	o->deeds = true;
	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (c == O_HELP) {
			fputs(help, stdout);
			return OPTIONS_DONE;
		}
		if (c == O_VERSION) {
			printf("weft-memd %s, protocol %d\n", WEFT_VERSION,
			       WEFT_WIRE_VERSION);
			return OPTIONS_DONE;
		}
		if (c == '?') {
			fail(err, "%s is not an option, or lacks its value: see weft-memd --help",
			     argv[optind - 1]);
			return OPTIONS_BAD;
		}
		if (one_option(o, c, optarg, err))
			return OPTIONS_BAD;
	}
	if (optind < argc) {
		fail(err, "what is '%s'? See weft-memd --help", argv[optind]);
		return OPTIONS_BAD;
	}
	return complete(o, err) ? OPTIONS_BAD : OPTIONS_OK;
}

/* What holds for one start, and not for those that follow by themselves. */
static bool is_once(int c)
{
	return c == O_TAKE_OVER || c == O_ALONE || c == O_BACKGROUND;
}

void options_again(int argc, char **argv, char **again)
{
	int c, from = 1, n = 0;

	again[n++] = argv[0];
	optind = 1;
	/* as it was read: an option may be shortened, and a value look like one */
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		for (; from < optind; from++)
			if (!is_once(c))
				again[n++] = argv[from];
	}
	again[n] = NULL;
}
