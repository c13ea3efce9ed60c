// tests/executor/variants_test.cpp - every device variant of the tree is right on the CPU, with no race, no stray
// access and no barrier that some threads miss.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "harness/core/pattern.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "tests/executor/cpu_runtime_fixture.h"
#include "tests/shipped_families.h"

namespace apo::testing {
namespace {

namespace fs = std::filesystem;

struct DeviceCode {
  std::string family;
  std::string id;
  std::set<std::string> techniques;
  bool changed = false;  // it, or a header of its family
};

std::vector<DeviceCode> device_variants() {
  static const Pattern kTechnique(R"((?:^|\n)// apo:technique +(\S+))");
  const fs::path root = APO_SOURCE_FOLDER;
  const ProcessResult differing = run_process({(root / "tests/project/changed.sh").string()});
  const std::vector<std::string> changed = split(differing.output, '\n');
  std::vector<DeviceCode> found;
  for (const auto& entry : fs::recursive_directory_iterator(root / "variants")) {
    const std::string code = entry.path().extension() == ".cu" ? read_file(entry.path()) : "";
    if (code.find("\n// apo:launch ") == std::string::npos) {
      continue;
    }
    DeviceCode& one = found.emplace_back();
    one.family = entry.path().parent_path().filename().string();
    one.id = one.family + "/" + entry.path().stem().string();
    for (const PatternMatch& technique : kTechnique.all(code)) {
      one.techniques.insert(technique[1]);
    }
    one.changed = std::ranges::any_of(changed, [&](const std::string& path) {
      return path == "variants/" + one.id + ".cu" ||
             (path.starts_with("variants/" + one.family + "/") && path.ends_with(".cuh"));
    });
  }
  return found;
}

struct Checked {
  std::string id;
  bool on_all_shapes = false;
};

// What is checked every time: what changed, on all shapes, and as few others as have every family and every technique,
// on one shape. Otherwise all that did not change, on all shapes.
std::vector<Checked> variants_of(bool every_time) {
  std::vector<DeviceCode> all = device_variants();
  std::ranges::sort(all, {}, [](const DeviceCode& one) {
    return std::tuple(!one.changed, -static_cast<int>(one.techniques.size()), one.id);
  });
  std::set<std::string> covered;
  std::vector<Checked> checked;
  for (DeviceCode& one : all) {
    one.techniques.insert("family " + one.family);
    const bool adds = !std::ranges::includes(covered, one.techniques);
    covered.merge(one.techniques);
    if (every_time ? one.changed || adds : !one.changed) {
      checked.push_back({one.id, one.changed || !every_time});
    }
  }
  std::ranges::sort(checked, {}, &Checked::id);
  return checked;
}

// Whoever runs on small states is right or wrong there; each other size is another compilation.
bool has_large_state(const Axes& axes) {
  return axes.contains("V") && axes.at("N") * axes.at("V") > 64 * 64;
}

// Each shape is another compilation, and variants share their headers, so that what one of them leaves out another one
// runs.
constexpr std::size_t kShapes = 3;

void keep_some(std::vector<CheckCase>& plan, std::size_t shapes, std::size_t drawn) {
  const std::size_t step = std::max<std::size_t>(1, plan.size() / shapes);
  std::vector<CheckCase> kept;
  for (std::size_t i = drawn % step; i < plan.size() && kept.size() < shapes; i += step) {
    kept.push_back(plan[i]);
  }
  plan = std::move(kept);
}

class DeviceVariant : public ::testing::TestWithParam<Checked> {};

TEST_P(DeviceVariant, IsRightOnSmallAndRaggedShapes) {
  constexpr std::uint64_t kSeed = 11;
  const std::string& id = GetParam().id;
  const std::string family = id.substr(0, id.find('/'));
  const CpuRuntime cpu(family, "variants", std::chrono::minutes(2));
  std::vector<CheckCase> plan = correctness_plan(cpu.family(), {}, kSeed, 0, {}, std::int64_t{1} << 12);
  for (CheckCase& one : plan) {
    one.regimes.resize(1);  // another one for every shape; values decide little of what is checked here
  }
  const auto supported_and_small = [&](const CheckCase& one) {
    return !has_large_state(one.axes) && cpu.runtime().unsupported({.variant = id, .settings = {}}, one.axes).empty();
  };
  constexpr int kEnough = 4;  // who was written for large states runs on fewer small ones
  if (std::ranges::count_if(plan, supported_and_small) >= kEnough) {
    std::erase_if(plan, [&](const CheckCase& one) { return !supported_and_small(one); });
    keep_some(plan, GetParam().on_all_shapes ? kShapes : 1, std::hash<std::string>()(id));
  }
  const GateResult gate = correctness_gate(cpu.runtime(), {.variant = id, .settings = {}}, plan, kSeed);
  static const Pattern kTensorCores(
      R"(not checkable on the CPU: (.*mma\.h|PTX .*(wgmma|tensormap|setmaxnreg|bar\.arrive|cluster)))");
  if (kTensorCores.search(gate.evidence)) {
    GTEST_SKIP() << gate.evidence;  // a GPU checks it
  }
  EXPECT_EQ(gate.outcome, Outcome::valid) << gate.evidence;
  EXPECT_FALSE(gate.evidence.starts_with("0 calls")) << "no shape is supported: " << gate.evidence;
}

// Variants of equal stretches, with one block a multiprocessor: 135 sequences on 128 or 132 blocks, so that most are
// handed over. No shape of a gate has more than the 1056 or so that the variants themselves ask for.
class StretchedVariants : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(StretchedVariants, ThatShareASequenceHandItOver) {
  const auto [family, name] = GetParam();
  const TemporaryFolder folder;
  for (const char* from : {"common", family}) {
    for (const auto& entry : fs::directory_iterator(fs::path(APO_SOURCE_FOLDER) / "variants" / from)) {
      if (entry.path().extension() == ".cuh") {
        fs::copy(entry.path(), folder.path() / entry.path().filename());
      }
    }
  }
  const std::string file = std::string(name) + ".cu", kept = "// apo:tune       BLOCKS ";
  std::string text = read_file(fs::path(APO_SOURCE_FOLDER) / "variants" / family / file);
  if (const std::size_t at = text.find(kept); at != std::string::npos) {
    text.replace(at, text.find('\n', at) - at, kept + "1");
  }
  write_file_atomically(folder.path() / file, text);
  const CpuRuntime cpu(family, folder.path().string(), std::chrono::minutes(2));
  const Axes axes = {{"B", 1}, {"GATE", 1}, {"H", 135}, {"N", 32}, {"NORM", 1}, {"T", 40}, {"V", 32}};
  const CheckCase one{.workload = "shared", .axes = axes, .regimes = {"typical"}};
  const CheckResult result =
      check_case(cpu.runtime(), {.variant = std::string(family) + "/" + name, .settings = {}}, one, 11, false);
  EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
}

INSTANTIATE_TEST_SUITE_P(DeviceVariants, StretchedVariants,
                         ::testing::Values(std::pair("e88_backward", "cuda_time_slices"),
                                           std::pair("e88_backward", "cuda_split_slices"),
                                           std::pair("e88_forward", "cuda_half_sequences")),
                         [](const auto& one) { return std::string(one.param.second); });

// The shapes of a gate rarely have a pattern of B that it supports.
TEST(DeviceVariants, OfSmallCallsAreRightWhateverBRepeatsAlong) {
  const CpuRuntime cpu("binary_backward", "variants", std::chrono::minutes(2));
  // Of [2,3,4,8]: rows kept, RoPE, its mirror image, the last dimension, equal shapes.
  for (const std::int64_t kept : {7, 5, 11, 1, 255}) {
    for (const std::int64_t strip : {0, 1}) {
      Axes axes = find_workload(cpu.family(), "six_rope")->axes;
      axes["kept"] = kept;
      axes["d7"] = 8;
      const CheckResult result =
          check_case(cpu.runtime(), {.variant = "binary_backward/cuda_small", .settings = {{"STRIP", strip}}},
                     {.workload = "", .axes = axes, .regimes = {"typical"}}, 3, false);
      EXPECT_EQ(result.outcome, Outcome::valid) << "kept=" << kept << " STRIP=" << strip << ": " << result.evidence;
    }
  }
}

// Why no shipped variant keeps its sums in dB.
TEST(PackedAtomics, AreRightForOneTermAndMissTheToleranceForTwo) {
  const CpuRuntime cpu("binary_backward_bf16", "tests/zoo/gradients", std::chrono::minutes(2));
  const auto with_rows = [&](std::int64_t rows) {
    Axes axes = find_workload(cpu.family(), "ragged_columns")->axes;
    axes["d6"] = rows;
    return check_case(cpu.runtime(), {.variant = "binary_backward_bf16/packed_atomics", .settings = {}},
                      {.workload = "", .axes = axes, .regimes = {"typical"}}, 3, false);
  };
  const CheckResult one = with_rows(1);
  EXPECT_EQ(one.outcome, Outcome::valid) << one.evidence;
  const CheckResult two = with_rows(2);
  EXPECT_EQ(two.outcome, Outcome::incorrect) << two.evidence;
  EXPECT_TRUE(two.evidence.find(": dB[") != std::string::npos) << two.evidence;
}

std::string name_of(const ::testing::TestParamInfo<Checked>& variant) {
  std::string name = variant.param.id;
  std::ranges::replace(name, '/', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(OnTheCpu, DeviceVariant, ::testing::ValuesIn(variants_of(true)), name_of);
INSTANTIATE_TEST_SUITE_P(OfTheRestOnTheCpu, DeviceVariant, ::testing::ValuesIn(variants_of(false)), name_of);

}  // namespace
}  // namespace apo::testing
