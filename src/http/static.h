/* The dashboard's files, embedded gzipped at build time. */
#ifndef HTTP_STATIC_H
#define HTTP_STATIC_H

#include "http/message.h"

struct asset {
	const char *path; /* "/app-1A2B3C4D.js" */
	const char *type;
	const char *etag; /* with its quotes */
	const unsigned char *data, *end; /* gzip */
	size_t size; /* unpacked */
	bool immutable; /* its name carries its hash */
};

/* Made by scripts/embed-assets; ends with a row without a path. Empty when the dashboard was not built. */
extern const struct asset assets[];

/* Answers a GET for anything outside /api: a file, or the page itself for the addresses of its views. */
void static_handle(struct request *request, struct response *response);

#endif
