/* See front.h. */
#include "http/front.h"

#include "base/mem.h"
#include "base/settings.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* Letters, digits and what host names, ports and addresses in brackets have. */
#define FRONT_HOST "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]"
/* What a path may have without being encoded; nothing that a browser or a proxy would change. */
#define FRONT_PATH FRONT_HOST "/~@"

static int front_parse(const char *url, struct front *ret, struct error *err)
{
	bool https = text_starts(url, "https://");
	const char *colon = strstr(url, "://");
	if (!colon || (!https && !text_starts(url, "http://")))
		return errorf(err, -EINVAL, "web.urls: '%.100s' must begin with https:// or http://", url);
	const char *host = colon + strlen("://");
	size_t len = strspn(host, FRONT_HOST);
	const char *path = host + len;
	if (!len || (*path && *path != '/') || path[strspn(path, FRONT_PATH)] || strstr(path, "..") ||
	    strstr(path, "//"))
		return errorf(err, -EINVAL, "web.urls: '%.100s' is not the address of a page", url);
	/* A browser leaves the usual port out of Host and Origin. */
	const char *usual = https ? ":443" : ":80";
	size_t port = strlen(usual);
	if (len > port && !memcmp(host + len - port, usual, port))
		len -= port;
	size_t path_len = strlen(path);
	while (path_len && path[path_len - 1] == '/')
		path_len--;
	*ret = (struct front){https, mem_copy(host, len), mem_copy(path, path_len)};
	return 0;
}

int fronts_parse(const struct node *document, struct fronts *ret, struct error *err)
{
	const struct node *web = node_get(document, "web"), *urls = node_get(web, "urls");
	*ret = (struct fronts){0};
	if (web && (web->type != NODE_MAP || (urls && urls->type != NODE_LIST)))
		return errorf(err, -EINVAL, "web must be a map: {urls: [https://hpc.example.org/sluice/]}");
	static const char *const keys[] = {"urls", NULL};
	int rc = settings_check_keys(web, "web", keys, err);
	if (rc < 0)
		return rc;
	if (urls && urls->count > FRONTS_MAX)
		return errorf(err, -EINVAL, "web.urls has at most %d addresses", FRONTS_MAX);
	for (size_t i = 0; urls && i < urls->count; i++) {
		const char *url = node_string(urls->items[i]);
		rc = front_parse(url ? url : "", &ret->list[ret->count], err);
		if (rc < 0) {
			fronts_free(ret);
			return rc;
		}
		ret->count++;
	}
	return 0;
}

void fronts_free(struct fronts *fronts)
{
	for (size_t i = 0; i < fronts->count; i++) {
		free(fronts->list[i].host);
		free(fronts->list[i].prefix);
	}
	*fronts = (struct fronts){0};
}

const struct front *fronts_find(const struct fronts *fronts, const char *host)
{
	for (size_t i = 0; i < fronts->count; i++)
		if (!strcasecmp(fronts->list[i].host, host))
			return &fronts->list[i];
	return NULL;
}

bool fronts_has_origin(const struct fronts *fronts, const char *host, const char *origin)
{
	for (size_t i = 0; i < fronts->count; i++) {
		const struct front *front = &fronts->list[i];
		const char *scheme = front->https ? "https://" : "http://";
		if (!strcasecmp(front->host, host) && text_starts(origin, scheme) &&
		    !strcasecmp(origin + strlen(scheme), host))
			return true;
	}
	return false;
}

void fronts_strip(const struct fronts *fronts, const char *host, char *path)
{
	for (size_t i = 0; i < fronts->count; i++) {
		const struct front *front = &fronts->list[i];
		size_t len = strlen(front->prefix);
		if (!len || strcasecmp(front->host, host) != 0 || strncmp(path, front->prefix, len) != 0 ||
		    path[len] != '/')
			continue;
		memmove(path, path + len, strlen(path + len) + 1);
		return;
	}
}
