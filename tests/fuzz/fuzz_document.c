/* Experiment files and request bodies: parsing must survive any bytes, and what was read must survive
 * being written and read again, in both languages. The first byte picks the language. */
#include "base/buf.h"
#include "base/json.h"
#include "base/node.h"

#include <stdint.h>
#include <stdio.h>

static struct buf document_json(const struct node *node)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&out);
	node_write_json(node, &w);
	return out;
}

static void document_must_match(const struct node *node, const struct buf *first, const struct error *err, int rc,
				const char *language, const struct buf *written)
{
	if (rc < 0) {
		fprintf(stderr, "%s that was written cannot be read: %s (%d:%d)\n%s\n", language, err->text, err->line,
			err->column, buf_text(written));
		abort();
	}
	struct buf again = document_json(node);
	if (again.len != first->len || memcmp(buf_text(&again), buf_text(first), first->len) != 0) {
		fprintf(stderr, "%s changed:\n%s\n%s\n%s\n", language, buf_text(first), buf_text(written),
			buf_text(&again));
		abort();
	}
	buf_free(&again);
}

static void document_round_trip(const struct node *node)
{
	struct buf json = document_json(node), yaml = buf_make(BUF_UNLIMITED);
	struct node *again;
	struct error err = {0};

	node_write_yaml(node, &yaml);
	int rc = node_parse_yaml(buf_text(&yaml), yaml.len, &again, &err);
	document_must_match(rc < 0 ? NULL : again, &json, &err, rc, "YAML", &yaml);
	node_free(again);
	rc = node_parse_json(buf_text(&json), json.len, &again, &err);
	document_must_match(rc < 0 ? NULL : again, &json, &err, rc, "JSON", &json);
	node_free(again);
	struct node *copy = node_clone(node);
	struct buf cloned = document_json(copy);
	if (strcmp(buf_text(&cloned), buf_text(&json)) != 0)
		abort();
	buf_free(&cloned);
	node_free(copy);
	buf_free(&json);
	buf_free(&yaml);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct node *node = NULL;
	struct error err = {0};
	if (!size)
		return 0;
	const char *text = (const char *)data + 1;
	int rc = data[0] & 1 ? node_parse_json(text, size - 1, &node, &err)
			     : node_parse_yaml(text, size - 1, &node, &err);
	if (rc < 0) {
		if (!err.text[0])
			abort(); /* a refusal must say why */
		return 0;
	}
	document_round_trip(node);
	node_free(node);
	return 0;
}
