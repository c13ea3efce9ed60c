// harness/implement/variant/settings.h - the tunables of a variant and the values of its expressions on a workload.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/expression/expression.h"
#include "harness/core/records/records.h"

namespace apo {

// `given` with the defaults filled in, toggles that are off too. Throws UserError for an unknown tunable or a value
// that is not in its list.
Settings resolve_settings(const Variant& variant, const Settings& given);

// The variant as `settings` make it, which may leave out defaults: with the techniques of the toggles that are on and
// the one value of each toggle, with those launches and scratch buffers alone whose `when` holds, and with such tuned
// flags among its flags.
Variant as_set(const Variant& variant, const Settings& settings);
// The names in braces of the flag's text.
std::vector<std::string> tunables_in(const TunedFlag& flag);

// The symbols that the expressions of `variant` may use: axes, tunables, and on cuda the facts of the device.
std::vector<std::string> symbol_names(const Family& family, const Variant& variant);
// Facts of the device that expressions see on target cuda: SMS multiprocessors, SHARED_MAX bytes of shared memory and
// MAX_THREADS threads that one block may have.
const std::vector<std::string>& device_fact_names();
Symbols device_symbols(const DeviceFacts& facts);
// Axes, tunables (with their defaults) and device facts together.
Symbols expression_symbols(const Variant& variant, const Axes& axes, const Settings& settings, const Symbols& device);

// Returns whether apo:requires holds and each apo:scratch has a size. If not, `why` (unless null) gets one sentence.
// `device` holds the device's facts on target cuda. Throws UserError when axes or settings are not those of the family
// and the variant.
bool supports(const Variant& variant, const Family& family, const Axes& axes, const Settings& settings,
              std::string* why = nullptr, const Symbols& device = {});
// Bytes of each apo:scratch buffer, in order. Throws ExpressionError where one is negative or too large.
std::vector<std::int64_t> scratch_bytes(const Variant& variant, const Axes& axes, const Settings& settings,
                                        const Symbols& device = {});

}  // namespace apo
