// tests/loop/fleet/served_worker.cpp - starts it in the folders of tests.
#include "tests/loop/fleet/served_worker.h"

#include <algorithm>
#include <chrono>

#include "harness/core/stopwatch.h"
#include "harness/implement/variant/metadata.h"

namespace apo::testing {
namespace {

TaskSide shipped(const std::string& name) {
  const Variant variant = load_variant(APO_SOURCE_FOLDER "/variants/copy/" + name + ".cpp",
                                       {std::filesystem::path(APO_SOURCE_FOLDER) / "variants"});
  return {{variant.id(), default_settings(variant)}, variant.source_hash};
}

}  // namespace

std::string worker_command(const TemporaryFolder& folder, const std::string& filter, const std::string& cache) {
  const std::string environment = "APO_HOME=" APO_SOURCE_FOLDER " APO_CACHE=" + cache +
                                  " TMPDIR=" + folder.path().string() + " XDG_RUNTIME_DIR=" + folder.path().string() +
                                  " ";
  const std::string worker = APO_PROGRAM " worker --serve --target host";
  return environment + (filter.empty() ? "exec " + worker : worker + " | " + filter);
}

Task copy_task(std::int64_t id, const std::string& candidate) {
  return {.id = id,
          .campaign = 1,
          .policy = {.family = "copy",
                     .workload_class = "small",
                     .workloads = {"n4k"},
                     .cache_policy = CachePolicy::warm,
                     .judge_preset = "standard",
                     .seed = 42},
          .candidate = shipped(candidate),
          .incumbent = shipped("simple"),
          .prediction = {},
          .index = 3,
          .floor = {}};
}

Task copy_task(std::int64_t id, const Variant& candidate) {
  Task task = copy_task(id, "simple");
  task.candidate = {{candidate.id(), {}}, candidate.source_hash};
  return task;
}

Variant new_variant() {
  const std::string text =
      "// apo:idea  The last element first.\n"
      "#include \"copy.args.h\"\n"
      "void copy(const float* x, float* y, int64_t n) {\n"
      "  for (int64_t i = n; i-- > 0;) y[i] = x[i];\n"
      "}\n";
  return parse_variant(text, "backwards.cpp", {}, {.family = "copy", .name = "backwards"});
}

std::optional<Message> ServedWorker::next(const std::vector<std::string>& types, double patience_s) {
  const auto start = std::chrono::steady_clock::now();
  do {
    const auto found = std::ranges::find_if(heard_, [&](const Message& message) {
      return std::ranges::find(types, message.at("type").get<std::string>()) != types.end();
    });
    if (found != heard_.end()) {
      const Message message = *found;
      heard_.erase(heard_.begin(), found + 1);
      return message;
    }
    heard_.clear();
    Connection::wait({&connection_}, std::chrono::milliseconds(100));
    for (const std::string& line : connection_.move()) {
      heard_.push_back(Message::parse(line));
    }
  } while ((!connection_.is_over() || !heard_.empty()) && seconds_since(start) < patience_s);
  return std::nullopt;
}

bool ServedWorker::ends_within(double seconds) {
  next({"nothing"}, seconds);
  return connection_.is_over();
}

}  // namespace apo::testing
