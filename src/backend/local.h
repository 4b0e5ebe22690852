/* This machine: slots by CPUs, memory and GPUs. */
#ifndef BACKEND_LOCAL_H
#define BACKEND_LOCAL_H

#include "backend/backend.h"

extern const struct backend_ops backend_local;

#endif
