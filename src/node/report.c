/* `sluice report`: one line of JSON, appended with one write to a file that the runner follows. Works from
 * any process of the script, several at a time. */
#include "base/fs.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/num.h"
#include "node/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int report_fail(const char *what, const char *why)
{
	fprintf(stderr, "sluice report: %s%s\n", what, why);
	return 1;
}

/* 0, or 2 when the argument is not NAME=NUMBER. */
static int report_add(struct json *out, const char *argument)
{
	const char *equals = strchr(argument, '=');
	double value;
	if (!equals || equals == argument) {
		report_fail(argument, ": expected NAME=VALUE, such as val_loss=0.31");
		return 2;
	}
	if (equals - argument > LIMIT_METRIC_NAME_BYTES) {
		report_fail(argument, ": the name is too long");
		return 2;
	}
	if (num_parse_real(equals + 1, strlen(equals + 1), &value) < 0) {
		report_fail(argument, ": the value is not a number");
		return 2;
	}
	char *name = mem_copy(argument, (size_t)(equals - argument));
	json_key_real(out, name, value);
	free(name);
	return 0;
}

static int report_append(const char *path, const char *line, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ssize_t n = write(fd, line, len);
	int rc = n == (ssize_t)len ? 0 : n < 0 ? -errno : -ENOSPC;
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

int node_report_main(int argc, char **argv)
{
	const char *path = getenv("SLUICE_REPORT");
	struct buf line = buf_make(LIMIT_METRIC_LINE_BYTES);
	struct json out = json_to(&line);
	int status = 0;

	if (argc < 2) {
		fputs("usage: sluice report NAME=VALUE ... [epoch=N]\n", stderr);
		return 2;
	}
	if (!path || !*path)
		return report_fail("this is for training scripts that sluice runs: ", "SLUICE_REPORT is not set here");
	json_map(&out);
	for (int i = 1; i < argc && status == 0; i++)
		status = report_add(&out, argv[i]);
	json_end(&out);
	buf_add_char(&line, '\n');
	if (status == 0 && line.full)
		status = report_fail("too many values for one row", "");
	if (status == 0) {
		int rc = report_append(path, line.data, line.len);
		if (rc < 0) {
			fprintf(stderr, "sluice report: %s: %s\n", path, strerror(-rc));
			status = 1;
		}
	}
	buf_free(&line);
	return status;
}
