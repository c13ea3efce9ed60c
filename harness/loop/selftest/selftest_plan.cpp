// harness/loop/selftest/selftest_plan.cpp - looks names up and gives spins their extra steps.
#include "harness/loop/selftest/selftest_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/chosen_workload.h"

namespace apo {
namespace {

constexpr const char* kExtra = "EXTRA";  // thousandths, in variants/spin

std::vector<std::string> default_names(Target target) {
  if (target == Target::cuda) {
    return {"spin/cuda_chain@n16k_s1k",
            "spin/cuda_chain@n16k_s8k",
            "spin/cuda_chain@n16k_s80k",
            "copy/cuda_simple@n1m",
            "copy/cuda_vector4@n64m",
            "e88_forward/cuda_best@b8_t128_h83_n32",
            "e88_backward/cuda_best@b8_t128_h83_n32"};
  }
  return {"spin/chain@s5k",
          "spin/chain@s50k",
          "spin/chain@s500k",
          "copy/simple@n1m",
          "copy/memcpy@n1m",
          "e88_forward/combined@b2_t64_h4_n32",
          "e88_backward/combined@b2_t64_h4_n32"};
}

SelftestSubject subject_of(Workspace& workspace, Target target, const std::string& name) {
  const std::size_t at = name.find('@');
  SelftestSubject subject{.configuration = workspace.catalogue().configuration(name.substr(0, at))};
  const Variant& variant = workspace.catalogue().get(subject.configuration.variant);
  if (variant.target != target) {
    throw UserError("'" + variant.id() + "' is for target " + std::string(to_string(variant.target)) +
                        ", this selftest for " + std::string(to_string(target)),
                    "choose the target with --target " + std::string(to_string(variant.target)));
  }
  subject.family = &workspace.family(variant.family);
  subject.workload = at == std::string::npos ? &first_workload(*subject.family, target)
                                             : &workspace.workload(*subject.family, name.substr(at + 1));
  const Runtime runtime = workspace.runtime(*subject.family);
  if (const std::string why = runtime.unsupported(subject.configuration, subject.workload->axes); !why.empty()) {
    throw UserError(subject.configuration.label() + " does not support " + subject.workload->name + ": " + why);
  }
  return subject;
}

Configuration with_extra(Configuration configuration, int thousandths) {
  configuration.settings[kExtra] = thousandths;
  return configuration;
}

}  // namespace

std::vector<SelftestSubject> selftest_subjects(Workspace& workspace, Target target,
                                               const std::vector<std::string>& names,
                                               std::vector<std::string>& left_out) {
  std::vector<SelftestSubject> subjects;
  for (const std::string& name : names) {
    subjects.push_back(subject_of(workspace, target, name));
  }
  for (const std::string& name : names.empty() ? default_names(target) : std::vector<std::string>()) {
    try {
      subjects.push_back(subject_of(workspace, target, name));
    } catch (const UserError& error) {
      left_out.push_back("left out: " + std::string(error.what()));
    }
  }
  if (subjects.empty()) {
    throw EnvironmentError("no bundled kernel runs here: " + join(left_out, "; "), "name some with --kernels");
  }
  return subjects;
}

bool is_spin(const SelftestSubject& subject) {
  return subject.family->name == "spin" && subject.configuration.settings.contains(kExtra);
}

std::vector<KnownPair> known_pairs(const SelftestSubject& spin, std::vector<int> thousandths) {
  if (thousandths.empty()) {
    thousandths = {5, 10, 20, 50, -10};
    if (spin.workload->target == Target::cuda) {
      thousandths.insert(thousandths.begin(), {1, 2, 3});
    }
  }
  const std::int64_t steps = spin.workload->axes.at("steps");
  std::vector<KnownPair> pairs;
  for (const int extra : thousandths) {
    const std::int64_t extra_steps = steps * std::abs(extra) / 1000;
    if (extra_steps == 0) {
      continue;
    }
    const double ratio = static_cast<double>(extra_steps) / static_cast<double>(steps);
    pairs.push_back({.incumbent = with_extra(spin.configuration, std::max(extra, 0)),
                     .candidate = with_extra(spin.configuration, std::max(-extra, 0)),
                     .truth = std::copysign(std::log1p(ratio), extra)});
  }
  return pairs;
}

}  // namespace apo
