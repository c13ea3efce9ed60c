// harness/implement/variant/metadata_block.h - finds the lines of the metadata block in a source file, and has each key
// read its lines.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace apo {

// Throws UserError "path:line: what".
[[noreturn]] void block_error(const std::string& path, int line, const std::string& what, const std::string& hint);

struct BlockLine {
  std::string path;  // of the file
  int number = 0;    // in the file, from 1
  std::string key;
  std::string value;  // trimmed, never empty

  [[noreturn]] void fail(const std::string& what, const std::string& hint) const {
    block_error(path, number, what, hint);
  }
};

// The block is every `// apo:KEY VALUE` (in Python `# apo:KEY VALUE`) among the comments and blank lines that precede
// the first line of code. Empty for a file without one. Throws UserError for a file that is not text, has a malformed
// line in it or an apo: line after it.
std::vector<BlockLine> read_block(std::string_view source, const std::string& path);

// A key, and what a line of it says about the record that the block describes.
template <class Record>
struct BlockKey {
  std::string_view name;
  bool repeatable;
  void (*read)(Record&, const BlockLine&);
};

// Throws UserError for a line of a key that is none of `known`, or that is repeated and none of `repeatable`.
void check_keys(const std::vector<BlockLine>& block, const std::vector<std::string>& known,
                const std::vector<std::string>& repeatable);

// Reads the lines in their order.
template <class Record>
void read_lines(Record& record, const std::vector<BlockLine>& block, std::span<const BlockKey<Record>> keys) {
  std::vector<std::string> known;
  std::vector<std::string> repeatable;
  for (const BlockKey<Record>& key : keys) {
    (key.repeatable ? repeatable : known).emplace_back(key.name);
  }
  known.insert(known.end(), repeatable.begin(), repeatable.end());
  check_keys(block, known, repeatable);
  for (const BlockLine& line : block) {
    std::ranges::find(keys, line.key, &BlockKey<Record>::name)->read(record, line);
  }
}

bool is_cpp_keyword(std::string_view word);  // of C++20
// An identifier of at most 64 characters.
bool is_short_name(std::string_view text);

}  // namespace apo
