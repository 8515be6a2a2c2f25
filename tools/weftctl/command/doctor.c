// SPDX-License-Identifier: GPL-2.0-only
/* weftctl doctor: find what is wrong with this node and its rack. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/output.h"
#include "command/commands.h"
#include "doctor/examine.h"
#include "doctor/interface.h"
#include "doctor/key.h"
#include "doctor/others.h"
#include "tools/common/json.h"

static void print_json(const struct findings *f)
{
	struct json j;
	size_t i;

	output_json(&j);
	json_array(&j, "findings");
	for (i = 0; i < f->len; i++) {
		const struct finding *one = &f->list[i];

		json_object(&j, NULL);
		json_string(&j, "name", finding_names[one->id]);
		json_number(&j, "member", one->member, one->member);
		json_string(&j, "text", one->text);
		json_string(&j, "remedy", one->remedy);
		json_close(&j);
	}
	json_close(&j);
	json_array(&j, "skipped");
	for (i = 0; i < f->skipped_len; i++) {
		json_object(&j, NULL);
		json_string(&j, "what", f->skipped[i].what);
		json_string(&j, "why", f->skipped[i].why);
		json_close(&j);
	}
	json_close(&j);
	json_end(&j);
}

static void print_text(const struct findings *f)
{
	size_t i;

	for (i = 0; i < f->len; i++)
		printf("%s: %s\n", finding_names[f->list[i].id], f->list[i].text);
	for (i = 0; i < f->skipped_len; i++)
		printf("(not looked at: %s: %s)\n", f->skipped[i].what, f->skipped[i].why);
	if (!f->len)
		puts("nothing found");
}

/* All that is known and found, on the way to being printed. */
static struct patient patient;

/* Names with commas between them. */
static int take_ignored(const struct reading *r, const char *option, char *text)
{
	char *name, *state = NULL;

	for (name = strtok_r(text, ",", &state); name; name = strtok_r(NULL, ",", &state)) {
		unsigned int id = 0;

		while (id < FINDINGS && strcmp(finding_names[id], name))
			id++;
		if (id == FINDINGS)
			return misuse(r->command->name, "--%s: there is no finding '%s': 'man weftctl' lists them",
				      option, name);
		patient.findings.ignored |= UINT64_C(1) << id;
	}
	return 0;
}

static int examine(struct patient *p)
{
	int rc = examine_setup(p);

	if (rc)
		return rc;
	examine_key(p);
	examine_interface(p);
	examine_hosts(p);
	examine_drops(p);
	examine_rdma(p);
	rc = examine_rack(p);
	return rc ? rc : examine_node(p);
}

static int doctor(const struct reading *r)
{
	struct patient *p = &patient;
	int rc = argument_none(r);

	if (!rc)
		rc = examine(p);
	if (!rc && output.json)
		print_json(&p->findings);
	else if (!rc)
		print_text(&p->findings);
	if (!rc && p->findings.len)
		rc = EXIT_FOUND;
	counters_free(&p->before);
	findings_free(&p->findings);
	return rc;
}

static const struct argument options[] = {
	{ "file", .text = &patient.file }, { "ignore", .take = take_ignored }, { 0 }
};

const struct command command_doctor = {
	.name = "doctor",
	.options = options,
	.run = doctor,
	.summary = "find what is wrong with this node and its rack",
	.help = " [-j] [-p] [--file FILE] [--ignore NAME[,NAME...]]\n\n"
		"Looks at the module, the configuration, the interface, the other members and\n"
		"the ways there, the directory and the kernel log; changes nothing.  Prints a\n"
		"sentence for each thing that is wrong: its name, what it is, what to do.\n"
		"Some of it needs root.  Exit status 0 if there is nothing, 3 if there is.\n\n"
		"  --file FILE    configuration file (" CONF_FILE ")\n"
		"  --ignore NAME  findings that are no fault here\n",
};
