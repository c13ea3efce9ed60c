// harness/implement/variant/metadata_block.h - finds the lines of the metadata block in a source file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace apo {

struct BlockLine {
  int number = 0;  // in the file, from 1
  std::string key;
  std::string value;  // trimmed, never empty
};

// The block is every `// apo:KEY VALUE` (in Python `# apo:KEY VALUE`) among the comments and blank lines that precede
// the first line of code. Empty for a file without one. Throws UserError for a file that is not text, has a malformed
// line in it or an apo: line after it.
std::vector<BlockLine> read_block(std::string_view source, const std::string& path);

// Throws UserError "path:line: what".
[[noreturn]] void block_error(const std::string& path, int line, const std::string& what, const std::string& hint);

}  // namespace apo
