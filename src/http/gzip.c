/* Compressed answers: see gzip.h. A turn of the loop either makes a piece of the answer or compresses a slice of it. */
#include "http/gzip.h"

#include <errno.h>
#include <strings.h>
#include <zlib.h>

/* Below this the saving is less than a packet. */
#define GZIP_LEAST_BYTES 2048
/* About 5 ms at this level on a slow core. */
#define GZIP_SLICE_BYTES (128u << 10)
#define GZIP_LEVEL 5

struct gzip {
	z_stream z;
	struct blob *whole; /* the answer, or */
	struct pieces source; /* what makes it */
	struct buf made; /* by the source, not compressed yet */
	size_t at; /* in `whole` */
	bool ended; /* the source has made everything */
};

bool gzip_is_accepted(const struct head *head)
{
	const char *list = head_get(head, "accept-encoding");
	const char *found = list ? strstr(list, "gzip") : NULL;
	if (!found)
		return false;
	found += strcspn(found, ";,");
	if (*found != ';')
		return true;
	found += 1 + strspn(found + 1, " \t");
	if (strncasecmp(found, "q=0", 3) != 0)
		return true;
	found += 3;
	found += *found == '.';
	found += strspn(found, "0");
	return *found >= '1' && *found <= '9'; /* 0.5, and not 0 or 0.000 */
}

static void gzip_free(void *ctx)
{
	struct gzip *gzip = ctx;
	deflateEnd(&gzip->z);
	blob_unref(gzip->whole);
	pieces_free(&gzip->source);
	buf_free(&gzip->made);
	free(gzip);
}

static int gzip_add(struct gzip *gzip, const char *data, size_t len, bool last, struct buf *out)
{
	gzip->z.next_in = (unsigned char *)(uintptr_t)data;
	gzip->z.avail_in = (unsigned)len;
	int rc;
	do {
		size_t room = deflateBound(&gzip->z, gzip->z.avail_in) + 64;
		char *to = buf_reserve(out, room);
		if (!to)
			return -E2BIG;
		gzip->z.next_out = (unsigned char *)to;
		gzip->z.avail_out = (unsigned)room;
		rc = deflate(&gzip->z, last ? Z_FINISH : Z_NO_FLUSH);
		out->len += room - gzip->z.avail_out;
	} while (rc == Z_OK && (gzip->z.avail_in || last));
	return rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR ? 0 : -EIO;
}

static int gzip_make_of_whole(void *ctx, struct buf *out)
{
	struct gzip *gzip = ctx;
	size_t left = gzip->whole->len - gzip->at, take = left < GZIP_SLICE_BYTES ? left : GZIP_SLICE_BYTES;
	int rc = gzip_add(gzip, gzip->whole->data + gzip->at, take, take == left, out);
	gzip->at += take;
	return rc < 0 ? rc : take < left;
}

static int gzip_make_of_pieces(void *ctx, struct buf *out)
{
	struct gzip *gzip = ctx;
	if (!gzip->made.len && !gzip->ended) {
		int more = gzip->source.make(gzip->source.ctx, &gzip->made);
		if (more < 0)
			return more;
		gzip->ended = !more;
		/* An answer of one small piece is sent with its length. */
		if (more || gzip->made.len > GZIP_SLICE_BYTES)
			return 1;
	}
	size_t take = gzip->made.len < GZIP_SLICE_BYTES ? gzip->made.len : GZIP_SLICE_BYTES;
	bool last = gzip->ended && take == gzip->made.len;
	int rc = gzip_add(gzip, buf_text(&gzip->made), take, last, out);
	buf_consume(&gzip->made, take);
	return rc < 0 ? rc : !last;
}

static bool gzip_is_text(const char *type)
{
	return !type || strstr(type, "json") || !strncmp(type, "text/", 5);
}

void gzip_answer(const struct head *head, struct response *response)
{
	size_t len = response->blob ? response->blob->len : response->body.len;
	bool pieces = response->pieces.make != NULL;
	if (response->stream || !gzip_is_text(response->type) || (!pieces && len < GZIP_LEAST_BYTES) ||
	    (response->headers.len && strstr(buf_text(&response->headers), "Vary:")))
		return;
	response_header(response, "Vary", "Accept-Encoding");
	if (!gzip_is_accepted(head))
		return;
	struct gzip *gzip = mem_alloc(sizeof(*gzip));
	if (deflateInit2(&gzip->z, GZIP_LEVEL, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return;
	}
	gzip->made = buf_make(BUF_UNLIMITED);
	if (pieces)
		gzip->source = response->pieces;
	else
		gzip->whole = response->blob ? response->blob : blob_take(&response->body);
	response->blob = NULL;
	response->pieces = (struct pieces){pieces ? gzip_make_of_pieces : gzip_make_of_whole, gzip_free, gzip};
	response_header(response, "Content-Encoding", "gzip");
}
