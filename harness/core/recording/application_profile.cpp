// harness/core/recording/application_profile.cpp - names of the records of an application, and its idle share.
#include "harness/core/recording/application_profile.h"

#include <limits>

namespace apo {

const char* copy_name(std::int64_t direction) {
  static constexpr std::array<const char*, kDirections> kNames = {
      "memcpy",      "memcpy HtoD", "memcpy DtoH", "memcpy HtoA", "memcpy AtoH", "memcpy AtoA",
      "memcpy AtoD", "memcpy DtoA", "memcpy DtoD", "memcpy HtoH", "memcpy PtoP"};
  return direction >= 0 && direction < kDirections ? kNames[static_cast<std::size_t>(direction)]
                                                   : "memcpy of another kind";
}

double ApplicationSummary::idle_share() const {
  return span_ns > 0 ? 1 - static_cast<double>(busy_ns) / static_cast<double>(span_ns)
                     : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace apo
