// harness/loop/space/kept_space.cpp - checks that the file holds configurations of this very space.
#include "harness/loop/space/kept_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr const char* kAnother = "name another file with --output, or delete this one";

void check_same(const std::string& path, const std::string& what, const std::string& kept, const std::string& asked) {
  if (kept != asked) {
    throw UserError(fmt::format("{} holds a space of {} '{}', and '{}' was asked for", path, what, kept, asked),
                    kAnother);
  }
}

void check_origin(const std::string& path, const T4File& file, const T4Origin& asked) {
  if (!file.origin) {
    throw UserError(path + " was written by another program, and only apo's own files are gone on with", kAnother);
  }
  check_same(path, "variant", file.origin->variant, asked.variant);
  check_same(path, "workload", file.origin->workload, asked.workload);
  check_same(path, "machine", file.origin->machine, asked.machine);
  check_same(path, "caches", file.origin->cache, asked.cache);
  if (file.origin->source_hash != asked.source_hash) {
    throw UserError(path + " holds a space of another text of " + asked.variant, kAnother);
  }
}

std::vector<std::string> names_of(const Variant& variant) {
  std::vector<std::string> names;
  for (const Tunable& tunable : variant.tunables) {
    names.push_back(tunable.name);
  }
  return names;
}

void check_configuration(const std::string& path, const T4Configuration& configuration, const Variant& variant,
                         const std::vector<Settings>& legal) {
  const std::vector<std::string> names = names_of(variant);
  Settings settings;
  for (const auto& [name, value] : configuration) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (std::ranges::find(names, name) == names.end() || number == nullptr) {
      throw UserError(fmt::format("{}: {} has no tunable '{}' with such a value, in the result {}", path, variant.id(),
                                  name, to_text(configuration)),
                      did_you_mean(name, names) + "\n" + kAnother);
    }
    settings[name] = *number;
  }
  if (std::ranges::find(legal, settings) == legal.end()) {
    throw UserError(fmt::format("{}: {} is no legal configuration of {}", path, to_text(configuration), variant.id()),
                    kAnother);
  }
}

}  // namespace

T4File kept_space(const std::filesystem::path& path, const T4Origin& origin, const Variant& variant,
                  const std::vector<Settings>& legal) {
  check_writable(path);
  if (is_absent(path)) {
    return {.origin = origin, .results = {}};
  }
  T4File file = read_t4(path);
  check_origin(path.string(), file, origin);
  for (const T4Result& result : file.results) {
    check_configuration(path.string(), result.configuration, variant, legal);
  }
  return file;
}

}  // namespace apo
