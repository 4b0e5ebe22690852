/* Scripts in folders of this machine that the owner allows. */
#include "http/handle.h"

#include "base/settings.h"
#include "http/folders.h"
#include "http/pool.h"

#include <errno.h>

typedef int (*folder_write_f)(const char *folder, const char *path, const char *state_dir, struct json *out,
			      struct error *err);

struct folder_job {
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
static void folder_work(void *ctx)
{
	struct folder_job *job = ctx;
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

static void folder_answer(void *ctx, struct response *response)
{
	struct folder_job *job = ctx;
	if (job->rc < 0) {
		response_problem(response, folder_status(job->rc), "%s", job->err.text);
		return;
	}
	buf_free(&response->body);
	response->body = job->text;
	job->text = (struct buf){0};
}

static void folder_free(void *ctx)
{
	struct folder_job *job = ctx;
	buf_free(&job->text);
	free(job->state_dir);
	free(job->folder);
	free(job->path);
	free(job);
}

static const struct pool_kind folder_kind = {POOL_FOLDERS, folder_work, folder_answer, folder_free};

static void folder_start(struct request *request, struct response *response, folder_write_f write)
{
	const char *path = write ? request_text(request, "path") : NULL;
	struct folder_job *job = mem_alloc(sizeof(*job));
	*job = (struct folder_job){.write = write,
				   .state_dir = mem_strdup(request->app->state_dir),
				   .folder = mem_strdup(write ? request_text(request, "folder") : ""),
				   .path = mem_strdup(path ? path : ""),
				   .text = buf_make(BUF_UNLIMITED)};
	pool_start(request, response, &folder_kind, job);
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
