/* `name=value` arguments: see pairs.h. */
#include "cli/pairs.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/num.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>

static int pairs_value(const char *name, const char *text, enum pairs_kind kind, struct node **ret, struct error *err)
{
	struct error inner;
	double number;
	switch (kind) {
	case PAIRS_VALUES:
		if (node_parse_values(text, ret, &inner) < 0)
			return errorf(err, -EINVAL, "%s: %s", name, inner.text);
		return 0;
	case PAIRS_NUMBER:
		if (num_parse_real(text, strlen(text), &number) < 0)
			return errorf(err, -EINVAL, "%s: '%s' is not a number", name, text);
		*ret = node_new_real(number);
		return 0;
	case PAIRS_SCALAR: break;
	}
	*ret = node_new_scalar(text, strlen(text));
	return 0;
}

int pairs_add(struct node *map, const char *text, enum pairs_kind kind, struct error *err)
{
	static const char *const examples[] = {"name=values, such as learning_rate=0.1,0.01",
					       "name=value, such as learning_rate=0.01",
					       "metric=value, such as val_loss=0.31"};
	const char *value = strchr(text, '=');
	struct node *node = NULL;
	char *name = mem_copy(text, value ? (size_t)(value - text) : strlen(text));
	/* A metric may be called val/loss; a parameter is a word. */
	bool named = kind == PAIRS_NUMBER ? *name && strlen(name) <= LIMIT_METRIC_NAME_BYTES
					  : text_is_identifier(name, LIMIT_NAME_BYTES);
	int rc;
	if (value && named)
		rc = pairs_value(name, value + 1, kind, &node, err);
	else if (value && *name && kind != PAIRS_NUMBER)
		rc = errorf(err, -EINVAL,
			    "'%s' is not a name for a parameter: start with a letter; use letters without accents, "
			    "digits and _ . - (at most %d)",
			    name, LIMIT_NAME_BYTES);
	else
		rc = errorf(err, -EINVAL, "'%s': expected %s", text, examples[kind]);
	if (rc == 0)
		node_add(map, name, node);
	free(name);
	return rc;
}

int pairs_add_all(struct node *map, const struct options *options, size_t first, enum pairs_kind kind,
		  struct error *err)
{
	int rc = 0;
	for (size_t i = first; rc == 0 && i < options->args.len; i++) {
		size_t name = strcspn(options->args.at[i], "=") + 1;
		for (size_t k = first; k < i; k++)
			if (strncmp(options->args.at[k], options->args.at[i], name) == 0)
				return errorf(err, -EINVAL,
					      "%.*s is there twice; write its values as one list: %.*sa,b",
					      (int)name - 1, options->args.at[i], (int)name, options->args.at[i]);
		rc = pairs_add(map, options->args.at[i], kind, err);
	}
	return rc;
}

/* "parameters.lr: 7 is above 1" for everything that is wrong, a line each. */
static int pairs_refusal(const struct reply *reply, struct error *err)
{
	struct node *problem = NULL;
	struct buf text = buf_make(sizeof(err->text) - 1);
	int rc = client_problem(reply, err);
	if (node_parse_json(buf_text(&reply->body), reply->body.len, &problem, NULL) < 0)
		problem = NULL;
	const struct node *errors = node_get(problem, "errors");
	for (size_t i = 0; errors && errors->type == NODE_LIST && i < errors->count; i++) {
		const char *field = node_get_string(errors->items[i], "field");
		const char *message = node_get_string(errors->items[i], "message");
		const char *remedy = node_get_string(errors->items[i], "remedy");
		buf_addf(&text, "%s%s%s%s%s%s", i ? "; " : "", field && *field ? field + 1 : "",
			 field && *field ? ": " : "", message ? message : "", remedy ? "; " : "", remedy ? remedy : "");
	}
	if (text.len)
		rc = errorf(err, rc, "%s", buf_text(&text));
	buf_free(&text);
	node_free(problem);
	return rc;
}

int pairs_post(struct client *client, const struct target *target, const char *rest, const struct node *body,
	       struct node **ret, struct error *err)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	struct reply reply;
	char *path = target_path(target, rest);
	node_write_json(body, &w);
	struct request request = {.method = "POST", .path = path, .body = buf_text(&text), .body_len = text.len};
	int rc = client_send(client, &request, &reply, err);
	*ret = NULL;
	if (rc == 0) {
		if (reply.status >= 300)
			rc = reply.status == 409 ? (client_problem(&reply, err), -EAGAIN) : pairs_refusal(&reply, err);
		else if (reply.status != 204)
			rc = node_parse_json(buf_text(&reply.body), reply.body.len, ret, err);
		reply_free(&reply);
	}
	free(path);
	buf_free(&text);
	return rc;
}

void pairs_print_json(const struct node *answer)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	node_write_json(answer, &w);
	puts(buf_text(&text));
	buf_free(&text);
}
