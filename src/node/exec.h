/* `sluice exec BATCH_DIR INDEX`: the runner that starts and watches the script on the compute node; and `sluice
 * report`, which a script calls to report metrics. */
#ifndef NODE_EXEC_H
#define NODE_EXEC_H

/* The exit status. */
int node_exec_main(int argc, char **argv);
int node_report_main(int argc, char **argv);

#endif
