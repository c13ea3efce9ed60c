// harness/core/bare_source.cpp - makes one pass over the letters, aware of strings and comments.
#include "harness/core/bare_source.h"

#include "harness/core/text.h"

namespace apo {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// A comment of the block that the harness obeys.
bool is_obeyed(std::string_view comment) {
  const std::size_t at = comment.find("apo:");
  if (at == std::string_view::npos) {
    return false;
  }
  const std::string_view key = comment.substr(at + 4);
  for (const std::string_view describes : {"variant", "technique", "idea", "parent", "predict"}) {
    if (key.starts_with(describes)) {
      return false;
    }
  }
  return true;
}

class Reader {
 public:
  Reader(std::string_view source, bool python) : source_(source), python_(python) {}

  std::string read() {
    while (at_ < source_.size()) {
      step();
    }
    return bare_;
  }

 private:
  char next() const { return at_ + 1 < source_.size() ? source_[at_ + 1] : '\0'; }
  std::size_t end_of_line(std::size_t from) const { return std::min(source_.find('\n', from), source_.size()); }

  void step() {
    const char c = source_[at_];
    const bool line_comment = python_ ? c == '#' : c == '/' && next() == '/';
    if (line_comment) {
      skip_line_comment();
    } else if (!python_ && c == '/' && next() == '*') {
      const std::size_t end = source_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? source_.size() : end + 2;
      blank_ = true;
    } else if (c == '\n') {
      end_line();
    } else if (is_blank(c)) {
      blank_ = true;
      ++at_;
    } else {
      code(c);
    }
  }

  void skip_line_comment() {
    const std::size_t end = end_of_line(at_);
    const std::string_view comment = source_.substr(at_, end - at_);
    if (is_obeyed(comment)) {
      bare_ += "\n" + join(split_words(comment), " ") + "\n";
    }
    at_ = end;
  }

  // Line ends are significant for the preprocessor and for Python.
  void end_line() {
    ++at_;
    if ((python_ || directive_) && !bare_.empty() && bare_.back() != '\n') {
      bare_ += '\n';
    }
    blank_ = true;
    directive_ = false;
    line_begins_ = true;
  }

  void code(char c) {
    if (!python_ && line_begins_ && c == '#') {
      directive_ = true;
      bare_ += '\n';
    }
    if (python_ && line_begins_) {
      const std::size_t begin = source_.rfind('\n', at_) == std::string_view::npos ? 0 : source_.rfind('\n', at_) + 1;
      bare_ += source_.substr(begin, at_ - begin);
    } else if (blank_ && !bare_.empty() && bare_.back() != '\n' &&
               is_letter_of_word(bare_.back()) == is_letter_of_word(c)) {
      bare_ += ' ';  // "return x", "a + +b"
    }
    line_begins_ = false;
    blank_ = false;
    c == '"' || c == '\'' ? quoted(c) : one(c);
  }

  void one(char c) {
    bare_ += c;
    ++at_;
  }

  void quoted(char quote) {
    one(quote);
    while (at_ < source_.size() && source_[at_] != quote && source_[at_] != '\n') {
      if (source_[at_] == '\\') {
        one(source_[at_]);
      }
      if (at_ < source_.size()) {
        one(source_[at_]);
      }
    }
    if (at_ < source_.size() && source_[at_] == quote) {
      one(quote);
    }
  }

  std::string_view source_;
  bool python_;
  std::size_t at_ = 0;
  std::string bare_;
  bool blank_ = false;       // since the last character
  bool directive_ = false;   // this line is the preprocessor's
  bool line_begins_ = true;  // nothing but blanks so far
};

}  // namespace

std::string bare_source(std::string_view source, bool python) {
  return Reader(source, python).read();
}

}  // namespace apo
