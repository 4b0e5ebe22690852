/* For the static program only. Libraries hold calls that we never make and that would draw the dynamic
 * loader and NSS modules into a program that must run without either; here they say no. */
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
