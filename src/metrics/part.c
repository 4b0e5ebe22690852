/* See part.h. */
#include "metrics/part.h"

#include "base/text.h"
#include "metrics/reader.h"

#include <string.h>
#include <strings.h>

static const char *const part_columns[] = {"split", "phase", "subset", "dataset", "set", "stage", "mode", "partition"};

/* More words than this do not name parts of the data. */
#define PART_MAX 16
#define PART_WORD_BYTES 48

bool metrics_part_is_column(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(part_columns); i++)
		if (strcasecmp(name, part_columns[i]) == 0)
			return true;
	return false;
}

void metrics_part_note(struct metrics_parts *parts, const char *word, size_t len)
{
	if (parts->word || !len)
		return;
	parts->word = metrics_clean_name(word, len);
	/* The name of the metric follows: there must be room for it. */
	size_t kept = strlen(parts->word);
	parts->word[text_utf8_check(parts->word, kept < PART_WORD_BYTES ? kept : PART_WORD_BYTES)] = '\0';
	for (char *p = parts->word; *p; p++)
		if (*p == '/')
			*p = '_';
}

struct metrics_part *metrics_part_of_row(struct metrics_parts *parts, bool *ret_too_many)
{
	*ret_too_many = false;
	if (!parts->word || !*parts->word)
		return NULL;
	for (size_t i = 0; i < parts->list.len; i++)
		if (strcmp(parts->list.at[i].word, parts->word) == 0)
			return &parts->list.at[i];
	if (parts->list.len == PART_MAX) {
		*ret_too_many = true;
		return NULL;
	}
	struct metrics_part made = {.word = mem_strdup(parts->word)};
	metrics_step_restart(&made.step);
	vec_push(&parts->list, made);
	return &parts->list.at[parts->list.len - 1];
}

void metrics_part_end_row(struct metrics_parts *parts)
{
	free(parts->word);
	parts->word = NULL;
}

void metrics_parts_resume(struct metrics_parts *parts)
{
	for (size_t i = 0; i < parts->list.len; i++)
		metrics_step_resume(&parts->list.at[i].step);
}

void metrics_parts_clear(struct metrics_parts *parts)
{
	metrics_part_end_row(parts);
	for (size_t i = 0; i < parts->list.len; i++) {
		free(parts->list.at[i].word);
		free(parts->list.at[i].step.given.at);
	}
	free(parts->list.at);
	*parts = (struct metrics_parts){0};
}
