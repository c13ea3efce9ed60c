// harness/implement/variant/cpp_keywords.h - the words that no generated C++ can use as a name.
#pragma once

#include <string_view>

namespace apo {

bool is_cpp_keyword(std::string_view word);  // of C++20

}  // namespace apo
