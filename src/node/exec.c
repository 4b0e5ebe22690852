#include "node/exec.h"
int node_exec_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return 1;
}
int node_report_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return 1;
}
