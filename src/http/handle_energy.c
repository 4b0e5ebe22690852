/* What tasks have cost in energy, and what would be cheaper. */
#include "http/handle.h"

#include "base/tariff.h"
#include "engine/engine.h"
#include "store/json.h"

#include <errno.h>

static void energy_answer(struct request *request, int64_t experiment, struct response *response)
{
	struct error err = {0};
	struct tariff tariff;
	struct json out = json_to(&response->body);
	int rc = tariff_read(request->app->state_dir, &tariff, &err);
	if (rc < 0) {
		response_problem(response, 409, "%s", err.text);
		return;
	}
	rc = store_json_energy(request->app->store, experiment, &tariff, &out);
	if (rc == -ENOENT)
		response_problem(response, 404, "there is no experiment %s", request->path_values[0]);
	else if (rc < 0)
		handle_answer_unread(request, rc, response);
}

void handle_energy(struct request *request, struct response *response)
{
	energy_answer(request, 0, response);
}

void handle_experiment_energy(struct request *request, struct response *response)
{
	energy_answer(request, request->path_numbers[0], response);
}

void handle_experiment_advice(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	int rc = engine_write_advice(request->app->engine, request->path_numbers[0], &out);
	if (rc < 0 && !handle_answer_unread(request, rc, response))
		response_problem(response, 404, "there is no experiment %s", request->path_values[0]);
}
