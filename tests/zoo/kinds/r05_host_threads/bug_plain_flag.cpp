// apo:variant  runs/bug_plain_flag
// apo:target   host
// apo:idea     The last thread to finish is found by a plain counter, and adds the sums of all.
#define COUNTER int
#include "counted.h"
