/* The dashboard's files: see static.h. Only paths in the table exist; no file system is asked. */
#include "http/static.h"

#include <stdio.h>
#include <zlib.h>

static const char not_built[] =
	"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>sluice</title>"
	"<h1>The dashboard was not built into this program</h1>"
	"<p>Everything else works: the command line, and the interface at <code>/api/v1</code>.</p>"
	"<p>To include it, run <code>npm ci &amp;&amp; npm run build</code> in <code>web/</code>, then build "
	"sluice again.</p></html>\n";

static const struct asset *find_asset(const char *path)
{
	for (const struct asset *asset = assets; asset->path; asset++)
		if (!strcmp(asset->path, path))
			return asset;
	return NULL;
}

/* Does the list name the coding, or everything, without q=0? */
static bool accepts_gzip(const char *list)
{
	const char *found = list ? strstr(list, "gzip") : NULL;
	if (!found)
		return false;
	found += strcspn(found, ";,");
	return strncmp(found, ";q=0", 4) != 0 || found[4] == '.';
}

static bool unpack(const struct asset *asset, struct buf *out)
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

static void send_asset(const struct request *request, const struct asset *asset, struct response *response)
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
	if (accepts_gzip(head_get(request->head, "accept-encoding"))) {
		response_header(response, "Content-Encoding", "gzip");
		response->blob = blob_borrow(asset->data, (size_t)(asset->end - asset->data));
	} else if (!unpack(asset, &response->body)) {
		response_problem(response, 500, "the embedded file %s is damaged", asset->path);
	}
}

void static_handle(struct request *request, struct response *response)
{
	const char *path = strcmp(request->path, "/") ? request->path : "/index.html";
	const struct asset *asset = find_asset(path);
	const char *name = strrchr(path, '/') + 1;
	/* /experiments/e1 is a view of the page; /x.js is a file that is not there. */
	if (!asset && !strchr(name, '.'))
		asset = find_asset("/index.html");
	if (asset) {
		send_asset(request, asset, response);
	} else if (!assets[0].path && (!strchr(name, '.') || !strcmp(path, "/index.html"))) {
		response->type = "text/html; charset=utf-8";
		response->blob = blob_borrow(not_built, sizeof(not_built) - 1);
	} else {
		response_problem(response, 404, "there is nothing at this address");
	}
}
