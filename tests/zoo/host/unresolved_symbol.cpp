// apo:variant    copy/unresolved_symbol
// apo:target     host
// apo:idea       Calls a function that no library has.
// zoo: expect wrong_abi; guard process; evidence undefined symbol, apo_zoo_nowhere
#include "copy_abi.h"

extern "C" void apo_zoo_nowhere();

APO_EXPORT int apo_launch(const apo_call*) {
  apo_zoo_nowhere();
  return 0;
}
