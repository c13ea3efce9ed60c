// harness/loop/export/dispatch_header_text.h - the parts of a dispatch header that are the same for every table.
#pragma once

namespace apo {

// Before the arithmetic: types. After Axes and the constants kMostLaunches, kMostScratch and kMostConstants.
inline constexpr const char* kDispatchTypes = R"text(
// The device at hand. Devices that are not in kDevices are served as the first of kDevices that has the same model.
struct Device {
  std::string_view id;                  // "GPU-..." as the driver says it; may be empty
  std::string_view model;               // cudaDeviceProp::name
  std::int64_t compute_capability = 0;  // 90 for sm_90; 0 on a CPU
  std::int64_t sms = 0;                 // multiprocessors
  std::int64_t shared_max = 0;          // bytes of shared memory that one block may opt in to
  std::int64_t max_threads = 0;         // of one block
};

struct Value {
  std::string_view name;
  std::int64_t value = 0;
};

// One kernel to launch: the arguments of cuLaunchKernelEx.
struct Launch {
  std::string_view kernel;
  std::array<std::int64_t, 3> grid{{1, 1, 1}};
  std::array<std::int64_t, 3> block{{1, 1, 1}};
  std::array<std::int64_t, 3> cluster{{1, 1, 1}};
  std::int64_t shared_bytes = 0;  // dynamic
  bool cooperative = false;
  std::int64_t l2_persist = 0;  // which pointer of the argument struct to keep in L2, from 1; 0 = none
};

template <class Item, std::size_t most>
struct Some {
  std::array<Item, most> items{};
  std::size_t count = 0;
  constexpr const Item* begin() const { return items.data(); }
  constexpr const Item* end() const { return items.data() + count; }
  constexpr const Item& operator[](std::size_t index) const { return items[index]; }
  constexpr std::size_t size() const { return count; }
  constexpr void add(const Item& item) { items[count++] = item; }
};

// How a row is called for one size on one device.
struct Plan {
  bool valid = false;                          // every expression has a value and every launch fits the device
  Some<Launch, kMostLaunches> launches;        // in this order
  Some<Value, kMostScratch> scratch;           // bytes of each scratch buffer, in the order of the argument struct
  Some<Value, kMostConstants> constants;       // what the source is compiled with, as -DAPO_<name>=<value>
};

struct List {  // of text
  const std::string_view* first = nullptr;
  std::size_t count = 0;
  constexpr const std::string_view* begin() const { return first; }
  constexpr const std::string_view* end() const { return first + count; }
};

// A ratio of times: > 1 is faster.
struct Speedup {
  double ratio = 0;
  double lower = 0;
  double upper = 0;
  int rounds = 0;          // fresh processes
  std::string_view over;   // what it was measured against
  std::string_view cache;  // "cold" or "warm"
};

struct Evidence {
  bool measured = false;
  std::string_view statement;
  std::int64_t experiment = 0;  // in the journal
  std::int64_t campaign = 0;
  Speedup speedup;                             // over the incumbent before it
  Some<Speedup, 2> certified;                  // over the baseline of its campaign
  List workloads;                              // measured
  std::string_view device, device_id, driver;  // where
  std::string_view compiler, compiler_flags, code_hash;
  std::string_view judge;  // version of the judge's rule
  std::string_view at;     // UTC
};

struct Choice {
  std::string_view variant;
  std::string_view workload_class;  // empty for a fallback
  std::string_view region;          // for people; `plan` and `serves` are what counts
  std::size_t device = 0;           // in kDevices
  const Value* settings = nullptr;  // the tunables
  std::size_t setting_count = 0;
  std::string_view source_file, source_hash, source_folder;
  Evidence evidence;
  bool (*serves)(const Axes&, const Device&) = nullptr;
  Plan (*plan)(const Axes&, const Device&) = nullptr;
};

)text";

inline constexpr const char* kDispatchFits = R"text(
constexpr std::int64_t take(Number a, bool& valid) {
  valid = valid && a.known;
  return a.value;
}
constexpr bool within(std::int64_t value, std::int64_t least, std::int64_t most) {
  return value >= least && value <= most;
}
constexpr bool fits(const Launch& launch, const Device& device, std::int64_t static_shared, std::int64_t pointers) {
  std::int64_t clusters = 1, threads = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t cluster = launch.cluster[i];
    if (!within(launch.grid[i], 1, i == 0 ? 2147483647 : 65535) || !within(cluster, 1, 16) ||
        launch.grid[i] % cluster != 0 || !within(launch.block[i], 1, i == 2 ? 64 : device.max_threads)) {
      return false;
    }
    clusters *= cluster;
    threads *= launch.block[i];
  }
  return clusters <= 16 && (clusters == 1 || device.compute_capability >= 90) && threads <= device.max_threads &&
         launch.shared_bytes >= 0 && launch.shared_bytes + static_shared <= device.shared_max &&
         within(launch.l2_persist, 0, pointers);
}
)text";

// After kDevices, kDeviceCount, kTable and kRowCount.
inline constexpr const char* kDispatchSearch = R"text(
namespace detail {
constexpr bool serves_device(const Choice& choice, const Device& device) {
  for (std::size_t i = 0; i < kDeviceCount; ++i) {
    if (!device.id.empty() && kDevices[i].id == device.id) {
      return choice.device == i;
    }
  }
  for (std::size_t i = 0; i < kDeviceCount; ++i) {
    if (kDevices[i].model == device.model) {
      return choice.device == i;
    }
  }
  return false;
}
}  // namespace detail

// nullptr for a device that is not here.
constexpr const Device* find_device(std::string_view id_or_model) {
  for (std::size_t i = 0; i < kDeviceCount; ++i) {
    if (kDevices[i].id == id_or_model || kDevices[i].model == id_or_model) {
      return &kDevices[i];
    }
  }
  return nullptr;
}

// The first row that serves these sizes, or nullptr: nothing here is known to be right for them.
constexpr const Choice* find(const Axes& axes, const Device& device@DEFAULT@) {
  for (std::size_t i = 0; i < kRowCount; ++i) {
    if (detail::serves_device(kTable[i], device) && kTable[i].serves(axes, device) &&
        kTable[i].plan(axes, device).valid) {
      return &kTable[i];
    }
  }
  return nullptr;
}

#if defined(__cpp_exceptions)
// The same; throws std::invalid_argument that names the sizes and what is supported.
inline const Choice& choose(const Axes& axes, const Device& device@DEFAULT@) {
  const Choice* found = find(axes, device);
  if (found != nullptr) {
    return *found;
  }
  std::string message = "no kernel of " + std::string(kFamily) + " is known for " + detail::describe(axes) +
                        " on device '" + std::string(device.model) + "'; supported:";
  for (const Choice& row : kTable) {
    message += "\n  " + std::string(row.workload_class.empty() ? "fallback" : row.workload_class) + " on '" +
               std::string(kDevices[row.device].model) + "': " + std::string(row.region) + " (" +
               std::string(row.variant) + ")";
  }
  throw std::invalid_argument(message);
}
#endif
)text";

}  // namespace apo
