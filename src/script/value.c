/* See value.h. */
#include "script/value.h"

#include "base/limits.h"

#include <string.h>

/* Lists inside lists: deeper is no argument's default. */
#define VALUE_DEPTH 8

static bool value_opens(const struct lex_word *word)
{
	return word->kind == LEX_SIGN && strchr("([{", word->sign);
}

void value_read_call(const struct lex *lex, size_t open, struct value_call *ret)
{
	*ret = (struct value_call){.end = lex_skip(lex, open)};
	size_t close = ret->end ? ret->end - 1 : 0;
	struct value_slot slot = {.from = open + 1};
	for (size_t i = open + 1; i <= close && i < lex->len; i++) {
		const struct lex_word *word = &lex->at[i];
		if (i < close && value_opens(word)) {
			i = lex_skip(lex, i) - 1;
		} else if (i == close || lex_is(word, ",")) {
			slot.to = i;
			if (slot.to > slot.from)
				vec_push(&ret->slots, slot);
			slot = (struct value_slot){.from = i + 1};
		} else if (i == slot.from + 1 && !slot.key && lex_is(word, "=") && !lex_is(word + 1, "=") &&
			   lex->at[slot.from].kind == LEX_NAME) {
			slot.key = &lex->at[slot.from];
			slot.from = i + 1;
		}
	}
}

const struct value_slot *value_find(const struct value_call *call, const char *key, int place)
{
	int at = 0;
	for (size_t i = 0; i < call->slots.len; i++) {
		const struct value_slot *slot = &call->slots.at[i];
		if (slot->key ? lex_is(slot->key, key) : at++ == place)
			return slot;
	}
	return NULL;
}

static struct node *value_read_depth(const struct lex *lex, size_t from, size_t to, int depth);

/* Adjacent strings are one. */
static struct node *value_read_strings(const struct lex *lex, size_t from, size_t to)
{
	struct buf text = buf_make(LIMIT_TEXT_BYTES);
	struct node *node = NULL;
	size_t i = from;
	while (i < to && lex->at[i].kind == LEX_STRING && lex->at[i].plain)
		lex_add_string(&lex->at[i++], &text);
	if (i == to && !text.full)
		node = node_new_string(buf_text(&text));
	buf_free(&text);
	return node;
}

static struct node *value_read_number(const struct lex *lex, size_t from, size_t to)
{
	bool minus = lex_is(&lex->at[from], "-");
	size_t i = from + (minus || lex_is(&lex->at[from], "+"));
	if (i + 1 != to || lex->at[i].kind != LEX_NUMBER || lex->at[i].len > 60)
		return NULL;
	struct buf text = buf_make(100);
	if (minus)
		buf_add_char(&text, '-');
	for (size_t k = 0; k < lex->at[i].len; k++)
		if (lex->at[i].at[k] != '_')
			buf_add_char(&text, lex->at[i].at[k]);
	struct node *node = node_new_scalar(buf_text(&text), text.len);
	if (!node_is_number(node)) {
		node_free(node);
		node = NULL;
	}
	buf_free(&text);
	return node;
}

/* `NAME = literal` at the left margin, once: a constant. */
static struct node *value_read_constant(const struct lex *lex, const struct lex_word *name)
{
	size_t found = 0, end = 0;
	for (size_t i = 0; i + 2 < lex->len; i++) {
		const struct lex_word *word = &lex->at[i];
		if (!word->first || word->indent || word->kind != LEX_NAME || word->len != name->len ||
		    memcmp(word->at, name->at, name->len) != 0 || !lex_is(word + 1, "=") || lex_is(word + 2, "="))
			continue;
		if (found)
			return NULL;
		found = i + 2;
		for (end = found; lex->at[end].kind != LEX_NEWLINE && lex->at[end].kind != LEX_END;)
			end++;
	}
	return found ? value_read_depth(lex, found, end, 1) : NULL;
}

static struct node *value_read_name(const struct lex *lex, size_t at, int depth)
{
	const struct lex_word *word = &lex->at[at];
	if (lex_is(word, "None"))
		return node_new(NODE_NULL);
	if (lex_is(word, "True") || lex_is(word, "False"))
		return node_new_bool(lex_is(word, "True"));
	return depth == 0 ? value_read_constant(lex, word) : NULL; /* no chains: each look reads the whole script */
}

/* "key": value, or NULL where the key is no text. */
static bool value_add_member(const struct lex *lex, const struct value_slot *slot, struct node *map, int depth)
{
	if (lex->at[slot->from].kind != LEX_STRING || slot->to < slot->from + 3 ||
	    !lex_is(&lex->at[slot->from + 1], ":"))
		return false;
	struct node *key = value_read_strings(lex, slot->from, slot->from + 1);
	struct node *value = key ? value_read_depth(lex, slot->from + 2, slot->to, depth + 1) : NULL;
	if (value)
		node_add(map, key->string, value);
	node_free(key);
	return value != NULL;
}

static struct node *value_read_group(const struct lex *lex, size_t from, size_t to, int depth)
{
	struct value_call call;
	if (lex_skip(lex, from) != to)
		return NULL;
	value_read_call(lex, from, &call);
	bool is_map = lex_is(&lex->at[from], "{"), good = call.slots.len <= LIMIT_SCRIPT_ARGUMENTS;
	struct node *node = NULL;
	if (lex_is(&lex->at[from], "(") && call.slots.len == 1 && !lex_is(&lex->at[to - 2], ",")) {
		node = value_read_depth(lex, from + 1, to - 1, depth + 1); /* (1): no tuple */
	} else {
		node = node_new(is_map && call.slots.len && lex_is(&lex->at[call.slots.at[0].from + 1], ":")
					? NODE_MAP
					: NODE_LIST);
		for (size_t i = 0; good && i < call.slots.len; i++) {
			const struct value_slot *slot = &call.slots.at[i];
			if (node->type == NODE_MAP) {
				good = value_add_member(lex, slot, node, depth);
				continue;
			}
			struct node *item = slot->key ? NULL : value_read_depth(lex, slot->from, slot->to, depth + 1);
			good = item != NULL;
			if (item)
				node_add(node, NULL, item);
		}
	}
	free(call.slots.at);
	if (good)
		return node;
	node_free(node);
	return NULL;
}

static struct node *value_read_depth(const struct lex *lex, size_t from, size_t to, int depth)
{
	if (from >= to || to >= lex->len || depth > VALUE_DEPTH)
		return NULL;
	const struct lex_word *first = &lex->at[from];
	if (value_opens(first))
		return value_read_group(lex, from, to, depth);
	switch (first->kind) {
	case LEX_STRING: return value_read_strings(lex, from, to);
	case LEX_NAME: return from + 1 == to ? value_read_name(lex, from, depth) : NULL;
	default: return value_read_number(lex, from, to);
	}
}

struct node *value_read(const struct lex *lex, size_t from, size_t to)
{
	return value_read_depth(lex, from, to, 0);
}

char *value_read_text(const struct lex *lex, const struct value_slot *slot)
{
	if (!slot || slot->key || slot->from >= slot->to)
		return NULL;
	struct node *node = lex->at[slot->from].kind == LEX_STRING ? value_read_strings(lex, slot->from, slot->to)
								   : NULL;
	char *text = node ? mem_strdup(node->string) : NULL;
	node_free(node);
	return text;
}

bool value_is_name(const struct lex *lex, const struct value_slot *slot, const char *name)
{
	return slot && slot->to > slot->from && lex_is(&lex->at[slot->to - 1], name) &&
		(slot->to == slot->from + 1 || lex_is(&lex->at[slot->to - 2], "."));
}
