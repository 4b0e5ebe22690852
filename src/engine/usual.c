/* See usual.h. */
#include "engine/usual.h"

#include "base/num.h"
#include "metrics/metrics.h"
#include "metrics/words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define USUAL_WORD_BYTES 24

struct usual_name {
	bool val, test, train, loss, accuracy, reward;
	bool other; /* a word that names another metric */
	bool more; /* another word: "box" of val/box_loss */
	bool never; /* a time, a spread, the best so far, values that are no curve: nothing to rank by */
	int64_t number; /* of several validation sets: valid_1; -1: none */
};

static bool usual_is(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcasecmp(word, *list) == 0)
			return true;
	return false;
}

static void usual_take_word(struct usual_name *name, const char *word)
{
	static const char *const val[] = {"val",        "vali", "valid",   "validation", "validate", "eval",
					  "evaluation", "dev",  "holdout", "heldout",    NULL};
	static const char *const test[] = {"test", "testing", "evaluate", NULL};
	static const char *const train[] = {"train", "training", "trn", NULL};
	static const char *const spread[] = {"num", "std", "stddev", "var", "variance", "row", "runtime", NULL};
	static const char *const reward[] = {"reward", "rewards", "rew", "return", "returns", NULL};
	enum word_kind kind = word_kind_of(word, strlen(word));
	if (usual_is(word, val))
		name->val = true;
	else if (usual_is(word, test))
		name->test = true;
	else if (usual_is(word, train))
		name->train = true;
	else if (strcasecmp(word, "loss") == 0)
		name->loss = true;
	else if (strcasecmp(word, "acc") == 0 || strcasecmp(word, "accuracy") == 0)
		name->accuracy = true;
	else if (usual_is(word, reward))
		name->reward = name->other = true;
	else if (kind == WORD_NEVER || kind == WORD_BEST || usual_is(word, spread))
		name->never = true;
	else if (kind == WORD_METRIC || kind == WORD_VAGUE)
		name->other = true;
	else if ((name->val || name->test) && name->number < 0 &&
		 num_parse_int(word, strlen(word), 0, INT32_MAX, &name->number) == 0)
		return;
	else
		name->more = true;
}

/* Words end at what is neither letter nor digit, and before a capital behind a small letter (valLoss). */
static struct usual_name usual_read(const char *text)
{
	struct usual_name name = {.number = -1};
	char word[USUAL_WORD_BYTES];
	size_t len = 0;
	for (const char *p = text;; p++) {
		bool inside = isalnum((unsigned char)*p) || (unsigned char)*p >= 0x80;
		bool hump = len && p > text && islower((unsigned char)p[-1]) && isupper((unsigned char)*p);
		if (len && (!inside || hump)) {
			word[len] = '\0';
			usual_take_word(&name, word);
			len = 0;
		}
		if (!*p)
			return name;
		if (inside && len + 1 < sizeof(word))
			word[len++] = *p;
	}
}

static enum usual usual_judge(const struct usual_name *name)
{
	bool plain = !name->other && !name->more && name->number < 0;
	/* "test" alone, beside "learn", is a score of CatBoost. */
	bool alone = plain && !name->loss && !name->accuracy && !name->train && name->val != name->test;
	bool metric = name->loss || name->accuracy || name->other || name->number >= 0 || alone;
	if (name->never)
		return USUAL_NONE;
	if (name->val && !name->train)
		return plain && name->loss && !name->accuracy ? USUAL_VAL_LOSS
			: plain && name->accuracy             ? USUAL_VAL_ACCURACY
			: metric                              ? USUAL_VAL_OTHER
							      : USUAL_NONE;
	if (name->test && !name->train)
		return plain && name->loss && !name->accuracy ? USUAL_TEST_LOSS
			: metric                              ? USUAL_TEST_OTHER
							      : USUAL_NONE;
	if (name->reward && !name->loss)
		return USUAL_REWARD;
	if (plain && name->loss && !name->accuracy)
		return name->train ? USUAL_TRAIN_LOSS : USUAL_LOSS;
	if (plain && name->accuracy && !name->loss && !name->train)
		return USUAL_ACCURACY;
	return metric ? USUAL_OTHER : USUAL_NONE;
}

enum usual usual_of(const char *name)
{
	struct usual_name words = usual_read(name);
	return usual_judge(&words);
}

/* Of several validation sets the last counts, as in the boosting libraries: the first is often the training's data. */
const char *usual_choose(const struct metric *metrics, size_t count)
{
	const char *chosen = NULL;
	enum usual best = USUAL_NONE;
	int64_t number = -1;
	for (size_t i = 0; i < count; i++) {
		struct usual_name words = usual_read(metrics[i].name);
		enum usual is = usual_judge(&words);
		if (metrics_is_count(metrics[i].name) ||
		    (chosen && (is > best || (is == best && words.number <= number))))
			continue;
		chosen = metrics[i].name;
		best = is;
		number = words.number;
	}
	return chosen;
}
