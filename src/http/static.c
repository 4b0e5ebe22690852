/* The dashboard's files: see static.h. Only paths in the table exist; no file system is asked. */
#include "http/static.h"

#include "http/gzip.h"

#include <stdio.h>
#include <zlib.h>

static const char static_not_built[] =
	"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>sluice</title>"
	"<h1>The dashboard was not built into this program</h1>"
	"<p>Everything else works: the command line, and the interface at <code>/api/v1</code>.</p>"
	"<p>To include it, run <code>npm ci &amp;&amp; npm run build</code> in <code>web/</code>, then build "
	"sluice again.</p></html>\n";

static const struct asset *static_find_asset(const char *path)
{
	for (const struct asset *asset = assets; asset->path; asset++)
		if (!strcmp(asset->path, path))
			return asset;
	return NULL;
}

static bool static_unpack(const struct asset *asset, struct buf *out)
{
	z_stream z = {
		.next_in = (unsigned char *)(uintptr_t)asset->data,
		.avail_in = (unsigned)(asset->end - asset->data),
	};
	*out = buf_make(asset->size + 1);
	char *to = buf_reserve(out, asset->size);
	if (!to || inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return false;
	z.next_out = (unsigned char *)to;
	z.avail_out = (unsigned)asset->size;
	int rc = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	out->len = asset->size - z.avail_out;
	out->data[out->len] = 0;
	return rc == Z_STREAM_END;
}

static void static_send_asset(const struct request *request, const struct asset *asset, struct response *response)
{
	const char *known = head_get(request->head, "if-none-match");
	response->type = asset->type;
	response->caching = asset->immutable ? CACHING_IMMUTABLE : CACHING_VALIDATE;
	response_header(response, "ETag", "%s", asset->etag);
	response_header(response, "Vary", "Accept-Encoding");
	if (known && strstr(known, asset->etag)) {
		response->status = 304;
		return;
	}
	if (gzip_is_accepted(request->head)) {
		response_header(response, "Content-Encoding", "gzip");
		response->blob = blob_borrow(asset->data, (size_t)(asset->end - asset->data));
	} else if (!static_unpack(asset, &response->body)) {
		response_problem(response, 500, "the embedded file %s is damaged", asset->path);
	}
}

/* The page, with addresses of its files that are right for the depth of its own: it does not know what a proxy puts
 * before them. */
static const struct asset *static_find_page(const char *path)
{
	size_t depth = 0;
	char name[40] = "/index.html";
	for (const char *at = path + 1; *at; at++)
		depth += *at == '/';
	if (depth)
		snprintf(name, sizeof(name), "/index%zu.html", depth);
	return static_find_asset(name);
}

void static_handle(struct request *request, struct response *response)
{
	const char *path = request->path, *name = strrchr(path, '/') + 1;
	const struct asset *asset = *name ? static_find_asset(path) : NULL;
	/* /experiments/e1 is a view of the page; /x.js is a file that is not there, and /prefix/api/v1/info is a request that
	 * a proxy has sent with a wrong prefix. */
	if (!asset && !strchr(name, '.') && !strstr(path, "/api/"))
		asset = static_find_page(path);
	if (asset) {
		static_send_asset(request, asset, response);
	} else if (!assets[0].path && !strchr(name, '.')) {
		response->type = "text/html; charset=utf-8";
		response->blob = blob_borrow(static_not_built, sizeof(static_not_built) - 1);
	} else {
		response_problem(response, 404, "there is nothing at this address");
	}
}
