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

// Hashes the machine code of a cubin; throws when it is no cubin.
using CodeOf = std::function<std::string(std::string_view image)>;

// Compares `images`, which the driver loaded, with the file `built`. They must be equal byte for byte, or by `code_of`
// (if set) the same machine code in another wrapping. Anything else, such as code that the driver compiled itself from
// PTX, is Outcome::faulted.
std::optional<Failure> compare_loaded(const std::vector<std::string>& images, std::string_view built,
                                      const CodeOf& code_of);

// Checks, before a device variant is loaded, that its file is still the one that the build left. Outcome::faulted
// otherwise.
std::optional<Failure> check_object(const Build& build);

}  // namespace apo
