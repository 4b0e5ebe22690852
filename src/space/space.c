#include "space/space.h"
