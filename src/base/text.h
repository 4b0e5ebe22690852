/* Text as people write it: durations, sizes, energies; and UTF-8. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/buf.h"

/* "90s", "2h", "1h30m", "500ms", "1d", "02:30:00", "1-12:00:00", or bare seconds. 0 or -EINVAL. */
int text_parse_duration(const char *text, int64_t *ret_ms) MUST_USE;
/* "16G", "512M", "1.5T", "4096K", "100B", bare bytes; powers of 1024. 0 or -EINVAL. */
int text_parse_bytes(const char *text, int64_t *ret_bytes) MUST_USE;
/* "20MJ", "500kJ", "3J", "1.2kWh", "300Wh". 0 or -EINVAL. */
int text_parse_energy(const char *text, double *ret_j) MUST_USE;
/* "300W", "0.3 kW"; a bare number is watts. */
int text_parse_power(const char *text, double *ret_w) MUST_USE;
/* "2 h 05 m", "1 m 03 s", "4.2 s", "350 ms" */
void text_format_duration(int64_t ms, char *text, size_t size);
/* "1.5 GB" in powers of 1024 */
void text_format_bytes(int64_t bytes, char *text, size_t size);
/* Formats two sizes for a comparison. If both would look the same, uses a smaller unit: "16384 MB" and "16000 MB". */
void text_format_two_bytes(int64_t a, int64_t b, char *text_a, char *text_b, size_t size);

/* The length of the valid UTF-8 prefix (== len when all of it is valid). */
size_t text_utf8_check(const char *text, size_t len);
/* Adds text to out with every invalid byte replaced by U+FFFD. */
void text_utf8_clean(const char *text, size_t len, struct buf *out);

bool text_starts(const char *text, const char *prefix);
bool text_ends(const char *text, const char *suffix);
/* Is `name` [A-Za-z_][A-Za-z0-9_.-]* and at most max bytes long? */
bool text_is_identifier(const char *name, size_t max);
/* The value of a hexadecimal digit in either case, or -1. */
int text_hex_digit(char c);
/* Adds text as one word of a shell, always in single quotes. */
void text_shell_quote(struct buf *out, const char *text);
/* How far two words are apart (edit distance, at most 255): for "did you mean". */
unsigned text_distance(const char *a, const char *b);

#endif
