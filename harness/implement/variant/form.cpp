// harness/implement/variant/form.cpp - looks for apo_launch in the code of a variant's files.
#include "harness/implement/variant/form.h"

#include <algorithm>
#include <vector>

#include "harness/core/sources.h"
#include "harness/implement/variant/metadata_block.h"

namespace apo {

bool is_device_variant(const Variant& variant) {
  const std::vector<SourceFile> files = all_sources(variant);
  return variant.target == Target::cuda && std::none_of(files.begin(), files.end(), [](const SourceFile& file) {
           return code_uses_word(file.text, "apo_launch");
         });
}

}  // namespace apo
