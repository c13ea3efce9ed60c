// harness/loop/fleet/task_sources.cpp - looks sources up by their hash, families by their name.
#include "harness/loop/fleet/task_sources.h"

#include <filesystem>

#include "harness/core/error.h"
#include "harness/families/known_families.h"

namespace apo {
namespace {

std::vector<SourceFile> files_of_family(const std::string& name) {
  const FamilyFile* file = find_family_file(name);
  if (file == nullptr) {
    throw UserError("the family " + name + " is a shared object, which is not sent",
                    "give the worker its own: apo worker --serve --families FILE.so");
  }
  std::vector<SourceFile> files = {
      {.name = std::filesystem::path(file->path).filename().string(), .text = file->text, .path = ""}};
  files.insert(files.end(), file->headers.begin(), file->headers.end());
  return files;
}

}  // namespace

Fleet::Sources task_sources(const Workspace& workspace) {
  return {.variant =
              [&workspace](const std::string& hash) {
                const Variant* variant = workspace.catalogue().with_text(hash);
                if (variant == nullptr) {
                  throw UserError("it asked for a source that it was not told of");
                }
                return *variant;
              },
          .family = files_of_family};
}

}  // namespace apo
