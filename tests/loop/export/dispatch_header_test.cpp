// tests/loop/export/dispatch_header_test.cpp - exported headers, compiled by g++ and asked.
#include <gtest/gtest.h>

#include "harness/core/expression/expression.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/launch_plan.h"
#include "harness/implement/variant/settings.h"
#include "harness/loop/export/dispatch_document.h"
#include "tests/loop/export/dispatch_fixture.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

namespace apo {
namespace {

using test::DispatchJournal;
using test::kTiles;
using test::run_with_headers;

std::string braces(const Family& family, const Axes& axes) {
  std::vector<std::string> values;
  for (const AxisSpec& axis : family.axes) {
    values.push_back(std::to_string(axes.at(axis.name)));
  }
  return "{" + join(values, ", ") + "}";
}

// ---------------------------------------------------------------- against the evaluator

// Prints a plan as planned_text() does.
constexpr const char* kPrintPlan = R"text(
  template <class Axes, class Device, class Find>
  void print_plan(const Axes& axes, const Device& device, Find find) {
    const auto* choice = find(axes, device);
    if (choice == nullptr) {
      std::puts("none");
      return;
    }
    const auto plan = choice->plan(axes, device);
    for (const auto& launch : plan.launches) {
      std::printf("%s", launch.kernel.data());
      for (const auto& sizes : {launch.grid, launch.block, launch.cluster}) {
        for (const auto size : sizes) {
          std::printf(" %lld", static_cast<long long>(size));
        }
      }
      std::printf(" %lld %d %lld;", static_cast<long long>(launch.shared_bytes), launch.cooperative ? 1 : 0,
                  static_cast<long long>(launch.l2_persist));
    }
    for (const auto& buffer : plan.scratch) {
      std::printf(" %s=%lld", buffer.name.data(), static_cast<long long>(buffer.value));
    }
    for (const auto& constant : plan.constants) {
      std::printf(" %s=%lld", constant.name.data(), static_cast<long long>(constant.value));
    }
    std::puts("");
  }
)text";

std::string planned_text(const Family& family, const DispatchRow& row, const Axes& axes, const DeviceFacts& device) {
  const Symbols facts = device_symbols(device);
  try {
    if (!supports(row.variant, family, axes, row.settings, nullptr, facts)) {
      return "none";
    }
  } catch (const UserError&) {  // sizes that the family does not have, or a condition without a value
    return "none";
  }
  std::vector<KernelFacts> kernels;
  for (const Launch& launch : row.variant.launches) {
    kernels.push_back({.name = launch.kernel, .shared_bytes = row.static_shared_bytes});
  }
  const PlannedLaunches planned = plan_launches(family, row.variant, axes, row.settings, device, kernels);
  if (planned.outcome != Outcome::valid) {
    return "none";
  }
  std::string text;
  for (const KernelLaunch& launch : planned.plan.launches) {
    text += launch.kernel;
    for (const auto& sizes : {launch.grid, launch.block, launch.cluster}) {
      for (const std::int64_t size : sizes) {
        text += " " + std::to_string(size);
      }
    }
    text += " " + std::to_string(launch.shared_bytes) + " " + std::to_string(launch.cooperative ? 1 : 0) + " " +
            std::to_string(launch.persist) + ";";
  }
  const std::vector<std::int64_t> bytes = scratch_bytes(row.variant, axes, row.settings, facts);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += " " + row.variant.scratch[i].name + "=" + std::to_string(bytes[i]);
  }
  for (const AxisSpec& axis : family.axes) {
    text += axis.specialised ? " k" + axis.name + "=" + std::to_string(axes.at(axis.name)) : "";
  }
  for (const auto& [name, value] : row.settings) {
    text += " " + name + "=" + std::to_string(value);
  }
  return text;
}

// The default of a variant, and each of its other values by itself: all combinations of its toggles are thousands.
std::vector<Settings> settings_to_ask(const Variant& variant) {
  const Settings defaults = default_settings(variant);
  std::vector<Settings> settings = {defaults};
  for (const Tunable& tunable : variant.tunables) {
    for (std::size_t i = 1; i < tunable.values.size(); ++i) {
      settings.push_back(defaults);
      settings.back()[tunable.name] = tunable.values[i];
    }
  }
  return settings;
}

// One device for each of these of each device variant, so that each is asked about every size.
Dispatch every_configuration(const Family& family) {
  DispatchTable table{.family = &family, .devices = {}};
  for (const Variant* variant : test::shipped_variants().of_family(family.name)) {
    if (variant->target != Target::cuda) {
      continue;
    }
    for (const Settings& settings : settings_to_ask(*variant)) {
      const std::string id = "GPU-" + std::to_string(table.devices.size());
      table.devices.push_back({.machine = test::a_gpu(id, "model " + id), .rows = {}});
      const std::size_t capability = 90 + table.devices.size();
      table.devices.back().machine.isa = "sm_" + std::to_string(capability);
      table.devices.back().rows.push_back({.workload_class = "all",
                                           .region = family.legal,
                                           .devices = "compute_capability == " + std::to_string(capability),
                                           .variant = as_set(*variant, settings),
                                           .settings = resolve_settings(*variant, settings),
                                           .static_shared_bytes = 1024,
                                           .measured = {}});
    }
  }
  return {.tables = {table}, .gaps = {}};
}

std::vector<Axes> sizes_to_ask(const Family& family) {
  std::vector<Axes> sizes;
  for (const Workload& workload : family.workloads) {
    sizes.push_back(workload.axes);
  }
  const auto add = [&](std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t N, std::int64_t V) {
    sizes.push_back({{"B", B}, {"T", T}, {"H", H}, {"N", N}, {"V", V}, {"GATE", 1}, {"NORM", 1}});
  };
  for (const std::int64_t N : {1, 16, 33, 64, 65, 96, 128}) {
    add(2, 48, 5, N, N);
    add(2, 48, 5, 128, N);
  }
  add(65536, 16, 65536, 32, 32);  // B*H = 2^32
  add(65536, 16, 32767, 32, 32);
  add(65536, 1 << 20, 65536, 128, 128);  // beyond 2^53 bytes
  add(0, 16, 1, 32, 32);
  add(1, 16, -1, 32, 32);
  add(1, 16, 1, 129, 32);
  return sizes;
}

TEST(DispatchHeader, AnswersAsTheEvaluatorForEveryDeviceVariantAndSize) {
  for (const char* name : {"e88_backward", "e88_forward"}) {
    const Family& family = *find_family(name);
    const Dispatch dispatch = every_configuration(family);
    const std::vector<DispatchDevice>& devices = dispatch.tables[0].devices;
    ASSERT_GE(devices.size(), 19U);
    std::string body = "  using namespace apo_dispatch::" + family.name + ";\n  const Axes sizes[] = {\n";
    std::vector<std::string> expected;
    int served = 0;
    for (const Axes& axes : sizes_to_ask(family)) {
      body += "    " + braces(family, axes) + ",\n";
      for (const DispatchDevice& device : devices) {
        expected.push_back(planned_text(family, device.rows[0], axes, device_facts(device.machine)));
        served += expected.back() == "none" ? 0 : 1;
      }
    }
    body +=
        "  };\n  for (const Axes& axes : sizes) {\n    for (const Device& device : kDevices) {\n"
        "      print_plan(axes, device, [](const Axes& a, const Device& d) { return find(a, d); });\n    }\n  }\n";
    std::vector<std::string> lines = split(run_with_headers(dispatch, body, kPrintPlan), '\n');
    ASSERT_EQ(lines.size(), expected.size() + 1);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const DispatchRow& row = devices[i % devices.size()].rows[0];
      EXPECT_EQ(lines[i], expected[i]) << row.variant.id() << " size " << i / devices.size();
    }
    EXPECT_GT(served, 100);
    EXPECT_LT(served, static_cast<int>(expected.size()));
  }
}

// ---------------------------------------------------------------- from a journal

TEST(DispatchHeader, ServesTheSizesOfItsClassAndThrowsForTheRest) {
  DispatchJournal journal;
  journal.accept({});
  journal.accept(
      {.candidate = "e88_backward/cuda_register_tiled", .workload_class = "n64", .workloads = {"b1_t32_h2_n64"}});
  const std::string out = run_with_headers(journal.load({.unchecked = true}), R"text(
    using namespace e88_backward;
    const auto ask = [](const Axes& axes) {
      try {
        const Choice& choice = choose(axes);
        std::printf("%s %s\n", choice.workload_class.data(), choice.variant.data());
      } catch (const std::invalid_argument& error) {
        std::printf("refused%s\n", find(axes) == nullptr ? "" : ", but find() has one");
      }
    };
    static_assert(find({8, 128, 83, 32, 32, 1, 1}) != nullptr, "usable at compile time");
    ask({8, 128, 83, 32, 32, 1, 1});
    ask({1, 1, 1, 32, 32, 0, 0});
    ask({8, 128, 83, 31, 32, 1, 1});  // in class n32, but the variant wants 32x32
    ask({8, 128, 83, 64, 64, 1, 1});
    ask({8, 128, 83, 33, 20, 1, 1});
    ask({8, 128, 83, 65, 64, 1, 1});
    ask({8, 128, 83, 16, 16, 1, 1});  // a class that nobody measured
    ask({0, 128, 83, 32, 32, 1, 1});
    ask({8, 128, -83, 32, 32, 1, 1});
    ask({65536, 16, 65536, 32, 32, 1, 1});  // B*H = 2^32
    ask({INT64_MAX, INT64_MIN, INT64_MAX, 32, 32, 1, 1});
    ask({});
    try {
      choose({8, 128, 83, 65, 64, 1, 1});
    } catch (const std::invalid_argument& error) {
      std::puts(error.what());
    }
  )text");
  EXPECT_EQ(out,
            "n32 e88_backward/cuda_best\nn32 e88_backward/cuda_best\nrefused\nn64 e88_backward/cuda_register_tiled\n"
            "n64 e88_backward/cuda_register_tiled\nrefused\nrefused\nrefused\nrefused\nrefused\nrefused\nrefused\n"
            "no kernel of e88_backward is known for B=8 T=128 H=83 N=65 V=64 GATE=1 NORM=1 on device 'NVIDIA H200', "
            "compute_capability=90; there are:\n"
            "  n32, measured on NVIDIA H200, and not verified at all sizes of the region, for compute_capability == "
            "90: ((max(N,V) > 16 && max(N,V) <= 32) && (NORM == 0 || N > 1)) && (N == 32 && "
            "V == 32 && SEQUENCES*20576 <= SHARED_MAX && B*H <= 2147483647) (e88_backward/cuda_best)\n"
            "  n64, measured on NVIDIA H200, and not verified at all sizes of the region, for compute_capability == "
            "90: ((max(N,V) > 32 && max(N,V) <= 64) && (NORM == 0 || N > 1)) && (N <= 64 && "
            "V <= 64 && B*H <= 2147483647) (e88_backward/cuda_register_tiled)\n"
            "'apo run e88_backward --workload NAME' measures more sizes; of 'apo export', --on-this-device judges the "
            "rows on the device where it runs, and --fallback VARIANT serves what was not measured\n");
}

constexpr const char* kAsk = R"text(
  void ask(const e88_backward::Axes& axes) {
    const auto* choice = e88_backward::find(axes);
    std::printf("%s\n", choice == nullptr ? "none" : choice->variant.data());
  }
)text";
constexpr const char* kBoth = R"text(
  const e88_backward::Choice& choice = e88_backward::choose({1, 16384, 83, 32, 32, 1, 1});
  std::printf("%s, %.3f over %s\n", choice.evidence.statement.data(), choice.evidence.speedup.ratio,
              choice.evidence.speedup.over.data());
  ask({8, 128, 83, 32, 32, 1, 1});
  ask({1, 511, 83, 32, 32, 1, 1});
  ask({1, 513, 83, 32, 32, 1, 1});
  ask({2, 1024, 41, 32, 32, 1, 1});
  ask({2, 1025, 41, 32, 32, 1, 1});
  ask({16, 128, 83, 32, 32, 1, 1});
)text";

// Few and long sequences against many short ones: the border is T == 512 * B.
void judge_both(DispatchJournal& journal) {
  journal.accept({.candidate = kTiles, .workloads = {"b1_t16384_h83_n32"}});
  journal.accept({.candidate = "e88_backward/cuda_best", .workloads = {"b8_t128_h83_n32"}});
}

// With all of its settings.
std::string baseline_label() {
  return test::shipped_variants().configuration(DispatchJournal::Accept().baseline).label();
}

TEST(DispatchHeader, SizesOnBothSidesOfABorderGetTheirKernelsUpToWhatWasVerified) {
  DispatchJournal journal;
  judge_both(journal);
  EXPECT_EQ(run_with_headers(journal.load(), kBoth, kAsk),
            "measured on NVIDIA H200 at b1_t16384_h83_n32, 1.649 over " + baseline_label() +
                "\ne88_backward/cuda_best\n"
                "e88_backward/cuda_lane_tiling\n"  // T = 511 is nearer to the other, which was verified up to 128
                "e88_backward/cuda_lane_tiling\ne88_backward/cuda_lane_tiling\ne88_backward/cuda_lane_tiling\nnone\n");
}

TEST(DispatchHeader, UncheckedRowsMeetAtTheBorder) {
  DispatchJournal journal;
  judge_both(journal);
  EXPECT_EQ(
      run_with_headers(journal.load({.unchecked = true}), kBoth, kAsk),
      "measured on NVIDIA H200 at b1_t16384_h83_n32, and not verified at all sizes of the region, 1.649 over " +
          baseline_label() +
          "\ne88_backward/cuda_best\ne88_backward/cuda_best\ne88_backward/cuda_lane_tiling\ne88_backward/cuda_best\n"
          "e88_backward/cuda_lane_tiling\ne88_backward/cuda_best\n");
}

TEST(DispatchHeader, ASizeThatTheNearestRowCannotServeGoesToTheNextNearest) {
  DispatchJournal journal;
  journal.accept({.candidate = "e88_backward/cuda_best", .workloads = {"b8_t128_h83_n32"}});
  journal.accept({.candidate = "e88_backward/cuda_register_tiled", .workloads = {"b16_t512_h83_n32"}});
  EXPECT_EQ(run_with_headers(journal.load(),
                             "ask({8, 128, 83, 32, 32, 1, 1});\nask({8, 128, 83, 31, 32, 1, 1});\n"
                             "ask({9, 128, 83, 32, 32, 1, 1});\nask({16, 512, 83, 32, 32, 1, 1});\n"
                             "ask({17, 512, 83, 32, 32, 1, 1});",
                             kAsk),
            "e88_backward/cuda_best\n"
            "e88_backward/cuda_register_tiled\n"  // cuda_best requires N == 32
            "e88_backward/cuda_register_tiled\n"  // cuda_best was verified up to B = 8
            "e88_backward/cuda_register_tiled\nnone\n");
}

TEST(DispatchHeader, ADeviceIsServedByItsOwnRowThenByItsModelsThenByItsComputeCapabilitys) {
  DispatchJournal journal;
  journal.accept({.finished_at = "2026-01-01T00:00:00Z"});
  journal.accept(
      {.machine = "GPU-2", .candidate = "e88_backward/cuda_lane_tiling", .finished_at = "2026-02-02T00:00:00Z"});
  EXPECT_EQ(run_with_headers(journal.load(), R"text(
              using namespace e88_backward;
              const Axes axes{8, 128, 83, 32, 32, 1, 1};
              for (const char* id : {"GPU-1", "GPU-2", "NVIDIA H200"}) {
                std::puts(choose(axes, *find_device(id)).variant.data());
              }
              std::puts(find_device("NVIDIA A100") == nullptr ? "unknown" : "?");
              // A third device of the model, with its own facts: less shared memory than 11 sequences a block take.
              Device mine{"GPU-3", "NVIDIA H200", 90, 132, 232448, 1024};
              std::puts(choose(axes, mine).variant.data());
              mine.shared_max = 100000;
              std::puts(find(axes, mine) == nullptr ? "does not fit" : "?");
              const Device h100{"GPU-4", "NVIDIA H100 80GB HBM3", 90, 132, 232448, 1024};
              std::printf("%s %d\n", choose(axes, h100).evidence.statement.data(), measured_on(choose(axes, h100), h100));
              std::puts(find(axes, {"GPU-5", "NVIDIA A100", 80, 108, 232448, 1024}) == nullptr ? "other code" : "?");
            )text"),
            "e88_backward/cuda_best\ne88_backward/cuda_lane_tiling\ne88_backward/cuda_lane_tiling\nunknown\n"
            "e88_backward/cuda_lane_tiling\ndoes not fit\nmeasured on NVIDIA H200 0\nother code\n");
}

TEST(DispatchHeader, AFallbackIsMarkedAsUnmeasuredAndServesOtherDevices) {
  DispatchJournal journal;
  journal.accept({});
  EXPECT_EQ(
      run_with_headers(journal.load({.fallbacks = {"e88_backward/cuda_shared_fallback[GLOBAL_STATES=1]"}}), R"text(
              using namespace e88_backward;
              for (const Axes& axes : {Axes{8, 128, 83, 32, 32, 1, 1}, Axes{1, 5, 3, 128, 100, 1, 1}}) {
                const Choice& choice = choose(axes);
                std::printf("%s: %d %s\n", choice.variant.data(), choice.evidence.measured ? 1 : 0, choice.evidence.statement.data());
              }
              std::puts(find({1, 5, 3, 129, 100, 1, 1}) == nullptr ? "none" : "?");
              const Axes axes{8, 128, 83, 32, 32, 1, 1};
              std::puts(choose(axes, {"", "NVIDIA A100", 80, 108, 166912, 1024}).variant.data());
              std::puts(find(axes, {"", "a CPU"}) == nullptr ? "none" : "?");
            )text"),
      "e88_backward/cuda_best: 1 measured on NVIDIA H200\n"
      "e88_backward/cuda_shared_fallback: 0 unmeasured, correct by apo:requires\nnone\n"
      "e88_backward/cuda_shared_fallback\nnone\n");
}

TEST(DispatchHeader, ATableOfFallbacksAloneNeedsNoMeasuredDevice) {
  DispatchJournal journal;
  journal.accept({});
  EXPECT_EQ(run_with_headers(journal.load({.family = "copy", .fallbacks = {"copy/cuda_simple", "copy/simple"}}), R"text(
              using namespace copy;
              static_assert(kDeviceCount == 0);
              std::puts(choose({5}, {"", "any GPU", 100, 1, 1024, 1024}).variant.data());
              std::puts(choose({5}).variant.data());
            )text"),
            "copy/cuda_simple\ncopy/simple\n");
}

TEST(DispatchHeader, CarriesTheEvidenceAndTwoFamiliesLiveSideBySide) {
  DispatchJournal journal;
  const DispatchJournal::Accept accept{.candidate = "e88_backward/cuda_best[SEQUENCES=7]"};
  const std::int64_t campaign = journal.campaign(accept);
  journal.accept(accept, campaign);
  journal.certify(campaign, accept, false);
  journal.accept({.candidate = "e88_forward/cuda_lane_tiling", .baseline = "e88_forward/cuda_simple"});
  EXPECT_EQ(run_with_headers(journal.load(), R"text(
        const auto& choice = e88_backward::choose({8, 128, 83, 32, 32, 1, 1});
        const auto& evidence = choice.evidence;
        std::printf("%s=%d %.3f [%.3f, %.3f] %d %s\n", choice.settings[0].name.data(),
                    static_cast<int>(choice.settings[0].value), evidence.speedup.ratio, evidence.speedup.lower,
                    evidence.speedup.upper, evidence.speedup.rounds, evidence.speedup.over.data());
        for (const auto& one : evidence.certified) {
          std::printf("%.3f %s\n", one.ratio, one.cache.data());
        }
        for (const auto workload : evidence.workloads) {
          std::puts(workload.data());
        }
        std::printf("%s %s %s %s\n", evidence.device.data(), evidence.driver.data(), evidence.judge.data(), evidence.at.data());
        std::puts(e88_forward::choose({8, 128, 83, 32, 32, 1, 1}).variant.data());
      )text"),
            "SEQUENCES=7 1.649 [1.632, 1.665] 14 " + baseline_label() +
                "\n2.718 cold\nb8_t128_h83_n32\n"
                "NVIDIA H200 580.159.04 (CUDA 13.0) apo-judge-1 2026-02-03T04:05:06Z\ne88_forward/cuda_lane_tiling\n");
}

TEST(DispatchHeader, HostileTextStaysText) {
  DispatchJournal journal;
  journal.accept({.workloads = {test::kHostile}, .driver = test::kHostile});
  Dispatch dispatch = journal.load({.unchecked = true});
  dispatch.tables[0].devices[0].machine.model = test::kHostile;
  dispatch.tables[0].devices[0].rows[0].variant.launches[0].kernel = test::kHostile;
  dispatch.tables[0].devices[0].rows[0].workload_class = test::kHostile;
  const std::string body =
      "  const auto& choice = e88_backward::choose({8, 128, 83, 32, 32, 1, 1});\n"
      "  for (const auto text : {choice.evidence.driver, choice.evidence.workloads.first[0],\n"
      "                          choice.workload_class}) {\n    std::fwrite(text.data(), 1, "
      "text.size(), stdout);\n    std::puts(\"|\");\n  }\n";
  const std::string wanted = std::string(test::kHostile) + "|\n";
  EXPECT_EQ(run_with_headers(dispatch, body), wanted + wanted + wanted);
}

TEST(DispatchHeader, ADamagedExpressionIsRefusedWithItsVariant) {
  DispatchJournal journal;
  journal.accept({});
  for (const char* expression : {"N == 32); system(\"x\"", "N == M", "axes.N", ""}) {
    Dispatch dispatch = journal.load();
    dispatch.tables[0].devices[0].rows[0].region = expression;
    expect_contains(error_of([&] { dispatch_header(dispatch.tables[0]); }),
                    "e88_backward/cuda_best cannot be exported");
  }
}

TEST(DispatchHeader, WorksWithoutExceptions) {
  DispatchJournal journal;
  journal.accept({});
  EXPECT_EQ(
      run_with_headers(journal.load(),
                       "  std::puts(e88_backward::find({8, 128, 83, 64, 64, 1, 1}) == nullptr ? \"none\" : \"?\");\n"
                       "  std::puts(e88_backward::find({8, 128, 83, 32, 32, 1, 1})->variant.data());",
                       "", {"-fno-exceptions", "-fno-rtti"}),
      "none\ne88_backward/cuda_best\n");
}

TEST(DispatchHeader, HostVariantsNeedNoLaunch) {
  DispatchJournal journal;
  Dispatch dispatch;
  Machine machine{.target = Target::host, .id = "cpu", .model = "A CPU", .cores = 2, .isa = "avx2"};
  const Variant& variant = test::shipped_variants().get("copy/simple");
  DispatchRow row{.workload_class = "any", .region = "1", .variant = variant, .settings = {}, .measured = {}};
  dispatch.tables.push_back({.family = find_family("copy"), .devices = {{.machine = machine, .rows = {row}}}});
  EXPECT_EQ(run_with_headers(dispatch,
                             "  const copy::Axes axes{5};\n  const auto plan = copy::choose(axes).plan(axes, "
                             "copy::kDevices[0]);\n  std::printf(\"%d %d\\n\", plan.valid ? 1 : 0, "
                             "static_cast<int>(plan.launches.size()));"),
            "1 0\n");
}

// ---------------------------------------------------------------- sources

TEST(DispatchSources, AreWhatWasMeasuredWithConstantsFromTheCommandLine) {
  DispatchJournal journal;
  journal.accept({.candidate = "e88_backward/cuda_best[SEQUENCES=7]"});
  const Dispatch dispatch = journal.load();
  const DispatchRow& row = dispatch.tables[0].devices[0].rows[0];
  const std::vector<NamedText> files = dispatch_sources(dispatch.tables[0]);
  ASSERT_EQ(files.size(), 2 + row.variant.headers.size());
  EXPECT_EQ(files[0].path, source_folder(row) + "/cuda_best.cu");
  EXPECT_EQ(files[0].contents, row.variant.source);
  EXPECT_EQ(files.back().path, source_folder(row) + "/e88_backward.args.h");
  // With each -DAPO_<name>=<value> of a plan put in, it is the header that the variant was built with.
  const Axes axes = find_workload(*find_family("e88_backward"), "b8_t128_h83_n32")->axes;
  std::string text = files.back().contents;
  for (const auto& [name, value] :
       {std::pair{"kN", "32"}, {"kV", "32"}, {"kGATE", "1"}, {"kNORM", "1"}, {"SEQUENCES", "7"}}) {
    const std::string macro = std::string("APO_") + name + ";";
    const std::size_t at = text.find(macro);
    ASSERT_NE(at, std::string::npos) << macro;
    text.replace(at, macro.size(), std::string(value) + ";");
  }
  EXPECT_EQ(text, args_header(*find_family("e88_backward"), row.variant, axes, row.settings));
}

TEST(DispatchSources, ANameThatIsNoFileNameIsRefused) {
  DispatchJournal journal;
  journal.accept({});
  Dispatch dispatch = journal.load();
  dispatch.tables[0].devices[0].rows[0].variant.name = "../../escape";
  EXPECT_THROW(dispatch_sources(dispatch.tables[0]), UserError);
}

}  // namespace
}  // namespace apo
