// harness/core/bare_source.h - a source without what no compiler sees, to tell whether two texts are the same program.
#pragma once

#include <string>
#include <string_view>

namespace apo {

// Without comments, blanks between other characters than letters and digits, and blank lines; of C++ or CUDA also
// without the ends of lines outside of the preprocessor's. Lines of the metadata block that say how a variant is
// launched and compiled stay; those that describe it (variant, technique, idea, parent, predict) do not. A guess by
// the text alone: raw strings count as strings.
std::string bare_source(std::string_view source, bool python);

}  // namespace apo
