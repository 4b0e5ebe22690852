/* Errors with a place: see error.h. */
#include "base/error.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/node.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int errorf(struct error *err, int code, const char *fmt, ...)
{
	if (!err)
		return code;
	va_list args;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	err->line = err->column = 0;
	return code;
}

int errorf_at(struct error *err, int code, int line, int column, const char *fmt, ...)
{
	if (!err)
		return code;
	va_list args;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	err->line = line;
	err->column = column;
	return code;
}

static void problem_take(struct problems *list, struct problem problem)
{
	if (list->list.len < LIMIT_PROBLEMS) {
		vec_push(&list->list, problem);
		return;
	}
	free(problem.field);
	free(problem.message);
	free(problem.remedy);
}

int problem_add(struct problems *list, const struct node *at, const char *remedy, const char *fmt, ...)
{
	char text[1024];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	problem_take(list,
		     (struct problem){
			     .field = node_pointer(at, NULL),
			     .line = at ? at->line : 0,
			     .column = at ? at->column : 0,
			     .message = mem_strdup(text),
			     .remedy = mem_strdup(remedy),
		     });
	return -EINVAL;
}

int problem_add_missing(struct problems *list, const struct node *in, const char *key, const char *remedy)
{
	problem_take(list,
		     (struct problem){
			     .field = node_pointer(in, key),
			     .line = in ? in->line : 0,
			     .column = in ? in->column : 0,
			     .message = mem_printf("'%s' is missing", key),
			     .remedy = mem_strdup(remedy),
		     });
	return -EINVAL;
}

void problems_write(const struct problems *list, struct json *out)
{
	json_list(out);
	for (size_t i = 0; i < list->list.len; i++) {
		const struct problem *p = &list->list.at[i];
		json_map(out);
		json_key_string(out, "field", p->field);
		if (p->line) {
			json_key_int(out, "line", p->line);
			json_key_int(out, "column", p->column);
		}
		json_key_string(out, "message", p->message);
		json_key_string(out, "remedy", p->remedy);
		json_end(out);
	}
	json_end(out);
}

void problems_summary(const struct problems *list, struct error *ret)
{
	if (!list->list.len) {
		errorf(ret, 0, "no problem found");
		return;
	}
	const struct problem *p = &list->list.at[0];
	char more[48] = "";
	if (list->list.len > 1)
		snprintf(more, sizeof(more), " (and %zu more)", list->list.len - 1);
	errorf_at(ret, 0, p->line, p->column, "%s: %s%s%s%s", p->field[0] ? p->field + 1 : "experiment", p->message,
		  p->remedy ? "; " : "", p->remedy ? p->remedy : "", more);
}

void problems_free(struct problems *list)
{
	for (size_t i = 0; i < list->list.len; i++) {
		free(list->list.at[i].field);
		free(list->list.at[i].message);
		free(list->list.at[i].remedy);
	}
	free(list->list.at);
	*list = (struct problems){0};
}
