/* The words, numbers and signs of a printed line. */
#ifndef METRICS_TOKENS_H
#define METRICS_TOKENS_H

#include "metrics/words.h"

#define TOKENS_MAX 192

enum token_kind { TOKEN_WORD, TOKEN_NUMBER, TOKEN_UNIT, TOKEN_PUNCT };

struct token {
	enum token_kind kind;
	enum word_kind word; /* of a word or a name */
	const char *at;
	size_t len;
	double value, of; /* of a number; of: "3/10", else NAN */
	char punct;
	bool percent, used;
	bool comma; /* of a number: a decimal comma, "0,25" */
	bool thousands; /* of a number: "1,234", which may also be meant as 1.234 */
};

struct tokens {
	struct token at[TOKENS_MAX];
	size_t count;
	bool many; /* more than there is room for */
};

/* names: as word_kind_with. */
void tokens_cut(const char *text, size_t len, const struct word_names *names, struct tokens *ret);

#endif
