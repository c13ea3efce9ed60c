// harness/core/system/c_strings.h - strings as exec and its relatives take them.
#pragma once

#include <string>
#include <vector>

namespace apo {

// Into the strings, with the null that ends the list.
inline std::vector<char*> c_strings(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace apo
