/* Browser sessions: see sessions.h. */
#include "http/sessions.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>

/* More browsers than one person has. */
#define SESSIONS_MAX 64
#define SESSION_MS (30 * 24 * 3600 * (int64_t)1000)
#define SESSION_BROWSER_CHARS 200

struct sessions {
	uint64_t last_id;
	struct session {
		uint64_t id; /* 0: free */
		char hash[TOKEN_HASH_CHARS];
		int64_t expires_ms; /* monotonic: a clock that is set back opens nothing again */
		int64_t created_ms, used_ms; /* for people */
		int64_t used_mono_ms; /* the first to go has the smallest */
		char browser[SESSION_BROWSER_CHARS];
	} at[SESSIONS_MAX];
};

struct sessions *sessions_new(void)
{
	return mem_alloc(sizeof(struct sessions));
}

void sessions_free(struct sessions *sessions)
{
	free(sessions);
}

static bool session_lives(const struct session *session)
{
	return session->id && clock_mono_ms() < session->expires_ms;
}

/* A place that is free, else the one that was not used for the longest time. */
static struct session *sessions_place(struct sessions *sessions)
{
	struct session *place = &sessions->at[0];
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct session *session = &sessions->at[i];
		if (!session_lives(session))
			return session;
		if (session->used_mono_ms < place->used_mono_ms)
			place = session;
	}
	return place;
}

uint64_t sessions_open(struct sessions *sessions, const char *browser, char secret[static TOKEN_SECRET_CHARS])
{
	struct session *place = sessions_place(sessions);
	uint64_t ended = place->id;
	*place = (struct session){
		.id = ++sessions->last_id,
		.expires_ms = clock_mono_ms() + SESSION_MS,
		.created_ms = clock_now_ms(),
		.used_ms = clock_now_ms(),
		.used_mono_ms = clock_mono_ms(),
	};
	if (browser && text_utf8_check(browser, strlen(browser)) == strlen(browser) &&
	    strlen(browser) < sizeof(place->browser))
		snprintf(place->browser, sizeof(place->browser), "%s", browser);
	token_make_secret(secret);
	token_hash(secret, strlen(secret), place->hash);
	return ended;
}

uint64_t sessions_find(struct sessions *sessions, const char *secret)
{
	char hash[TOKEN_HASH_CHARS];
	uint64_t found = 0;
	token_hash(secret, strlen(secret), hash);
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct session *session = &sessions->at[i];
		if (!session_lives(session) || !token_equal(session->hash, hash))
			continue;
		session->used_ms = clock_now_ms();
		session->used_mono_ms = clock_mono_ms();
		found = session->id;
	}
	return found;
}

bool sessions_end(struct sessions *sessions, uint64_t id)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		if (!session_lives(&sessions->at[i]) || sessions->at[i].id != id)
			continue;
		sessions->at[i] = (struct session){0};
		return true;
	}
	return false;
}

void sessions_write(const struct sessions *sessions, uint64_t current, struct json *out)
{
	int64_t count = 0;
	json_map(out);
	json_key(out, "items");
	json_list(out);
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		const struct session *session = &sessions->at[i];
		if (!session_lives(session))
			continue;
		json_map(out);
		json_key_int(out, "id", (int64_t)session->id);
		json_key_time(out, "created", session->created_ms);
		json_key_time(out, "used", session->used_ms);
		json_key_time(out, "expires", clock_now_ms() + session->expires_ms - clock_mono_ms());
		if (*session->browser)
			json_key_string(out, "browser", session->browser);
		else
			json_key_null(out, "browser");
		json_key_bool(out, "current", session->id == current);
		json_end(out);
		count++;
	}
	json_end(out);
	json_key_null(out, "next");
	json_key_int(out, "total", count);
	json_end(out);
}
