#include "backend/local.h"

const struct backend_ops backend_local = {.name = "local"};
