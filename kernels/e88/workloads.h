// kernels/e88/workloads.h - the workloads of the E88 families and the bytes that a call must move.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/e88/shape.h"

namespace apo::e88 {

std::vector<Workload> workloads();
// Each element of the named bf16 tensors once.
double compulsory_bytes(const Shape& shape, const std::vector<std::string_view>& tensors);

}  // namespace apo::e88
