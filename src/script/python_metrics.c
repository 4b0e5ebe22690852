/* What a Python script says about its results: how it writes them, which one it watches itself, whether it saves its
 * state. */
#include "script/reader.h"

#include "base/limits.h"
#include "base/text.h"

#include <ctype.h>

/* Is the dotted name `path` somewhere in the code (not in texts or comments)? */
static bool metrics_has(const struct lex *lex, const char *path)
{
	const char *dot = strrchr(path, '.');
	for (size_t i = 0; i < lex->len; i++) {
		if (!lex_is(&lex->at[i], dot ? dot + 1 : path))
			continue;
		if (!dot || (i >= 2 && lex_is(&lex->at[i - 1], ".") && python_is_path(lex, i, path)))
			return true;
	}
	return false;
}

static void metrics_writers(struct reader *r, const char *text)
{
	static const char *const words[] = {
		"CSVLogger",         "csv.writer",    "csv.DictWriter", "to_csv",     "SummaryWriter", "TensorBoard",
		"TensorBoardLogger", "sluice.report", "json.dump",      "json.dumps", "Trainer"};
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (metrics_has(r->lex, words[i]))
			vec_push(&r->script->writers, words[i]);
	if (strstr(text, "sluice report"))
		vec_push(&r->script->writers, "sluice report");
}

static void metrics_add_column(struct script *script, const char *name)
{
	for (size_t i = 0; i < script->columns.len; i++)
		if (strcmp(script->columns.at[i], name) == 0)
			return;
	if (script->columns.len < 20)
		vec_push(&script->columns, mem_strdup(name));
}

/* Does a word without a sign in it stand behind another word ("Val loss", not "%.3f loss")? Then its name is both. */
static bool metrics_is_phrase(const char *text, const char *at, const char *word)
{
	if (strpbrk(word, "_/") || at - text < 2 || at[-1] != ' ' || !isalpha((unsigned char)at[-2]))
		return false;
	const char *p = at - 2;
	while (p > text && isalpha((unsigned char)*p))
		p--;
	while (p > text && (isdigit((unsigned char)*p) || strchr(".-+ ", *p)))
		p--;
	return *p != '%';
}

/* Does the text hold this word by itself? A part of a longer key ("train/loss", "val-loss", "m.f1") is none. */
static bool metrics_holds(const char *text, size_t len, const char *word)
{
	size_t size = strlen(word);
	for (const char *p = text; (p = memmem(p, len - (size_t)(p - text), word, size)); p++) {
		bool before = p > text && (isalnum((unsigned char)p[-1]) || strchr("_/.-", p[-1]));
		before |= metrics_is_phrase(text, p, word);
		const char *after = p + size;
		bool behind = after < text + len && (isalnum((unsigned char)*after) || strchr("_/-", *after));
		if (!before && !behind)
			return true;
	}
	return false;
}

/* 'train/loss': a string that is nothing but a key with a part before the word. */
static void metrics_add_key(struct reader *r, const struct lex_word *string, const char *word)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	lex_add_string(string, &text);
	const char *key = buf_text(&text), *slash = strrchr(key, '/');
	size_t good = strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/");
	if (slash && slash != key && strcmp(slash + 1, word) == 0 && !key[good] &&
	    strlen(key) <= LIMIT_METRIC_NAME_BYTES)
		metrics_add_column(r->script, key);
	buf_free(&text);
}

/* Names in its texts. Names of variables and keywords are not taken: `log(f1=…)` of any function writes no f1. */
static void metrics_columns(struct reader *r)
{
	static const char *const words[] = {
		"val_loss",   "val_accuracy", "val_acc",       "eval_loss", "test_loss",    "test_acc",
		"train_loss", "loss",         "test_accuracy", "accuracy",  "val_error",    "val_mae",
		"val_f1",     "f1",           "auc",           "val/loss",  "val/accuracy", "val/acc"};
	for (size_t w = 0; w < COUNT_OF(words); w++)
		for (size_t i = 0; i < r->lex->len; i++) {
			const struct lex_word *string = &r->lex->at[i];
			if (string->kind != LEX_STRING)
				continue;
			if (metrics_holds(string->at, string->len, words[w]))
				metrics_add_column(r->script, words[w]);
			else if (string->plain)
				metrics_add_key(r, string, words[w]);
		}
}

/* Which calls name the metric that the script itself goes by. */
static const struct watch {
	const char *call, *key, *mode; /* mode: the argument that says "min" or "max", or is True for max */
	int place; /* of the name among arguments without a key */
} watches[] = {
	{"EarlyStopping", "monitor", "mode", 0},
	{"ModelCheckpoint", "monitor", "mode", -1},
	{"TrainingArguments", "metric_for_best_model", "greater_is_better", -1},
	{"Seq2SeqTrainingArguments", "metric_for_best_model", "greater_is_better", -1},
	{"ReduceLROnPlateau", "monitor", "mode", -1},
};

static void metrics_take_goal(struct reader *r, const struct value_call *call, const struct watch *watch)
{
	const struct value_slot *slot = value_find(call, watch->mode, -1);
	struct node *mode = slot ? value_read(r->lex, slot->from, slot->to) : NULL;
	if (mode && mode->type == NODE_BOOL)
		r->script->goal = mode->boolean ? "max" : "min";
	else if (node_string(mode) && strcmp(mode->string, "max") == 0)
		r->script->goal = "max";
	else if (node_string(mode) && strcmp(mode->string, "min") == 0)
		r->script->goal = "min";
	node_free(mode);
}

static void metrics_watched(struct reader *r, const struct watch *watch)
{
	const struct lex *lex = r->lex;
	for (size_t i = 0; i + 1 < lex->len && !r->script->metric; i++) {
		if (!lex_is(&lex->at[i], watch->call) || !lex_is(&lex->at[i + 1], "("))
			continue;
		struct value_call call;
		value_read_call(lex, i + 1, &call);
		const struct value_slot *slot = value_find(&call, watch->key, watch->place);
		struct node *name = slot ? value_read(lex, slot->from, slot->to) : NULL;
		if (node_string(name) && *name->string && strlen(name->string) <= LIMIT_METRIC_NAME_BYTES) {
			bool best = strcmp(watch->key, "metric_for_best_model") == 0;
			bool prefixed = !best || text_starts(name->string, "eval_");
			r->script->metric = mem_printf("%s%s", prefixed ? "" : "eval_", name->string);
			r->script->metric_from = mem_strdup(watch->call);
			metrics_take_goal(r, &call, watch);
			metrics_add_column(r->script, r->script->metric);
		}
		node_free(name);
		free(call.slots.at);
	}
}

/* sluice.report(val_loss=…), self.log("val_loss", …), writer.add_scalar("Loss/val", …): names as they are reported. */
static void metrics_reported(struct reader *r)
{
	const struct lex *lex = r->lex;
	for (size_t i = 1; i + 1 < lex->len; i++) {
		if (!lex_is(&lex->at[i + 1], "(") || lex->at[i].kind != LEX_NAME)
			continue;
		bool report = python_is_path(lex, i, "sluice.report"), log = python_is_path(lex, i, "self.log");
		bool scalar = lex_is(&lex->at[i], "add_scalar");
		if (!report && !(log && lex_is(&lex->at[i - 1], ".")) && !scalar)
			continue;
		struct value_call call;
		value_read_call(lex, i + 1, &call);
		for (size_t k = 0; report && k < call.slots.len; k++) {
			const struct lex_word *key = call.slots.at[k].key;
			char *name = key ? mem_copy(key->at, key->len) : NULL;
			if (name && strcmp(name, "epoch") != 0 && strcmp(name, "step") != 0)
				metrics_add_column(r->script, name);
			free(name);
		}
		char *name = report || !call.slots.len ? NULL : value_read_text(lex, &call.slots.at[0]);
		if (name && *name && strlen(name) <= LIMIT_METRIC_NAME_BYTES)
			metrics_add_column(r->script, name);
		free(name);
		free(call.slots.at);
	}
}

/* Nothing is watched: the first name that looks like a validation result, else a known one. */
static void metrics_guess(struct script *script)
{
	for (size_t i = 0; i < script->columns.len && !script->metric; i++)
		if (text_starts(script->columns.at[i], "val_") || text_starts(script->columns.at[i], "eval_") ||
		    text_starts(script->columns.at[i], "val/") || text_starts(script->columns.at[i], "eval/"))
			script->metric = mem_strdup(script->columns.at[i]);
	if (!script->metric && script->columns.len)
		script->metric = mem_strdup(script->columns.at[0]);
}

void python_read_metrics(struct reader *r, const char *text)
{
	static const char *const savers[] = {"ModelCheckpoint",   "torch.save",       "save_weights",
					     "save_pretrained",   "save_checkpoint",  "SLUICE_CHECKPOINT_DIR",
					     "CheckpointManager", "BackupAndRestore", "save_model"};
	metrics_writers(r, text);
	for (size_t i = 0; i < COUNT_OF(watches); i++)
		metrics_watched(r, &watches[i]);
	metrics_reported(r);
	metrics_columns(r);
	metrics_guess(r->script);
	for (size_t i = 0; i < COUNT_OF(savers); i++)
		r->script->checkpoint |= strchr(savers[i], '.') ? metrics_has(r->lex, savers[i])
								: strstr(text, savers[i]) != NULL;
}
