#include "search/search.h"
