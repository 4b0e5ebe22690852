/* Checks request bodies against schemas.json. */
#ifndef HTTP_SCHEMA_H
#define HTTP_SCHEMA_H

#include "base/node.h"

/* src/http/schemas.json: the "components" of the OpenAPI document. */
extern const char openapi_components[];

/* The tree of schemas.json, or NULL if it is not valid JSON. The caller frees it. */
struct node *schema_load(void);
/* True if a body may only have the members that the schema names. */
bool schema_is_closed(const struct node *schemas, const char *name);
/* 0, or -EINVAL with the member that is unknown or has the wrong type. The handlers check which members are required,
 * and their ranges. */
int schema_check(const struct node *schemas, const char *name, const struct node *body, struct error *err) MUST_USE;

#endif
