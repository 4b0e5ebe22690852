/* Prints which of the recorded runs raise an alarm, as they were and stretched: stalls JOURNAL ... */
#include "replay.h"

#include <stdio.h>
#include <string.h>

static const double stalls_stretches[] = {1, 10, 60};

int main(int argc, char **argv)
{
	size_t alarms = 0, runs = 0, judged = 0;
	printf("%-28s %7s %5s %7s   %s\n", "run", "seconds", "rows", "samples",
	       "alarm at 1, 10 and 60 times its length");
	for (int i = 1; i < argc; i++) {
		struct replay got[3];
		const char *name = strrchr(argv[i], '/');
		for (size_t s = 0; s < 3; s++)
			if (replay_journal(argv[i], stalls_stretches[s], &got[s]) < 0) {
				fprintf(stderr, "%s: cannot be read\n", argv[i]);
				return 1;
			}
		printf("%-28s %7.0f %5zu %7zu  ", name ? name + 1 : argv[i], (double)got[0].length_ms / 1000,
		       got[0].rows, got[0].samples);
		for (size_t s = 0; s < 3; s++) {
			if (got[s].kind == STALL_NONE)
				printf(" none");
			else
				printf(" %s (%.0f s)", stall_kinds[got[s].kind].word, (double)got[s].alarm_ms / 1000);
			alarms += got[s].kind != STALL_NONE;
			judged += got[s].judged;
			runs++;
		}
		puts("");
	}
	printf("%zu of %zu replays raise an alarm, in %zu judgements\n", alarms, runs, judged);
	return 0;
}
