/* The inbox of the engine: see inbox.h. */
#include "engine/inbox.h"

#include "engine/follow.h"
#include "engine/state.h"
#include "engine/submit.h"

#include <stdio.h>

static void news_free(struct engine_news *news)
{
	const char *const owned[] = {
		news->answer.job,    news->answer.why,       news->observed.job,    news->observed.reason,
		news->observed.node, news->observed.message, news->observed.remedy, news->observed.cost.source,
	};
	for (size_t i = 0; i < COUNT_OF(owned); i++)
		free((char *)(uintptr_t)owned[i]);
}

void engine_inbox_add_answer(struct engine_inbox *inbox, const char *token, const struct backend_submit_result *answer)
{
	struct engine_news news = {.kind = ENGINE_NEWS_ANSWER, .answer = *answer};
	snprintf(news.token, sizeof(news.token), "%s", token);
	news.answer.job = mem_strdup(answer->job);
	news.answer.why = mem_strdup(answer->why);
	vec_push(&inbox->news, news);
}

void engine_inbox_add_observation(struct engine_inbox *inbox, const struct backend_observation *observed)
{
	struct engine_news news = {.kind = ENGINE_NEWS_OBSERVATION, .observed = *observed};
	snprintf(news.token, sizeof(news.token), "%s", observed->token);
	news.observed.token = NULL;
	news.observed.job = mem_strdup(observed->job);
	news.observed.reason = mem_strdup(observed->reason);
	news.observed.node = mem_strdup(observed->node);
	news.observed.message = mem_strdup(observed->message);
	news.observed.remedy = mem_strdup(observed->remedy);
	news.observed.cost.source = mem_strdup(observed->cost.source);
	vec_push(&inbox->news, news);
}

int engine_inbox_apply(struct engine *engine)
{
	struct engine_inbox *inbox = &engine->inbox;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < inbox->news.len; i++) {
		const struct engine_news *news = &inbox->news.at[i];
		if (news->kind == ENGINE_NEWS_ANSWER) {
			rc = engine_take_submitted(engine, news->token, &news->answer);
		} else {
			struct backend_observation observed = news->observed;
			observed.token = news->token;
			rc = engine_take_observation(engine, &observed);
		}
	}
	return rc;
}

void engine_inbox_clear(struct engine_inbox *inbox)
{
	for (size_t i = 0; i < inbox->news.len; i++)
		news_free(&inbox->news.at[i]);
	free(inbox->news.at);
	*inbox = (struct engine_inbox){0};
}
