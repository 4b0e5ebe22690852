/* See sources.h. */
#include "node/sources.h"

#include "node/earlier.h"
#include "spool/paths.h"

#include <inttypes.h>

void sources_find(const struct spool_descriptor *d, struct sources *ret, struct follow_config *config)
{
	*ret = (struct sources){
		.first = d->results ? mem_printf("%s/%s/%" PRId64 ".csv", d->work_dir, d->results, d->task) : NULL,
		.printed = {spool_path(d->attempt_dir, SPOOL_STDOUT), spool_path(d->attempt_dir, SPOOL_STDERR)},
	};
	cuts_load(d, &ret->cuts);
	size_t count = d->objectives ? d->objectives->count : 0;
	ret->wanted = mem_array(count, sizeof(*ret->wanted));
	for (size_t i = 0; i < count; i++)
		ret->wanted[i] = d->objectives->items[i]->string;
	*config = (struct follow_config){
		.work_dir = d->work_dir,
		.files_dir = d->files_dir,
		.patterns = d->metrics,
		.wanted = ret->wanted,
		.wanted_count = count,
		.first = ret->first,
		.report = d->report_path,
		.printed = {ret->printed[0], ret->printed[1]},
		.cuts = &ret->cuts,
		.resumes = spool_descriptor_resumes(d),
		.retell = !earlier_has_ended(d),
	};
}

void sources_free(struct sources *sources)
{
	cuts_free(&sources->cuts);
	free(sources->wanted);
	free(sources->first);
	free(sources->printed[0]);
	free(sources->printed[1]);
	*sources = (struct sources){0};
}
