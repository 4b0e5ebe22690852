/* `sluice export ID`: an experiment as a table or with every curve. */
#include "cli/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const struct verb_option export_options[] = {
	{"format", "csv|json", "a row per task, or everything with every metric (csv)"},
	{"o,output", "FILE", "write to this file instead of stdout"},
	{0},
};

/* Into a private file that takes the name once it is whole. */
static int export_to_file(struct client *client, const char *path, const char *name, struct error *err)
{
	char *part = mem_printf("%s.part", name);
	int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int rc = fd < 0 ? errorf(err, -errno, "%s: %s", part, strerror(errno)) : client_download(client, path, fd, err);
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = errorf(err, -errno, "%s: %s", part, strerror(errno));
	if (rc == 0 && rename(part, name) < 0)
		rc = errorf(err, -errno, "%s: %s", name, strerror(errno));
	if (rc < 0 && fd >= 0)
		unlink(part);
	free(part);
	return rc;
}

static int export_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target target;
	int status = call_begin(&call, &verb_export, argc, argv, 1, 1);
	if (status)
		return status;
	const char *format = options_get(&call.options, "format"), *output = options_get(&call.options, "output");
	format = format ? format : "csv";
	int rc = target_parse_experiment(call.options.args.at[0], &target, &err);
	if (rc == 0 && strcmp(format, "csv") != 0 && strcmp(format, "json") != 0)
		rc = errorf(&err, -EINVAL, "--format: expected csv or json, got '%s'", format);
	if (rc < 0)
		return call_end(&call, call_usage(&verb_export, &err));
	status = call_connect(&call);
	if (status)
		return call_end(&call, status);
	char *rest = mem_printf("/export?format=%s", format), *path = target_path(&target, rest);
	rc = output && strcmp(output, "-") != 0 ? export_to_file(&call.client, path, output, &err)
						: client_download(&call.client, path, 1, &err);
	free(rest);
	free(path);
	return call_end(&call, rc < 0 ? call_fail(&err) : 0);
}

const struct verb verb_export = {
	.name = "export",
	.arguments = "ID [--format csv|json]",
	.summary = "print an experiment as CSV or JSON",
	.help = "CSV: a row per task with state, parameters, best value and its epoch, why it failed, what it cost, and every\n"
		"metric twice: at_best_NAME is its value where the first objective was best, last_NAME its last one.\n"
		"Cells are written as they are, also those that begin with '=', '+', '-' or '@': a spreadsheet may take them for\n"
		"formulas.\n"
		"JSON: the experiment with its tasks, every metric of every task, and the attempts.\n\n"
		"  sluice export e12 > e12.csv\n"
		"  sluice export e12 --format json -o e12.json",
	.options = export_options,
	.run = export_run,
};
