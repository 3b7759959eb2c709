// Apart, so that a new version compiles nothing else.
#include "Version.h"

const char *xt_version() { return XTENSOR_VERSION; }
