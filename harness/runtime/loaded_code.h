// harness/runtime/loaded_code.h - checks that the driver loaded the machine code that was built.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/worker/protocol/result.h"

namespace apo {

// The hash of a cubin's machine code; throws where it is none.
using CodeOf = std::function<std::string(std::string_view image)>;

// `images` is what the driver loaded, `built` the file that it was given. Byte for byte the same, or by `code_of`
// (where there is one) the same machine code in another wrapping; anything else, such as code that the driver compiled
// itself from PTX, is Outcome::faulted.
std::optional<Failure> compare_loaded(const std::vector<std::string>& images, std::string_view built,
                                      const CodeOf& code_of);

// Before a device variant is loaded: its file is still the one that the build left. Outcome::faulted when not.
std::optional<Failure> check_object(const Build& build);

}  // namespace apo
