/* Every address of the interface, one row each. */
#include "base/limits.h"
#include "http/handle.h"

#define STATES "waiting|submitted|running|finished|error|stopped|pruned"

static const struct param p_state = {
	.name = "state", .type = PARAM_CHOICE, .choices = STATES, .help = "only those in this state"};
static const struct param p_limit = {.name = "limit",
				     .type = PARAM_INT,
				     .min = 1,
				     .max = 1000,
				     .otherwise = 100,
				     .help = "how many at most"};
static const struct param p_cursor = {
	.name = "cursor", .type = PARAM_TEXT, .help = "the \"next\" of an earlier answer"};
static const struct param p_sort = {.name = "sort",
				    .type = PARAM_CHOICE,
				    .choices = "number|-number|best|-best|started|-started|elapsed|-elapsed",
				    .help = "the order; best is best first, whatever the goal"};
static const struct param p_name = {
	.name = "name", .type = PARAM_TEXT, .help = "the metric; the first objective's unless given"};
static const struct param p_points = {.name = "points",
				      .type = PARAM_INT,
				      .min = 1,
				      .max = 100000,
				      .otherwise = 300,
				      .help = "points of a curve at most"};
static const struct param p_format = {
	.name = "format", .type = PARAM_CHOICE, .choices = "json|csv", .help = "json unless given"};
static const struct param p_scan = {
	.name = "scan", .type = PARAM_BOOL, .help = "also say what was found by reading the script"};
static const struct param p_stop = {
	.name = "stop", .type = PARAM_BOOL, .help = "stop what still runs, then remove"};
static const struct param p_stream = {
	.name = "stream", .type = PARAM_CHOICE, .choices = "stdout|stderr", .help = "stdout unless given"};
static const struct param p_attempt = {.name = "attempt",
				       .type = PARAM_INT,
				       .min = 0,
				       .max = INT32_MAX,
				       .help = "the newest unless given"};
static const struct param p_log_offset = {.name = "offset",
					  .type = PARAM_INT,
					  .min = -INT64_MAX,
					  .max = INT64_MAX,
					  .help = "the first byte; negative: counted from the end"};
static const struct param p_log_limit = {.name = "limit",
					 .type = PARAM_INT,
					 .min = 1,
					 .max = LIMIT_LOG_CHUNK_BYTES,
					 .otherwise = LIMIT_LOG_CHUNK_BYTES,
					 .help = "bytes at most"};
static const struct param p_push_offset = {.name = "offset",
					   .type = PARAM_INT,
					   .min = 0,
					   .max = INT64_MAX,
					   .required = true,
					   .help = "where in the journal the bytes begin"};
static const struct param p_last = {
	.name = "last", .type = PARAM_TEXT, .help = "the id of the last event seen, like Last-Event-ID"};

static const struct param p_path = {
	.name = "path", .type = PARAM_TEXT, .required = true, .help = "as in the list of files"};

const struct route routes[] = {
	{METHOD_GET, "/health", handle_health, "getHealth", "Is the daemon there?", NULL, "Health", 200,
	 ROUTE_PUBLIC, {0}},
	{METHOD_GET, "/openapi.json", handle_openapi, "getOpenapi", "This document", NULL, "Document", 200, 0,
	 {0}},
	{METHOD_GET, "/info", handle_info, "getInfo", "Version, backends, strategies, limits, CSRF value", NULL,
	 "Info", 200, 0, {0}},
	{METHOD_GET, "/cluster", handle_cluster, "getCluster", "What the backends offer and what is wrong",
	 NULL, "Cluster", 200, 0, {0}},

	{METHOD_POST, "/cluster/examine", handle_examine, "examineCluster",
	 "Look thoroughly, with a real job; findings come with GET /cluster once examining is false", "Empty",
	 "Cluster", 202, ROUTE_OPTIONAL_BODY, {0}},

	{METHOD_POST, "/login", handle_login, "login", "Trade a one-time code for a session cookie", "Login",
	 NULL, 204, ROUTE_PUBLIC, {0}},
	{METHOD_POST, "/logout", handle_logout, "logout", "End this session", "Empty", NULL, 204,
	 ROUTE_OPTIONAL_BODY, {0}},
	{METHOD_POST, "/login-links", handle_login_link, "createLoginLink", "Make a one-time login link",
	 "Empty", "LoginLink", 201, ROUTE_OPTIONAL_BODY, {0}},
	{METHOD_GET, "/tokens", handle_tokens, "listTokens", "The bearer tokens, without their secrets", NULL,
	 "TokenList", 200, 0, {0}},
	{METHOD_POST, "/tokens", handle_token_create, "createToken",
	 "Make a bearer token; its secret is shown once", "TokenRequest", "NewToken", 201, 0, {0}},
	{METHOD_DELETE, "/tokens/{key}", handle_token_delete, "deleteToken", "Take a bearer token back", NULL,
	 NULL, 204, 0, {0}},

	{METHOD_GET, "/experiments", handle_experiments, "listExperiments", "Summaries, newest first", NULL,
	 "ExperimentList", 200, ROUTE_CACHED, {&p_state, &p_limit, &p_cursor}},
	{METHOD_POST, "/experiments", handle_create, "createExperiment", "Create an experiment and run it",
	 "ExperimentRequest", "Experiment", 201, 0, {0}},
	{METHOD_POST, "/check", handle_check, "checkExperiment", "Validate, count and preview; changes nothing",
	 "ExperimentRequest", "Check", 200, 0, {&p_scan}},
	{METHOD_GET, "/experiments/{id}", handle_experiment, "getExperiment", "One experiment in detail", NULL,
	 "Experiment", 200, ROUTE_CACHED, {0}},
	{METHOD_DELETE, "/experiments/{id}", handle_remove, "deleteExperiment",
	 "Remove an experiment with its files", NULL, NULL, 204, 0, {&p_stop}},
	{METHOD_POST, "/experiments/{id}/stop", handle_stop, "stopExperiment",
	 "Stop every task and propose no more", "Empty", "Count", 200, ROUTE_OPTIONAL_BODY, {0}},
	{METHOD_POST, "/experiments/{id}/restart", handle_restart, "restartExperiment",
	 "Run tasks again from scratch, or only the failed ones", "RestartRequest", "Count", 200,
	 ROUTE_OPTIONAL_BODY, {0}},
	{METHOD_POST, "/experiments/{id}/parallel", handle_parallel, "setParallel",
	 "How many tasks may run at once", "ParallelRequest", "Experiment", 200, 0, {0}},
	{METHOD_POST, "/experiments/{id}/suggest", handle_suggest, "suggestTask",
	 "A configuration of your own, run beside those of the search", "SuggestRequest", "Task", 201, 0, {0}},
	{METHOD_POST, "/experiments/{id}/import", handle_import, "importTasks",
	 "Results from elsewhere, for the search to learn from", "ImportRequest", "Count", 200, 0, {0}},
	{METHOD_GET, "/experiments/{id}/search", handle_search, "getSearch",
	 "The strategy, why it was chosen, and its inside while it works", NULL, "Search", 200, 0, {0}},
	{METHOD_POST, "/experiments/{id}/search", handle_change, "changeSearch",
	 "Change budget, strategy, parameters or constraints while it runs", "ChangeRequest", "Experiment", 200, 0,
	 {0}},
	{METHOD_POST, "/experiments/{id}/ask", handle_ask, "askTask",
	 "A task for a worker of your own (204: nothing left, 409: ask again)", "Empty", "Task", 200,
	 ROUTE_OPTIONAL_BODY, {0}},
	{METHOD_GET, "/experiments/{id}/tasks", handle_tasks, "listTasks", "Summaries of the tasks", NULL,
	 "TaskList", 200, ROUTE_CACHED | ROUTE_AGING, {&p_state, &p_sort, &p_limit, &p_cursor}},
	{METHOD_POST, "/experiments/{id}/tasks/stop", handle_tasks_stop, "stopTasks", "Stop the named tasks",
	 "TaskNumbers", "Count", 200, 0, {0}},
	{METHOD_POST, "/experiments/{id}/tasks/restart", handle_tasks_restart, "restartTasks",
	 "Run the named tasks again from scratch", "TaskNumbers", "Count", 200, 0, {0}},
	{METHOD_GET, "/experiments/{id}/metrics", handle_metrics, "getMetrics", "One metric's curves of every task",
	 NULL, "Curves", 200, ROUTE_CACHED, {&p_name, &p_points}},
	{METHOD_GET, "/experiments/{id}/analysis", handle_analysis, "getAnalysis",
	 "Best tasks, progress, front, importance", NULL, "Analysis", 200, ROUTE_CACHED, {0}},
	{METHOD_GET, "/experiments/{id}/script", handle_script, "getScript", "The batch script as submitted",
	 NULL, "text/plain", 200, 0, {0}},
	{METHOD_GET, "/experiments/{id}/source", handle_source, "getSource",
	 "The experiment file as submitted", NULL, "text/plain", 200, 0, {0}},
	{METHOD_GET, "/experiments/{id}/files", handle_files, "listFiles",
	 "The script and the files that were submitted", NULL, "Files", 200, 0, {0}},
	{METHOD_GET, "/experiments/{id}/file", handle_file, "getFile", "One of the submitted files", NULL,
	 "application/octet-stream", 200, 0, {&p_path}},
	{METHOD_GET, "/experiments/{id}/export", handle_export, "exportExperiment",
	 "Everything about an experiment, as a file", NULL, "Export", 200, 0, {&p_format}},
	{METHOD_GET, "/experiments/{id}/tasks/{n}", handle_task, "getTask", "One task in detail", NULL, "Task",
	 200, 0, {0}},
	{METHOD_POST, "/experiments/{id}/tasks/{n}/stop", handle_task_stop, "stopTask", "Stop a task", "Empty",
	 "Task", 200, ROUTE_OPTIONAL_BODY, {0}},
	{METHOD_POST, "/experiments/{id}/tasks/{n}/restart", handle_task_restart, "restartTask",
	 "Run a task again from scratch", "Empty", "Task", 200, ROUTE_OPTIONAL_BODY, {0}},
	{METHOD_POST, "/experiments/{id}/tasks/{n}/tell", handle_tell, "tellTask",
	 "What a worker of your own measured; the end of the task unless more", "TellRequest", "Task", 200, 0,
	 {0}},
	{METHOD_GET, "/experiments/{id}/tasks/{n}/metrics", handle_task_metrics, "getTaskMetrics",
	 "Every curve of a task", NULL, "TaskCurves", 200, ROUTE_CACHED, {&p_points}},
	{METHOD_GET, "/experiments/{id}/tasks/{n}/log", handle_log, "getLog", "A piece of a task's output", NULL,
	 "Log", 200, 0, {&p_stream, &p_attempt, &p_log_offset, &p_log_limit}},

	{METHOD_GET, "/events", handle_events, "getEvents", "What changes, as it happens", NULL,
	 "text/event-stream", 200, ROUTE_STREAM, {&p_last}},
	{METHOD_PUT, "/uploads/{name}", handle_upload, "upload", "Send a file that an experiment will need",
	 "application/octet-stream", "Upload", 201, ROUTE_UPLOAD, {0}},
	{METHOD_PUT, "/attempts/{token}/{index}/journal", handle_push, "pushJournal",
	 "The node's push: bytes of an attempt's journal", "application/octet-stream", NULL, 204, ROUTE_BINARY,
	 {&p_push_offset}},
};

const size_t routes_count = COUNT_OF(routes);
