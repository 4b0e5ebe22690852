/* What every unit test needs: cmocka with its includes in the order it wants, and a folder to work in. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fs.h"

/* Both are cmocka fixtures: *state is the path of a fresh folder, which the teardown removes. */
static inline int unit_make_folder(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char *path = mem_printf("%s/sluice-unit-XXXXXX", tmp ? tmp : "/tmp");
	*state = mkdtemp(path);
	return *state ? 0 : -1;
}

static inline int unit_remove_folder(void **state)
{
	int rc = fs_remove_tree(*state, NULL);
	free(*state);
	return rc;
}

#define unit_test_in_folder(f) cmocka_unit_test_setup_teardown(f, unit_make_folder, unit_remove_folder)

#endif
