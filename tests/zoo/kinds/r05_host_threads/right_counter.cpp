// apo:variant  runs/right_counter
// apo:target   host
// apo:idea     The last thread to finish is found by an atomic counter, and adds the sums of all.
#define COUNTER std::atomic<int>
#include "counted.h"
