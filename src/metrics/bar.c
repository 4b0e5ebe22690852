/* See bar.h. */
#include "metrics/bar.h"

#include "base/num.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

bool bar_read(const char *text, size_t len, struct bar *ret)
{
	const char *percent = memmem(text, len, "%|", 2), *end = text + len, *desc = percent;
	if (!percent)
		return false;
	while (desc > text && (isdigit((unsigned char)desc[-1]) || desc[-1] == ' '))
		desc--;
	while (desc > text && (desc[-1] == ':' || desc[-1] == ' '))
		desc--;
	*ret = (struct bar){.desc = text, .desc_len = (size_t)(desc - text), .at = NAN, .of = NAN};
	const char *open = memchr(percent, '[', (size_t)(end - percent));
	const char *close = memrchr(percent, ']', (size_t)(end - percent));
	if (!open || !close || close < open)
		return true;
	const char *bar = memrchr(percent + 2, '|', (size_t)(open - percent - 2));
	const char *at = bar ? bar + 1 : open, *slash = memchr(at, '/', (size_t)(open - at)), *last = open;
	while (at < open && *at == ' ')
		at++;
	while (last > at && last[-1] == ' ')
		last--;
	if (slash && slash > at && slash < last &&
	    (num_parse_real(at, (size_t)(slash - at), &ret->at) < 0 ||
	     num_parse_real(slash + 1, (size_t)(last - slash - 1), &ret->of) < 0))
		ret->at = ret->of = NAN;
	for (int fields = 0; fields < 2 && open < close; fields++) { /* the times, the speed */
		const char *comma = memchr(open, ',', (size_t)(close - open));
		open = comma ? comma + 1 : close;
	}
	ret->shown = open;
	ret->shown_len = (size_t)(close - open);
	return true;
}
