/* All limits in one place, each with its reason. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* An experiment file is written by people: 4 MiB is a thousand pages. */
#define LIMIT_DOCUMENT_BYTES (4u << 20)
/* Scripts that people write are smaller. The rest of a larger one is not read for its arguments. */
#define LIMIT_SCRIPT_WORDS 300000
#define LIMIT_SCRIPT_DEPTH 200
/* Arguments of one script: the trainers of Hugging Face have 120. */
#define LIMIT_SCRIPT_ARGUMENTS 200
/* Deeper than any real experiment (about 5), and shallow enough for recursion on any stack. */
#define LIMIT_DOCUMENT_DEPTH 32
/* Values in one document: 100,000 choices still fit, a bomb does not. */
#define LIMIT_DOCUMENT_NODES 200000
/* Members of one map: lookups are linear. */
#define LIMIT_DOCUMENT_KEYS 4096
/* A key: libyaml reads keys of up to 1024 characters, and writing one may take four for a byte. */
#define LIMIT_DOCUMENT_KEY_BYTES 250
/* Problems reported for one document: more than anyone fixes in one go. */
#define LIMIT_PROBLEMS 20

/* Rows of GET /cluster/use: running tasks, and groups of queued ones. A person reads them; writing one takes 20 µs. */
#define LIMIT_USE_ROWS 300

/* Columns of one answer about all tasks. */
#define LIMIT_COLUMNS 64

/* Tasks of one experiment: the table and the page stay usable, a typo in a grid does not fill a disk. */
#define LIMIT_TASKS 100000
#define LIMIT_PARAMETERS 200
#define LIMIT_CHOICES 10000
#define LIMIT_NAME_BYTES 200
#define LIMIT_TEXT_BYTES 65536 /* descriptions, constraint expressions, setup lines */
/* What people write about experiments and tasks: a tag is a word or two, and one transaction marks so many tasks at most. */
#define LIMIT_TAG_BYTES 60
#define LIMIT_TAGS 20
#define LIMIT_MARKED 1000 /* takes 11 ms; clients send more in several requests */
#define LIMIT_MARKED_NOTES_BYTES (4u << 20) /* the same text for all of them, counted for each */
/* All values of one task: Linux accepts 2 MiB of arguments and environment, and a task has its values in both. */
#define LIMIT_VALUES_BYTES (512u << 10)
#define LIMIT_REPEATS 1000
#define LIMIT_PARALLEL 100000

/* The loop never stops for more than 10 ms. Long work stops after this time, and continues after all other callbacks
 * have run. */
#define LIMIT_HOLD_MS 5

/* HTTP: a head is a secret and a few headers; a body is an experiment with its script and small files.
 * Larger files go through uploads, which are streamed to disk. */
#define LIMIT_HEAD_BYTES 16384
#define LIMIT_BODY_BYTES (16u << 20)
#define LIMIT_UPLOAD_BYTES (4ull << 30)
/* The body of a client that has not signed in: enough for a login code and little else. */
#define LIMIT_STRANGER_BODY_BYTES 1024u
#define LIMIT_CONNECTIONS 4096
#define LIMIT_HEAD_MS 10000 /* time to send a head, against slow clients */
#define LIMIT_BODY_MS 300000 /* time to send a body */
#define LIMIT_STRANGER_BODY_MS 10000 /* the same, for a client that has not signed in */
#define LIMIT_IDLE_MS 75000 /* keep-alive without a request */
#define LIMIT_STREAM_BYTES (1u << 20) /* unsent bytes of one event stream before it is closed */

/* One metrics row: Keras writes four columns, people write dozens. */
#define LIMIT_METRIC_COLUMNS 256
#define LIMIT_METRIC_NAME_BYTES 128
#define LIMIT_METRIC_LINE_BYTES 65536
/* One JSON value of a file that is no JSON lines: the history of a long training has some megabytes. */
#define LIMIT_METRIC_DOCUMENT_BYTES (16 << 20)
/* One record of a TensorBoard event file. A scalar has a hundred bytes; a record larger than this is a graph or an
 * image. */
#define LIMIT_TFRECORD_BYTES (1u << 20)
/* Output of a script that is searched for metrics. At 100 MB/s, and a fifth of that if every line looks like a report,
 * very long output takes only some seconds. */
#define LIMIT_PRINTED_BYTES (256u << 20)
/* Different scalars of one TensorBoard run; a network with a scalar for every layer has some hundred. */
#define LIMIT_TFEVENTS_TAGS 4096
/* A journal record holds one metrics row or the tail of an error output. */
#define LIMIT_JOURNAL_RECORD_BYTES (1u << 17)
/* The samples of a task in the store, whatever its length: when they are more, pairs of them are joined. */
#define LIMIT_SAMPLES_BYTES (64u << 10)
/* Rows that are read from the files of a script after its runner was killed. The runner had already read all but the
 * newest ones. */
#define LIMIT_COLLECT_ROWS 1000000u
/* Bytes of journal taken in one go, so that the loop turns within 10 ms. */
#define LIMIT_JOURNAL_CHUNK_BYTES (1u << 18)
#define LIMIT_ERROR_TAIL_BYTES 8192
/* /proc/self/cgroup and the counters of a group have some hundred bytes; a node may have thousands of mounts. */
#define LIMIT_CGROUP_BYTES 65536
#define LIMIT_MOUNTINFO_BYTES (4u << 20)
#define LIMIT_LOG_CHUNK_BYTES (256u << 10)
/* Times of lines that were not written yet: one record a second, so far more than LOGTIMES_WRITE_MS needs. */
#define LIMIT_LOGTIMES_UNWRITTEN_BYTES 4096
/* The default of copy_limit: code and configuration are smaller, data and weights are larger. */
#define LIMIT_COPY_BYTES (64ll << 20)

/* Output taken from a child such as squeue: 100,000 rows of 200 bytes. */
#define LIMIT_CHILD_OUTPUT_BYTES (32u << 20)

#endif
