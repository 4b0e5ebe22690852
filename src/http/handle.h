/* The functions behind the routes. routes.c says what each does. */
#ifndef HTTP_HANDLE_H
#define HTTP_HANDLE_H

#include "http/app.h"
#include "http/message.h"
#include "http/route.h"
#include "store/json.h"

void handle_health(struct request *request, struct response *response);
void handle_openapi(struct request *request, struct response *response);
void handle_info(struct request *request, struct response *response);
void handle_cluster(struct request *request, struct response *response);
void handle_environments(struct request *request, struct response *response);
void handle_cluster_use(struct request *request, struct response *response);
void handle_notify(struct request *request, struct response *response);
void handle_notify_change(struct request *request, struct response *response);
void handle_notify_test(struct request *request, struct response *response);
void handle_examine(struct request *request, struct response *response);
void handle_events(struct request *request, struct response *response);
void handle_login(struct request *request, struct response *response);
void handle_logout(struct request *request, struct response *response);
void handle_sessions(struct request *request, struct response *response);
void handle_session_delete(struct request *request, struct response *response);
void handle_login_link(struct request *request, struct response *response);
void handle_tokens(struct request *request, struct response *response);
void handle_token_create(struct request *request, struct response *response);
void handle_token_delete(struct request *request, struct response *response);

void handle_experiments(struct request *request, struct response *response);
void handle_create(struct request *request, struct response *response);
void handle_check(struct request *request, struct response *response);
void handle_scan(struct request *request, struct response *response);
void handle_experiment(struct request *request, struct response *response);
void handle_remove(struct request *request, struct response *response);
void handle_stop(struct request *request, struct response *response);
void handle_restart(struct request *request, struct response *response);
/* Stops tasks as the body says: {"checkpoint"}. numbers NULL: all tasks. */
int handle_stop_listed(const struct request *request, const struct node *body, const int64_t *numbers, size_t count,
		       int64_t *ret_count, struct error *err) MUST_USE;
/* Restarts tasks as the body says: {"mode","failed","script"}. numbers NULL: all tasks. */
int handle_restart_listed(const struct request *request, const struct node *body, const int64_t *numbers, size_t count,
			  int64_t *ret_count, struct error *err) MUST_USE;
void handle_resume(struct request *request, struct response *response);
void handle_parallel(struct request *request, struct response *response);
void handle_suggest(struct request *request, struct response *response);
void handle_import(struct request *request, struct response *response);
void handle_change(struct request *request, struct response *response);
void handle_search(struct request *request, struct response *response);
void handle_claim(struct request *request, struct response *response);
void handle_ask(struct request *request, struct response *response);
/* The parameter axis of the request. */
enum store_axis handle_axis(const struct request *request);
void handle_metrics(struct request *request, struct response *response);
void handle_attempts(struct request *request, struct response *response);
void handle_analysis(struct request *request, struct response *response);
void handle_script(struct request *request, struct response *response);
void handle_source(struct request *request, struct response *response);
void handle_files(struct request *request, struct response *response);
void handle_file(struct request *request, struct response *response);
void handle_folders(struct request *request, struct response *response);
void handle_folder_list(struct request *request, struct response *response);
void handle_folder_script(struct request *request, struct response *response);
void handle_export(struct request *request, struct response *response);

void handle_marks(struct request *request, struct response *response);
void handle_task_marks(struct request *request, struct response *response);
void handle_tasks_marks(struct request *request, struct response *response);
void handle_find(struct request *request, struct response *response);

void handle_tasks(struct request *request, struct response *response);
void handle_columns(struct request *request, struct response *response);
void handle_tasks_remove(struct request *request, struct response *response);
void handle_tasks_stop(struct request *request, struct response *response);
void handle_tasks_restart(struct request *request, struct response *response);
void handle_task(struct request *request, struct response *response);
void handle_task_stop(struct request *request, struct response *response);
void handle_task_restart(struct request *request, struct response *response);
void handle_tell(struct request *request, struct response *response);
void handle_task_metrics(struct request *request, struct response *response);
void handle_energy(struct request *request, struct response *response);
void handle_experiment_advice(struct request *request, struct response *response);
void handle_experiment_energy(struct request *request, struct response *response);
void handle_task_samples(struct request *request, struct response *response);
void handle_ran(struct request *request, struct response *response);
void handle_log_file(struct request *request, struct response *response);
void handle_log_find(struct request *request, struct response *response);
void handle_task_file(struct request *request, struct response *response);
void handle_log(struct request *request, struct response *response);
void handle_upload(struct request *request, struct response *response);

/* Answers with the experiment or task (status as the route says), or 404 if it does not exist. */
void handle_answer_experiment(struct request *request, int64_t experiment, struct response *response);
void handle_answer_task(struct request *request, int64_t experiment, int64_t number, struct response *response);
/* Call it when a read of the store returned a negative errno. Returns false for -ENOENT; else true, with a 500
 * response. */
bool handle_answer_unread(const struct request *request, int rc, struct response *response);
/* Answers with the bytes of a file, at most `bytes` of them (0: all), as an attachment. Takes the descriptor. */
void handle_answer_descriptor(int fd, int64_t bytes, struct response *response);
/* Reads {"tasks":[1,2,3], …}: explicit numbers, so that nothing is touched that was not on the screen. A number
 * that is given twice counts once. 0, and the caller frees both; or -1 with a response. */
struct node;
int handle_read_numbers(struct request *request, struct node **ret_body, int64_t **ret, size_t *ret_count,
			struct response *response) MUST_USE;
/* {"tasks":N} */
void handle_answer_count(int64_t count, struct response *response);
/* Fills the page from limit, cursor, state and sort (where the route has it). */
struct store_page;
void handle_read_page(const struct request *request, bool sorted, struct store_page *ret);

#endif
