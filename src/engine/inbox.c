/* The inbox of the engine: see inbox.h. */
#include "engine/inbox.h"

#include "engine/follow.h"
#include "engine/state.h"
#include "engine/submit.h"

#include <stdio.h>

static void news_free(struct engine_news *news)
{
	const char *const owned[] = {
		news->answer.job, news->answer.why,    news->sight.job,    news->sight.reason,
		news->sight.node, news->sight.message, news->sight.remedy, news->sight.cost.source,
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

void engine_inbox_add_sight(struct engine_inbox *inbox, const struct backend_sight *sight)
{
	struct engine_news news = {.kind = ENGINE_NEWS_SIGHT, .sight = *sight};
	snprintf(news.token, sizeof(news.token), "%s", sight->token);
	news.sight.token = NULL;
	news.sight.job = mem_strdup(sight->job);
	news.sight.reason = mem_strdup(sight->reason);
	news.sight.node = mem_strdup(sight->node);
	news.sight.message = mem_strdup(sight->message);
	news.sight.remedy = mem_strdup(sight->remedy);
	news.sight.cost.source = mem_strdup(sight->cost.source);
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
			struct backend_sight sight = news->sight;
			sight.token = news->token;
			rc = engine_take_sight(engine, &sight);
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
