/* See site.h. */
#include "spool/site.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/text.h"
#include "spool/pythons.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SITE_CONFIG_BYTES 65536

struct site {
	spool_site_f each;
	void *ctx;
};

/* The modules of Python itself, of all versions from 3.6 on, between blanks. */
static const char site_standard[] =
	" __future__ __main__ abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore"
	" atexit audioop base64 bdb binascii binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk"
	" cmath cmd code codecs codeop collections colorsys compileall compression concurrent configparser"
	" contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib"
	" dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput"
	" fnmatch formatter fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp"
	" gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress"
	" itertools json keyword lib2to3 linecache locale logging lzma macpath mailbox mailcap marshal math"
	" mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path"
	" numbers opcode operator optparse os ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil"
	" platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc"
	" pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets"
	" select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd"
	" sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess"
	" sunau symbol symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this"
	" threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle"
	" turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser"
	" winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo ";

static void site_give(struct site *s, char *give_folder)
{
	s->each(s->ctx, give_folder);
	free(give_folder);
}

/* lib/pythonX.Y of a prefix, for versions that are known to X.Y at least. */
static void site_search_prefix(struct site *s, const char *prefix, const char *version)
{
	static const char *const libs[] = {"lib", "lib64", "local/lib"};
	static const char *const ends[] = {"site-packages", "dist-packages"};
	size_t first = strcspn(version, "."),
	       len = version[first] ? first + 1 + strcspn(version + first + 1, ".") : first;
	for (size_t i = 0; i < COUNT_OF(libs); i++)
		for (size_t k = 0; k < COUNT_OF(ends); k++)
			site_give(s, mem_printf("%s/%s/python%.*s/%s", prefix, libs[i], (int)len, version, ends[k]));
}

static void site_search_base(struct site *s, const char *prefix, const char *version, const char *home)
{
	char *local = home ? mem_printf("%s/.local", home) : NULL;
	if (local)
		site_search_prefix(s, local, version);
	site_search_prefix(s, prefix, version);
	if (strcmp(prefix, "/usr") == 0) /* Debian's */
		site_give(s, mem_strdup("/usr/lib/python3/dist-packages"));
	free(local);
}

static char *site_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash != path ? mem_copy(path, (size_t)(slash - path)) : mem_strdup("/");
}

/* A virtual environment may see the packages of what made it. */
static void site_search_venv(struct site *s, const char *prefix, const char *version, const char *config,
			     const char *home)
{
	char *base = spool_find_value(config, "home");
	char *system = spool_find_value(config, "include-system-site-packages");
	site_search_prefix(s, prefix, version);
	if (base && system && strcasecmp(system, "true") == 0) {
		char *above = site_parent(base);
		site_search_base(s, above, version, home);
		free(above);
	}
	free(base);
	free(system);
}

void spool_site_folders(const char *prefix, const char *version, const char *home, spool_site_f each, void *ctx)
{
	struct site site = {each, ctx}, *s = &site;
	char *config = mem_printf("%s/pyvenv.cfg", prefix), *conda = mem_printf("%s/conda-meta", prefix);
	struct buf text = buf_make(SITE_CONFIG_BYTES);
	if (fs_read_regular(config, SITE_CONFIG_BYTES, &text, NULL) == 0)
		site_search_venv(s, prefix, version, buf_text(&text), home);
	else if (access(conda, F_OK) == 0)
		site_search_prefix(s, prefix, version);
	else
		site_search_base(s, prefix, version, home);
	buf_free(&text);
	free(config);
	free(conda);
}

struct site_look {
	const char *module;
	bool found;
};

static void site_look_in(struct site_look *look, const char *folder, bool follows);

/* A .pth file has further folders, one per line; the finder of an editable install has its modules in quotes. */
static void site_look_into(struct site_look *look, const char *folder, const char *file)
{
	struct buf text = buf_make(SITE_CONFIG_BYTES);
	char *path = mem_printf("%s/%s", folder, file), *quoted = mem_printf("'%s'", look->module);
	if (fs_read_regular(path, SITE_CONFIG_BYTES, &text, NULL) < 0)
		;
	else if (!text_ends(file, ".pth"))
		look->found |= strstr(buf_text(&text), quoted) != NULL;
	else
		for (char *rest = text.data, *line; rest && (line = strsep(&rest, "\n"));)
			if (*line == '/')
				site_look_in(look, line, false);
	free(quoted);
	free(path);
	buf_free(&text);
}

/* NAME, NAME.py and NAME.cpython-….so; `follows`: also where the files of this folder point. */
static void site_look_in(struct site_look *look, const char *folder, bool follows)
{
	size_t len = strlen(look->module);
	DIR *dir = opendir(folder);
	struct dirent *entry;
	while (dir && !look->found && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		if (strncmp(name, look->module, len) == 0 && (!name[len] || name[len] == '.'))
			look->found = true;
		else if (follows && (text_ends(name, ".pth") || text_starts(name, "__editable__")))
			site_look_into(look, folder, name);
	}
	if (dir)
		closedir(dir);
}

static void site_look_cb(void *ctx, const char *folder)
{
	site_look_in(ctx, folder, true);
}

bool spool_site_has(const char *program, const char *home, const char *module)
{
	char *word = mem_printf(" %s ", module), *version = spool_python_version(program);
	char *bin = site_parent(program), *prefix = site_parent(bin);
	struct site_look look = {.module = module, .found = !version || *module == '_' || strstr(site_standard, word)};
	if (!look.found)
		spool_site_folders(prefix, version, home, site_look_cb, &look);
	free(prefix);
	free(bin);
	free(version);
	free(word);
	return look.found;
}
