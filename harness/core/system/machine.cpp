// harness/core/system/machine.cpp - reads this CPU's facts from the kernel and the identity of a compiler.
#include "harness/core/system/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"

namespace apo {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  return trim(line);
}

std::string cpuinfo_field(const std::string& field) {
  std::ifstream stream("/proc/cpuinfo");
  std::string line;
  while (std::getline(stream, line)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && trim(line.substr(0, colon)) == field) {
      return trim(line.substr(colon + 1));
    }
  }
  return "";
}

// Names the instruction set of a build with -march=native by its widest vectors.
std::string vector_isa(const std::string& flags) {
  const std::string padded = " " + flags + " ";
  for (const auto& [flag, name] : {std::pair{" avx512f ", "avx512"}, {" avx2 ", "avx2"}, {" avx ", "avx"}}) {
    if (padded.find(flag) != std::string::npos) {
      return name;
    }
  }
  return flags.empty() ? "unknown" : "sse2";
}

std::int64_t or_zero(long value) {
  return value > 0 ? value : 0;
}

}  // namespace

std::int64_t physical_memory_bytes() {
  return or_zero(sysconf(_SC_PHYS_PAGES)) * or_zero(sysconf(_SC_PAGESIZE));
}

namespace {

std::int64_t bytes_in_statm(int pid, std::size_t field) {
  std::ifstream stream(fmt::format("/proc/{}/statm", pid));
  std::int64_t pages = 0;
  for (std::size_t i = 0; i <= field; ++i) {
    stream >> pages;
  }
  return pages * sysconf(_SC_PAGESIZE);
}

}  // namespace

std::int64_t address_space(int pid) {
  return bytes_in_statm(pid, 0);
}

std::int64_t data_bytes(int pid) {
  constexpr std::size_t kData = 5;
  return bytes_in_statm(pid, kData);
}

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) {
        cpus.push_back(static_cast<int>(cpu));
      }
    }
  }
  if (cpus.empty()) {
    cpus.push_back(0);
  }
  return cpus;
}

bool allow_cpus(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    CPU_SET(static_cast<std::size_t>(cpu), &set);
  }
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

void ask_for_slices(double seconds) {
  struct {  // sched_attr of Linux; glibc has no name for it
    std::uint32_t size = 48;
    std::uint32_t policy = SCHED_OTHER;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0;
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
  } attributes;
  attributes.nice = getpriority(PRIO_PROCESS, 0);
  attributes.runtime = static_cast<std::uint64_t>(1e9 * seconds);
  syscall(SYS_sched_setattr, 0, &attributes, 0);  // a favour, which older systems do not do
}

OnCpu::OnCpu(int cpu) {
  std::vector<int> before = usable_cpus();
  ask_for_slices(kShortSlice);
  if (allow_cpus({cpu})) {
    before_ = std::move(before);
  }
}

OnCpu::~OnCpu() {
  ask_for_slices(0);
  if (!before_.empty()) {
    allow_cpus(before_);
  }
}

Machine describe_cuda(const DeviceFacts& facts) {
  Machine machine{.target = Target::cuda,
                  .id = facts.uuid,
                  .model = facts.name,
                  .cores = facts.sms,
                  .governor = "the GPU's own",
                  .isa = facts.arch(),
                  .driver = facts.driver,
                  .l2_bytes = facts.l2_bytes,
                  .memory_bytes = facts.memory_bytes};
  utsname names{};
  if (uname(&names) == 0) {
    machine.kernel = names.release;
  }
  machine.facts = {{"threads_per_block", std::to_string(facts.threads_per_block)},
                   {"threads_per_sm", std::to_string(facts.threads_per_sm)},
                   {"blocks_per_sm", std::to_string(facts.blocks_per_sm)},
                   {"shared_per_block", std::to_string(facts.shared_per_block)},
                   {"shared_per_sm", std::to_string(facts.shared_per_sm)},
                   {"registers_per_sm", std::to_string(facts.registers_per_sm)},
                   {"persisting_l2_bytes", std::to_string(facts.persisting_l2_bytes)},
                   {"sm_mhz", std::to_string(facts.sm_mhz)},
                   {"memory_mhz", std::to_string(facts.memory_mhz)}};
  return machine;
}

DeviceFacts device_facts(const Machine& machine) {
  const auto fact = [&](const char* name, std::int64_t unknown = 0) {
    const auto found = machine.facts.find(name);
    return found == machine.facts.end() ? unknown : parse_int(found->second).value_or(unknown);
  };
  const auto small = [&](const char* name) { return static_cast<int>(fact(name)); };
  // Every compute capability so far takes 1024 threads a block; older journals do not repeat it.
  constexpr std::int64_t kThreadsPerBlock = 1024;
  const std::int64_t capability = machine.isa.starts_with("sm_") ? parse_int(machine.isa.substr(3)).value_or(0) : 0;
  return {.name = machine.model,
          .uuid = machine.id,
          .major = static_cast<int>(capability / 10),
          .minor = static_cast<int>(capability % 10),
          .sms = machine.cores,
          .threads_per_block = static_cast<int>(fact("threads_per_block", kThreadsPerBlock)),
          .threads_per_sm = small("threads_per_sm"),
          .blocks_per_sm = small("blocks_per_sm"),
          .shared_per_block = fact("shared_per_block"),
          .shared_per_sm = fact("shared_per_sm"),
          .registers_per_sm = fact("registers_per_sm"),
          .l2_bytes = machine.l2_bytes,
          .persisting_l2_bytes = fact("persisting_l2_bytes"),
          .memory_bytes = machine.memory_bytes,
          .sm_mhz = small("sm_mhz"),
          .memory_mhz = small("memory_mhz"),
          .driver = machine.driver};
}

Machine describe_host() {
  Machine machine;
  utsname names{};
  if (uname(&names) == 0) {
    machine.kernel = names.release;
    machine.facts["architecture"] = names.machine;
  }
  machine.model = cpuinfo_field("model name");
  if (machine.model.empty()) {
    machine.model = "unknown CPU";
  }
  const std::string flags = cpuinfo_field("flags");
  machine.cores = static_cast<int>(usable_cpus().size());
  machine.isa = vector_isa(flags);
  machine.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (machine.governor.empty()) {
    machine.governor = "unknown";
  }
  machine.l2_bytes = or_zero(sysconf(_SC_LEVEL2_CACHE_SIZE));
  machine.l3_bytes = or_zero(sysconf(_SC_LEVEL3_CACHE_SIZE));
  machine.memory_bytes = physical_memory_bytes();
  machine.facts["cpu_family_model_stepping"] =
      cpuinfo_field("cpu family") + "/" + cpuinfo_field("model") + "/" + cpuinfo_field("stepping");
  machine.facts["hypervisor"] = (" " + flags + " ").find(" hypervisor ") != std::string::npos ? "yes" : "no";
  machine.facts["cpu_max"] = first_line("/sys/fs/cgroup/cpu.max");
  // The kernel's version and the governor belong to the fingerprint of a number, not to the identity of the machine:
  // an update of either must not orphan its journal.
  const std::vector<std::string> parts = {machine.model, machine.facts["cpu_family_model_stepping"], flags,
                                          std::to_string(machine.cores), std::to_string(machine.l3_bytes)};
  machine.id = "host-" + sha256_of_parts(parts).substr(0, 12);
  return machine;
}

Toolchain describe_compiler(const std::string& compiler) {
  const auto path = find_program(compiler);
  if (!path) {
    throw EnvironmentError("cannot find the compiler '" + compiler + "'", "sudo apt-get install g++");
  }
  static std::mutex asking;
  static std::map<std::string, std::string> versions;  // each is asked once by a process, which builds a lot
  const std::lock_guard lock(asking);
  if (!versions.contains(*path)) {
    const ProcessResult result = run_process({*path, "--version"});
    if (!result.ok()) {
      throw EnvironmentError("the compiler '" + *path + "' does not answer --version", "sudo apt-get install g++");
    }
    versions[*path] = split(result.output, '\n').front();
  }
  return {.compiler = *path, .version = versions.at(*path)};
}

CpuTicks read_cpu_ticks() {
  std::ifstream stream("/proc/stat");
  std::string name;
  stream >> name;
  CpuTicks ticks;
  // user nice system idle iowait irq softirq steal; guest time is already in user.
  for (int field = 0; field < 8; ++field) {
    std::uint64_t value = 0;
    if (!(stream >> value)) {
      return {};
    }
    ticks.total += value;
    ticks.steal = value;
  }
  return ticks;
}

double steal_percent(const CpuTicks& before, const CpuTicks& after) {
  if (after.total <= before.total || after.steal < before.steal) {
    return 0;
  }
  return 100.0 * static_cast<double>(after.steal - before.steal) / static_cast<double>(after.total - before.total);
}

}  // namespace apo
