/* Checks request bodies against schemas.json. */
#ifndef HTTP_SCHEMA_H
#define HTTP_SCHEMA_H

#include "base/node.h"

/* src/http/schemas.json: the "components" of the OpenAPI document. */
extern const char openapi_components[];

/* The tree of schemas.json, or NULL if it is not valid JSON. The caller frees it. */
struct node *schema_load(void);
/* 0, or -EINVAL with each member that is unknown or has the wrong type. Understands $ref, oneOf, type (one or a list),
 * enum, properties, additionalProperties and items. The handlers check which members are required, and their ranges. */
int schema_check(const struct node *schemas, const char *name, const struct node *body,
		 struct problems *problems) MUST_USE;

#endif
