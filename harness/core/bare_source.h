// harness/core/bare_source.h - strips a source of comments and layout, to compare two texts as programs.
#pragma once

#include <string>
#include <string_view>

namespace apo {

// Removes comments, blank lines, and blanks that do not separate letters or digits. In C++ or CUDA it also joins lines,
// except those of the preprocessor. Lines of the metadata block that say how a variant is
// launched and compiled stay; those that describe it (variant, technique, idea, parent, predict) do not. A guess by
// the text alone: raw strings count as strings.
std::string bare_source(std::string_view source, bool python);

}  // namespace apo
