// harness/loop/export/dispatch_header_text.h - the parts of a dispatch header that are the same for every table.
#pragma once

namespace apo {

// Before the arithmetic: types. After Axes and the constants kMostLaunches, kMostScratch and kMostConstants.
inline constexpr const char* kDispatchTypes = R"text(
// The device at hand; kDevices has those on which rows were measured.
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
  std::string_view devices;         // that it can serve; for people, too
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
// The row was measured 3: on this device, 2: on another of its model, 1: on another model, 0: nowhere.
constexpr int nearness(const Evidence& evidence, const Device& device) {
  return !evidence.measured                                      ? 0
         : !device.id.empty() && evidence.device_id == device.id ? 3
         : evidence.device == device.model                       ? 2
                                                                 : 1;
}
}  // namespace detail

// Whether the row was measured on a device of this model; where it was says choice.evidence.statement.
constexpr bool measured_on(const Choice& choice, const Device& device) {
  return detail::nearness(choice.evidence, device) >= 2;
}

// nullptr for a device that is not here.
constexpr const Device* find_device(std::string_view id_or_model) {
  for (const Device& device : kDevices) {
    if (device.id == id_or_model || device.model == id_or_model) {
      return &device;
    }
  }
  return nullptr;
}

// The row that serves these sizes on this device, of several the first of those that were measured nearest to it; or
// nullptr: nothing here is known to be right for them.
constexpr const Choice* find(const Axes& axes, const Device& device@DEFAULT@) {
  for (int near = 3; near >= 0; --near) {
    for (const Choice& row : kTable) {
      if (detail::nearness(row.evidence, device) == near && row.serves(axes, device) && row.plan(axes, device).valid) {
        return &row;
      }
    }
  }
  return nullptr;
}

#if defined(__cpp_exceptions)
// The same; throws std::invalid_argument that names the sizes, what is there, and how to add to it.
inline const Choice& choose(const Axes& axes, const Device& device@DEFAULT@) {
  const Choice* found = find(axes, device);
  if (found != nullptr) {
    return *found;
  }
  std::string message = "no kernel of " + std::string(kFamily) + " is known for " + detail::describe(axes) +
                        " on device '" + std::string(device.model) +
                        "', compute_capability=" + std::to_string(device.compute_capability) + "; there are:";
  for (const Choice& row : kTable) {
    message += "\n  " + std::string(row.workload_class.empty() ? "fallback" : row.workload_class) + ", " +
               std::string(row.evidence.statement) + ", for " + std::string(row.devices) + ": " +
               std::string(row.region) + " (" + std::string(row.variant) + ")";
  }
  message += "\n'apo run " + std::string(kFamily) + " --workload NAME' measures more sizes; of 'apo export', " +
             "--on-this-device judges the rows on the device where it runs, and --fallback VARIANT serves what was "
             "not measured";
  throw std::invalid_argument(message);
}
#endif
)text";

}  // namespace apo
