/* The modules that a script imports and that its tasks will not find: neither of Python, nor installed for it, nor among
 * the files of the experiment. */
#ifndef ENGINE_LACKS_H
#define ENGINE_LACKS_H

#include "base/json.h"

struct node;
struct spec;

/* Adds a warning for each to the open list, ends the list, and writes them as the member "lacks" of the map around it.
 * files: those that came along; the script's text is among them. beside: paths of more that will (NULL). `python`: the
 * interpreter of the tasks; NULL: not known, and nothing is said. The same where it is decided later what is found
 * (setup, modules, PYTHONPATH, sys.path). */
void lacks_write(const struct spec *spec, const struct node *files, const struct node *beside, const char *python,
		 struct json *out);

/* Adds a caution to the specification where nothing says what runs the script: neither its ending nor its first line. */
void lacks_caution_program(struct spec *spec, const struct node *files);

/* Adds a warning for each file that the script reads beside itself and that does not go along. Only for a request of the
 * page: the command line looks at the files itself. */
void lacks_write_reads(const struct spec *spec, const struct node *files, struct json *out);

#endif
