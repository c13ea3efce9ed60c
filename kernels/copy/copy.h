// kernels/copy/copy.h - the family `copy`: y[i] = x[i]; the memory roof and the shortest example of a contract.
#pragma once

#include "kernels/family.h"

namespace apo {

Family copy_family();

}  // namespace apo
