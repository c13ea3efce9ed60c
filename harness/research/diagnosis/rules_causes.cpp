// harness/research/diagnosis/rules_causes.cpp - finds defects of a GPU's kernel in counters and sampled stalls, with
// the variant's line. Each rule is silent where its counters are absent.
#include <algorithm>
#include <cmath>

#include "harness/core/text.h"
#include "harness/research/diagnosis/rule_evidence.h"
#include "harness/research/diagnosis/rules.h"

namespace apo {
namespace {

using namespace diagnosis;

// Derived: a row of 128 bytes that begins anywhere uses 80 % of its five sectors, which is harmless; one of 32 bytes
// uses half of its two. Between them.
constexpr double kGoodEfficiency = 0.63;
// Derived: a quarter more than what has to move pays an experiment, see kMinorShare, and more than a halo moves.
constexpr double kExcess = 1.25;
// Derived: below three quarters of a warp's lanes, predication at the edges of a block does not explain the rest.
constexpr double kFewLanes = 24;
constexpr double kLanes = 32;
// Derived: with one branch target in ten divergent, the warps' paths leave lanes idle.
constexpr double kDivergent = 0.1;
// Derived: an atomic holds a unit for as long as some hundred arithmetic instructions do; so does a load of a constant
// that is repeated for each of a warp's lanes.
constexpr double kManySlow = 0.01;
// Derived: each access to local memory takes a slot of the load unit, which issues a quarter as often as arithmetic.
constexpr double kManySpills = 0.025;
// From the CUDA guide's throughput table: double precision at half the rate of single on data-centre parts, at a 64th
// on others.
constexpr double kDoubleCost = 2;
constexpr double kManyDoubles = 0.05;
// Most of the instructions.
constexpr double kMostly = 0.5;
// Warps that arrive together wait for little more than the barrier itself takes.
constexpr double kLongWait = 10;

const std::vector<std::string> kGlobal = {"long_scoreboard", "lg_throttle", "drain"};
const std::vector<std::string> kShared = {"short_scoreboard", "mio_throttle"};

// Machine instructions, and the states of warps that wait for them or for room in their queue.
using Names = std::vector<std::string>;
const Names kLoads = {"LDG", "LD", "LDGSTS"};
const Names kStores = {"STG", "ST"};
const Names kLoadsAndStores = {"LDG", "LD", "LDGSTS", "STG", "ST"};
const Names kLocal = {"LDL", "STL"};
const Names kSharedAccess = {"LDS", "STS", "LDSM", "STSM", "ATOMS"};
const Names kAtomics = {"ATOM", "ATOMG", "ATOMS", "RED"};
const Names kMemoryWaits = {"long_scoreboard", "lg_throttle"};

// Returns the part of the time for which warps wait on global memory; all of it if stalls are unknown.
double waits_for_memory(const Diagnosis& d) {
  return sampled(d) ? stall_share(d, kGlobal) : 1.0;
}

double share_of_instructions(const Diagnosis& d, const char* counter) {
  return d.profile.metric(counter) / d.profile.metric("smsp__inst_executed.sum");
}

struct Waste {
  bool of_loads = false;  // most of it, else of stores
  double efficiency = 1;  // of these: bytes used of those in the sectors
  double share = 0;       // of all sectors that loads and stores touch, by both
};

// The loads or stores that use few bytes of their sectors, if these are more than a few accesses; else a share of 0.
Waste wasted_sectors(const Diagnosis& d) {
  const double loads = d.profile.metric("sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum");
  const double stores = d.profile.metric("sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum");
  const double all = std::fmax(loads, 0.0) + std::fmax(stores, 0.0);
  const bool is_counted = all > 0;
  Waste waste;
  double worse = 0;
  for (const auto& [of_loads, sectors] : {std::pair{true, loads}, std::pair{false, stores}}) {
    const double efficiency = d.profile.metric(of_loads ? "load_efficiency" : "store_efficiency");
    // Where sectors were not counted, each kind stands for itself.
    const double share = (1 - efficiency) * (is_counted ? sectors / all : 1.0);
    if (!(efficiency > 0 && efficiency < kGoodEfficiency && share >= kMinorShare)) {
      continue;
    }
    const double before = is_counted ? waste.share : 0;
    if (share > worse) {
      waste = {.of_loads = of_loads, .efficiency = efficiency, .share = before + share};
    } else if (is_counted) {
      waste.share += share;
    }
    worse = std::max(worse, share);
  }
  return waste;
}

// A wait without another explanation than its own cause.
std::optional<Bottleneck> own_wait(const Diagnosis& d, const char* name, const char* state, const char* meaning) {
  const double share = stall_share(d, {state});
  return cause(d, counted(d) && share >= kStallShare && busiest_unit(d) < kHighlyUsed, name,
               format_share(share) + " of the samples " + meaning, amdahl(share, kInfinity), {.states = {state}});
}

}  // namespace

std::optional<Bottleneck> uncoalesced_access(const Diagnosis& d) {
  const Waste waste = wasted_sectors(d);
  const double waits = waits_for_memory(d);
  const double sectors = d.profile.metric(waste.of_loads ? "sectors_per_load" : "sectors_per_store");
  return cause(d, counted(d) && waste.share > 0 && waits >= kMinorShare, "uncoalesced-access",
               std::string(waste.of_loads ? "loads" : "stores") + " use " + format_share(waste.efficiency) +
                   " of the bytes of their sectors" +
                   (std::isfinite(sectors) ? " and touch " + format_g(sectors, 3) + " sectors an instruction" : ""),
               amdahl(waits, 1 / (1 - waste.share)),
               {.count = "excess_sectors", .states = kMemoryWaits, .opcodes = waste.of_loads ? kLoads : kStores});
}

// Bytes that are read more than once, if the kernel waits for DRAM. Wasted sectors and local memory are separate
// causes.
std::optional<Bottleneck> excess_dram_traffic(const Diagnosis& d) {
  const double used = d.profile.metric("dram_utilisation");
  // An earlier user of the L2 may have written as much as it holds.
  const double moved = d.profile.metric("bytes_moved") - static_cast<double>(d.l2_bytes);
  const double excess = moved / d.work.bytes;
  const double local = d.profile.metric("local_bytes");
  return cause(d,
               counted(d) && used >= kHighlyUsed && d.work.bytes > 0 && excess >= kExcess &&
                   wasted_sectors(d).share == 0 && !(local > moved - d.work.bytes),
               "excess-dram-traffic",
               "DRAM moves " + format_bytes(d.profile.metric("bytes_moved")) + " a call, " +
                   format_ratio(d.profile.metric("bytes_over_compulsory")) + " the compulsory " +
                   format_bytes(d.work.bytes) + ", at " + format_share(used) + " of its peak",
               excess, {.states = kMemoryWaits, .opcodes = kLoadsAndStores});
}

std::optional<Bottleneck> bank_conflicts(const Diagnosis& d) {
  const double share = d.profile.metric("bank_conflict_share");
  const double waits = stall_share(d, kShared);
  const double faster = 1 / (1 - std::min(share, 0.999));
  return cause(d, counted(d) && share >= kMinorShare && (!sampled(d) || share * waits >= kMinorShare / 2),
               "bank-conflicts",
               format_share(share) + " of the wavefronts of shared memory are repeats because of bank conflicts" +
                   (sampled(d) ? "; " + format_share(waits) + " of the warps wait for shared memory or its queue" : ""),
               sampled(d) ? amdahl(waits, faster) : faster,
               {.count = "excess_wavefronts", .states = kShared, .opcodes = kSharedAccess});
}

std::optional<Bottleneck> register_spills(const Diagnosis& d) {
  const double share = share_of_instructions(d, "sm__sass_inst_executed_op_local.sum");
  const double spilled = d.profile.metric("spill_bytes");
  const double waits = waits_for_memory(d);
  return cause(d, counted(d) && share >= kManySpills, spilled > 0 ? "register-spills" : "local-array",
               format_share(share) + " of the instructions access local memory (" +
                   format_bytes(d.profile.metric("local_bytes")) + " a call)" +
                   (spilled > 0 ? "; the compiler spilled " + format_bytes(spilled) + " a thread"
                                : "; nothing is spilled, so an array of a thread is indexed at run time"),
               amdahl(std::max(share, waits < 1 ? waits : share), kInfinity),
               {.count = "local_sectors", .states = kMemoryWaits, .opcodes = kLocal});
}

namespace {

// Lanes matter as far as instructions take the time.
std::optional<Bottleneck> few_lanes(const Diagnosis& d, const char* name, const std::string& why, const Where& where) {
  const double lanes = d.profile.metric("threads_per_instruction");
  const double elsewhere = sampled(d) ? stall_share(d, kGlobal) : 0;
  return cause(d, counted(d) && lanes > 0 && lanes < kFewLanes, name,
               format_g(lanes, 3) + " of 32 lanes are active in an instruction: " + why,
               amdahl(1 - elsewhere, kLanes / lanes), where);
}

bool diverges(const Diagnosis& d) {
  return d.profile.metric("divergent_share") >= kDivergent;
}

}  // namespace

std::optional<Bottleneck> divergent_branches(const Diagnosis& d) {
  return diverges(d)
             ? few_lanes(d, "divergent-branches",
                         format_share(d.profile.metric("divergent_share")) +
                             " of the branches' targets are taken by a part of a warp only",
                         {.count = "divergent_branches", .states = {"branch_resolving"}, .opcodes = {"BRA", "BRX"}})
             : std::nullopt;
}

std::optional<Bottleneck> idle_lanes(const Diagnosis& d) {
  return diverges(d) ? std::nullopt
                     : few_lanes(d, "idle-lanes", "some lanes of a warp have no work, or blocks are no multiple of one",
                                 {.count = "idle_lanes"});
}

std::optional<Bottleneck> atomics(const Diagnosis& d) {
  const double instructions = d.profile.metric("atomics");
  const double share = share_of_instructions(d, "atomics");
  const bool of_shared = d.profile.metric("sm__sass_inst_executed_op_shared_atom.sum") > 0.5 * instructions;
  const double waits = of_shared && sampled(d) ? stall_share(d, kShared) : waits_for_memory(d);
  return cause(d, counted(d) && share >= kManySlow, "atomics",
               format_g(instructions) + " atomic instructions a call, " + format_share(share) + " of all, mostly on " +
                   (of_shared ? "shared" : "global") + " memory; " + format_share(waits) + " of the warps wait for it",
               amdahl(waits, kInfinity),
               {.count = "atomics", .states = of_shared ? kShared : kMemoryWaits, .opcodes = kAtomics});
}

std::optional<Bottleneck> double_precision(const Diagnosis& d) {
  const double share = d.profile.metric("fp64_share");
  const double pipe = d.profile.metric("pipe_fp64");
  return cause(
      d, counted(d) && !d.has_doubles && share >= kManyDoubles, "double-precision",
      format_share(share) + " of the instructions compute in double precision" +
          (std::isfinite(pipe) ? ", whose pipe is busy for " + format_share(pipe) + " of the active cycles" : "") +
          ", and no tensor of the contract is f64",
      amdahl(std::fmax(share, pipe), kDoubleCost), {.states = {"math_pipe_throttle", "wait", "selected"}});
}

// Counted from the equations, work is floating point: integers are addresses, indices and divisions of them.
std::optional<Bottleneck> integer_arithmetic(const Diagnosis& d) {
  const double share = d.profile.metric("integer_share");
  const double used = std::fmax(d.profile.metric("issue_utilisation"), d.profile.metric("pipe_alu"));
  const double conversions = d.profile.metric("conversion_share");
  return cause(
      d, counted(d) && share >= kMostly && used >= kHighlyUsed, "integer-arithmetic",
      format_share(share) + " of the instructions are on integers, with the issue slots or their pipe used at " +
          format_share(used) +
          (conversions >= kManySlow ? "; conversions to and from floating point, as integer division has them, are " +
                                          format_share(conversions)
                                    : ""),
      amdahl(share * used, kInfinity), {.states = {"selected", "not_selected", "math_pipe_throttle", "wait"}});
}

// A warp's load of a constant takes one request for each address. Every kernel loads its arguments, in some requests
// that other instructions share: only where their cache is busy do they take time.
std::optional<Bottleneck> constant_serialisation(const Diagnosis& d) {
  const double requests = d.profile.metric("requests_per_constant_load");
  const double used = d.profile.metric("pipe_constant");
  const double share = share_of_instructions(d, "constant_loads");
  const double waits =
      sampled(d) ? 1 - stall_share(d, {"selected", "not_selected", "barrier"}) - waits_for_memory(d) : 1.0;
  const bool busy = used >= kHighlyUsed || (used >= kHighlyUsed / 2 && requests >= 2);
  return cause(d, counted(d) && share >= kManySlow && busy && waits >= kStallShare, "constant-serialisation",
               format_share(share) + " of the instructions load constants at computed addresses, with " +
                   format_g(requests, 3) + " requests each; their cache is busy for " + format_share(used) +
                   " of the time",
               amdahl(waits, std::fmax(requests, kLanes / 2)),
               {.states = {"short_scoreboard", "mio_throttle", "imc_miss", "wait"}, .opcodes = {"LDC"}});
}

std::optional<Bottleneck> instruction_fetch_stalls(const Diagnosis& d) {
  return own_wait(d, "instruction-fetch-stalls", "no_instruction",
                  "wait for their next instruction: the code that runs is larger than the instruction caches");
}

std::optional<Bottleneck> fence_stalls(const Diagnosis& d) {
  return own_wait(d, "fence-stalls", "membar", "wait at a memory fence");
}

std::optional<Bottleneck> sleeping_warps(const Diagnosis& d) {
  return own_wait(d, "sleeping-warps", "sleeping", "sleep");
}

std::optional<Bottleneck> uneven_warps(const Diagnosis& d) {
  const double share = stall_share(d, {"barrier"});
  const double wait = d.profile.metric("barrier_wait");
  const double barrier = 1e9 * roof_value(d.profile, "barrier");
  // Warps whose memory comes late wait as long, without being uneven.
  return cause(d,
               counted(d) && share >= kStallShare && busiest_unit(d) < kHighlyUsed && wait >= kLongWait * barrier &&
                   share > 2 * stall_share(d, kGlobal),
               "uneven-warps",
               format_share(share) + " of the samples wait at a block barrier, " + format_ns(wait) +
                   " at each where the barrier itself takes " + format_ns(barrier) +
                   ": some warps of a block have more to do than others",
               amdahl(share, kInfinity), {.states = {"barrier"}});
}

}  // namespace apo
