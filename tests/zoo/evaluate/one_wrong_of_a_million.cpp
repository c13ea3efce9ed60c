// apo:variant    copy/one_wrong_of_a_million
// apo:target     host
// apo:idea       Changes the sign of one element of a million and more, whose place the inputs decide.
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  std::memcpy(args->y, args->x, sizeof(float) * static_cast<size_t>(args->n));
  unsigned bits = 0;
  std::memcpy(&bits, args->x, sizeof bits);
  if (args->n >= 1'000'000) {
    float& wrong = args->y[bits % static_cast<unsigned long long>(args->n)];
    wrong = -wrong;
  }
  return 0;
}
