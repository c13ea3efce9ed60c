// kernels/e88/workloads.cpp - the workloads of the E88 families and the bytes that a call must move.
#include "kernels/e88/workloads.h"

namespace apo::e88 {
namespace {

Workload workload(std::string name, WorkloadKind kind, Axes axes, Target target = Target::host) {
  std::string in_class = workload_class(axes.at("N"), axes.at("V"));
  return {.name = std::move(name),
          .axes = std::move(axes),
          .kind = kind,
          .workload_class = std::move(in_class),
          .target = target};
}

Axes axes(std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t N, std::int64_t V, int gate = 1, int norm = 1) {
  return {{"B", B}, {"T", T}, {"H", H}, {"N", N}, {"V", V}, {"GATE", gate}, {"NORM", norm}};
}

// More than 2^31 elements in every [B,T,H,N] tensor and twice that in the checkpoints: too many for 32-bit indices.
Workload huge() {
  Workload result = workload("b50_t16384_h83_n32", WorkloadKind::extreme, axes(50, 16384, 83, 32, 32), Target::cuda);
  result.repeated_axis = "B";
  result.distinct = 3;  // not a power of two: an index that wraps meets other values
  return result;
}

}  // namespace

std::vector<Workload> workloads() {
  using enum WorkloadKind;
  return {
      workload("b2_t64_h4_n32", production, axes(2, 64, 4, 32, 32)),
      workload("b1_t256_h8_n32", production, axes(1, 256, 8, 32, 32)),
      workload("b1_t16_h1_n4", small, axes(1, 16, 1, 4, 4)),
      workload("b1_t1_h1_n1", small, axes(1, 1, 1, 1, 1, 1, 0)),
      workload("b2_t32_h2_n16", small, axes(2, 32, 2, 16, 16)),
      workload("b1_t32_h2_n32", small, axes(1, 32, 2, 32, 32)),
      workload("b1_t32_h2_n64", small, axes(1, 32, 2, 64, 64)),
      workload("b1_t20_h2_n128", small, axes(1, 20, 2, 128, 128)),
      workload("b1_t37_h3_n24_v20", ragged, axes(1, 37, 3, 24, 20)),
      workload("b2_t17_h3_n8_v16", ragged, axes(2, 17, 3, 8, 16)),
      workload("b1_t19_h3_n48_v40", ragged, axes(1, 19, 3, 48, 40)),
      workload("b1_t19_h1_n64_v96", ragged, axes(1, 19, 1, 64, 96)),
      workload("b2_t40_h3_n32_ungated", ragged, axes(2, 40, 3, 32, 32, 0, 1)),
      workload("b2_t40_h3_n32_unnormed", ragged, axes(2, 40, 3, 32, 32, 1, 0)),
      workload("b8_t128_h83_n32", extreme, axes(8, 128, 83, 32, 32), Target::cuda),
      workload("b16_t512_h83_n32", extreme, axes(16, 512, 83, 32, 32), Target::cuda),
      workload("b8_t512_h386_n32", extreme, axes(8, 512, 386, 32, 32), Target::cuda),
      workload("b1_t16384_h83_n32", extreme, axes(1, 16384, 83, 32, 32), Target::cuda),
      workload("b4_t2048_h84_n32", extreme, axes(4, 2048, 84, 32, 32), Target::cuda),
      workload("b16_t512_h83_n16", extreme, axes(16, 512, 83, 16, 16), Target::cuda),
      workload("b8_t512_h83_n64", extreme, axes(8, 512, 83, 64, 64), Target::cuda),
      workload("b4_t512_h32_n128", extreme, axes(4, 512, 32, 128, 128), Target::cuda),
      huge(),
  };
}

double compulsory_bytes(const Shape& shape, const std::vector<std::string_view>& tensors) {
  double bytes = 0;
  for (const std::string_view tensor : tensors) {
    bytes += 2.0 * static_cast<double>(tensor_elements(shape, tensor));
  }
  return bytes;
}

}  // namespace apo::e88
