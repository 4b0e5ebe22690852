/* Compressed answers. JSON shrinks to a tenth or a third, which is what a page waits for behind an ssh tunnel. No answer
 * holds a secret beside text of a stranger, so that its length tells nothing. */
#ifndef HTTP_GZIP_H
#define HTTP_GZIP_H

#include "http/message.h"

/* Does the client accept gzip? */
bool gzip_is_accepted(const struct head *head);
/* Makes a compressed answer of this one, in pieces that hold the loop for some milliseconds each. Does nothing where the
 * client does not accept it, the answer is short, or it is compressed already. Call it before anything is sent. */
void gzip_answer(const struct head *head, struct response *response);

#endif
