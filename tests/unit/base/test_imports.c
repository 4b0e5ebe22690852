/* Python's imports and relative paths, read from the text of a script. */
#include "base/imports.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_reads(const char *text, const char *modules, const char *paths)
{
	struct imports imports;
	struct buf m = buf_make(4096), p = buf_make(4096);
	imports_read(text, strlen(text), &imports);
	for (size_t i = 0; i < imports.modules.len; i++)
		buf_addf(&m, "%s%s", i ? " " : "", imports.modules.at[i]);
	for (size_t i = 0; i < imports.paths.len; i++)
		buf_addf(&p, "%s%s", i ? " " : "", imports.paths.at[i]);
	assert_string_equal(buf_text(&m), modules);
	assert_string_equal(buf_text(&p), paths);
	buf_free(&m);
	buf_free(&p);
	imports_free(&imports);
}

static void every_form_of_an_import_is_read(void **state)
{
	(void)state;
	assert_reads("import os, lib.layers as L; import utils\n", "os lib.layers utils", "");
	assert_reads("from . import sibling\nfrom ..up import (a, # import no\n  b as c,\n)\n",
		     ". .sibling ..up ..up.a ..up.b", "");
	assert_reads("try:\n\timport a\nexcept ImportError: import b\n", "a b", "");
	assert_reads("from a \\\n import b, \\\n c\n", "a a.b a.c", "");
	assert_reads("from x import *\nimport y", "x y", "");
}

static void what_only_looks_like_one_is_passed_over(void **state)
{
	(void)state;
	assert_reads("# import a\n'''\nimport b\n'''\ns = \"import c\"\nimportlib = 1\nx = (\nimport_ ,\n from_)\n", "",
		     "");
	assert_reads("yield from gen()\nraise E from e\nprint('import d')\n", "", "");
	assert_reads("import", "", "");
	assert_reads("from a", "", "");
	assert_reads("'unclosed\nimport a\n", "a", "");
}

static void relative_paths_are_texts_with_a_dot_or_a_slash(void **state)
{
	(void)state;
	assert_reads("open('data/x.csv'); load(\"./conf.yaml\"); p = r'sub/dir/'\n", "",
		     "data/x.csv conf.yaml sub/dir");
	assert_reads("f'a/{b}'; b'c.d'; '/abs/x.csv'; '../up.csv'; 'word'; 'a sentence.'; 'http://x.y'; '%d.csv'\n", "",
		     "");
	assert_reads("'a\\n.csv' 'it\\'s.csv' 'ok.csv'", "", "ok.csv");
	assert_reads("'data//x.csv'; 'data/../data/./z.csv'; 'a/../../up.csv'; 'a/..'; './.hid/x'; 'sub//'", "",
		     "data/x.csv data/z.csv");
	assert_reads("@hydra.main(version_base=None, config_path=\"conf\", config_name='config')\n", "", "conf");
}

static void the_configuration_of_hydra_is_a_folder_and_a_file(void **state)
{
	static const char text[] = "@hydra.main(version_base=None, config_path=\"./conf\", config_name='config')\n"
				   "initialize(config_dir='/abs', config_path='../up')\n"
				   "compose(config_name='sub/x.yaml')\n"
				   "@hydra.main(config_path='conf/')\n@hydra.main(config_path='a//../conf//b')\n";
	static const char *const wanted[] = {"conf", "config.yaml", "sub/x.yaml", "conf", "conf/b"};
	struct imports imports;
	(void)state;
	imports_read(text, strlen(text), &imports);
	assert_int_equal(imports.configs.len, COUNT_OF(wanted));
	for (size_t i = 0; i < COUNT_OF(wanted); i++)
		assert_string_equal(imports.configs.at[i], wanted[i]);
	imports_free(&imports);
}

static void a_file_that_is_read_is_told_from_one_that_is_written(void **state)
{
	static const char text[] = "a = pd.read_csv('data/a.csv'); open('b.txt'); open(\"c.txt\", 'rb')\n"
				   "open('w.txt', 'w'); open('x.txt', mode='a'); open('y.txt', 'r+'); f('z.txt')\n"
				   "open(os.path.join('sub', 'v.txt')); np.loadtxt( 'd.txt' , skiprows=1)\n"
				   "open('e.txt', encoding='ascii'); open('f.txt', newline='', errors=f('x', 'w'))\n"
				   "open('u.txt', encoding='ascii',\n  mode = 'w'); open('data/../data/g.csv')\n";
	static const char *const wanted[] = {"data/a.csv", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt", "data/g.csv"};
	struct imports imports;
	(void)state;
	imports_read(text, strlen(text), &imports);
	assert_int_equal(imports.reads.len, COUNT_OF(wanted));
	for (size_t i = 0; i < COUNT_OF(wanted); i++)
		assert_string_equal(imports.reads.at[i], wanted[i]);
	imports_free(&imports);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_an_import_is_read),
		cmocka_unit_test(what_only_looks_like_one_is_passed_over),
		cmocka_unit_test(relative_paths_are_texts_with_a_dot_or_a_slash),
		cmocka_unit_test(the_configuration_of_hydra_is_a_folder_and_a_file),
		cmocka_unit_test(a_file_that_is_read_is_told_from_one_that_is_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
