// apo:variant    copy/missing_symbol
// apo:target     host
// apo:idea       Exports no apo_launch.
// zoo: expect wrong_abi; guard process; evidence does not export apo_launch
#include "copy.args.h"

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}
