/* Request bodies against schemas.json. */
#ifndef HTTP_SCHEMA_H
#define HTTP_SCHEMA_H

#include "base/node.h"

/* src/http/schemas.json: the "components" of the OpenAPI document. */
extern const char openapi_components[];

/* The tree of schemas.json, or NULL where it is not good JSON. The caller frees it. */
struct node *schema_load(void);
/* Does the schema say what a body may have, and nothing else? */
bool schema_is_closed(const struct node *schemas, const char *name);
/* 0; or -EINVAL and which member is unknown or of the wrong type. What must be there, and how much of it, is left to the
 * handlers. */
int schema_check(const struct node *schemas, const char *name, const struct node *body, struct error *err) MUST_USE;

#endif
