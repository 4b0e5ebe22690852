/* What the results say as a whole: GET …/analysis. */
#include "engine/internal.h"

#include "store/read.h"

int engine_write_analysis(struct engine *engine, int64_t experiment, struct json *out)
{
	return store_write_analysis(engine->store, experiment, out);
}
