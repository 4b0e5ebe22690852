/* See words.h. */
#include "metrics/words.h"

#include "base/mem.h"

#include <ctype.h>
#include <strings.h>

/* Sorted by strcmp(3). */
static const struct word {
	const char *word;
	enum word_kind kind;
} words[] = {
	/* clang-format off */
	{"__main__", WORD_NOISE},
	{"absolute", WORD_ADJECTIVE},
	{"acc", WORD_METRIC},
	{"accuracy", WORD_METRIC},
	{"actor", WORD_ADJECTIVE},
	{"aic", WORD_METRIC},
	{"and", WORD_NOISE},
	{"ap", WORD_METRIC},
	{"ap50", WORD_METRIC},
	{"ap75", WORD_METRIC},
	{"auc", WORD_METRIC},
	{"auprc", WORD_METRIC},
	{"auroc", WORD_METRIC},
	{"average", WORD_ADJECTIVE},
	{"avg", WORD_ADJECTIVE},
	{"balanced", WORD_ADJECTIVE},
	{"baseline", WORD_BEST},
	{"batch", WORD_STEP},
	{"batch_size", WORD_NEVER},
	{"batchsize", WORD_NEVER},
	{"best", WORD_BEST},
	{"bic", WORD_METRIC},
	{"binary", WORD_ADJECTIVE},
	{"bleu", WORD_METRIC},
	{"box", WORD_ADJECTIVE},
	{"bpb", WORD_METRIC},
	{"bpc", WORD_METRIC},
	{"brier", WORD_METRIC},
	{"categorical", WORD_ADJECTIVE},
	{"cer", WORD_METRIC},
	{"checkpoint", WORD_BEST},
	{"chi2", WORD_METRIC},
	{"classes", WORD_NEVER},
	{"cls", WORD_ADJECTIVE},
	{"code", WORD_NEVER},
	{"completed", WORD_NOISE},
	{"correlation", WORD_METRIC},
	{"cost", WORD_METRIC},
	{"count", WORD_NEVER},
	{"cpu", WORD_NEVER},
	{"cpus", WORD_NEVER},
	{"critic", WORD_ADJECTIVE},
	{"critical", WORD_BAD},
	{"cross", WORD_ADJECTIVE},
	{"current", WORD_ADJECTIVE},
	{"d", WORD_ADJECTIVE},
	{"data", WORD_NEVER},
	{"data_time", WORD_NEVER},
	{"date", WORD_NEVER},
	{"debug", WORD_NOISE},
	{"dev", WORD_PART},
	{"deviance", WORD_METRIC},
	{"deviation", WORD_VAGUE},
	{"device", WORD_NEVER},
	{"devices", WORD_NEVER},
	{"dice", WORD_METRIC},
	{"dim", WORD_NEVER},
	{"disc", WORD_ADJECTIVE},
	{"discriminator", WORD_ADJECTIVE},
	{"distance", WORD_VAGUE},
	{"done", WORD_NOISE},
	{"dur", WORD_NEVER},
	{"duration", WORD_NEVER},
	{"earlier", WORD_BEST},
	{"elapsed", WORD_NEVER},
	{"elbo", WORD_METRIC},
	{"end", WORD_NOISE},
	{"entropy", WORD_METRIC},
	{"ep", WORD_EPOCH},
	{"episode", WORD_STEP},
	{"epoch", WORD_EPOCH},
	{"epoche", WORD_EPOCH},
	{"epochs", WORD_NEVER},
	{"err", WORD_VAGUE},
	{"error", WORD_VAGUE},
	{"eta", WORD_NEVER},
	{"eval", WORD_PART},
	{"evaluation", WORD_PART},
	{"examples", WORD_NEVER},
	{"exception", WORD_BAD},
	{"exit", WORD_NEVER},
	{"expected", WORD_BEST},
	{"f1", WORD_METRIC},
	{"fatal", WORD_BAD},
	{"fehler", WORD_VAGUE},
	{"fid", WORD_METRIC},
	{"file", WORD_NEVER},
	{"files", WORD_NEVER},
	{"final", WORD_ADJECTIVE},
	{"finished", WORD_NOISE},
	{"fitness", WORD_METRIC},
	{"flops", WORD_NEVER},
	{"fold", WORD_FOLD},
	{"folds", WORD_NEVER},
	{"fps", WORD_NEVER},
	{"g", WORD_ADJECTIVE},
	{"gb", WORD_NEVER},
	{"gen", WORD_ADJECTIVE},
	{"genauigkeit", WORD_METRIC},
	{"generator", WORD_ADJECTIVE},
	{"gini", WORD_METRIC},
	{"global_step", WORD_STEP},
	{"gpu", WORD_NEVER},
	{"gpus", WORD_NEVER},
	{"hamming", WORD_METRIC},
	{"hinge", WORD_METRIC},
	{"hits", WORD_METRIC},
	{"holdout", WORD_PART},
	{"hour", WORD_NEVER},
	{"hours", WORD_NEVER},
	{"id", WORD_NEVER},
	{"images", WORD_NEVER},
	{"improve", WORD_BEST},
	{"improved", WORD_BEST},
	{"index", WORD_NEVER},
	{"info", WORD_NOISE},
	{"iou", WORD_METRIC},
	{"ips", WORD_NEVER},
	{"is", WORD_LINK},
	{"it", WORD_STEP},
	{"ite", WORD_STEP},
	{"iter", WORD_STEP},
	{"iterate", WORD_STEP},
	{"iteration", WORD_STEP},
	{"iterations", WORD_STEP},
	{"iters", WORD_STEP},
	{"jaccard", WORD_METRIC},
	{"kappa", WORD_METRIC},
	{"kd", WORD_ADJECTIVE},
	{"kl", WORD_METRIC},
	{"l1", WORD_ADJECTIVE},
	{"l2", WORD_ADJECTIVE},
	{"layers", WORD_NEVER},
	{"learn", WORD_PART},
	{"learning", WORD_PART},
	{"likelihood", WORD_METRIC},
	{"line", WORD_NEVER},
	{"lines", WORD_NEVER},
	{"loaded", WORD_BEST},
	{"loading", WORD_BEST},
	{"log", WORD_ADJECTIVE},
	{"logloss", WORD_METRIC},
	{"logprob", WORD_METRIC},
	{"loss", WORD_METRIC},
	{"losses", WORD_METRIC},
	{"lpips", WORD_METRIC},
	{"lr", WORD_NOISE},
	{"macro", WORD_ADJECTIVE},
	{"mae", WORD_METRIC},
	{"map", WORD_VAGUE},
	{"map50", WORD_METRIC},
	{"mape", WORD_METRIC},
	{"max", WORD_ADJECTIVE},
	{"mcc", WORD_METRIC},
	{"mean", WORD_ADJECTIVE},
	{"median", WORD_ADJECTIVE},
	{"mem", WORD_NEVER},
	{"memory", WORD_NEVER},
	{"metric", WORD_VAGUE},
	{"mfu", WORD_NEVER},
	{"micro", WORD_ADJECTIVE},
	{"min", WORD_ADJECTIVE},
	{"minibatch", WORD_STEP},
	{"minutes", WORD_NEVER},
	{"miou", WORD_METRIC},
	{"mlm", WORD_ADJECTIVE},
	{"mrr", WORD_METRIC},
	{"ms", WORD_NEVER},
	{"mse", WORD_METRIC},
	{"ndcg", WORD_METRIC},
	{"nll", WORD_METRIC},
	{"num_workers", WORD_NEVER},
	{"obj", WORD_METRIC},
	{"objective", WORD_METRIC},
	{"of", WORD_LINK},
	{"overall", WORD_ADJECTIVE},
	{"parameters", WORD_NEVER},
	{"params", WORD_NEVER},
	{"patience", WORD_NEVER},
	{"pearson", WORD_METRIC},
	{"perplexity", WORD_METRIC},
	{"perte", WORD_METRIC},
	{"pid", WORD_NEVER},
	{"policy", WORD_ADJECTIVE},
	{"port", WORD_NEVER},
	{"ppl", WORD_METRIC},
	{"prec", WORD_METRIC},
	{"prec1", WORD_METRIC},
	{"prec5", WORD_METRIC},
	{"precision", WORD_METRIC},
	{"previous", WORD_BEST},
	{"prior", WORD_BEST},
	{"psnr", WORD_METRIC},
	{"r2", WORD_METRIC},
	{"ram", WORD_NEVER},
	{"rank", WORD_NEVER},
	{"rate", WORD_NOISE},
	{"reader", WORD_NEVER},
	{"rec", WORD_ADJECTIVE},
	{"recall", WORD_METRIC},
	{"recon", WORD_ADJECTIVE},
	{"reconstruction", WORD_ADJECTIVE},
	{"regret", WORD_METRIC},
	{"remaining", WORD_NEVER},
	{"repeat", WORD_RUN},
	{"repetition", WORD_RUN},
	{"replicate", WORD_RUN},
	{"report", WORD_NOISE},
	{"residual", WORD_METRIC},
	{"residuals", WORD_METRIC},
	{"restored", WORD_BEST},
	{"restoring", WORD_BEST},
	{"result", WORD_NOISE},
	{"results", WORD_NOISE},
	{"resumed", WORD_BEST},
	{"resuming", WORD_BEST},
	{"return", WORD_VAGUE},
	{"returns", WORD_VAGUE},
	{"reward", WORD_METRIC},
	{"rewards", WORD_METRIC},
	{"rmse", WORD_METRIC},
	{"rmsle", WORD_METRIC},
	{"root", WORD_ADJECTIVE},
	{"rouge", WORD_METRIC},
	{"round", WORD_STEP},
	{"run", WORD_RUN},
	{"running", WORD_ADJECTIVE},
	{"runtime", WORD_NEVER},
	{"samples", WORD_NEVER},
	{"saved", WORD_BEST},
	{"saving", WORD_BEST},
	{"schritt", WORD_STEP},
	{"score", WORD_METRIC},
	{"sec", WORD_NEVER},
	{"second", WORD_NEVER},
	{"seconds", WORD_NEVER},
	{"secs", WORD_NEVER},
	{"seed", WORD_RUN},
	{"sensitivity", WORD_METRIC},
	{"set", WORD_PART},
	{"size", WORD_NEVER},
	{"smape", WORD_METRIC},
	{"smoothed", WORD_ADJECTIVE},
	{"sparse", WORD_ADJECTIVE},
	{"spearman", WORD_METRIC},
	{"specificity", WORD_METRIC},
	{"speed", WORD_NEVER},
	{"square", WORD_ADJECTIVE},
	{"squared", WORD_ADJECTIVE},
	{"ssim", WORD_METRIC},
	{"status", WORD_NEVER},
	{"std", WORD_ADJECTIVE},
	{"step", WORD_STEP},
	{"steps", WORD_STEP},
	{"stopped", WORD_BEST},
	{"stopping", WORD_BEST},
	{"sum", WORD_ADJECTIVE},
	{"summary", WORD_NOISE},
	{"target", WORD_BEST},
	{"test", WORD_PART},
	{"testing", WORD_PART},
	{"threshold", WORD_NEVER},
	{"throughput", WORD_NEVER},
	{"time", WORD_NEVER},
	{"time_cost", WORD_NEVER},
	{"timestep", WORD_STEP},
	{"timesteps", WORD_STEP},
	{"took", WORD_NEVER},
	{"top-1", WORD_METRIC},
	{"top-5", WORD_METRIC},
	{"top1", WORD_METRIC},
	{"top5", WORD_METRIC},
	{"total", WORD_ADJECTIVE},
	{"traceback", WORD_BAD},
	{"train", WORD_PART},
	{"training", WORD_PART},
	{"trial", WORD_RUN},
	{"trn", WORD_PART},
	{"tst", WORD_PART},
	{"units", WORD_NEVER},
	{"update", WORD_STEP},
	{"updates", WORD_STEP},
	{"v_num", WORD_NEVER},
	{"val", WORD_PART},
	{"valid", WORD_PART},
	{"validation", WORD_PART},
	{"value", WORD_ADJECTIVE},
	{"verlust", WORD_METRIC},
	{"version", WORD_NEVER},
	{"vram", WORD_NEVER},
	{"warn", WORD_BAD},
	{"warning", WORD_BAD},
	{"was", WORD_LINK},
	{"weight", WORD_NEVER},
	{"weighted", WORD_ADJECTIVE},
	{"weights", WORD_NEVER},
	{"wer", WORD_METRIC},
	{"workers", WORD_NEVER},
	{"world_size", WORD_NEVER},
	/* clang-format on */
};

enum word_kind word_kind_of(const char *word, size_t len)
{
	char key[20];
	size_t low = 0, high = COUNT_OF(words);
	if (!len || len >= sizeof(key))
		return WORD_OTHER;
	for (size_t i = 0; i < len; i++)
		key[i] = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] + 32) : word[i];
	key[len] = '\0';
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(key, words[middle].word);
		if (order == 0)
			return words[middle].kind;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return WORD_OTHER;
}

/* A word that ends in one: "trainloss", "top1acc". */
static const char *const metric_ends[] = {"loss", "accuracy", "acc",      "mse",     "mae",
					  "auc",  "ppl",      "deviance", "verlust", "genauigkeit"};

static bool words_ends_in_metric(const char *word, size_t len)
{
	if (len < 5 || !strchr("sycelSYCELtT", word[len - 1]))
		return false;
	for (size_t i = 0; i < COUNT_OF(metric_ends); i++) {
		size_t n = strlen(metric_ends[i]);
		if (len > n + 1 && strncasecmp(word + len - n, metric_ends[i], n) == 0)
			return true;
	}
	return false;
}

static bool words_contains(const char *name, size_t len, const char *part)
{
	size_t n = strlen(part);
	for (size_t at = 0; at + n <= len; at++)
		if (memcmp(name + at, part, n) == 0)
			return true;
	return false;
}

/* "Machine precision", "matmul precision": of numbers, not of results. */
static bool words_is_of_numbers(const char *name, size_t len)
{
	static const char *const kinds[] = {"machine", "matmul", "mixed", "numerical"};
	if (len < 10 || strncasecmp(name + len - 9, "precision", 9) != 0)
		return false;
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		size_t n = strlen(kinds[i]);
		if (len >= n + 10 && strncasecmp(name + len - 10 - n, kinds[i], n) == 0)
			return true;
	}
	return false;
}

/* ValueError, UserWarning: what Python prints before a message; MeanSquaredError is none. */
static bool words_is_exception(const char *name, size_t len)
{
	static const char *const ends[] = {"Error", "Warning", "Exception"};
	for (size_t i = 0; name && i < COUNT_OF(ends); i++) {
		size_t n = strlen(ends[i]);
		if (len > n && memcmp(name + len - n, ends[i], n) == 0 && islower((unsigned char)name[len - n - 1]))
			return !words_contains(name, len, "Squared") && !words_contains(name, len, "Absolute");
	}
	return false;
}

static bool words_is_cost(const char *name, size_t len)
{
	return len > 4 && strncasecmp(name + len - 4, "cost", 4) == 0;
}

enum word_kind word_kind_of_name(const char *name, size_t len)
{
	enum word_kind whole = word_kind_of(name, len), kind = WORD_OTHER, last = WORD_OTHER;
	size_t count = 0;
	bool vague = false, timing = false;

	if (whole != WORD_OTHER || !len)
		return whole;
	if (words_is_exception(name, len))
		return WORD_BAD;
	for (size_t at = 0; at < len;) {
		size_t end = at;
		while (end < len && (isalnum((unsigned char)name[end])))
			end++;
		if (end > at) {
			count++;
			last = end - at == len ? whole : word_kind_of(name + at, end - at);
			vague |= last == WORD_VAGUE;
			timing |= last == WORD_NEVER || last == WORD_STEP;
			if (last == WORD_METRIC || words_ends_in_metric(name + at, end - at))
				kind = WORD_METRIC;
		}
		at = end + 1;
	}
	if (last == WORD_NEVER || last == WORD_RUN || (timing && words_is_cost(name, len)) || /* batch_cost is a time */
	    words_is_of_numbers(name, len))
		return WORD_NEVER;
	return kind == WORD_METRIC || (vague && count > 1) ? WORD_METRIC : WORD_OTHER;
}

enum word_kind word_kind_with(const struct word_names *names, const char *name, size_t len)
{
	for (size_t i = 0; names && i < names->count; i++)
		if (strlen(names->at[i]) == len && memcmp(names->at[i], name, len) == 0)
			return WORD_METRIC;
	return word_kind_of_name(name, len);
}

static unsigned words_letter(char c)
{
	unsigned letter = ((unsigned char)c | 32u) - 'a';
	return letter < 26 ? letter : 26;
}

static bool words_tells(enum word_kind kind)
{
	return kind == WORD_METRIC || kind == WORD_VAGUE || kind == WORD_EPOCH || kind == WORD_STEP ||
		kind == WORD_FOLD || kind == WORD_RUN;
}

void word_filter_make(struct word_filter *ret)
{
	*ret = (struct word_filter){0};
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (words_tells(words[i].kind))
			ret->begin[words_letter(words[i].word[0])] |= 1u << words_letter(words[i].word[1]);
}

bool word_filter_pass(const struct word_filter *filter, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t begin = i;
		unsigned first = words_letter(text[i++]);
		if (first == 26)
			continue;
		while (i < len && words_letter(text[i]) < 26)
			i++;
		size_t letters = i - begin;
		if (words_ends_in_metric(text + begin, letters))
			return true;
		if (!(filter->begin[first] & 1u << (letters > 1 ? words_letter(text[begin + 1]) : 26)))
			continue;
		size_t end = i; /* f1, top5 */
		while (end < len && (unsigned char)(text[end] - '0') <= 9)
			end++;
		if (words_tells(word_kind_of(text + begin, letters)) ||
		    words_tells(word_kind_of(text + begin, end - begin)))
			return true;
	}
	return false;
}
