// dispatch/planner.cpp - prints what a dispatch table answers. dispatch/table.cpp compiles it against the header of the
// table, as E88_LM_HEADER with the namespace E88_LM_TABLE, and reads the lines.
//
//   planner ID MODEL COMPUTE_CAPABILITY SMS SHARED_MAX MAX_THREADS AXIS...
#include E88_LM_HEADER

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace table = E88_LM_TABLE;

namespace {

template <std::size_t... at>
table::Axes axes_from(char** values, std::index_sequence<at...>) {
  return {std::atoll(values[at])...};
}

void print(const table::Launch& launch) {
  std::printf("launch %.*s", static_cast<int>(launch.kernel.size()), launch.kernel.data());
  for (const auto& sizes : {launch.grid, launch.block, launch.cluster}) {
    for (const std::int64_t size : sizes) {
      std::printf(" %lld", static_cast<long long>(size));
    }
  }
  std::printf(" %lld %d %lld\n", static_cast<long long>(launch.shared_bytes), launch.cooperative ? 1 : 0,
              static_cast<long long>(launch.l2_persist));
}

void print(const table::Choice& choice, const table::Plan& plan) {
  std::printf("variant %s\n", std::string(choice.variant).c_str());
  std::printf("source %s/%s\n", std::string(choice.source_folder).c_str(), std::string(choice.source_file).c_str());
  for (const table::Value& constant : plan.constants) {
    std::printf("constant %s=%lld\n", std::string(constant.name).c_str(), static_cast<long long>(constant.value));
  }
  for (const table::Value& buffer : plan.scratch) {
    std::printf("scratch %lld\n", static_cast<long long>(buffer.value));
  }
  for (const table::Launch& launch : plan.launches) {
    print(launch);
  }
}

}  // namespace

int main(int, char** arguments) {
  constexpr std::size_t kAxes = sizeof(table::Axes) / sizeof(std::int64_t);
  try {
    const table::Axes axes = axes_from(arguments + 7, std::make_index_sequence<kAxes>());
    const table::Device device = {arguments[1],
                                  arguments[2],
                                  std::atoll(arguments[3]),
                                  std::atoll(arguments[4]),
                                  std::atoll(arguments[5]),
                                  std::atoll(arguments[6])};
    const table::Choice& choice = table::choose(axes, device);
    print(choice, choice.plan(axes, device));
  } catch (const std::exception& error) {
    std::printf("refused %s", error.what());  // its lines end themselves
  }
}
