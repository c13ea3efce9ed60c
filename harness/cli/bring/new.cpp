// harness/cli/bring/new.cpp - `apo new`: the first two files of a family, and what to do with them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/implement/variant/metadata_block.h"
#include "harness/loop/contract/skeleton.h"
#include "harness/loop/workspace/workspace.h"
#include "kernels/family.h"

namespace apo {
namespace {

// A family that was registered here may be written anew; registering it tells what changed.
void check_name(const std::string& name, const Paths& paths) {
  if (is_cpp_keyword(name)) {
    throw UserError(fmt::format("'{}' is a C++ keyword, and the functions of a family have its name", name),
                    fmt::format("choose another name, such as {}_values", name));
  }
  if (find_family(name) != nullptr && !std::filesystem::exists(paths.families / name)) {
    throw UserError(fmt::format("the program has a family '{}' already", name),
                    "choose another name; 'apo list' shows all families");
  }
}

int write_family(const SkeletonRequest& request, const Globals& globals) {
  check_name(request.name, make_paths(globals.journal));
  const Skeleton skeleton = write_skeleton(request);
  const std::string family = request.name + ".h";
  const std::string variant = request.name + "_simple.cpp";
  for (const std::string& file : {family, variant}) {
    if (!is_absent(file)) {
      throw UserError("'" + file + "' is there already", "choose another name, or move the file away");
    }
  }
  write_files_atomically(
      {{.path = family, .contents = skeleton.family_file}, {.path = variant, .contents = skeleton.variant_file}});
  const std::vector<std::string> next = {"apo register " + family, "apo register " + variant,
                                         "apo run " + request.name};
  print_answer(
      globals, {{"family", family}, {"variant", variant}, {"next", next}},
      fmt::format("{}: the operation, once over a number type; it copies until you write what it computes\n"
                  "{}: a first variant; make it compute the same\n\nthen:\n  {}   checks the family and adds it\n"
                  "  {}   checks the variant and adds it\n  {}   improves it\n",
                  family, variant, next[0], next[1], next[2]));
  return kDone;
}

}  // namespace

Action define_new(CLI::App& app, Globals& globals) {
  const auto request = std::make_shared<SkeletonRequest>();
  app.add_option("name", request->name, "of the family, e.g. row_softmax")->required();
  app.add_option("--axis", request->axes, "an axis and its range, e.g. 'rows 1..65536'; once for each")
      ->allow_extra_args(false);
  app.add_option("--scalar", request->scalars, "e.g. 'eps f32 1e-6'")->allow_extra_args(false);
  app.add_option("--input", request->inputs, "e.g. 'x f32[rows,cols] normal'")->allow_extra_args(false);
  app.add_option("--output", request->outputs, "e.g. 'y f32[rows,cols]'")->allow_extra_args(false);
  return [request, &globals] { return write_family(*request, globals); };
}

}  // namespace apo
