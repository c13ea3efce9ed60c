// harness/executor/module.cpp - finds what the object exports, and runs blocks on several CPUs.
#include "harness/executor/module.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "harness/executor/host_call.h"

namespace apo::executor {
namespace {

struct Place {
  std::uintptr_t base = 0;  // in
  Stretch object;
  Stretch variables;
  std::uintptr_t shared = 0;  // this thread's block of thread-local variables
};

int look(dl_phdr_info* info, std::size_t, void* data) {
  Place& place = *static_cast<Place*>(data);
  if (info->dlpi_addr != place.base) {
    return 0;
  }
  place.object = {.begin = info->dlpi_addr, .end = info->dlpi_addr};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) {
      continue;
    }
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    place.object.end = std::max(place.object.end, begin + header.p_memsz);
    if ((header.p_flags & PF_W) != 0) {
      place.variables = {.begin = begin, .end = begin + header.p_memsz};
    }
  }
  place.shared = reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data);
  return 1;
}

Place place_of(void* library) {
  link_map* map = nullptr;
  dlinfo(library, RTLD_DI_LINKMAP, &map);
  Place place{.base = map->l_addr, .object = {}, .variables = {}, .shared = 0};
  dl_iterate_phdr(look, &place);
  return place;
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;  // splitmix64
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// Hands out the blocks of a launch in order, until one of them has failed.
class Queue {
 public:
  explicit Queue(std::uint64_t blocks) : blocks_(blocks) {}
  bool take(std::uint64_t& index) {
    index = next_.fetch_add(1);
    return index < blocks_ && !stop_.load();
  }
  void report(std::uint64_t index, Finding finding) {
    stop_.store(true);
    const std::lock_guard lock(mutex_);
    if (!found_ || index < at_) {
      found_ = std::move(finding);
      at_ = index;
    }
  }
  std::optional<Finding> found() const { return found_; }

 private:
  std::uint64_t blocks_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::optional<Finding> found_;
  std::uint64_t at_ = 0;
};

}  // namespace

template <class Type>
Type Module::find(const std::string& name) const {
  return reinterpret_cast<Type>(dlsym(library_, name.c_str()));
}

std::unique_ptr<Module> Module::open(const std::string& path, std::string& why) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    why = dlerror();
    return nullptr;
  }
  std::unique_ptr<Module> module(new Module(library));
  const auto bind = module->find<unsigned (*)(const apo_cpu::Runtime*)>("apo_cpu_bind");
  if (bind == nullptr || bind(&Block::runtime()) != apo_cpu::kInterface) {
    why = "it was not built for this program's CPU executor";
    return nullptr;
  }
  return module;
}

Module::~Module() {
  dlclose(library_);
}

const char* const* Module::buffer_names() const {
  return find<const char* const*>("apo_cpu_buffers");
}

bool Module::has_kernel(const std::string& kernel) const {
  return find<void*>("apo_cpu_run_" + kernel) != nullptr;
}

bool Module::uses_heap() const {
  return *find<const unsigned char*>("apo_cpu_uses_heap") != 0;
}

std::optional<Finding> Module::call_host(const void* call, GlobalMemory& memory, const Schedule& schedule,
                                         HostAnswer& answer) const {
  std::uint64_t launches = 0;
  HostCall host(memory, [&](const apo_cpu::HostLaunch& asked) {
    return launch({.kernel = asked.kernel,
                   .entry = asked.entry,
                   .arguments = asked.arguments,
                   .grid = asked.grid,
                   .block = asked.block,
                   .shared_bytes = asked.shared_bytes,
                   .cooperative = asked.cooperative},
                  memory, {.seed = schedule.seed + launches++, .cpus = schedule.cpus});
  });
  try {
    answer.code = find<int (*)(const void*)>("apo_launch")(call);
  } catch (const HostCall::Stopped&) {  // the finding says why
  }
  answer.impossible = host.impossible();
  return host.found();
}

SharedPlace Module::shared_place(std::size_t dynamic_bytes) const {
  // The first access to a thread-local variable allocates all of this thread's.
  const auto static_end = find<std::uintptr_t>("apo_cpu_static_end");
  const auto dynamic = find<std::uintptr_t>("apo_cpu_dynamic_shared");
  const auto end = find<std::uintptr_t>("apo_cpu_shared_end");
  const std::uintptr_t begin = place_of(library_).shared;
  return {.begin = begin,
          .static_bytes = static_end - begin,
          .dynamic = dynamic,
          .dynamic_bytes = dynamic_bytes,
          .end = end};
}

std::optional<Finding> Module::launch(KernelCall call, GlobalMemory& memory, const Schedule& schedule) const {
  call.entry = call.entry != nullptr ? call.entry : find<void (*)(const void*)>("apo_cpu_run_" + call.kernel);
  call.loads_seen = *find<const bool*>("apo_cpu_loads_seen");
  const Place place = place_of(library_);
  const std::uint64_t blocks = std::uint64_t{call.grid.x} * call.grid.y * call.grid.z;
  const std::uint64_t threads = blocks * call.block.x * call.block.y * call.block.z;
  if (call.cooperative && threads > apo_cpu::kMostTogether) {
    return Finding{.kind = "not checkable",
                   .sentence = fmt::format("not checkable on the CPU: the cooperative launch of {}, with more than {} "
                                           "threads",
                                           call.kernel, apo_cpu::kMostTogether),
                   .is_mistake = false};
  }
  const std::uint64_t cpus = call.cooperative ? blocks : static_cast<std::uint64_t>(schedule.cpus);
  Queue queue(blocks);
  const auto begin = [&] { memory.begin_launch(blocks, place.variables, uses_heap()); };
  Grid grid(blocks, begin);
  begin();
  LaunchPlace shared{.object = place.object,
                     .constants = {.begin = find<std::uintptr_t>("apo_cpu_constants_begin"),
                                   .end = find<std::uintptr_t>("apo_cpu_constants_end")},
                     .storing = std::vector<Storing>(cpus),
                     .grid = call.cooperative ? &grid : nullptr};
  const auto work = [&](std::size_t cpu) {
    Block block(call, shared_place(call.shared_bytes), shared, cpu, memory);
    for (std::uint64_t i = 0; queue.take(i);) {
      auto finding = block.run(i, mixed(schedule.seed, i));
      const bool is_first = !call.cooperative || grid.leave(finding.has_value());
      if (finding && is_first) {
        queue.report(i, std::move(*finding));
      }
    }
  };
  std::vector<std::jthread> others;
  for (std::uint64_t i = 1; i < std::min(cpus, blocks); ++i) {
    others.emplace_back(work, static_cast<std::size_t>(i));
  }
  work(0);
  others.clear();
  return queue.found();
}

}  // namespace apo::executor
