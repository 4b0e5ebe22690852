/* Scripts in folders of this machine that the owner allows. The folders may lie on a file system that takes long or
 * does not answer: they are read on libuv's pool, and only so many at a time that the pool stays free for the search. */
#include "http/handle.h"

#include "base/settings.h"
#include "http/folders.h"

#include <errno.h>
#include <uv.h>

#define FOLDER_JOBS 2

typedef int (*folder_write_f)(const char *folder, const char *path, const char *state_dir, struct json *out,
			      struct error *err);

/* A request that is answered when the pool has read the folder. It has what it needs: it may outlive the request. */
struct folder_job {
	uv_work_t work;
	struct app *app; /* NULL: it is closed */
	struct folder_job *next;
	struct request *request; /* NULL: the peer has gone */
	struct response *response;
	folder_write_f write; /* NULL: the list of the allowed folders */
	char *state_dir, *folder, *path;
	struct buf text;
	struct error err;
	int rc;
};

static int folder_write_allowed(const struct folder_job *job, const struct folders *allowed, struct json *out)
{
	char *file = mem_printf("%s/settings.yaml", job->state_dir);
	json_map(out);
	json_key(out, "folders");
	json_list(out);
	for (size_t i = 0; i < allowed->count; i++)
		json_put_string(out, allowed->list[i]);
	json_end(out);
	json_key_string(out, "settings", file);
	json_end(out);
	free(file);
	return 0;
}

/* Settings are read for each request, so that a change needs no restart. */
static void folder_work_cb(uv_work_t *work)
{
	struct folder_job *job = work->data;
	struct json out = json_to(&job->text);
	struct folders allowed = {0};
	struct node *settings = NULL;
	job->rc = settings_read(job->state_dir, &settings, &job->err);
	if (job->rc == 0)
		job->rc = folders_parse(settings, getenv("HOME"), &allowed, &job->err);
	if (job->rc == 0 && !job->write)
		job->rc = folder_write_allowed(job, &allowed, &out);
	else if (job->rc == 0 && !folders_has(&allowed, job->folder))
		job->rc = errorf(&job->err, -EACCES,
				 "the folder '%.200s' is not in scripts.folders of %s/settings.yaml", job->folder,
				 job->state_dir);
	else if (job->rc == 0)
		job->rc = job->write(job->folder, job->path, job->state_dir, &out, &job->err);
	folders_free(&allowed);
	node_free(settings);
}

static int folder_status(int rc)
{
	return rc == -EACCES || rc == -EPERM ? 403 : rc == -ENOENT || rc == -ENOTDIR ? 404 : rc == -E2BIG ? 413 : 400;
}

static void folder_done_cb(uv_work_t *work, int status)
{
	struct folder_job *job = work->data;
	struct request *request = job->request;
	(void)status;
	if (job->app) {
		struct folder_job **at = &job->app->folder_jobs;
		while (*at != job)
			at = &(*at)->next;
		*at = job->next;
	}
	if (request && job->rc < 0) {
		response_problem(job->response, folder_status(job->rc), "%s", job->err.text);
	} else if (request) {
		buf_free(&job->response->body);
		job->response->body = job->text;
		job->text = (struct buf){0};
	}
	buf_free(&job->text);
	free(job->state_dir);
	free(job->folder);
	free(job->path);
	free(job);
	if (request)
		request->respond(request);
}

static void folder_cancel(void *ctx)
{
	struct folder_job *job = ctx;
	job->request = NULL;
}

void handle_leave_folders(struct app *app)
{
	for (struct folder_job *job = app->folder_jobs; job; job = job->next)
		job->app = NULL;
	app->folder_jobs = NULL;
}

static void folder_start(struct request *request, struct response *response, folder_write_f write)
{
	struct app *app = request->app;
	size_t running = 0;
	for (struct folder_job *job = app->folder_jobs; job; job = job->next)
		running++;
	if (running >= FOLDER_JOBS) {
		response_problem(response, 503, "other folders are still being read; try again in a moment");
		response_header(response, "Retry-After", "1");
		return;
	}
	const char *path = write ? request_text(request, "path") : NULL;
	struct folder_job *job = mem_alloc(sizeof(*job));
	*job = (struct folder_job){.app = app,
				   .next = app->folder_jobs,
				   .request = request,
				   .response = response,
				   .write = write,
				   .state_dir = mem_strdup(app->state_dir),
				   .folder = mem_strdup(write ? request_text(request, "folder") : ""),
				   .path = mem_strdup(path ? path : ""),
				   .text = buf_make(BUF_UNLIMITED)};
	job->work.data = job;
	app->folder_jobs = job;
	response->later = (struct later){folder_cancel, job};
	uv_queue_work(server_loop(app->server), &job->work, folder_work_cb, folder_done_cb);
}

void handle_folders(struct request *request, struct response *response)
{
	folder_start(request, response, NULL);
}

void handle_folder_list(struct request *request, struct response *response)
{
	folder_start(request, response, folders_write_list);
}

void handle_folder_script(struct request *request, struct response *response)
{
	folder_start(request, response, folders_write_script);
}
