/* What every verb does first and last: see verbs.h. */
#include "cli/verbs.h"

#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int call_fail(const struct error *err)
{
	struct buf safe = buf_make(8192);
	term_add_safe(&safe, err->text);
	fflush(stdout);
	fprintf(stderr, "sluice: %s\n", buf_text(&safe));
	buf_free(&safe);
	return 1;
}

int call_usage(const struct verb *verb, const struct error *err)
{
	struct buf safe = buf_make(8192);
	term_add_safe(&safe, err->text);
	fprintf(stderr, "sluice %s: %s\nusage: sluice %s %s\n'sluice %s --help' says more\n", verb->name,
		buf_text(&safe), verb->name, verb->arguments ? verb->arguments : "", verb->name);
	buf_free(&safe);
	return 2;
}

int call_begin(struct call *call, const struct verb *verb, int argc, char **argv, size_t min_args, size_t max_args)
{
	struct error err;
	*call = (struct call){.verb = verb, .term = term_of(1)};
	if (options_parse(verb->options, argc, argv, &call->options, &err) < 0)
		return call_usage(verb, &err);
	size_t count = call->options.args.len;
	if (count < min_args)
		errorf(&err, -EINVAL, count ? "an argument is missing" : "arguments are missing");
	else if (count > max_args)
		errorf(&err, -EINVAL, "'%s' is one argument too many", call->options.args.at[max_args]);
	else
		return 0;
	options_free(&call->options);
	return call_usage(verb, &err);
}

int call_connect(struct call *call)
{
	struct error err;
	if (client_open(&call->client, true, &err) < 0)
		return call_fail(&err);
	call->connected = true;
	return 0;
}

int call_end(struct call *call, int status)
{
	if (fflush(stdout) != 0 && !status) {
		struct error err;
		errorf(&err, -errno, "writing the output: %s", strerror(errno));
		status = call_fail(&err);
	}
	options_free(&call->options);
	if (call->connected)
		client_close(&call->client);
	return status;
}

int target_parse(const char *text, struct target *ret, struct error *err)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	uint64_t experiment, number = 0;
	if (text[0] != 'e' || num_parse_unsigned(text + 1, len - 1, INT64_MAX, &experiment) < 0 ||
	    (slash && (num_parse_unsigned(slash + 1, strlen(slash + 1), INT64_MAX, &number) < 0 || !number)))
		return errorf(err, -EINVAL,
			      "'%s' is not an id: an experiment is e12, a task e12/7 ('sluice ls' shows them)", text);
	snprintf(ret->experiment, sizeof(ret->experiment), "e%" PRIu64, experiment);
	ret->number = (int64_t)number;
	return 0;
}

int target_parse_experiment(const char *text, struct target *ret, struct error *err)
{
	int rc = target_parse(text, ret, err);
	if (rc == 0 && ret->number)
		rc = errorf(err, -EINVAL, "give the experiment: %s", ret->experiment);
	return rc;
}

char *target_path(const struct target *target, const char *rest)
{
	if (target->number)
		return mem_printf("/experiments/%s/tasks/%" PRId64 "%s", target->experiment, target->number, rest);
	return mem_printf("/experiments/%s%s", target->experiment, rest);
}

int call_get(struct call *call, const char *path, call_print_f print, struct buf *out, struct error *err)
{
	struct node *answer = NULL;
	struct buf json = buf_make(BUF_UNLIMITED);
	int rc = client_get(&call->client, path, &json, &answer, err);
	if (rc == 0 && options_has(&call->options, "json"))
		buf_addf(out, "%s\n", buf_text(&json));
	else if (rc == 0)
		print(answer, &call->term, out);
	node_free(answer);
	buf_free(&json);
	return rc;
}

int call_show(struct call *call, const char *path, call_print_f print)
{
	struct error err;
	struct buf out = buf_make(BUF_UNLIMITED);
	int rc = call_get(call, path, print, &out, &err);
	fwrite(buf_text(&out), 1, out.len, stdout);
	buf_free(&out);
	return rc < 0 ? call_fail(&err) : 0;
}
