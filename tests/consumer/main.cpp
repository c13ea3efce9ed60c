// tests/consumer/main.cpp - uses the installed libraries: the judge's interval, and the contract of a family.
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/evaluate/judge/signed_rank.h"
#include "kernels/closeness.h"
#include "kernels/family.h"

namespace {

void require(bool fact, const std::string& what) {
  if (!fact) {
    throw std::runtime_error("not so: " + what);
  }
}

// Five log time ratios whose 15 pairwise averages are easy to sort by hand: -0.05 ... -0.01 in steps of 0.005.
void check_judge() {
  const std::vector<double> effects = {-0.03, -0.01, -0.05, -0.02, -0.04};
  const apo::WalshAverages averages(effects);
  std::printf("effect %.3f [%.3f, %.3f], p = %.4f\n", averages.hodges_lehmann(), averages.lower(0.05),
              averages.upper(0.05), averages.two_sided_p());
  require(std::fabs(averages.hodges_lehmann() + 0.03) < 1e-12, "the estimate is the centre, -0.03");
  require(averages.upper(0.05) < 0, "all five below 0 shows a gain at the level 1/32 < 0.05");
  require(std::isinf(averages.lower(0.01)), "five effects can't give the level 0.01");
  require(std::fabs(averages.two_sided_p() - 2.0 / 32) < 1e-12, "p is 2 / 2^5");
}

// Everything a family owes: its honest implementation passes its own tolerance, a wrong output does not.
void check_contract(const apo::Family& family, const apo::Workload& workload, const std::string& regime) {
  const std::string where = family.name + "/" + workload.name + " " + regime;
  require(apo::check_axes(family, workload.axes).empty(), where + ": its axes are legal");
  apo::TensorMap inputs = family.fill(workload.axes, 7, regime, 1);
  for (auto& [name, values] : inputs) {
    for (double& value : values) {
      value = static_cast<double>(static_cast<float>(value));
    }
  }
  const apo::TensorMap expected = family.reference(workload.axes, inputs, {}, 1);
  const apo::TensorMap noise = family.noise(workload.axes, inputs, expected, {}, 1);
  const apo::TensorMap honest = family.honest(workload.axes, inputs, {}, 1);
  for (const auto& [name, values] : expected) {
    const apo::Tolerance tolerance = family.tolerance(name, workload.axes);
    require(apo::closeness(tolerance, values, noise.at(name), honest.at(name)).holds(),
            where + ": the honest " + name + " is close");
    std::vector<double> wrong = honest.at(name);
    wrong.back() = std::nan("");
    require(!apo::closeness(tolerance, values, noise.at(name), wrong).holds(), where + ": NaN is not close");
  }
}

void check_family(const std::string& name) {
  const apo::Family* family = apo::find_family(name);
  require(family != nullptr, name + " is known");
  for (const apo::Workload& workload : family->workloads) {
    if (workload.kind == apo::WorkloadKind::ragged) {
      check_contract(*family, workload, family->regimes.front());
    }
  }
  std::printf("%s keeps its contract\n", name.c_str());
}

}  // namespace

int main() {
  try {
    check_judge();
    check_family("e88_forward");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "consumer: %s\n", error.what());
    return 1;
  }
  return 0;
}
