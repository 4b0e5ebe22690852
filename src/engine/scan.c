/* A look through a Python script for its arguments and metric writers: see scan.h. It is a search for
 * telling words, not a parser; what it finds is offered, what it misses costs nothing. */
#include "engine/scan.h"

#include "base/text.h"

#include <ctype.h>

#define SCAN_ARGUMENTS 50

/* The quoted words after `call(` on the same statement: add_argument("-l", "--lr", …). */
static void scan_arguments(const char *text, struct json *out, bool *ret_any)
{
	static const char call[] = "add_argument(";
	int found = 0;
	json_list(out);
	for (const char *p = strstr(text, call); p && found < SCAN_ARGUMENTS; p = strstr(p, call)) {
		p += sizeof(call) - 1;
		const char *q = p + strspn(p, " \t\r\n");
		const char *name = NULL;
		size_t len = 0;
		while (*q == '"' || *q == '\'') {
			size_t n = strcspn(q + 1, "\"'\n");
			if (q[1 + n] != *q)
				break;
			name = q + 1;
			len = n;
			if (text_starts(name, "--"))
				break;
			q += n + 2;
			q += strspn(q, " ,\t\r\n");
		}
		if (name && len && len < 100) {
			json_string_n(out, name, len);
			found++;
		}
	}
	json_end(out);
	*ret_any = found > 0;
}

static bool scan_has(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strstr(text, *words))
			return true;
	return false;
}

/* An element (sys.argv[3]), or several names at once (a, b = sys.argv[1:]). */
static bool scan_is_by_position(const char *text, const char *argv)
{
	const char *after = argv + strlen("sys.argv"), *line = argv;
	if (after[0] == '[' && after[1] >= '1' && after[1] <= '9' && after[1 + strspn(after + 1, "0123456789")] == ']')
		return true;
	while (line > text && line[-1] != '\n')
		line--;
	const char *equals = memchr(line, '=', (size_t)(argv - line));
	return equals && memchr(line, ',', (size_t)(equals - line)) && equals + 1 + strspn(equals + 1, " \t") == argv;
}

bool scan_reads_positions(const char *text)
{
	static const char *const parsers[] = {"argparse",    "add_argument(", "getopt", "docopt", "import click",
					      "import fire", "import typer",  "absl",   "hydra",  NULL};
	if (scan_has(text, parsers))
		return false;
	for (const char *p = text; (p = strstr(p, "sys.argv")); p++)
		if (scan_is_by_position(text, p))
			return true;
	return false;
}

static void scan_words(const char *text, const char *const *words, struct json *out)
{
	json_list(out);
	for (; *words; words++)
		if (strstr(text, *words))
			json_string(out, *words);
	json_end(out);
}

void scan_script(const char *text, struct json *out)
{
	static const char *const writers[] = {"CSVLogger",     "csv.writer",    "csv.DictWriter", "to_csv",
					      "SummaryWriter", "sluice report", "sluice.report",  NULL};
	static const char *const columns[] = {"val_loss",      "val_accuracy", "val_acc",  "train_loss",
					      "test_accuracy", "loss",         "accuracy", NULL};
	static const char *const savers[] = {"ModelCheckpoint", "torch.save", "save_weights", "SLUICE_CHECKPOINT_DIR",
					     NULL};
	bool flags, positions = scan_reads_positions(text), env = strstr(text, "SLUICE_PARAM") != NULL;
	bool saves = scan_has(text, savers);

	json_map(out);
	json_key(out, "arguments");
	scan_arguments(text, out, &flags);
	json_key(out, "metrics");
	scan_words(text, writers, out);
	json_key(out, "columns");
	scan_words(text, columns, out);
	json_key_bool(out, "checkpoint", saves);
	json_key_string(out, "pass", flags ? "flags" : positions ? "positional" : env ? "env" : NULL);
	json_key(out, "notes");
	json_list(out);
	if (!saves)
		json_string(out, "no checkpoint found: a task that is run again starts from its first epoch");
	json_end(out);
	json_end(out);
}
