/* Scripts of allowed folders: nothing outside them can be reached, nothing is shown that is no script. */
#include "http/folders.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/node.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A folder with scripts, a secret beside it, and a state folder inside it. */
struct place {
	char root[64], folder[96], state[128];
};

static void place_write(const struct place *p, const char *path, const void *data, size_t len, mode_t mode)
{
	char full[256];
	snprintf(full, sizeof(full), "%s/%s", p->root, path);
	assert_int_equal(fs_write(full, data, len, mode, false, NULL), 0);
}

static void place_text(const struct place *p, const char *path, const char *text)
{
	place_write(p, path, text, strlen(text), 0600);
}

static int place_make(void **state)
{
	struct place *p = mem_alloc(sizeof(*p));
	char full[256];
	static const char *const dirs[] = {"work", "work/lib", "work/.ssh", "work/state", "work/space here", "out"};
	snprintf(p->root, sizeof(p->root), "/tmp/sluice-folders-XXXXXX");
	assert_non_null(mkdtemp(p->root));
	snprintf(p->folder, sizeof(p->folder), "%s/work", p->root);
	snprintf(p->state, sizeof(p->state), "%s/work/state", p->root);
	for (size_t i = 0; i < COUNT_OF(dirs); i++) {
		snprintf(full, sizeof(full), "%s/%s", p->root, dirs[i]);
		assert_int_equal(fs_make_dirs(full, 0700, NULL), 0);
	}
	place_text(p, "out/secret.py", "SECRET\n");
	place_text(p, "work/train.py", "import helper, lib.layers, numpy\nfrom state import token\n");
	place_text(p, "work/helper.py", "from lib import more\n");
	place_text(p, "work/lib/__init__.py", "");
	place_text(p, "work/lib/layers.py", "import helper\n");
	place_text(p, "work/lib/more.py", "");
	place_text(p, "work/.ssh/id.py", "SECRET\n");
	place_text(p, "work/.hidden.py", "SECRET\n");
	place_text(p, "work/notes.txt", "SECRET\n");
	place_text(p, "work/state/token.py", "SECRET\n");
	place_text(p, "work/space here/a.py", "print()\n");
	place_write(p, "work/program",
		    "\x7f"
		    "ELF\0\0",
		    6, 0700);
	place_write(p, "work/bad.py", "\xff\xfe", 2, 0600);
	*state = p;
	return 0;
}

static int place_remove(void **state)
{
	struct place *p = *state;
	int rc = fs_remove_tree(p->root, NULL);
	free(p);
	return rc;
}

/* The answer, or the text of the error. Static: valid until the next call. */
static const char *place_script(const struct place *p, const char *path)
{
	static char said[65536];
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json out = json_to(&text);
	struct error err = {0};
	int rc = folders_write_script(p->folder, path, p->state, &out, &err);
	snprintf(said, sizeof(said), "%s", rc < 0 ? err.text : buf_text(&text));
	assert_true(rc < 0 || text.len > 0);
	buf_free(&text);
	return said;
}

static void place_assert_refused(const struct place *p, const char *path, const char *why)
{
	const char *said = place_script(p, path);
	assert_null(strstr(said, "SECRET"));
	if (!strstr(said, why))
		fail_msg("%s: %s", path, said);
}

static void the_setting_names_folders_in_full(void **state)
{
	struct folders folders;
	struct error err;
	struct node *settings;
	const char *good = "scripts: {folders: [~/work/, /proj/x]}";
	(void)state;
	assert_int_equal(node_parse_yaml(good, strlen(good), &settings, &err), 0);
	assert_int_equal(folders_parse(settings, "/home/me", &folders, &err), 0);
	assert_int_equal(folders.count, 2);
	assert_true(folders_has(&folders, "/home/me/work"));
	assert_true(folders_has(&folders, "/proj/x"));
	assert_false(folders_has(&folders, "/proj"));
	assert_false(folders_has(&folders, "/proj/x/"));
	folders_free(&folders);
	node_free(settings);
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"scripts: [a]", "must be a map"},
		{"scripts: {folders: work}", "must be a map"},
		{"scripts: {folders: [work]}", "'work' must be a folder that begins with / or ~/"},
		{"scripts: {folders: [/]}", "'/' is the whole machine"},
		{"scripts: {folders: ['~']}", "the home folder itself is ~/"},
		{"scripts: {folders: ['']}", "must be a folder"},
		{"scripts: {folders: [{}]}", "must be a folder"},
		{"scripts: {folder: [/a]}", ""},
	};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		assert_int_equal(node_parse_yaml(bad[i].text, strlen(bad[i].text), &settings, &err), 0);
		assert_int_equal(folders_parse(settings, "/home/me", &folders, &err), -EINVAL);
		if (!strstr(err.text, bad[i].why))
			fail_msg("%s: %s", bad[i].text, err.text);
		node_free(settings);
	}
}

static void hostile_paths_reach_nothing(void **state)
{
	const struct place *p = *state;
	static const char *const paths[] = {"../out/secret.py",
					    "lib/../../out/secret.py",
					    "lib/..",
					    "..",
					    ".",
					    "./train.py",
					    "lib//layers.py",
					    "/etc/passwd",
					    "//etc/passwd",
					    "lib/./layers.py",
					    "lib/../train.py",
					    "",
					    "..\\out\\secret.py",
					    "%2e%2e/out/secret.py",
					    "....//out/secret.py"};
	for (size_t i = 0; i < COUNT_OF(paths); i++)
		place_assert_refused(p, paths[i],
				     i == 12 || i == 13 || i == 14 ? "" : "is not a path below the folder");
	place_assert_refused(p, ".ssh/id.py", ".ssh is hidden");
	place_assert_refused(p, ".hidden.py", ".hidden.py is hidden");
	place_assert_refused(p, "state/token.py", "sluice's own files");
	place_assert_refused(p, "notes.txt", "notes.txt is not a script");
	place_assert_refused(p, "nothing.py", "nothing.py is not there");
	place_assert_refused(p, "train.py/x", "train.py is not a folder");
	place_assert_refused(p, "lib", "lib is not a regular file");
	place_assert_refused(p, "program", "program is a binary file");
	place_assert_refused(p, "bad.py", "bad.py is a binary file");
	assert_non_null(strstr(place_script(p, "space here/a.py"), "print()"));
}

static void links_are_not_followed(void **state)
{
	const struct place *p = *state;
	char link[256], to[256];
	snprintf(link, sizeof(link), "%s/out.py", p->folder);
	snprintf(to, sizeof(to), "%s/out/secret.py", p->root);
	assert_int_equal(symlink(to, link), 0);
	place_assert_refused(p, "out.py", "out.py is a symbolic link");
	snprintf(link, sizeof(link), "%s/away", p->folder);
	snprintf(to, sizeof(to), "%s/out", p->root);
	assert_int_equal(symlink(to, link), 0);
	place_assert_refused(p, "away/secret.py", "away is not a folder, or a link to one");
	/* A link to something inside is refused as well: what it leads to can change at any time. */
	snprintf(link, sizeof(link), "%s/inside.py", p->folder);
	assert_int_equal(symlink("train.py", link), 0);
	place_assert_refused(p, "inside.py", "is a symbolic link");
	snprintf(link, sizeof(link), "%s/pipe.py", p->folder);
	assert_int_equal(mkfifo(link, 0600), 0);
	place_assert_refused(p, "pipe.py", "is not a regular file");
}

static void a_folder_of_the_state_is_refused(void **state)
{
	const struct place *p = *state;
	struct error err;
	char inside[160];
	assert_int_equal(folders_open(p->state, "", true, p->state, &err), -EACCES);
	snprintf(inside, sizeof(inside), "%s/experiments", p->state);
	assert_int_equal(fs_make_dirs(inside, 0700, NULL), 0);
	assert_int_equal(folders_open(inside, "", true, p->state, &err), -EACCES);
}

static void a_script_that_is_too_large_is_refused(void **state)
{
	const struct place *p = *state;
	size_t len = FOLDERS_SCRIPT_BYTES + 1;
	char *text = mem_alloc(len + 1);
	memset(text, '#', len);
	place_write(p, "work/large.py", text, len, 0600);
	place_assert_refused(p, "large.py", "larger than 1 MB");
	text[len - 1] = '\n';
	place_write(p, "work/large.py", text + 1, len - 1, 0600);
	assert_non_null(strstr(place_script(p, "large.py"), "{\"name\":\"large.py\",\"text\":\"##"));
	free(text);
}

static void modules_beside_the_script_go_along(void **state)
{
	const struct place *p = *state;
	const char *said = place_script(p, "train.py");
	assert_non_null(strstr(said, "\"name\":\"train.py\""));
	assert_non_null(strstr(said, "{\"path\":\"helper.py\""));
	assert_non_null(strstr(said, "{\"path\":\"lib/__init__.py\""));
	assert_non_null(strstr(said, "{\"path\":\"lib/layers.py\""));
	assert_non_null(strstr(said, "{\"path\":\"lib/more.py\""));
	assert_null(strstr(said, "SECRET"));
	assert_null(strstr(said, "{\"path\":\"train.py\""));
	/* Relative to the script's own folder; what is above it stays. */
	place_text(p, "work/lib/run.py", "import layers\nfrom .. import helper\n");
	said = place_script(p, "lib/run.py");
	assert_non_null(strstr(said, "{\"path\":\"layers.py\""));
	assert_null(strstr(said, "{\"path\":\"../helper.py\""));
}

static void a_script_with_too_many_modules_is_refused(void **state)
{
	const struct place *p = *state;
	char name[64];
	place_text(p, "work/many.py", "import lib\nimport many\n");
	for (int i = 0; i < 498; i++) { /* with __init__, layers, more and helper: 502 */
		snprintf(name, sizeof(name), "work/lib/m%03d.py", i);
		place_text(p, name, "");
	}
	place_assert_refused(p, "many.py", "many.py imports more than 500 modules");
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s/work/lib/m%03d.py", p->root, i);
		assert_int_equal(unlink(name), 0);
	}
	assert_non_null(strstr(place_script(p, "many.py"), "{\"path\":\"lib/m497.py\""));
}

static void a_script_whose_modules_cannot_all_be_taken_is_refused(void **state)
{
	const struct place *p = *state;
	char link[256];
	size_t len = FOLDERS_SCRIPT_BYTES + 1;
	char *text = mem_alloc(len + 1);
	memset(text, '#', len);
	place_write(p, "work/large.py", text, len, 0600);
	place_text(p, "work/a.py", "import large\n");
	place_assert_refused(p, "a.py", "large.py is larger than 1 MB");
	free(text);
	place_text(p, "work/latin.py", "# \xe9\n");
	place_text(p, "work/b.py", "import latin\n");
	place_assert_refused(p, "b.py", "latin.py is a binary file");
	snprintf(link, sizeof(link), "%s/linked.py", p->folder);
	assert_int_equal(symlink("../out/secret.py", link), 0);
	place_text(p, "work/c.py", "import linked\n");
	place_assert_refused(p, "c.py", "linked.py is a symbolic link");
	place_text(p, "work/d.py", "import helper, json\nfrom c import f\n");
	place_assert_refused(p, "d.py", "d.py would fail without a module that it imports: linked.py");
	/* In a package, and a package that is a link. */
	snprintf(link, sizeof(link), "%s/lib/linked.py", p->folder);
	assert_int_equal(symlink("more.py", link), 0);
	place_text(p, "work/e.py", "import lib.linked\n");
	place_assert_refused(p, "e.py", "lib/linked.py is a symbolic link");
	assert_int_equal(unlink(link), 0);
	assert_non_null(strstr(place_script(p, "e.py"), "{\"path\":\"lib/more.py\""));
	snprintf(link, sizeof(link), "%s/package", p->folder);
	assert_int_equal(symlink("lib", link), 0);
	place_text(p, "work/f.py", "import package\n");
	place_assert_refused(p, "f.py", "package/__init__.py is a symbolic link, or behind one");
	/* A folder of data beside a module or library of the same name. */
	snprintf(link, sizeof(link), "%s/datasets", p->folder);
	assert_int_equal(symlink("../out", link), 0);
	place_text(p, "work/g.py", "import datasets\n");
	assert_non_null(strstr(place_script(p, "g.py"), "\"files\":[]"));
}

static void a_list_has_folders_and_scripts_only(void **state)
{
	const struct place *p = *state;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json out = json_to(&text);
	struct error err;
	char link[256];
	snprintf(link, sizeof(link), "%s/link.py", p->folder);
	assert_int_equal(symlink("train.py", link), 0);
	assert_int_equal(folders_write_list(p->folder, "", p->state, &out, &err), 0);
	const char *said = buf_text(&text);
	assert_non_null(strstr(said, "{\"name\":\"train.py\",\"kind\":\"script\",\"bytes\":57}"));
	assert_non_null(strstr(said, "{\"name\":\"lib\",\"kind\":\"folder\",\"bytes\":0}"));
	assert_non_null(strstr(said, "\"program\""));
	static const char *const absent[] = {".ssh", ".hidden", "notes.txt", "\"state\"", "link.py"};
	for (size_t i = 0; i < COUNT_OF(absent); i++)
		assert_null(strstr(said, absent[i]));
	buf_free(&text);
	assert_int_equal(folders_write_list(p->folder, "../out", p->state, &out, &err), -EINVAL);
	assert_int_equal(folders_write_list(p->folder, "state", p->state, &out, &err), -EACCES);
	assert_int_equal(folders_write_list(p->folder, ".ssh", p->state, &out, &err), -EACCES);
}

/* What is cut does not depend on the order in which the disk has the names. */
static void a_long_list_has_the_first_names(void **state)
{
	const struct place *p = *state;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json out = json_to(&text);
	struct error err;
	char name[64];
	place_text(p, "out/a\n.py", "");
	place_text(p, "out/a\x1b.py", "");
	for (int i = 0; i < FOLDERS_ENTRIES - 1; i++) { /* with secret.py it is full */
		snprintf(name, sizeof(name), "out/m%04d.py", i);
		place_text(p, name, "");
	}
	for (int i = 0; i < 20; i++) { /* are not listed, so they are not more */
		snprintf(name, sizeof(name), "out/data%d.txt", i);
		place_text(p, name, "");
		snprintf(name, sizeof(name), "out/.hidden%d.py", i);
		place_text(p, name, "");
	}
	snprintf(name, sizeof(name), "%s/out", p->root);
	assert_int_equal(folders_write_list(name, "", p->state, &out, &err), 0);
	assert_non_null(strstr(buf_text(&text), "\"items\":[{\"name\":\"m0000.py\""));
	assert_non_null(strstr(buf_text(&text), "secret.py"));
	assert_non_null(strstr(buf_text(&text), "\"more\":false"));
	place_text(p, "out/aa.py", "");
	buf_clear(&text);
	out = json_to(&text);
	assert_int_equal(folders_write_list(name, "", p->state, &out, &err), 0);
	assert_non_null(strstr(buf_text(&text), "\"items\":[{\"name\":\"aa.py\""));
	assert_null(strstr(buf_text(&text), "secret.py"));
	assert_non_null(strstr(buf_text(&text), "\"more\":true"));
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_setting_names_folders_in_full),
		cmocka_unit_test_setup_teardown(hostile_paths_reach_nothing, place_make, place_remove),
		cmocka_unit_test_setup_teardown(links_are_not_followed, place_make, place_remove),
		cmocka_unit_test_setup_teardown(a_folder_of_the_state_is_refused, place_make, place_remove),
		cmocka_unit_test_setup_teardown(a_script_that_is_too_large_is_refused, place_make, place_remove),
		cmocka_unit_test_setup_teardown(modules_beside_the_script_go_along, place_make, place_remove),
		cmocka_unit_test_setup_teardown(a_list_has_folders_and_scripts_only, place_make, place_remove),
		cmocka_unit_test_setup_teardown(a_script_with_too_many_modules_is_refused, place_make, place_remove),
		cmocka_unit_test_setup_teardown(a_script_whose_modules_cannot_all_be_taken_is_refused, place_make,
						place_remove),
		cmocka_unit_test_setup_teardown(a_long_list_has_the_first_names, place_make, place_remove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
