// harness/evaluate/rounds/host_session.cpp - takes windows of both arms in turn and inspects some of their calls.
#include "harness/evaluate/rounds/host_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <optional>
#include <string>
#include <utility>

#include "harness/core/guards.h"
#include "harness/core/nvtx.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr std::int64_t kWindowBytes = std::int64_t{8} << 20;      // of tensors, which are written before each window
constexpr std::int64_t kWarmWindowBytes = std::int64_t{1} << 20;  // that stay in the caches
constexpr std::int64_t kPoolBytes = std::int64_t{64} << 20;       // of inputs that are drawn for a campaign
constexpr int kMostCalls = 512;                                   // their inputs are all drawn
constexpr int kEmptyWindows = 6;
constexpr std::size_t kPlanWindows = 3;
constexpr std::size_t kCpuWindows = 12;
constexpr std::size_t kFewestCpuWindows = 2;
constexpr double kCpuWindowsNs = 20e6;     // of so many together fewer are enough, and one so long tells for itself
constexpr double kVeryLongCallNs = 100e6;  // noise is a small part of it
constexpr int kWindowsOfBlock = 4;
constexpr double kMoreThanOneCpu = 1.25;  // CPU time by wall time
// What a virtual machine's account of a window's CPU time may be off.
constexpr double kCpuErrorNs = 75e3;

std::vector<int> cpus_of(const Runtime& runtime, const WindowPlan& plan, std::uint64_t seed) {
  std::vector<int> cpus = runtime.worker.cpus.empty() ? usable_cpus() : runtime.worker.cpus;
  if (plan.one_cpu) {
    cpus = {cpus.at(derive_seed(seed, "cpu") % cpus.size())};
  }
  return cpus;
}

WindowTimes least_of(const WindowTimes& one, const WindowTimes& other) {
  return {.ns = std::min(one.ns, other.ns), .cpu_ns = std::min(one.cpu_ns, other.cpu_ns)};
}

Failure of_slot(Failure failure, int slot) {
  failure.slot = slot;
  return failure;
}

}  // namespace

int calls_in_window(double window_s, double call_s, std::int64_t bytes, CachePolicy cache) {
  const std::int64_t most_bytes = cache == CachePolicy::warm ? kWarmWindowBytes : kWindowBytes;
  const auto most = std::clamp<std::int64_t>(most_bytes / std::max<std::int64_t>(1, bytes), 1, kMostCalls);
  return static_cast<int>(std::clamp(std::ceil(window_s / call_s), 1.0, static_cast<double>(most)));
}

int blocks_in_round(const JudgePreset& preset, double windows_s, std::int64_t window_bytes) {
  const double by_time = preset.round_s / (2 * windows_s);
  const double by_bytes =
      static_cast<double>(kPoolBytes) / static_cast<double>(2 * std::max<std::int64_t>(1, window_bytes));
  return static_cast<int>(std::clamp(std::floor(std::min(by_time, by_bytes)),
                                     static_cast<double>(preset.window_blocks_min),
                                     static_cast<double>(preset.window_blocks_max)));
}

bool uses_several_cpus(std::span<const WindowTimes> windows) {
  const auto says_so = [](std::span<const WindowTimes> some) {
    double cpu_ns = 0, wall_ns = 0;
    for (const WindowTimes& window : some) {
      cpu_ns += static_cast<double>(window.cpu_ns);
      wall_ns += static_cast<double>(window.ns);
    }
    return cpu_ns > kMoreThanOneCpu * wall_ns && cpu_ns - wall_ns > kCpuErrorNs * static_cast<double>(some.size());
  };
  const auto later = windows.subspan(1);
  for (std::size_t i = 0; i < later.size(); ++i) {
    if (static_cast<double>(later[i].ns) >= kCpuWindowsNs && says_so(later.subspan(i, 1))) {
      return true;
    }
  }
  return says_so(later);  // a single short one may show the CPU time of the one before or of a wait
}

WindowPlan plan_of_single_calls(const JudgePreset& preset, const WindowPlan& on_one_cpu,
                                std::span<const WindowTimes> incumbent, std::span<const WindowTimes> candidate,
                                bool may_be_long) {
  WindowPlan plan = on_one_cpu;
  if (plan.one_cpu && (uses_several_cpus(incumbent) || uses_several_cpus(candidate))) {
    plan.one_cpu = false;
    plan.calls = 1;
  }
  const double least_ns = static_cast<double>(std::ranges::min_element(incumbent, {}, &WindowTimes::ns)->ns);
  if (may_be_long && is_long_call(preset, 1e-9 * least_ns)) {
    plan.calls = 1;
    plan.blocks = preset.window_blocks_min;
    plan.warms_up = false;
  }
  return plan;
}

HostSession::HostSession(const Runtime& runtime, const TimedWorkload& workload, const SessionDraw& draw,
                         CachePolicy cache, const WindowPlan& plan, std::uint64_t rounds_of_a_look)
    : runtime_(runtime),
      timed_(workload),
      draw_(draw),
      cache_(cache),
      plan_(plan),
      rounds_of_a_look_(rounds_of_a_look) {
  const std::vector<int> cpus = cpus_of(runtime, plan, draw.layout_seed);
  cpu_ = cpus.front();
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    slots_.at(slot).process =
        std::make_unique<ArmProcess>(runtime, arm_in(workload, draw, static_cast<int>(slot)), workload.axes, cpus,
                                     derive_seed(draw.layout_seed, "process", slot));
  }
}

Result<Done> HostSession::prepare(std::uint64_t inputs_seed) {
  const StageRange range("load and attach");
  link();
  begin_round(inputs_seed);
  const auto begin = std::chrono::steady_clock::now();
  for (const Slot& slot : slots_) {
    slot.process->worker().await_start();
  }
  start_wait_s_ = seconds_since(begin);
  return load_and_attach();
}

void HostSession::begin_round(std::uint64_t inputs_seed) {
  inputs_seed_ = inputs_seed;
  inputs_ = timed_.pool.of_round(plan_.inputs(), inputs_seed);
  Random random(derive_seed(inputs_seed, "looked at"));
  looked_at_ = random.below(rounds_of_a_look_) == 0 ? std::optional(random.below(inputs_.size())) : std::nullopt;
  for (Slot& slot : slots_) {
    slot.used = 0;
  }
}

Result<Done> HostSession::lay_out_again(const SessionDraw& draw) {
  draw_ = draw;
  link();
  return load_and_attach();
}

// Prepares both arms at once, while their processes start.
void HostSession::link() {
  const auto link_slot = [this](int slot) {
    const bool candidate = (slot == 0) == draw_.candidate_in_slot0;
    arm(slot).link(draw_.code_seeds.at(candidate ? 1 : 0));
  };
  auto other = std::async(std::launch::async, link_slot, 1);
  link_slot(0);
  other.get();
}

Result<Done> HostSession::load_and_attach() {
  const int first = Random(derive_seed(draw_.layout_seed, "loading")).coin() ? 1 : 0;
  for (const int slot : {first, 1 - first}) {
    if (auto loaded = arm(slot).load(); !loaded) {
      Failure failure = loaded.failure();
      failure.slot = slot;
      return failure;
    }
    const auto empty = measure_empty_windows(slot);
    if (!empty) {
      return of_slot(empty.failure(), slot);
    }
    empty_ = least_of(empty_, *empty);  // for both arms alike, so that neither can gain by its own
    const std::uint64_t seed = derive_seed(draw_.layout_seed, "tensors", static_cast<std::uint64_t>(slot));
    if (auto attached = arm(slot).attach(plan_.calls, seed); !attached) {
      return of_slot(attached.failure(), slot);
    }
  }
  return Done{};
}

// Measures a window without a call: the least of a few.
Result<WindowTimes> HostSession::measure_empty_windows(int slot) {
  if (auto attached = arm(slot).attach(0, 0); !attached) {
    return attached.failure();
  }
  const auto beside = beside_the_processes();
  WindowTimes least = kLongest;
  for (int i = 0; i < kEmptyWindows; ++i) {
    const auto times = arm(slot).window({}, CachePolicy::warm);
    if (!times) {
      return times.failure();
    }
    least = least_of(least, *times);
  }
  return least;
}

// The quicker arm fills the windows of both, and both fill the round. How long a call is, the incumbent says: a
// candidate that does nothing in its process's second call must not choose what is asked about the incumbent's.
Result<WindowPlan> HostSession::choose_plan(const JudgePreset& preset) {
  const std::int64_t bytes = tensor_bytes(*runtime_.family, timed_.axes);
  const auto beside = beside_the_processes();
  const std::size_t incumbent = draw_.candidate_in_slot0 ? 1 : 0;
  while (true) {
    std::array<double, 2> window_s = {INFINITY, INFINITY};  // by slot, with what comes before it
    std::array<double, 2> call_ns = {INFINITY, INFINITY};
    for (std::size_t i = 0; i < 2 * kPlanWindows; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      const auto times = window(static_cast<int>(i % 2), Look::nothing);
      if (!times) {
        return times.failure();
      }
      window_s.at(i % 2) = std::min(window_s.at(i % 2), seconds_since(begin));
      double& least_ns = call_ns.at(i % 2);
      least_ns = std::min(least_ns, static_cast<double>(times->ns) / plan_.calls);
      if (i + 1 == 2 * kFewestCpuWindows && call_ns.at(incumbent) > kVeryLongCallNs) {
        break;  // not after one, which may have begun what the others need not
      }
    }
    plan_.call_ns = call_ns.at(incumbent);
    const int calls = calls_in_window(preset.window_s, 1e-9 * std::ranges::min(call_ns), bytes, cache_);
    const bool grows = calls > 2 * plan_.calls;  // a short call's first windows are mostly hand-over
    plan_.calls = calls;
    plan_.blocks = blocks_in_round(preset, window_s[0] + window_s[1], calls * bytes);
    if (!grows) {
      return plan_;
    }
    for (const int slot : {0, 1}) {
      if (auto attached = arm(slot).attach(calls, draw_.layout_seed); !attached) {
        return of_slot(attached.failure(), slot);
      }
    }
  }
}

Result<WindowPlan> HostSession::choose_long_plan(const JudgePreset& preset, const WindowPlan& on_one_cpu,
                                                 bool may_be_long) {
  std::array<std::vector<WindowTimes>, 2> by_slot;
  for (const int slot : {0, 1}) {
    std::vector<WindowTimes>& windows = by_slot.at(static_cast<std::size_t>(slot));
    double ns = 0;
    while (windows.size() < kFewestCpuWindows || (windows.size() < kCpuWindows && ns < kVeryLongCallNs &&
                                                  (windows.size() < kPlanWindows || ns < kCpuWindowsNs))) {
      const auto times = window(slot, Look::nothing);
      if (!times) {
        return times.failure();
      }
      windows.push_back(*times);
      ns += static_cast<double>(times->ns);
    }
  }
  const std::size_t incumbent = draw_.candidate_in_slot0 ? 1 : 0;
  return plan_of_single_calls(preset, on_one_cpu, by_slot.at(incumbent), by_slot.at(1 - incumbent), may_be_long);
}

Result<Done> HostSession::warm_up() {
  const StageRange range("warm-up");
  const auto beside = beside_the_processes();
  const auto begin = std::chrono::steady_clock::now();
  const double looked_s = untimed_s_;
  const int first = Random(derive_seed(inputs_seed_, "first call")).coin() ? 1 : 0;
  for (const int slot : {first, 1 - first}) {
    if (const auto times = window(slot, guard_is_on(Guard::timed_check) ? Look::drawn : Look::nothing); !times) {
      return times.failure();
    }
  }
  untimed_s_ = looked_s + seconds_since(begin);
  return Done{};
}

std::vector<std::size_t> HostSession::next_inputs(Slot& slot) {
  if (inputs_.size() < plan_.inputs()) {  // the plan has grown
    begin_round(derive_seed(inputs_seed_, "more"));
  }
  std::vector<std::size_t> inputs;
  for (int call = 0; call < plan_.calls; ++call) {
    inputs.push_back(slot.used++ % inputs_.size());
  }
  return inputs;
}

std::vector<CheckedPointer> HostSession::drawn(const std::vector<std::size_t>& inputs) const {
  std::vector<CheckedPointer> drawn;
  for (const std::size_t index : inputs) {
    drawn.push_back(inputs_[index]);
  }
  return drawn;
}

Result<WindowTimes> HostSession::window(int slot, Look look) {
  Slot& of = slots_.at(static_cast<std::size_t>(slot));
  const std::vector<std::size_t> inputs = next_inputs(of);
  const auto whole = of.process->window(drawn(inputs), cache_);
  if (!whole) {
    return of_slot(whole.failure(), slot);
  }
  const WindowTimes times{.ns = std::max<std::int64_t>(1, whole->ns - empty_.ns),
                          .cpu_ns = std::max<std::int64_t>(0, whole->cpu_ns - empty_.cpu_ns)};
  if (auto wrong = verify(slot, inputs, look)) {
    return *wrong;
  }
  return times;
}

std::optional<Failure> HostSession::verify(int slot, const std::vector<std::size_t>& inputs, Look look) {
  const StageRange range("compare");
  for (int call = 0; call < plan_.calls; ++call) {
    const std::size_t index = inputs[static_cast<std::size_t>(call)];
    const bool by_reference = look != Look::nothing && looked_at_ == index;
    if (!by_reference && look != Look::other_arm) {
      continue;
    }
    const CheckedInputs& on = *inputs_[index];
    if (look == Look::other_arm) {
      on.set_witness(std::make_shared<Witness>(whose(1 - slot), arm(1 - slot).outputs(call)));
    }
    auto wrong = verify_call(slot, call, on, by_reference);
    if (look == Look::other_arm) {
      on.set_witness(nullptr);  // it stands in memory that the next window fills
    }
    if (wrong) {
      return wrong;
    }
  }
  return std::nullopt;
}

std::optional<Failure> HostSession::verify_call(int slot, int call, const CheckedInputs& inputs, bool by_reference) {
  CallFindings findings;
  const auto begin = std::chrono::steady_clock::now();
  auto wrong = by_reference ? arm(slot).inspect(call, inputs, whose(slot), findings)
                            : arm(slot).hold_all(call, inputs, whose(slot), timed_.pool.typical(), findings);
  untimed_s_ += seconds_since(begin);
  const std::optional<int> of = wrong ? wrong_slot(findings, slot, whose(1 - slot)) : std::nullopt;
  if (!of) {
    return std::nullopt;
  }
  explain(*wrong, timed_.name, 0);
  wrong->evidence = fmt::format("timed call of {} on {}: {}", label(*of), timed_.name, wrong->evidence);
  return of_slot(*wrong, *of);
}

// A process that has one CPU gets it from this thread and hands it back, without waking another CPU: that takes three
// times as long and differs more.
std::unique_ptr<OnCpu> HostSession::beside_the_processes() const {
  return plan_.one_cpu ? std::make_unique<OnCpu>(cpu_) : nullptr;
}

Result<Block> HostSession::block(BlockKind kind, std::uint64_t order_seed, int which, int index, int held_pair) {
  const StageRange range(kind == BlockKind::warmup ? "warm-up" : "timed");
  const std::array<int, kWindowsOfBlock> slots = block_slots(order_seed, kind, which, index);
  const auto beside = beside_the_processes();
  Block block;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const bool is_held = i % 2 == 1 && static_cast<int>(i) / 2 == held_pair;
    const auto times = window(slots.at(i), !guard_is_on(Guard::timed_check) ? Look::nothing
                                           : is_held                        ? Look::other_arm
                                                                            : Look::drawn);
    if (!times) {
      return times.failure();
    }
    // With the hand-over, which may be shorter than the one that was taken off.
    const double call_ns = static_cast<double>(times->ns + empty_.ns) / plan_.calls;
    if (call_ns < timed_.floor_ns) {
      return Failure{.outcome = Outcome::unstable_clock,
                     .evidence = "a call of " + format_ns(call_ns) + " is below the physical floor of " +
                                 format_ns(timed_.floor_ns),
                     .slot = slots.at(i)};
    }
    block.samples.push_back({.slot = slots.at(i), .ns = times->ns});
  }
  return block;
}

Result<Done> HostSession::finish() {
  for (const int slot : {0, 1}) {
    if (timed_.other_regime != nullptr) {
      std::vector<CheckedPointer> inputs = drawn(next_inputs(slots_.at(static_cast<std::size_t>(slot))));
      inputs.back() = timed_.other_regime;
      const auto begin = std::chrono::steady_clock::now();
      if (const auto times = arm(slot).window(inputs, cache_); !times) {
        return of_slot(times.failure(), slot);
      }
      CallFindings findings;
      auto wrong = arm(slot).inspect(plan_.calls - 1, *timed_.other_regime, whose(slot), findings);
      untimed_s_ += seconds_since(begin);
      if (const auto of = wrong ? wrong_slot(findings, slot, whose(1 - slot)) : std::nullopt) {
        explain(*wrong, timed_.name, 0);
        wrong->evidence = fmt::format("call of {} on {} with '{}' inputs behind the timed ones: {}", label(*of),
                                      timed_.name, timed_.other_regime->inputs.regime, wrong->evidence);
        return of_slot(*wrong, *of);
      }
    }
    if (auto touched = arm(slot).inspect_process()) {
      return of_slot(*touched, slot);
    }
  }
  return Done{};
}

double HostSession::start_seconds() {
  return std::max(arm(0).worker().start_seconds(), arm(1).worker().start_seconds());
}

}  // namespace apo
