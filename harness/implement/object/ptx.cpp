// harness/implement/object/ptx.cpp - finds asm statements, parses them, and looks their PTX up; finds launches.
#include "harness/implement/object/ptx.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>
#include <utility>
#include <vector>

#include "harness/core/hash.h"
#include "harness/core/text.h"

namespace apo {
namespace {

struct Equivalent {
  std::string_view ptx;       // blanks squeezed; # stands for a number, which becomes the template's argument
  std::string_view function;  // of apo_cpu::ptx
};

constexpr Equivalent kEquivalents[] = {
    {"cvt.rn.bf16x2.f32 %0, %1, %2;", "cvt_bf16x2"},
    {"cvt.rn.f16x2.f32 %0, %1, %2;", "cvt_f16x2"},
    {"{ .reg .b16 a, b; mov.b32 {a, b}, %1; cvt.f32.f16 %0, a; }", "half_low"},
    {"{ .reg .b16 a, b; mov.b32 {a, b}, %1; cvt.f32.f16 %0, b; }", "half_high"},
    {"tanh.approx.f32 %0, %1;", "tanh_approx"},
    {"ex2.approx.f32 %0, %1;", "ex2_approx"},
    {"ex2.approx.ftz.f32 %0, %1;", "ex2_approx"},
    {"lg2.approx.f32 %0, %1;", "lg2_approx"},
    {"lg2.approx.ftz.f32 %0, %1;", "lg2_approx"},
    {"rcp.approx.f32 %0, %1;", "rcp_approx"},
    {"rcp.approx.ftz.f32 %0, %1;", "rcp_approx"},
    {"rsqrt.approx.f32 %0, %1;", "rsqrt_approx"},
    {"rsqrt.approx.ftz.f32 %0, %1;", "rsqrt_approx"},
    {"sqrt.approx.f32 %0, %1;", "sqrt_approx"},
    {"sqrt.approx.ftz.f32 %0, %1;", "sqrt_approx"},
    {"prefetch.global.L1 [%0];", "prefetch"},
    {"prefetch.global.L2 [%0];", "prefetch"},
    {"createpolicy.fractional.L2::evict_last.b64 %0, 1.0;", "policy"},
    {"createpolicy.fractional.L2::evict_first.b64 %0, 1.0;", "policy"},
    {"st.global.L2::cache_hint.b16 [%0], %1, %2;", "store_b16"},
    {"ld.global.L2::cache_hint.b16 %0, [%1], %2;", "load_b16"},
    {"bar.sync %0, %1;", "bar_sync"},
    {"bar.sync %0, #;", "bar_sync_of"},
    {"cp.async.ca.shared.global [%0], [%1], #;", "cp_async"},
    {"cp.async.cg.shared.global [%0], [%1], #;", "cp_async"},
    {"cp.async.commit_group;", "cp_async_commit"},
    {"cp.async.wait_group %0;", "cp_async_wait"},
    {"cp.async.wait_group #;", "cp_async_wait_for"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
     "{%0, %1, %2, %3};",
     "mma<1>"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
     "{%0, %1, %2, %3};",
     "mma<2>"},
    {"fma.rn.bf16x2 %0, %1, %2, %3;", "fma_bf16x2"},
    {"mbarrier.init.shared::cta.b64 [%0], %1;", "mbarrier_init"},
    {"fence.mbarrier_init.release.cluster;", "mbarrier_publish"},
    {"mbarrier.arrive.shared::cta.b64 _, [%0];", "mbarrier_arrive"},
    {"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;", "mbarrier_expect"},
    {"{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again; }",
     "mbarrier_wait"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];", "bulk_copy"},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];", "ldmatrix_x4<false>"},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];", "ldmatrix_x4<true>"},
};

bool is_decimal(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::string squeezed(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const char plain = std::isspace(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
    if (plain != ' ' || (!result.empty() && result.back() != ' ')) {
      result += plain;
    }
  }
  while (!result.empty() && result.back() == ' ') {
    result.pop_back();
  }
  return result;
}

// The function's name with the number that the pattern asks for; nullopt when `ptx` is another instruction.
std::optional<std::string> matched(const Equivalent& equivalent, std::string_view ptx) {
  const std::size_t hole = equivalent.ptx.find('#');
  if (hole == std::string_view::npos) {
    return ptx == equivalent.ptx ? std::optional<std::string>(equivalent.function) : std::nullopt;
  }
  const std::string_view before = equivalent.ptx.substr(0, hole);
  const std::string_view after = equivalent.ptx.substr(hole + 1);
  if (ptx.size() <= before.size() + after.size() || !ptx.starts_with(before) || !ptx.ends_with(after)) {
    return std::nullopt;
  }
  const std::string_view number = ptx.substr(hole, ptx.size() - before.size() - after.size());
  if (!std::all_of(number.begin(), number.end(), is_decimal)) {
    return std::nullopt;
  }
  return std::string(equivalent.function) + "<" + std::string(number) + ">";
}

std::optional<std::string> equivalent_of(std::string_view ptx) {
  for (const Equivalent& equivalent : kEquivalents) {
    if (auto function = matched(equivalent, ptx)) {
      return function;
    }
  }
  return std::nullopt;
}

// Walks a source without tripping over comments and literals.
class Scanner {
 public:
  explicit Scanner(std::string_view source) : source_(source) {}

  std::string rewrite() {
    std::string result;
    while (at_ < source_.size()) {
      const std::size_t begin = at_;
      if (skip_opaque()) {
        result += source_.substr(begin, at_ - begin);
      } else if (is_letter_of_word(source_[at_])) {
        const std::string_view word = take_word();
        if (word == "asm" || word == "__asm__") {
          result += statement(begin);
        } else if (word == "cudaLaunchKernel" || word == "cudaLaunchCooperativeKernel") {
          result += by_name(word);
        } else {
          result += renamed(word);
          last_word_ = word;
        }
      } else if (source_.substr(at_).starts_with("<<<")) {
        launch(result);
      } else {
        note_scope(source_[at_]);
        result += source_[at_++];
      }
    }
    return result;
  }

 private:
  // Host code may call its sizes what device code calls those of its launch, for which there are macros.
  std::string renamed(std::string_view word) {
    const bool is_size = word == "gridDim" || word == "blockDim";
    declares_ |= last_word_ == "dim3" && depth_ > 0;
    if (is_size && declares_ && parentheses_ == 0) {
      own_sizes_.emplace_back(word, depth_);
    }
    const bool is_own = is_size && std::ranges::find(own_sizes_, word, &OwnSize::first) != own_sizes_.end();
    return word == "NULL" ? "nullptr" : (is_own ? "apo_cpu_" : "") + std::string(word);
  }
  void note_scope(char c) {
    depth_ += c == '{' ? 1 : c == '}' ? -1 : 0;
    parentheses_ += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == '}') {
      std::erase_if(own_sizes_, [this](const OwnSize& one) { return one.second > depth_; });
    }
    declares_ = declares_ && c != ';';
    last_word_ = std::isspace(static_cast<unsigned char>(c)) != 0 ? last_word_ : "";
  }
  // "kernel<<<grid, block>>>" becomes a call of apo_cpu::launch in harness/executor/device/host/runtime.h, in front of
  // the arguments. What is no name of a kernel stays, and is an error of the compiler.
  void launch(std::string& result) {
    std::size_t end = result.find_last_not_of(" \t\n") + 1;
    std::size_t begin = end;
    for (int depth = 0; begin > 0; --begin) {
      const char c = result[begin - 1];
      if (depth == 0 && c != '>' && c != ':' && !is_letter_of_word(c)) {
        break;
      }
      depth += c == '>' ? 1 : c == '<' ? -1 : 0;
    }
    const std::string kernel = result.substr(begin, end - begin);
    result.resize(begin);
    result += "::apo_cpu::launch(\"" + kernel + "\", [=](auto... apo_cpu_all) { " + kernel + "(apo_cpu_all...); }, ";
    at_ += 3;
    for (int depth = 0; at_ < source_.size() && (depth > 0 || !source_.substr(at_).starts_with(">>>"));) {
      const std::size_t here = at_;
      if (skip_opaque()) {
        result += source_.substr(here, at_ - here);
      } else if (is_letter_of_word(peek())) {
        result += renamed(take_word());
      } else {
        depth += peek() == '(' ? 1 : peek() == ')' ? -1 : 0;
        result += source_[at_++];
      }
    }
    at_ = std::min(at_ + 3, source_.size());
    result += ")";
  }

  // Of a launch by a function, whose kernel is an address: its name in the place of "(void*)kernel". The kernel's
  // parameters have types then, so that values are found at the addresses of the arguments.
  std::string by_name(std::string_view function) {
    static const std::regex kKernel(
        R"(\s*\(\s*(?:(?:reinterpret_cast\s*<\s*)?\(?\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*(?:\)|>\s*\())?)"
        R"(\s*&?\s*([A-Za-z_:][\w:]*(?:<[^()]*?>)?)\s*\)?\s*,)");
    std::match_results<std::string_view::const_iterator> found;
    if (!std::regex_search(source_.begin() + static_cast<std::ptrdiff_t>(at_), source_.end(), found, kKernel,
                           std::regex_constants::match_continuous)) {
      return std::string(function);
    }
    at_ += static_cast<std::size_t>(found.length());
    ++parentheses_;
    const std::string kernel = found[1];
    return "::apo_cpu::launch_by_name(\"" + kernel + "\", " + kernel +
           (function == "cudaLaunchKernel" ? ", false," : ", true,");
  }

  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
  void skip_until(std::string_view end) {
    const std::size_t found = source_.find(end, at_);
    at_ = found == std::string_view::npos ? source_.size() : found + end.size();
  }
  void skip_literal(char quote) {
    for (++at_; at_ < source_.size() && source_[at_] != quote; ++at_) {
      at_ += source_[at_] == '\\' ? std::size_t{1} : 0;
    }
    at_ = std::min(at_ + 1, source_.size());
  }
  // A comment or a literal, if one begins here.
  bool skip_opaque() {
    if (peek() == '/' && peek(1) == '/') {
      skip_until("\n");
    } else if (peek() == '/' && peek(1) == '*') {
      skip_until("*/");
    } else if (peek() == '"' || peek() == '\'') {
      skip_literal(peek());
    } else {
      return false;
    }
    return true;
  }
  std::string_view take_word() {
    const std::size_t begin = at_;
    // A quote inside a number separates digits.
    while (is_letter_of_word(peek()) || (peek() == '\'' && is_decimal(source_[begin]) && is_letter_of_word(peek(1)))) {
      ++at_;
    }
    return source_.substr(begin, at_ - begin);
  }
  void skip_blanks() {
    while (at_ < source_.size() && std::isspace(static_cast<unsigned char>(source_[at_])) != 0) {
      ++at_;
    }
  }

  // From behind `asm` to its closing parenthesis: the PTX, then its operands.
  std::string statement(std::size_t begin) {
    skip_blanks();
    if (is_letter_of_word(peek())) {
      take_word();  // volatile
      skip_blanks();
    }
    if (peek() != '(') {
      return std::string(source_.substr(begin, at_ - begin));
    }
    std::string ptx;
    std::vector<std::string> operands;
    int depth = 0;
    int section = 0;          // 0 the text, 1 outputs, 2 inputs, 3 clobbers
    std::size_t operand = 0;  // where its expression begins
    do {
      const std::size_t here = at_;
      if (skip_opaque()) {
        const bool literal = source_[here] == '"';
        ptx += section == 0 && literal ? unquoted(source_.substr(here + 1, at_ - here - 2)) : "";
        continue;
      }
      const char c = source_[at_++];
      if (c == '(' && ++depth == 2) {
        operand = at_;
      } else if (c == ')' && --depth == 1 && section > 0) {
        operands.emplace_back(source_.substr(operand, here - operand));
      } else if (c == ':' && depth == 1) {
        ++section;
      }
    } while (depth > 0 && at_ < source_.size());
    return call(squeezed(ptx), operands) + lines(source_.substr(begin, at_ - begin));
  }

  static std::string unquoted(std::string_view literal) {
    std::string text;
    for (std::size_t i = 0; i < literal.size(); ++i) {
      const bool escape = literal[i] == '\\' && i + 1 < literal.size();
      const char c = escape ? literal[++i] : literal[i];
      text += escape && (c == 'n' || c == 't') ? ' ' : c;
    }
    return text;
  }
  static std::string lines(std::string_view text) {
    return std::string(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), '\n');
  }
  static std::string call(const std::string& ptx, const std::vector<std::string>& operands) {
    const auto function = equivalent_of(ptx);
    if (!function) {
      std::string quoted;
      for (const char c : ptx) {
        quoted += c == '"' || c == '\\' ? '\'' : c;
      }
      // Only code that is compiled asks for its instruction: a branch or a function that nobody needs may hold it.
      const std::string name = "apo_cpu_ptx_" + sha256(quoted).substr(0, 16);
      return "[] { [[gnu::error(\"not checkable on the CPU: PTX " + quoted + "\")]] void " + name + "(); " + name +
             "(); }()";
    }
    std::string text = "::apo_cpu::ptx::" + *function + "(";
    for (std::size_t i = 0; i < operands.size(); ++i) {
      // On one line: the statement's line ends are added behind it.
      text += (i > 0 ? ", " : "") + squeezed(operands[i]);
    }
    return text + ")";
  }

  using OwnSize = std::pair<std::string_view, int>;  // its name, and the depth of the braces that end it

  std::string_view source_;
  std::size_t at_ = 0;
  int depth_ = 0;  // of braces
  int parentheses_ = 0;
  bool declares_ = false;  // variables of type dim3
  std::vector<OwnSize> own_sizes_;
  std::string_view last_word_;  // with blanks alone behind it
};

}  // namespace

std::string for_host_compiler(std::string_view source) {
  return Scanner(source).rewrite();
}

}  // namespace apo
