/* See way.h. */
#include "notify/way.h"

#include "base/num.h"
#include "base/pace.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define WAY_URL_BYTES 2000
#define WAY_ADDRESS_BYTES 254
/* Bytes of an encoded word in a header, RFC 2047: 39 become 52 characters, and the line stays below 76. */
#define WAY_WORD_BYTES 39

void notify_call_free(struct notify_call *call)
{
	for (size_t i = 0; i < NOTIFY_ARGS_MAX; i++)
		free(call->argv[i]);
	buf_free(&call->input);
}

/* The first line of a program's answer, for people. */
static char *way_explain(const struct proc_result *result, const char *program)
{
	const char *text = result->err.len ? buf_text(&result->err) : buf_text(&result->out);
	int len = (int)strcspn(text, "\r\n");
	if (result->timed_out)
		return mem_printf("%s did not end in time", program);
	if (len)
		return mem_printf("%.*s", len < 300 ? len : 300, text);
	if (result->signal)
		return mem_printf("%s was ended by signal %d", program, result->signal);
	return mem_printf("%s ended with exit code %d", program, result->exit_code);
}

/* webhook */

static int webhook_check(const char *target, struct error *err)
{
	if (!text_starts(target, "http://") && !text_starts(target, "https://"))
		return errorf(err, -EINVAL, "webhook must be an address that begins with https:// or http://");
	if (strlen(target) > WAY_URL_BYTES)
		return errorf(err, -EINVAL, "webhook has at most %d characters", WAY_URL_BYTES);
	for (const char *c = target; *c; c++)
		if ((unsigned char)*c <= 0x20 || (unsigned char)*c >= 0x7f)
			return errorf(err, -EINVAL,
				      "webhook must not have blanks, control characters or letters outside ASCII");
	return 0;
}

static const char *webhook_program(const char **ret_missing)
{
	*ret_missing =
		"webhooks need the program curl, which is not in the daemon's PATH: install it, or add its folder "
		"to PATH and restart the daemon";
	return proc_in_path("curl") ? "curl" : NULL;
}

/* A line of curl's configuration. */
static void webhook_add(struct buf *out, const char *option, const char *value)
{
	buf_addf(out, "%s = \"", option);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			buf_add_char(out, '\\');
		buf_add_char(out, *value);
	}
	buf_add_text(out, "\"\n");
}

/* The address may hold a secret, so it goes through stdin: arguments can be read by every user of the machine. */
static void webhook_make(const char *program, const char *target, const struct notify_message *message,
			 struct notify_call *ret)
{
	struct buf body = buf_make(BUF_UNLIMITED);
	char seconds[16];
	*ret = (struct notify_call){.argv = {mem_strdup(program), mem_strdup("-q"), mem_strdup("-K"), mem_strdup("-")},
				    .input = buf_make(BUF_UNLIMITED),
				    .timeout_ms = NOTIFY_SEND_MS};
	notify_add_json(message, &body);
	snprintf(seconds, sizeof(seconds), "%d", NOTIFY_SEND_MS / 1000 - 5);
	buf_add_text(&ret->input, "silent\nshow-error\ngloboff\nno-location\ninclude\nsuppress-connect-headers\n");
	webhook_add(&ret->input, "proto", "=http,https");
	webhook_add(&ret->input, "max-time", seconds);
	webhook_add(&ret->input, "user-agent", "sluice/" SLUICE_VERSION);
	webhook_add(&ret->input, "header", "Content-Type: application/json");
	char *header = mem_printf("X-Sluice-Message: %s", message->row->token);
	webhook_add(&ret->input, "header", header);
	free(header);
	webhook_add(&ret->input, "data-raw", buf_text(&body));
	webhook_add(&ret->input, "url", target);
	buf_free(&body);
}

/* What stands behind the empty line that ends the headers; "": there is none. */
static const char *webhook_skip_headers(const char *text)
{
	for (const char *line = text; (line = strchr(line, '\n'));) {
		line++;
		if (*line == '\n' || text_starts(line, "\r\n"))
			return line + (*line == '\n' ? 1 : 2);
	}
	return "";
}

/* The status of an answer that begins with its headers; 0: there is none. What a server sends before its answer (100
 * Continue) is passed over. *ret_body is what stands behind the headers. The status comes first, so that nothing in the
 * rest can be taken for it, and no limit of the output cuts it off. */
static int webhook_status(const char *text, const char **ret_body)
{
	int status = 0;
	*ret_body = "";
	while (text_starts(text, "HTTP/")) {
		const char *blank = strpbrk(text, " \r\n");
		uint64_t number = 0;
		if (!blank || *blank != ' ' ||
		    num_parse_unsigned(blank + 1, strcspn(blank + 1, " \r\n"), 999, &number) < 0)
			number = 0;
		status = (int)number;
		*ret_body = webhook_skip_headers(text);
		if (status < 100 || status >= 200)
			break;
		text = *ret_body;
	}
	return status;
}

/* An answer that was cut, because it is long or comes slowly, has its status all the same. */
static char *webhook_failed(const char *program, const struct proc_result *result)
{
	const char *body;
	int status = webhook_status(buf_text(&result->out), &body);
	if (result->exit_code != 0 && status < 200)
		return way_explain(&(struct proc_result){.exit_code = result->exit_code,
							 .signal = result->signal,
							 .timed_out = result->timed_out,
							 .err = result->err},
				   program);
	if (status >= 200 && status < 300)
		return NULL;
	if (!status)
		return mem_strdup("the receiver's answer is not one of HTTP");
	int len = (int)strcspn(body, "\r\n");
	if (len)
		return mem_printf("the receiver answered with status %d: %.*s", status, len < 200 ? len : 200, body);
	if (status >= 300 && status < 400)
		return mem_printf("the receiver answered with status %d: the address has moved", status);
	return mem_printf("the receiver answered with status %d", status);
}

/* mail */

/* A plain address, or the name of a user of this machine. No character has a meaning in a header or for a program: mailx
 * takes what holds a slash or begins with +, = or the like for a file. */
static int mail_check(const char *target, struct error *err)
{
	static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
	size_t len = strspn(target, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.#%&'*+=?^_{}~@-");
	const char *at = strchr(target, '@');
	bool good = len && !target[len] && len <= WAY_ADDRESS_BYTES && strchr(first, target[0]) &&
		(!at || (at[1] && !strchr(at + 1, '@')));
	return good ? 0
		    : errorf(err, -EINVAL, "mail must be one address, as ann@example.org, or a user of this machine");
}

static const char *mail_program(const char **ret_missing)
{
	static const char *const places[] = {"/usr/sbin/sendmail", "/usr/lib/sendmail"};
	*ret_missing = "mail needs the program sendmail or mail, and neither is on this machine: use a webhook, or ask "
		       "the administrator";
	if (proc_in_path("sendmail"))
		return "sendmail";
	for (size_t i = 0; i < COUNT_OF(places); i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return proc_in_path("mail") ? "mail" : NULL;
}

static void mail_add_base64(struct buf *out, const char *data, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0; i < len; i += 3) {
		uint32_t three = (uint32_t)(unsigned char)data[i] << 16;
		three |= i + 1 < len ? (uint32_t)(unsigned char)data[i + 1] << 8 : 0;
		three |= i + 2 < len ? (unsigned char)data[i + 2] : 0;
		buf_add_char(out, digits[three >> 18]);
		buf_add_char(out, digits[three >> 12 & 63]);
		buf_add_char(out, i + 1 < len ? digits[three >> 6 & 63] : '=');
		buf_add_char(out, i + 2 < len ? digits[three & 63] : '=');
	}
}

/* The bytes of the sentence that a subject takes: it ends between two characters. */
static size_t mail_subject_bytes(const char *sentence)
{
	size_t len = strlen(sentence), most = len < 120 ? len : 120;
	while (most < len && most && ((unsigned char)sentence[most] & 0xc0) == 0x80)
		most--;
	return most;
}

/* A sentence has no control characters, so it cannot begin another header. */
static void mail_add_subject(const char *sentence, struct buf *out)
{
	size_t most = mail_subject_bytes(sentence);
	bool plain = true;
	for (size_t i = 0; i < most; i++)
		plain &= sentence[i] >= 0x20 && sentence[i] < 0x7f;
	if (plain && most < 70) {
		buf_add(out, sentence, most);
		return;
	}
	for (size_t i = 0, n; i < most; i += n) {
		n = most - i < WAY_WORD_BYTES ? most - i : WAY_WORD_BYTES;
		while (i + n < most && ((unsigned char)sentence[i + n] & 0xc0) == 0x80)
			n--; /* a character stays in one word */
		buf_add_text(out, i ? "\n =?UTF-8?B?" : "=?UTF-8?B?");
		mail_add_base64(out, sentence + i, n);
		buf_add_text(out, "?=");
	}
}

/* Lines of at most 76 characters, as base64: whatever a script printed, no line of it is too long for mail, or has a
 * meaning for a program on the way. */
static void mail_add_body(const struct notify_message *message, const char *sentence, struct buf *out)
{
	struct buf text = buf_make(BUF_UNLIMITED), link = buf_make(BUF_UNLIMITED);
	buf_addf(&text, "%s\n", sentence);
	if (notify_add_link(message, &link))
		buf_addf(&text, "\n%s\n", buf_text(&link));
	buf_addf(&text, "\n-- \nsluice on %s; sluice notify changes who gets this.\n", message->host);
	for (size_t i = 0; i < text.len; i += 57) {
		mail_add_base64(out, buf_text(&text) + i, text.len - i < 57 ? text.len - i : 57);
		buf_add_char(out, '\n');
	}
	buf_free(&text);
	buf_free(&link);
}

static void mail_add_headers(const struct notify_message *message, const char *target, const char *subject,
			     struct buf *out)
{
	static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	time_t seconds = (time_t)(message->row->created_ms / 1000);
	struct tm t;
	gmtime_r(&seconds, &t);
	buf_addf(out, "To: %s\nSubject: %s\n", target, subject);
	buf_addf(out, "Date: %s, %d %s %d %02d:%02d:%02d +0000\n", days[t.tm_wday], t.tm_mday, months[t.tm_mon],
		 t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
	/* The same in every try, so that mail programs show it once. */
	buf_addf(out, "Message-ID: <%s@sluice.invalid>\n", message->row->token);
	buf_add_text(out,
		     "Auto-Submitted: auto-generated\nMIME-Version: 1.0\n"
		     "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n");
}

static void mail_make(const char *program, const char *target, const struct notify_message *message,
		      struct notify_call *ret)
{
	struct buf sentence = buf_make(BUF_UNLIMITED), subject = buf_make(BUF_UNLIMITED);
	bool is_mail = strcmp(program, "mail") == 0;
	*ret = (struct notify_call){.input = buf_make(BUF_UNLIMITED), .timeout_ms = NOTIFY_SEND_MS};
	notify_add_sentence(message->row, &sentence);
	ret->argv[0] = mem_strdup(program);
	if (is_mail) { /* makes the headers itself, and takes the text as it is */
		ret->argv[1] = mem_strdup("-s");
		ret->argv[2] = mem_copy(buf_text(&sentence), mail_subject_bytes(buf_text(&sentence)));
		ret->argv[3] = mem_strdup(target);
		/* No line may begin with a tilde: some take `~!` for a command. */
		buf_addf(&ret->input, "sluice: %s\n", buf_text(&sentence));
		if (message->url)
			buf_add_char(&ret->input, '\n');
		if (notify_add_link(message, &ret->input))
			buf_add_char(&ret->input, '\n');
	} else {
		ret->argv[1] = mem_strdup("-i");
		ret->argv[2] = mem_strdup("--");
		ret->argv[3] = mem_strdup(target);
		mail_add_subject(buf_text(&sentence), &subject);
		mail_add_headers(message, target, buf_text(&subject), &ret->input);
		mail_add_body(message, buf_text(&sentence), &ret->input);
	}
	buf_free(&sentence);
	buf_free(&subject);
}

static char *mail_failed(const char *program, const struct proc_result *result)
{
	return result->exit_code == 0 ? NULL : way_explain(result, program);
}

const struct notify_way notify_ways[] = {
	{"webhook", webhook_check, webhook_program, webhook_make, webhook_failed},
	{"mail", mail_check, mail_program, mail_make, mail_failed},
};
const size_t notify_way_count = COUNT_OF(notify_ways);
