/* News from the backends since the last turn. Their callbacks come at any time, so they do not write to the store: they
 * put a copy here, and the next turn applies it first, inside its transaction. News stay here until that transaction is
 * committed. After a failed write they are applied again, to the state that was read again from the store. */
#ifndef ENGINE_INBOX_H
#define ENGINE_INBOX_H

#include "backend/backend.h"

#include "base/token.h"
#include "base/mem.h"

struct engine;

struct engine_news {
	enum engine_news_kind {
		ENGINE_NEWS_ANSWER, /* to a submission */
		ENGINE_NEWS_OBSERVATION, /* of one attempt */
	} kind;
	char token[TOKEN_ID_CHARS];
	/* One of these, by kind. The texts are owned; observed.token is NULL. */
	struct backend_submit_result answer;
	struct backend_observation observed;
};

struct engine_inbox {
	VEC(struct engine_news) news;
};

/* Both copy what they are given. They do not ask for a turn: the caller does that, once for any number of news. */
void engine_inbox_add_answer(struct engine_inbox *inbox, const char *token, const struct backend_submit_result *answer);
void engine_inbox_add_observation(struct engine_inbox *inbox, const struct backend_observation *observed);
/* Applies all news, in order, to the store and to memory; inside a transaction. 0 or a negative errno. */
int engine_inbox_apply(struct engine *engine) MUST_USE;
/* Forgets all news: they are committed, or the engine closes. */
void engine_inbox_clear(struct engine_inbox *inbox);

#endif
