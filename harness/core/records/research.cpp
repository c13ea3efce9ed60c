// harness/core/records/research.cpp - the words of research.
#include "harness/core/records/research.h"

#include "harness/core/words.h"

namespace apo {
namespace {

constexpr Words<BottleneckKind, 4> kKinds = {{{BottleneckKind::cause, "cause"},
                                              {BottleneckKind::limit, "limit"},
                                              {BottleneckKind::remainder, "remainder"},
                                              {BottleneckKind::unknown, "unknown"}}};
constexpr Words<Origin, 3> kOrigins = {
    {{Origin::registered, "registered"}, {Origin::tuning, "tuning"}, {Origin::proposer, "proposer"}}};

}  // namespace

std::string_view to_string(BottleneckKind kind) {
  return word_of(kKinds, kind);
}
BottleneckKind bottleneck_kind_from(std::string_view text) {
  return value_of(kKinds, text).value_or(BottleneckKind::unknown);
}
std::string_view to_string(Origin origin) {
  return word_of(kOrigins, origin);
}
std::optional<Origin> origin_from(std::string_view text) {
  return value_of(kOrigins, text);
}

}  // namespace apo
