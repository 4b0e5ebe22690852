/* For the static program only. Libraries contain calls that we never make, but that would link the dynamic loader and
 * NSS modules into a program that must run without them. The replacements here find nothing or fail. */
#include <pwd.h>
#include <stddef.h>

/* libuv: uv_os_get_passwd */
int getpwuid_r(uid_t uid, struct passwd *entry, char *text, size_t size, struct passwd **ret)
{
	(void)uid;
	(void)entry;
	(void)text;
	(void)size;
	*ret = NULL;
	return 0;
}

/* SQLite: loadable extensions. The linker puts this in its place (--wrap). */
void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}
