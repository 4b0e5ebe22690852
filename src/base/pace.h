/* The waiting times of every room in one place: how often something is checked, how long until it is tried again, how
 * late a message may be, and when a silence means an end. Each has its reason. The assertions at the end check their
 * order. How long things are kept (sessions, keys, uploads) is defined where they are kept.
 *
 * Tests do not make them shorter, because they depend on things that do not become faster (Slurm's accounting, network
 * file systems). A test that must not wait moves the clock instead (clock_replace in base/clock.h). */
#ifndef BASE_PACE_H
#define BASE_PACE_H

/* node: the runner. */

/* A row shows up in the browser after this and the daemon's own interval. */
#define EXEC_TICK_MS 200
/* A request to stop is a file: one stat per second costs almost nothing, also on a network file system. */
#define EXEC_STOP_LOOK_MS 1000
/* New metric files appear mostly at the beginning; a walk over a large work folder costs more than a stat. */
#define EXEC_SEARCH_MS 1000
#define EXEC_SEARCH_LATER_MS 5000
#define EXEC_SEARCH_EARLY_MS 30000
/* Samples come soon and often at first, because most goes wrong there, and less often later: sampler.c. The last of
 * the three is for ever. A sample that takes longer than expected is taken less often (SAMPLER_SHARE). */
#define EXEC_SAMPLE_FIRST_MS 2000
#define EXEC_SAMPLE_EARLY_MS 30000
#define EXEC_SAMPLE_SOON_MS 5000
#define EXEC_SAMPLE_SOON_UNTIL_MS 300000
#define EXEC_SAMPLE_MS 10000
/* How long a runner waits for a reading of its GPUs: before the script starts, when it has ended, and in between. */
#define SAMPLER_START_MS 500
#define SAMPLER_END_MS 1000
#define SAMPLER_ANSWER_MS 5000
/* A runner writes something at least this often, and says so in START. If nothing else is due, it writes a sample: its
 * beat. On a network file system, after the first minute, samples are not written more often than this. */
#define EXEC_BEAT_MS 60000
/* How exactly the times of lines in an output are known, at first (spool/logtimes.h), and how often they are written: a
 * network file system has enough to do with the lines. */
#define LOGTIMES_LOOK_MS 1000
#define LOGTIMES_WRITE_MS 5000
/* At most a second of rows is lost when a node loses its power. */
#define EXEC_SYNC_MS 1000
/* Retry after a full disk, or after a file system was unavailable for a moment. */
#define EXEC_RETRY_MS 1000
/* A program that looks at the stack of a script reads its memory, which takes a moment. */
#define STACK_MS 20000
/* A script that must stop is asked to save first if half of its grace period is at least a second. */
#define ENDING_SAVE_LEAST_MS 2000
/* How long a runner waits before it starts its script, while it holds a slot that others could use. For space on a disk
 * or in a quota, which people must make: */
#define EXEC_ROOM_MS 300000
#define EXEC_ROOM_TEXT "5 minutes"
/* For an unavailable file system, as long as a server takes to restart: */
#define EXEC_AWAY_MS 120000
#define EXEC_AWAY_TEXT "2 minutes"
/* For a folder that the node does not see yet: NFS clients look again after at most 30 s, automounters earlier. */
#define EXEC_UNSEEN_MS 35000
#define EXEC_UNSEEN_TEXT "35 seconds"
/* The same if its parent folder is visible: usually the attempt has ended, and there is nothing to do. */
#define EXEC_OVER_MS 5000
/* Processes that a script leaves behind get this long to end, or the grace period if that is shorter. */
#define EXEC_LEFTOVER_MS 2000
#define EXEC_LEFTOVER_LOOK_MS 20

/* Reading what a script wrote before its runner was killed takes at most this long. */
#define COLLECT_MS 30000
/* A reader that takes much longer hangs, and is killed. */
#define COLLECT_HANGS_MS 60000
/* How long the end of the daemon waits for a reader that it has killed. */
#define COLLECT_END_MS 500

/* backend: this machine. */

/* Ends are seen at once; polling is for runners of an earlier daemon where the kernel has no pidfd. */
#define LOCAL_POLL_MS 3000
#define LOCAL_POLL_SOON_MS 100
/* A runner that an earlier daemon started has claimed its attempt after this. One that is later finds the claim of the
 * runner that was started in its place, and ends. */
#define LOCAL_DOUBT_MS 2000
/* Ends of runners are reported together while other tasks wait for their slots. */
#define LOCAL_NEWS_MS 20
/* nvidia-smi takes seconds on a machine without persistence mode. */
#define MACHINE_GPU_QUERY_MS 20000
/* A runner writes something at least every minute; a network file system may show it late. */
#define TRACE_SILENT_MS 180000
/* Between two checks for processes that a dead runner left. */
#define TRACE_LOOK_US 1000

/* How long the control program of NVIDIA MPS may take to answer, and how long MPS stays when no task shares a GPU. */
#define MPS_ANSWER_MS 15000
#define MPS_IDLE_MS 60000

/* The load of single cores is known to a hundredth of a second. */
#define LOCAL_CORES_LOOK_MS 1000

/* backend: Slurm. */

/* Open waits this long for `scontrol ping`; it answers in 13 ms, also when the controller is down. */
#define SLURM_OPEN_MS 3000
/* Commands block for about MessageTimeout (10 s, sites set up to 100) when the controller is down, and
 * sbatch tries again several times when it is busy. */
#define SLURM_ASK_MS 30000
#define SLURM_SUBMIT_MS 120000
/* The intervals of looking at the queue, see slurm_poll_interval_ms. */
#define SLURM_EXPECTING_MS 2000
#define SLURM_QUIET_MS 10000
#define SLURM_QUIET_MAX_MS 30000
#define SLURM_TROUBLE_MAX_MS 60000
#define SLURM_INTERVAL_MAX_MS 120000
/* The accounting lags behind by 1.5 to 3.4 s for 1,000 tasks, and by half a minute where its disk is slow; After this
 * time the end is reported without it, so without an exit code. The journal does not wait for this. */
#define SLURM_LAG_MS 40000
/* If the accounting has failed for this long, attempts that left the queue are decided without it. */
#define SLURM_ACCOUNTING_PATIENCE_MS 120000
/* How old the data about the cluster may be before it is asked for again. Limits and settings change rarely. */
#define SLURM_PICTURE_MS 30000
#define SLURM_SETTINGS_MS 3600000
/* `doctor`: its job is looked at every second, its answer is asked for more often. */
#define SLURM_EXAMINE_TICK_MS 1000
#define SLURM_EXAMINE_ASKED_MS 50
/* A queue may be long; the other findings must not wait for it for ever. */
#define SLURM_EXAMINE_MAX_MS 100000
/* The network file system may show the answer a while after the job has ended. */
#define SLURM_EXAMINE_LATE_MS 20000

/* engine */

/* Journals are looked at this often while something runs; a backend that sees an end at once asks for a turn itself.
 * With many attempts the interval stretches, so that looking stays under 2 % of a core. */
#define ENGINE_LOOK_MS 150
#define ENGINE_LOOK_PER_ATTEMPT_MS 1
#define ENGINE_LOOK_MAX_MS 1000
/* Nothing runs, but something waits: for a slot, a time, a backend. */
#define ENGINE_WAITING_MS 1000
/* An experiment of the user's own workers has ended whenever they have told all that they claimed. To load it again costs
 * a replay, so it stays in memory for as long as they may need until they ask for more. */
#define ENGINE_KEEP_MS 60000
/* Whether the workers on this machine are still there. */
#define ENGINE_WORKERS_MS 5000
/* How often to try again to open a backend that is not available. */
#define ENGINE_LOOK_AGAIN_MS 10000
/* Until a parallel limit that could not be sent to a backend is sent again. */
#define ENGINE_RETELL_MS 5000
/* The summary of a running experiment is sent to listeners at most twice a second. */
#define ENGINE_EVENT_MS 500
/* The best configuration of an experiment with repeats is looked for at most this often while tasks run. */
#define ENGINE_BEST_MS 1000
/* Running tasks of an experiment are compared with its finished ones this often. A task that has lost less time than this
 * is not called slow: short tasks would be compared with noise. */
#define SLOW_LOOK_MS 10000
#define SLOW_LOST_MS 30000
/* Between two notices that the database cannot be read. */
#define ENGINE_UNREAD_MS 60000
/* After a failed write: until the next turn is tried. */
#define TRANSACT_PAUSE_MS 2000
/* Between two tests of writing to the state folder; and how long a failed write to the database is shown although the
 * folder is writable: longer than until the next turn is tried. */
#define TROUBLE_LOOK_MS 5000
#define TROUBLE_STAYS_MS 10000
/* After a submission that could not be made at all (no folder, no program). */
#define SUBMIT_PAUSE_MS 5000
/* Between a failed attempt and the next; it grows by this with each failure. */
#define SETTLE_RETRY_MS 1000
/* The same for one that ended before its script began. It doubles with each, up to the most, and is rounded up, so that
 * tasks that failed together are submitted together. */
#define SETTLE_UNSTARTED_MS 5000
#define SETTLE_UNSTARTED_MAX_MS 300000
/* While nothing of an experiment starts, one task is tried after this long; it doubles with each, up to the most. */
#define UNSTARTED_HOLD_MS 60000
#define UNSTARTED_HOLD_MAX_MS 600000
/* A node that is avoided is tried again after this. */
#define UNSTARTED_EXCLUDE_MS 3600000
/* After the backend says that an attempt ended, a shared file system shows the last bytes of its journal this late. */
#define SETTLE_JOURNAL_LAG_MS 10000
/* A runner that is silent for this long has missed two beats. */
#define SETTLE_SILENT_MS 125000
#define SETTLE_SILENT_TEXT "2 minutes"
/* Its job is cancelled if the cluster has called it running for this long in the meantime. A file server that restarts
 * is back earlier, and the runner writes again. */
#define SETTLE_GIVE_UP_MS 300000
#define SETTLE_GIVE_UP_TEXT "5 minutes"
/* The most time between two looks at a journal that counts as silence. A daemon that was stopped, or that waited for a
 * hung file system, has seen nothing new only because it did not look. */
#define SETTLE_LOOK_GAP_MS 5000
/* How long to wait for a missing folder of an experiment: a lost mount may come back, or a user may have removed the
 * folder. */
#define INGEST_AWAY_MS 300000
/* As SETTLE_LOOK_GAP_MS, for two looks at the queue. */
#define SETTLE_VOUCH_GAP_MS 180000
/* After END: wait this long for the accounting, which may know the real cause. */
#define SETTLE_ACCOUNTING_LAG_MS 45000
/* If the job ended this much later than its script (by two clocks that may differ), that is another event. */
#define SETTLE_SAME_END_MS 60000
/* An attempt that two lookups this far apart did not find will not appear any more. A backend may have its own
 * value. */
#define SETTLE_DOUBT_MS 25000
/* A stop that had no effect is repeated. */
#define SETTLE_CANCEL_AGAIN_MS 15000
/* After the end of an attempt, its energy is asked for this long. */
#define ENDED_WAIT_MS 60000
/* After a start of the daemon: only for attempts that ended at most this long ago. */
#define ENDED_LOOK_BACK_MS 600000
/* A job that still exists this long after the END record is cancelled, and again after the same time. It waits because
 * the user's batch script may copy something after the run. */
#define ENDED_LINGER_MS 300000
#define ENDED_LINGER_MAX_MS 1200000
/* A larger difference between the daemon's clock and the system's is not jitter: the clock was changed. */
#define STEADY_JUMP_MS 1000
/* A reason for waiting must last this long. Between the end of one task and the start of the next, another reason is
 * true for a moment. */
#define WAITING_SETTLE_MS 1000
/* A form that is opened again soon shows the same environments. */
#define PYTHONS_LOOK_MS 5000

/* notify */

/* A receiver that takes longer has a problem of its own; the message is tried again. */
#define NOTIFY_SEND_MS 30000
/* After a failed try the channel waits for this long; for messages that were tried before it doubles with each failure, up to
 * the most. */
#define NOTIFY_RETRY_MS 10000
#define NOTIFY_RETRY_MAX_MS 3600000
/* A message that could not be delivered for so long is given up: a weekend, and the day on which someone looks. */
#define NOTIFY_GIVE_UP_MS (4 * 86400000LL)
/* Stalls of one experiment come together: one message in this time. */
#define NOTIFY_STALL_MS 600000
/* Delivered messages are kept for this long, to show when the last ones left. */
#define NOTIFY_KEEP_MS (30 * 86400000LL)

/* http */

/* At a start, an old socket may still answer for a moment. A socket that answers for this long belongs to a running
 * daemon. */
#define LISTEN_LEFTOVER_MS 3000
#define LISTEN_LEFTOVER_LOOK_MS 10

/* Timeouts of connections are counted in seconds. */
#define SERVER_TICK_MS 1000
/* Events of one turn are sent together: one write per stream, not one per event. */
#define SERVER_FLUSH_MS 20
/* Proxies close a stream that says nothing for a minute, some for half of it. */
#define SERVER_PING_MS 15000
/* After its last answer, a connection is closed when the peer has sent nothing for this long (in any case after
 * LIMIT_IDLE_MS). A peer whose connection closes while it sends would not read the answer. */
#define CONN_DRAIN_MS 2000
/* The maximum age of a cached answer that shows elapsed times. */
#define APP_AGING_MS 1000
/* How long to wait at the end for killed children; usually they end in a moment. */
#define SERVE_FINISH_MS 500
/* A daemon that shuts down waits this long for backends to confirm stops. A logout or a shutdown does not wait much
 * longer; `sluice daemon stop` asks before it sends the signal. */
#define SERVE_DRAIN_MS 5000
#define SERVE_DRAIN_LOOK_MS 50

/* cli */

/* `notify --test` asks this often for the result. */
#define NOTIFY_LOOK_MS 200
/* A daemon with a large store on a slow home folder starts well within this time. */
#define STATE_START_MS 30000
#define STATE_POLL_MS 20
/* A daemon that ends finishes its answers and writes its database. */
#define DAEMON_STOP_MS 30000
#define DAEMON_POLL_MS 20
/* How long to wait for confirmed stops before the daemon is ended: a squeue and a scancel on a busy controller. */
#define DAEMON_CONFIRM_MS 20000
#define DAEMON_CONFIRM_LOOK_MS 200
/* Before the second try of a request; it doubles with each. */
#define CLIENT_FIRST_WAIT_MS 100
/* `doctor` asks a Slurm controller, which may take half a minute to say that it is down. */
#define CLIENT_SILENCE_S 120
/* The daemon gives up on the job of `doctor` after SLURM_EXAMINE_MAX_MS plus SLURM_EXAMINE_LATE_MS. */
#define DOCTOR_WAIT_S 150
/* How long `run` and `check` wait for a daemon's first look at its cluster, and how often they ask. A controller that
 * does not answer must not stop users from submitting. */
#define WHERE_KNOWN_MS 15000
#define WHERE_LOOK_MS 100
/* `logs --follow` looks this often for more. */
#define LOGS_POLL_MS 500
/* `ask` tries again after this when there is no task to give out. */
#define ASK_AGAIN_US 300000
/* The live view: at most ten frames a second, however much happens, and at least one, for the time that passes. */
#define FOLLOW_FRAME_MS 100
#define FOLLOW_CLOCK_MS 1000
/* Three missed pings. */
#define FOLLOW_SILENCE_MS 45000
#define FOLLOW_RETRY_MS 500
/* A user who restarts the daemon needs a moment. After this time it must have been killed, and is started again. */
#define FOLLOW_GONE_MS 15000

/* The order that the decisions rely on. */

_Static_assert(TRACE_SILENT_MS > 2 * EXEC_BEAT_MS, "two beats may be late before a runner counts as dead");
_Static_assert(EXEC_BEAT_MS % EXEC_SAMPLE_MS == 0, "a beat is a sample");
_Static_assert(SAMPLER_ANSWER_MS < EXEC_SAMPLE_MS, "an answer that is late is given up before the next question");
_Static_assert(SLURM_ACCOUNTING_PATIENCE_MS > SLURM_LAG_MS, "an accounting that is late has not failed");
_Static_assert(SETTLE_SILENT_MS > 2 * EXEC_BEAT_MS, "two beats may be late before a runner is not at work");
_Static_assert(SETTLE_GIVE_UP_MS > 2 * SETTLE_SILENT_MS, "a silence is shown well before anything is given up");
_Static_assert(SETTLE_VOUCH_GAP_MS > SLURM_INTERVAL_MAX_MS, "the rhythm of looking at the queue is no gap");
_Static_assert(SETTLE_LOOK_GAP_MS > 2 * ENGINE_LOOK_MAX_MS, "the rhythm of looking at journals is no gap");
_Static_assert(SETTLE_ACCOUNTING_LAG_MS > SLURM_LAG_MS,
	       "the backend's last word comes before the engine gives up on it");
_Static_assert(ENDED_WAIT_MS > SLURM_LAG_MS, "an accounting that is late has been asked until then");
_Static_assert(ENDED_LINGER_MS > ENDED_WAIT_MS, "a job that is ending is not cancelled while its figures are awaited");
_Static_assert(ENDED_LINGER_MAX_MS > 2 * ENDED_LINGER_MS, "a cancellation without effect is repeated");
_Static_assert(SLURM_SUBMIT_MS >= SLURM_ASK_MS, "a submission may take longer than a question");
_Static_assert(SLURM_EXPECTING_MS <= SLURM_QUIET_MS && SLURM_QUIET_MS <= SLURM_QUIET_MAX_MS &&
		       SLURM_QUIET_MAX_MS <= SLURM_TROUBLE_MAX_MS && SLURM_TROUBLE_MAX_MS <= SLURM_INTERVAL_MAX_MS,
	       "the rhythm slows down in this order");
_Static_assert(FOLLOW_SILENCE_MS >= 3 * SERVER_PING_MS, "three pings are missed before a stream counts as broken");
_Static_assert(DOCTOR_WAIT_S * 1000 > SLURM_EXAMINE_MAX_MS + SLURM_EXAMINE_LATE_MS,
	       "doctor waits for the daemon's last word");
_Static_assert(CLIENT_SILENCE_S * 1000 > SLURM_ASK_MS,
	       "the daemon's questions to Slurm end before the client gives up");

#endif
