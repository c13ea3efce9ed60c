// tests/zoo/profile/recorded_test.cpp - the rules on what an H200 recorded of the kernels with planted defects: the
// defect comes first, at the marked line.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/system/process.h"
#include "harness/research/diagnosis/rules.h"
#include "harness/worker/code/line_table.h"
#include "harness/worker/code/machine_code.h"
#include "journal/facts/machines.h"
#include "journal/facts/profiles.h"
#include "journal/facts/variants.h"
#include "journal/journal.h"
#include "tests/zoo/profile/zoo.h"

namespace apo::testing {
namespace {

const std::string kMachine = "GPU-1628dc50-53d7-d317-eab6-018cf691d6c5";  // its only one

class Recorded : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string archive = APO_SOURCE_FOLDER "/experiments/nvidia-h200/journals.tar.xz";
    const std::string member = "profiles/planted-defects.db";
    ASSERT_EQ(run_process({"tar", "-xJf", archive, "-C", folder_.path().string(), member}).exit_code, 0);
    journal_ = std::make_unique<Journal>(Journal::open(folder_.path() / member, Access::read_only));
  }

  // Without counts of instructions, which that sitting did not take; the lines are the samples' alone.
  Diagnosis diagnosis_of(const std::string& name) {
    const Variant variant = variant_of(name);
    const Workload& workload = workload_of(variant);
    const Family& family = *find_family(variant.family);
    const auto recorded = newest_variant(*journal_, variant.id());
    EXPECT_TRUE(recorded) << name;
    const auto profile = newest_profile(*journal_, {.variant = variant.id(), .settings = {}}, workload.name,
                                        {.machine = kMachine, .source_hash = recorded->source_hash});
    EXPECT_TRUE(profile) << name;
    return {.profile = *profile,
            .work = family.work(workload.axes),
            .axes = workload.axes,
            .incumbent = variant,
            .units = family.unit_count(workload.axes),
            .l2_bytes = find_machine(*journal_, kMachine)->l2_bytes};
  }

  TemporaryFolder folder_;
  std::unique_ptr<Journal> journal_;
};

// What the sampler would have said of the machine code, had it read it.
void add_causes(Diagnosis& diagnosis, const std::string& cubin) {
  const LineTable lines(cubin);
  std::map<std::string, MachineCode> codes;
  for (StallSample& one : diagnosis.profile.stalls) {
    const MachineCode& code = codes.try_emplace(one.kernel, cubin, one.kernel).first->second;
    const std::uint64_t cause = code.held_up_by(static_cast<std::uint64_t>(one.pc_offset), one.stall);
    const SourcePlace place = lines.place(one.kernel, cause);
    one.opcode = code.opcode(cause);
    one.cause_file = place.file;
    one.cause_line = place.line;
  }
}

TEST_F(Recorded, EveryPlantedDefectComesFirst) {
  int right = 0;
  for (const std::string& name : zoo_names()) {
    const std::string expected = zoo_says(source_of(name), "expect");
    const std::vector<Bottleneck> found = diagnose(diagnosis_of(name));
    const Bottleneck first = found.empty() ? Bottleneck{} : found.front();  // none at the roof
    const bool clean = expected == "none" && (found.empty() || first.kind != BottleneckKind::cause);
    EXPECT_TRUE(clean || first.name == expected) << name << ": " << first.name << ", " << first.evidence;
    right += clean || first.name == expected ? 1 : 0;
  }
  EXPECT_EQ(right, static_cast<int>(zoo_names().size()));
}

// The recorded offsets are of one version of the compiler; another one lays the code out differently.
bool same_code(const Diagnosis& diagnosis, const std::string& cubin) {
  const LineTable lines(cubin);
  return std::all_of(diagnosis.profile.stalls.begin(), diagnosis.profile.stalls.end(), [&](const StallSample& one) {
    return lines.place(one.kernel, static_cast<std::uint64_t>(one.pc_offset)).line == one.line;
  });
}

TEST_F(Recorded, EveryPlantedLineIsNamed) {
  int compared = 0;
  for (const std::string& name : names_with_a_line()) {
    APO_BUILD_OR_SKIP(built, name);
    const std::string cubin = read_file(built.object_path);
    Diagnosis diagnosis = diagnosis_of(name);
    if (!same_code(diagnosis, cubin)) {
      continue;
    }
    ++compared;
    add_causes(diagnosis, cubin);
    const std::vector<Bottleneck> found = diagnose(diagnosis);
    EXPECT_EQ(found.front().line, planted_line(source_of(name))) << name << ": " << found.front().name;
  }
  if (compared == 0) {
    GTEST_SKIP() << "this compiler's code is not the recorded one";
  }
}

}  // namespace
}  // namespace apo::testing
