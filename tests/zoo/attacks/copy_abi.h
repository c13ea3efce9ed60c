// tests/zoo/attacks/copy_abi.h - what every library variant of copy begins with.
#pragma once

#include "copy.args.h"

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}
