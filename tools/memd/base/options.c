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

enum kind { YES, NO, NUMBER, SIZE, TEXT, ADDRESS, PEERS, CHOICE, HELP, VERSION };

/* An option: how its value is read, and where in struct options it goes. */
struct setting {
	const char *name;
	enum kind kind;
	size_t at;
	size_t size;		/* bytes there */
	u64 min;
	u64 max;
	u64 add;		/* to a number */
	bool or_none;		/* "0" is good, too */
	bool once;		/* not for the starts that follow by themselves */
	const char *yes;
	const char *no;
};

#define FIELD(field) \
	.at = offsetof(struct options, field), .size = sizeof(((struct options *)0)->field)

static const struct setting settings[] = {
	{ "id", NUMBER, FIELD(id), WEFT_BLADE_MIN, WEFT_BLADE_MAX },
	{ "blade", NUMBER, FIELD(id), 1, BLADES_MAX, .add = WEFT_BLADE_MIN - 1 },
	{ "interface", TEXT, FIELD(interface) },
	{ "address", ADDRESS, FIELD(address) },
	{ "peers", .kind = PEERS },
	{ "memory", SIZE, FIELD(memory), MEMORY_MIN, MEMORY_MAX },
	{ "user-regions", NUMBER, FIELD(user_regions), 0, REGIONS_MAX },
	{ "user-memory", SIZE, FIELD(user_memory), MEMORY_MIN, MEMORY_MAX, .or_none = true },
	{ "locks", NUMBER, FIELD(locks), LOCKS_MIN, LOCKS_TOP },
	{ "threads", NUMBER, FIELD(threads), 1, THREADS_MAX },
	{ "lease", NUMBER, FIELD(lease), LEASE_MIN, LEASE_MAX, .or_none = true },
	{ "backing", TEXT, FIELD(backing) },
	{ "witness", ADDRESS, FIELD(witness) },
	{ "twin-port", NUMBER, FIELD(pair_port), 1, 65535 },
	{ "on-takeover", TEXT, FIELD(on_takeover) },
	{ "take-over", YES, FIELD(take_over), .once = true },
	{ "alone", YES, FIELD(alone), .once = true },
	{ "be-witness", TEXT, FIELD(be_witness) },
	{ "switch", CHOICE, FIELD(use_switch), .yes = "auto", .no = "none" },
	{ "rdma", CHOICE, FIELD(rdma), .yes = "auto", .no = "off" },
	{ "deeds", CHOICE, FIELD(deeds), .yes = "on", .no = "off" },
	{ "rack", NUMBER, FIELD(rack), 0, 0xFFFFFFFFu },
	{ "port", NUMBER, FIELD(port), 1, 65536 - WEFT_FLOWS },
	{ "key", TEXT, FIELD(key) },
	{ "make-key", TEXT, FIELD(make_key) },
	{ "hand-key", TEXT, FIELD(hand_key) },
	{ "background", YES, FIELD(background), .once = true },
	{ "foreground", NO, FIELD(background) },
	{ "verbose", YES, FIELD(verbose) },
	{ "help", .kind = HELP },
	{ "version", .kind = VERSION },
};

#define SETTINGS	ARRAY_SIZE(settings)
#define FIRST_OPTION	256	/* getopt_long() returns this for the first of them */

/* The table as getopt_long() wants it. */
static const struct option *long_options(void)
{
	static struct option all[SETTINGS + 1];
	size_t i;

	for (i = 0; i < SETTINGS; i++) {
		enum kind kind = settings[i].kind;

		all[i].name = settings[i].name;
		all[i].has_arg = kind == YES || kind == NO || kind == HELP || kind == VERSION ?
				 no_argument : required_argument;
		all[i].val = FIRST_OPTION + (int)i;
	}
	return all;
}

static const struct setting *setting_of(int c)
{
	return &settings[c - FIRST_OPTION];
}

static int address(const char *what, const char *text, u32 *value, char *err)
{
	struct in_addr a;

	if (inet_pton(AF_INET, text, &a) != 1)
		return fail(err, "--%s takes an IPv4 address such as 10.0.0.101, not '%s'",
			    what, text);
	*value = ntohl(a.s_addr);
	if (!*value || *value >> 28 >= 0xE)
		return fail(err, "--%s: %s is not the address of a host", what, text);
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
	if (address("peers", one, &o->peers[n], err) ||
	    (standby && address("peers", standby, &o->standbys[n], err)))
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

/* Return: 0, or -1 with a sentence. */
static int take(struct options *o, const struct setting *s, const char *arg, char *err)
{
	bool none = s->or_none && !strcmp(arg, "0");
	u64 v = s->kind == YES;
	u32 addr;

	switch (s->kind) {
	case PEERS:
		return peers(o, arg, err);
	case TEXT:
		memcpy((char *)o + s->at, &arg, sizeof(arg));
		return 0;
	case ADDRESS:
		if (address(s->name, arg, &addr, err))
			return -1;
		v = addr;
		break;
	case NUMBER:
		if (!none && number_u64(arg, s->min, s->max, &v))
			return fail(err, "--%s is a number from %llu to %llu, not '%s'", s->name,
				    (unsigned long long)s->min, (unsigned long long)s->max, arg);
		v += s->add;
		break;
	case SIZE:
		if (!none && number_size(arg, s->min, s->max, &v))
			return fail(err, "--%s is a size from 1M to 8T such as 512M or 4G, not '%s'",
				    s->name, arg);
		break;
	case CHOICE:
		v = !strcmp(arg, s->yes);
		if (!v && strcmp(arg, s->no))
			return fail(err, "--%s is %s or %s, not '%s'", s->name, s->yes, s->no, arg);
		break;
	default:
		break;
	}
	/* on these processors the lowest byte comes first */
	memcpy((char *)o + s->at, &v, s->size);
	return 0;
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
	while ((c = getopt_long(argc, argv, "", long_options(), NULL)) != -1) {
		if (c == '?') {
			fail(err, "%s is not an option, or lacks its value: see weft-memd --help",
			     argv[optind - 1]);
			return OPTIONS_BAD;
		}
		if (setting_of(c)->kind == HELP || setting_of(c)->kind == VERSION) {
			if (setting_of(c)->kind == HELP)
				fputs(help, stdout);
			else
				printf("weft-memd %s, protocol %d\n", WEFT_VERSION,
				       WEFT_WIRE_VERSION);
			return OPTIONS_DONE;
		}
		if (take(o, setting_of(c), optarg, err))
			return OPTIONS_BAD;
	}
	if (optind < argc) {
		fail(err, "what is '%s'? See weft-memd --help", argv[optind]);
		return OPTIONS_BAD;
	}
	return complete(o, err) ? OPTIONS_BAD : OPTIONS_OK;
}

void options_again(int argc, char **argv, char **again)
{
	int c, from = 1, n = 0;

	again[n++] = argv[0];
	optind = 1;
	/* read it as before: an option may be shortened, and a value look like an option */
	while ((c = getopt_long(argc, argv, "", long_options(), NULL)) != -1) {
		for (; from < optind; from++)
			if (!setting_of(c)->once)
				again[n++] = argv[from];
	}
	again[n] = NULL;
}
