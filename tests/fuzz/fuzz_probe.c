/* What the doctor's job wrote on a compute node: any answer and any journal give findings, and one that says that claim
 * and journal work only where the answer says so too. The answer ends at the first NUL, the journal is the rest. */
#include "backend/slurm_probe.h"

#include "base/text.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct slurm_probe probe = {.folder = "/s/doctor",
						 .token = "0123456789abcdef0123456789abcdef",
						 .program = "/s/doctor/bin/sluice",
						 .daemon = "http://127.0.0.1:54322"};
	char *text = mem_copy(data, size);
	size_t answer = strlen(text), rest = answer < size ? answer + 1 : size;
	struct slurm_probe_result result = {.answer = text,
					    .journal = text + rest,
					    .journal_len = size - rest,
					    .boot_id = "boot",
					    .began_ms = 999000,
					    .now_ms = 1003000};
	struct slurm_findings findings = {0};

	bool complete = slurm_probe_is_complete(&result);
	slurm_probe_explain(&probe, &result, &findings);
	for (size_t i = 0; i < findings.list.len; i++) {
		const struct backend_finding *finding = &findings.list.at[i];
		bool works = text_ends(finding->what,
				       "and what it wrote is seen here"); /* its beginning may be a host's name */
		if ((works && (!complete || !strstr(text, "second=0"))) ||
		    (strcmp(finding->level, "ok") != 0 && !finding->fix))
			abort();
	}
	if (findings.list.len < 3)
		abort();
	slurm_findings_free(&findings);
	free(text);
	return 0;
}
