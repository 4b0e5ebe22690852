#include "cli/verb.h"
int cli_main(int argc, char **argv, const struct verb *more, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (argc > 1 && !strcmp(argv[1], more[i].name))
			return more[i].run(argc - 1, argv + 1);
	return 2;
}
