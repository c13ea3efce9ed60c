// kernels/spin/spin.h - the family `spin`: work of an exactly known length, to try the judge itself on.
#pragma once

#include "kernels/family.h"

namespace apo {

Family spin_family();

}  // namespace apo
