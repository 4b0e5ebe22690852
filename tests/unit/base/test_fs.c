/* Files: maxima, atomic writes, trees, and paths that must not leave their folder. */
#include "base/fs.h"

#include "../unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static char *in(const char *dir, const char *name)
{
	return mem_printf("%s/%s", dir, name);
}

static unsigned entries(const char *dir)
{
	unsigned n = 0;
	DIR *d = opendir(dir);
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void write_then_read(void **state)
{
	char *path = in(*state, "f");
	struct buf out = buf_make(100);
	struct error err;
	assert_int_equal(fs_write(path, "a\0b", 3, 0600, true, &err), 0);
	assert_int_equal(fs_read(path, 100, &out, &err), 0);
	assert_int_equal(out.len, 3);
	assert_memory_equal(out.data, "a\0b", 3);
	assert_int_equal(fs_write(path, "new", 3, 0600, false, &err), 0);
	buf_clear(&out);
	assert_int_equal(fs_read(path, 3, &out, &err), 0);
	assert_string_equal(buf_text(&out), "new");
	assert_int_equal(entries(*state), 1); /* no private file is left */
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	buf_free(&out);
	free(path);
}

static void read_keeps_its_maximum(void **state)
{
	char *path = in(*state, "f");
	struct buf out = buf_make(100), small = buf_make(2);
	struct error err = {0};
	assert_int_equal(fs_write(path, "abcdef", 6, 0600, false, &err), 0);
	assert_int_equal(fs_read(path, 5, &out, &err), -E2BIG);
	assert_non_null(strstr(err.text, "larger"));
	assert_int_equal(fs_read(path, 100, &small, &err), -E2BIG); /* the buffer's own maximum counts too */
	assert_int_equal(fs_read("/nonexistent/x", 5, &out, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x"));
	assert_int_equal(fs_read(*state, 5, &out, &err), -EISDIR);
	buf_free(&out);
	buf_free(&small);
	free(path);
}

static void failed_write_keeps_the_old_bytes(void **state)
{
	char *dir = in(*state, "d"), *path = in(*state, "d/f");
	struct buf out = buf_make(100);
	struct error err = {0};
	assert_int_equal(fs_write(path, "x", 1, 0600, false, &err), -ENOENT);
	assert_true(err.text[0]);
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(fs_write(path, "x", 1, 0600, false, &err) < 0); /* a folder is in the way */
	assert_int_equal(entries(dir), 1);
	buf_free(&out);
	free(dir);
	free(path);
}

static void *write_over_and_over(void *path)
{
	static char text[2][70000];
	memset(text[0], 'a', sizeof(text[0]));
	memset(text[1], 'b', sizeof(text[1]));
	int failures = 0;
	for (int i = 0; i < 300; i++)
		failures += fs_write(path, text[i & 1], sizeof(text[0]), 0600, false, NULL) < 0;
	return failures ? path : NULL;
}

static void readers_see_old_or_new_never_half(void **state)
{
	char *path = in(*state, "f");
	pthread_t writer;
	struct error err;
	void *failed;
	assert_null(write_over_and_over(path));
	assert_int_equal(pthread_create(&writer, NULL, write_over_and_over, path), 0);
	for (int i = 0; i < 300; i++) {
		struct buf out = buf_make(200000);
		assert_int_equal(fs_read(path, 200000, &out, &err), 0);
		assert_int_equal(out.len, 70000);
		assert_int_equal(strspn(buf_text(&out), (char[]){out.data[0], 0}), 70000);
		buf_free(&out);
	}
	pthread_join(writer, &failed);
	assert_null(failed);
	free(path);
}

static void folders_are_made_and_removed(void **state)
{
	struct error err = {0};
	char *deep = in(*state, "a/b/c/d"), *top = in(*state, "a"), *file = in(*state, "file"),
	     *below = in(*state, "file/x");
	assert_int_equal(fs_make_dirs(deep, 0700, &err), 0);
	assert_int_equal(fs_make_dirs(deep, 0700, &err), 0);
	assert_int_equal(fs_write(file, "x", 1, 0600, false, &err), 0);
	assert_int_equal(fs_make_dirs(file, 0700, &err), -ENOTDIR);
	assert_int_equal(fs_make_dirs(below, 0700, &err), -ENOTDIR);
	assert_true(fs_make_dirs("", 0700, &err) < 0);

	/* A link in the tree is removed, not what it points at. */
	char *outside = in(*state, "outside"), *kept = in(*state, "outside/kept"), *link = in(*state, "a/b/link");
	assert_int_equal(fs_make_dirs(outside, 0700, &err), 0);
	assert_int_equal(fs_write(kept, "x", 1, 0600, false, &err), 0);
	assert_int_equal(symlink(outside, link), 0);
	assert_int_equal(fs_remove_tree(top, &err), 0);
	assert_int_equal(access(top, F_OK), -1);
	assert_int_equal(access(kept, F_OK), 0);
	assert_int_equal(fs_remove_tree(top, &err), 0);
	char *paths[] = {deep, top, file, below, outside, kept, link};
	for (size_t i = 0; i < COUNT_OF(paths); i++)
		free(paths[i]);
}

static void relative_paths_are_judged(void **state)
{
	(void)state;
	static const char *const good[] = {"a", "a/b", "...", "..a", "a..", ".hidden", "a b", "a;b", "a%2e%2e"};
	static const char *const bad[] = {"",       "/",    "/a", ".",   "..",  "a/..", "../a",
					  "a/../b", "a//b", "a/", "./a", "a/.", "//"};
	for (size_t i = 0; i < COUNT_OF(good); i++)
		assert_true(fs_is_safe_relative(good[i]));
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_false(fs_is_safe_relative(bad[i]));
	char longest[1026];
	memset(longest, 'a', sizeof(longest));
	longest[1025] = 0;
	assert_false(fs_is_safe_relative(longest));
	longest[1024] = 0;
	assert_true(fs_is_safe_relative(longest));
}

static void open_beneath_stays_beneath(void **state)
{
	char *dir = in(*state, "dir"), *inside = in(*state, "dir/sub/f"), *sub = in(*state, "dir/sub");
	char *out = in(*state, "dir/out"), *up = in(*state, "dir/up"), *abs = in(*state, "dir/abs"),
	     *ok = in(*state, "dir/ok");
	char *secret = in(*state, "secret");
	struct error err;
	assert_int_equal(fs_make_dirs(sub, 0700, &err), 0);
	assert_int_equal(fs_write(inside, "x", 1, 0600, false, &err), 0);
	assert_int_equal(fs_write(secret, "s", 1, 0600, false, &err), 0);
	assert_int_equal(symlink("/etc", out), 0);
	assert_int_equal(symlink("../secret", up), 0);
	assert_int_equal(symlink(secret, abs), 0);
	assert_int_equal(symlink("sub/f", ok), 0);

	int fd = fs_open_beneath(dir, "sub/f", O_RDONLY, 0);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	static const char *const refused[] = {"out/passwd",       "up", "abs", "../secret", "/etc/passwd",
					      "sub/../../secret", ""};
	for (size_t i = 0; i < COUNT_OF(refused); i++)
		assert_true(fs_open_beneath(dir, refused[i], O_RDONLY, 0) < 0);
	assert_int_equal(fs_open_beneath(dir, "nothing", O_RDONLY, 0), -ENOENT);
	fd = fs_open_beneath(dir, "sub/new", O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	close(fd);
	char *paths[] = {dir, inside, sub, out, up, abs, ok, secret};
	for (size_t i = 0; i < COUNT_OF(paths); i++)
		free(paths[i]);
}

struct swap {
	char *real, *link, *at;
	volatile bool stop;
};

/* Swaps a folder and a link of the same name as fast as it can. */
static void *swap_links(void *arg)
{
	struct swap *swap = arg;
	while (!swap->stop) {
		if (rename(swap->at, swap->real) < 0 || rename(swap->link, swap->at) < 0 ||
		    rename(swap->at, swap->link) < 0 || rename(swap->real, swap->at) < 0)
			break;
	}
	return NULL;
}

static void swapped_symlink_never_leads_out(void **state)
{
	struct error err;
	char *dir = in(*state, "dir"), *inner = in(*state, "dir/at"), *file = in(*state, "dir/at/f");
	char *outside = in(*state, "outside"), *secret = in(*state, "outside/f");
	struct swap swap = {.real = in(*state, "dir/real"), .link = in(*state, "dir/link"), .at = mem_strdup(inner)};
	assert_int_equal(fs_make_dirs(inner, 0700, &err), 0);
	assert_int_equal(fs_make_dirs(outside, 0700, &err), 0);
	assert_int_equal(fs_write(file, "inside", 6, 0600, false, &err), 0);
	assert_int_equal(fs_write(secret, "secret", 6, 0600, false, &err), 0);
	assert_int_equal(symlink(outside, swap.link), 0);
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, swap_links, &swap), 0);
	int opened = 0;
	/* On one core the other may have stopped where there is no folder, each time that we got to look. */
	for (int i = 0; i < 20000 || (!opened && i < 20000000); i++) {
		char text[6] = "";
		int fd = fs_open_beneath(dir, "at/f", O_RDONLY, 0);
		if (fd < 0)
			continue;
		opened++;
		assert_int_equal(read(fd, text, 6), 6);
		assert_memory_equal(text, "inside", 6);
		close(fd);
	}
	swap.stop = true;
	pthread_join(thread, NULL);
	assert_true(opened > 0);
	char *paths[] = {dir, inner, file, outside, secret, swap.real, swap.link, swap.at};
	for (size_t i = 0; i < COUNT_OF(paths); i++)
		free(paths[i]);
}

static void copy_is_byte_for_byte(void **state)
{
	char *from = in(*state, "from"), *to = in(*state, "to"), *big = mem_alloc(200000);
	struct buf out = buf_make(300000);
	struct error err = {0};
	struct stat st;
	memset(big, 7, 200000);
	assert_int_equal(fs_write(from, big, 200000, 0600, false, &err), 0);
	assert_int_equal(fs_copy_file(from, to, 0700, &err), 0);
	assert_int_equal(fs_read(to, 300000, &out, &err), 0);
	assert_int_equal(out.len, 200000);
	assert_memory_equal(out.data, big, 200000);
	assert_int_equal(stat(to, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(fs_copy_file("/nonexistent", to, 0600, &err), -ENOENT);
	assert_int_equal(unlink(to), 0);
	assert_int_equal(symlink(from, to), 0);
	assert_int_equal(fs_copy_file(from, to, 0600, &err), -ELOOP); /* never through a link */
	buf_free(&out);
	free(big);
	free(from);
	free(to);
}

static void program_is_an_absolute_path(void **state)
{
	(void)state;
	char *path = fs_program();
	assert_int_equal(path[0], '/');
	assert_int_equal(access(path, X_OK), 0);
	free(path);
}

static void full_disk_is_an_error(void **state)
{
	(void)state;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, "x", 1), -ENOSPC);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		unit_test_in_folder(write_then_read),
		unit_test_in_folder(read_keeps_its_maximum),
		unit_test_in_folder(failed_write_keeps_the_old_bytes),
		unit_test_in_folder(readers_see_old_or_new_never_half),
		unit_test_in_folder(folders_are_made_and_removed),
		cmocka_unit_test(relative_paths_are_judged),
		unit_test_in_folder(open_beneath_stays_beneath),
		unit_test_in_folder(swapped_symlink_never_leads_out),
		unit_test_in_folder(copy_is_byte_for_byte),
		cmocka_unit_test(program_is_an_absolute_path),
		cmocka_unit_test(full_disk_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
