// harness/implement/build_record.cpp - writes and reads a build as JSON.
#include "harness/implement/build_record.h"

#include <nlohmann/json.hpp>

#include "harness/core/system/files.h"

namespace apo {

std::string record_of(const Build& build, const std::string& built_for) {
  return nlohmann::json{{"built_for", built_for},
                        {"object_hash", build.object_hash},
                        {"code_hash", build.code_hash},
                        {"flags", build.flags},
                        {"compiler", build.toolchain.compiler},
                        {"compiler_version", build.toolchain.version},
                        {"resources", build.resources},
                        {"seconds", build.seconds}}
      .dump();
}

Build recorded_build(const CacheEntry& entry, const std::string& key, const std::string& object,
                     const std::string& log) {
  const auto info = nlohmann::json::parse(entry.info);
  Build build;
  build.key = key;
  build.object_path = (entry.folder / object).string();
  build.object_hash = info.at("object_hash");
  build.code_hash = info.at("code_hash");
  build.flags = info.at("flags").get<std::vector<std::string>>();
  build.toolchain = {.compiler = info.at("compiler"), .version = info.at("compiler_version")};
  build.log = read_file(entry.folder / log);
  build.seconds = info.at("seconds");
  build.from_cache = true;
  build.resources = info.at("resources").get<std::map<std::string, std::int64_t>>();
  return build;
}

}  // namespace apo
