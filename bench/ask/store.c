/* The same through the engine and its store, as the daemon does it for `sluice ask` and `sluice tell`: each is
 * committed to disk before it is answered. And how long the engine takes to open again. */
#include "history.h"

#include "base/fs.h"
#include "base/token.h"
#include "engine/engine.h"
#include "store/rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define IMPORT_ROWS 1000 /* a request has its limits */

struct place {
	char dir[256];
	uv_loop_t loop;
	struct engine *engine;
	int64_t experiment;
};

static void check(int rc, const struct error *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "ask: %s\n", err->text);
	exit(1);
}

static void open_engine(struct place *place)
{
	struct error err = {0};
	struct engine_config config = {.loop = &place->loop, .state_dir = place->dir, .program = "/bin/false"};
	uv_loop_init(&place->loop);
	check(engine_open(&config, &place->engine, &err), &err);
}

static void close_engine(struct place *place)
{
	engine_close(place->engine);
	uv_run(&place->loop, UV_RUN_DEFAULT);
	uv_loop_close(&place->loop);
}

static void begin(struct place *place, const struct history *history, uint64_t tasks)
{
	struct problems problems = {0};
	struct error err = {0};
	struct buf text = buf_make(BUF_UNLIMITED);
	struct node *request = node_new(NODE_MAP), *source = node_new(NODE_MAP);
	const char *folder = getenv("TMPDIR");
	snprintf(place->dir, sizeof(place->dir), "%s/sluice-ask-XXXXXX", folder ? folder : "/tmp");
	if (token_init() < 0 || !mkdtemp(place->dir))
		exit(1);
	open_engine(place);
	history_write(history, tasks, &text);
	buf_addf(&text, "command: [\"true\"]\nresources: {backend: external}\nobjective: %s\n",
		 history->objectives == 1 ? "{metric: r0, goal: min}"
					  : "[{metric: r0, goal: min}, {metric: r1, goal: min}]");
	node_add(source, "text", node_new_string(buf_text(&text)));
	node_add(source, "name", node_new_string("exp.yaml"));
	node_add(request, "source", source);
	int rc = engine_create(place->engine, request, NULL, NULL, &place->experiment, &problems, &err);
	if (rc < 0 && problems.list.len)
		problems_summary(&problems, &err);
	check(rc, &err);
	node_free(request);
	buf_free(&text);
}

static void end(struct place *place)
{
	close_engine(place);
	if (fs_remove_tree(place->dir, NULL) < 0)
		fprintf(stderr, "ask: %s could not be removed\n", place->dir);
}

static void write_results(struct json *w, const double *results, size_t count)
{
	static const char *const names[] = {"r0", "r1"};
	json_key(w, "values");
	json_map(w);
	for (size_t i = 0; i < count; i++)
		json_key_real(w, names[i], results[i]);
	json_end(w);
}

/* A part of the history, as a user would import it. */
static void import(struct place *place, struct history *history, uint64_t tasks)
{
	struct problems problems = {0};
	struct error err = {0};
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	struct space_value *values = mem_array(history->space->count, sizeof(*values));
	struct node *body = NULL;
	int64_t count;
	json_map(&w);
	json_key(&w, "rows");
	json_list(&w);
	for (uint64_t i = 0; i < tasks; i++) {
		double results[2];
		history_draw(history, values);
		history_result(history, values, results);
		json_map(&w);
		json_key(&w, "parameters");
		space_write_values(history->space, values, &w);
		write_results(&w, results, history->objectives);
		json_end(&w);
	}
	json_end(&w);
	json_end(&w);
	check(node_parse_json(buf_text(&text), text.len, &body, &err), &err);
	check(engine_import(place->engine, place->experiment, body, &count, NULL, &problems, &err), &err);
	node_free(body);
	buf_free(&text);
	free(values);
}

struct waiting {
	struct engine_asker asker; /* first: the callback gets it */
	int rc;
	int64_t number;
};

static void asked_cb(struct engine_asker *asker, int rc, int64_t number, const struct error *err)
{
	struct waiting *waiting = (struct waiting *)asker;
	check(rc, err);
	waiting->rc = rc;
	waiting->number = number;
}

/* A strategy that thinks elsewhere answers later. */
static int64_t ask(struct place *place)
{
	struct waiting waiting = {.asker.done = asked_cb};
	struct error err = {0};
	waiting.rc = engine_ask(place->engine, place->experiment, &waiting.asker, &waiting.number, &err);
	if (waiting.rc != -EINPROGRESS)
		check(waiting.rc, &err);
	while (waiting.rc == -EINPROGRESS)
		uv_run(&place->loop, UV_RUN_ONCE);
	return waiting.number;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

int bench_store(struct history *history, uint64_t tasks, size_t rounds)
{
	struct place place;
	struct error err = {0};
	double *took = mem_array(rounds, sizeof(*took)), *cpu = mem_array(rounds, sizeof(*cpu));
	begin(&place, history, rounds);
	for (uint64_t done = 0; done < tasks; done += IMPORT_ROWS)
		import(&place, history, tasks - done < IMPORT_ROWS ? tasks - done : IMPORT_ROWS);
	for (size_t i = 0; i < rounds; i++) {
		double results[2] = {rng_unit(&history->rng), rng_unit(&history->rng)};
		struct buf text = buf_make(BUF_UNLIMITED);
		struct json w = json_to(&text);
		struct node *body = NULL;
		json_map(&w);
		write_results(&w, results, history->objectives);
		json_end(&w);
		check(node_parse_json(buf_text(&text), text.len, &body, &err), &err);
		double from = history_clock_ms(CLOCK_MONOTONIC), from_cpu = history_clock_ms(CLOCK_PROCESS_CPUTIME_ID);
		int64_t number = ask(&place);
		check(engine_tell_task(place.engine, place.experiment, number, body, &err), &err);
		took[i] = history_clock_ms(CLOCK_MONOTONIC) - from;
		cpu[i] = history_clock_ms(CLOCK_PROCESS_CPUTIME_ID) - from_cpu;
		node_free(body);
		buf_free(&text);
	}
	qsort(took, rounds, sizeof(*took), compare);
	qsort(cpu, rounds, sizeof(*cpu), compare);
	printf("%.4f %.4f\n", took[rounds / 2], cpu[rounds / 2]);
	end(&place);
	free(took);
	free(cpu);
	return 0;
}

static void add_event(struct place *place, int64_t *seq, enum store_event_kind kind, int64_t asked, struct buf *text)
{
	struct error err = {.text = "an event could not be stored"};
	struct store_event event = {.seq = ++*seq, .kind = kind, .asked = asked, .value = buf_text(text)};
	check(store_add_event(engine_store(place->engine), place->experiment, &event), &err);
	buf_free(text);
}

static void add_tell(struct place *place, struct search *search, int64_t *seq, int64_t asked, const double *results,
		     size_t count)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	json_list(&w);
	for (size_t i = 0; i < count; i++)
		json_put_real(&w, results[i]);
	json_end(&w);
	add_event(place, seq, STORE_EVENT_TELL, asked, &text);
	search_tell(search, asked, SEARCH_FINISHED, results);
}

/* A configuration that the search is made to believe it proposed. */
static enum search_answer pretend(struct history *history, struct search *search, int64_t id, struct search_proposal *p)
{
	history_draw(history, p->values);
	return search_recall(search, id, p);
}

/* Every ask is a real one, unless that would take hours; the last ones are in any case: a replay that came out
 * otherwise would be noticed, and said on stderr. */
static void record(struct place *place, struct history *history, uint64_t events)
{
	struct search_spec *spec = history_spec(history, events);
	struct search *search;
	struct error err = {0};
	struct space_value *values = mem_array(history->space->count, sizeof(*values));
	VEC(double) results = {0};
	int64_t seq = 0, asked = 0, told = 0;
	check(search_open(spec, history->space, &search, &err), &err);
	check(store_begin(engine_store(place->engine), &err), &err);
	while ((uint64_t)seq < events) {
		struct search_proposal p = {.values = values, .repeat = 1, .fidelity = NAN, .continues = -1};
		bool real = !history->slow || (uint64_t)seq + 2 * HISTORY_PARALLEL > events;
		if (asked - told >= HISTORY_PARALLEL ||
		    (real ? search_ask(search, asked + 1, &p) : pretend(history, search, asked + 1, &p)) !=
			    SEARCH_PROPOSED) {
			add_tell(place, search, &seq, told + 1, results.at + (size_t)told * history->objectives,
				 history->objectives);
			told++;
			continue;
		}
		double result[2];
		struct buf text = buf_make(BUF_UNLIMITED);
		struct json w = json_to(&text);
		history_result(history, values, result);
		for (size_t i = 0; i < history->objectives; i++)
			vec_push(&results, result[i]);
		json_map(&w);
		json_key(&w, "parameters");
		space_write_values(history->space, values, &w);
		if (!isnan(p.fidelity))
			json_key_real(&w, "fidelity", p.fidelity);
		json_end(&w);
		add_event(place, &seq, STORE_EVENT_ASK, ++asked, &text);
	}
	check(store_commit(engine_store(place->engine), &err), &err);
	search_free(search);
	search_spec_free(spec);
	free(values);
	free(results.at);
}

int bench_replay(struct history *history, uint64_t events)
{
	struct place place;
	begin(&place, history, events);
	record(&place, history, events);
	close_engine(&place);
	double from = history_clock_ms(CLOCK_MONOTONIC), from_cpu = history_clock_ms(CLOCK_PROCESS_CPUTIME_ID);
	open_engine(&place);
	printf("%.4f %.4f\n", (history_clock_ms(CLOCK_MONOTONIC) - from) / 1e3,
	       (history_clock_ms(CLOCK_PROCESS_CPUTIME_ID) - from_cpu) / 1e3);
	end(&place);
	return 0;
}
