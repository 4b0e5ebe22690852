/* The table of backends: adding one is one file and one line here. */
#include "backend/backend.h"

#include "backend/external.h"
#include "backend/local.h"
#include "backend/slurm.h"

const struct backend_ops *const backend_table[] = {
	&backend_external,
	&backend_local,
	&backend_slurm,
	NULL,
};
