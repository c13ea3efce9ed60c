// harness/implement/variant/functions.cpp - cuts the text into tokens, and reads the head of each body.
#include "harness/implement/variant/functions.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <span>

#include "harness/core/pattern.h"
#include "harness/core/text.h"

namespace apo {
namespace {

struct Token {
  std::string_view text;  // a word, a string, or one other character
  int line = 0;
};

using Tokens = std::span<const Token>;

bool is_word(const Token& token) {
  return is_letter_of_word(token.text.front());
}

// The place behind a comment or a directive of the preprocessor at `at`; `at` where there is none.
std::size_t behind_comment(std::string_view source, std::size_t at, bool line_begins) {
  const auto end_of = [&](std::string_view mark, std::size_t from) {
    const std::size_t found = source.find(mark, from);
    return found == std::string_view::npos ? source.size() : found + mark.size();
  };
  if (source.substr(at).starts_with("/*")) {
    return end_of("*/", at + 2);
  }
  if (source.substr(at).starts_with("//")) {
    return end_of("\n", at) - 1;
  }
  if (source[at] != '#' || !line_begins) {
    return at;
  }
  std::size_t end = end_of("\n", at);
  while (end < source.size() && source.substr(0, end).ends_with("\\\n")) {
    end = end_of("\n", end);
  }
  return end - 1;
}

std::size_t behind_string(std::string_view source, std::size_t at) {
  const char quote = source[at];
  for (++at; at < source.size() && source[at] != quote && source[at] != '\n'; ++at) {
    at += source[at] == '\\' ? 1U : 0U;
  }
  return std::min(at + 1, source.size());
}

std::size_t behind_word(std::string_view source, std::size_t at) {
  while (at < source.size() && is_letter_of_word(source[at])) {
    ++at;
  }
  return at;
}

// Lines of the side of an #if that `known` leaves out become empty.
std::string without_untaken_sides(std::string_view source, const Symbols& known) {
  if (known.empty()) {
    return std::string(source);
  }
  static const Pattern kIf(R"(\s*#\s*if\s+(!?)\s*([A-Za-z_]\w*)\s*)");
  static const Pattern kDirective(R"(\s*#\s*(ifdef|ifndef|if|else|elif|endif)\b.*)");
  std::vector<std::optional<bool>> taken;  // of each #if around the line; nullopt: both sides count
  std::string text;
  for (const std::string& line : split(source, '\n')) {
    const auto directive = kDirective.match(line);
    const std::string word = directive ? (*directive)[1] : "";
    if (word.starts_with("if")) {
      const auto condition = kIf.match(line);
      const auto value = condition ? known.find((*condition)[2]) : known.end();
      taken.push_back(value == known.end() ? std::nullopt
                                           : std::optional((value->second != 0) == (*condition)[1].empty()));
    } else if (!taken.empty() && word == "endif") {
      taken.pop_back();
    } else if (!taken.empty() && taken.back() && word == "else") {
      taken.back() = !*taken.back();
    } else if (!taken.empty() && word == "elif") {
      taken.back() = std::nullopt;
    }
    const bool is_out = std::ranges::find(taken, std::optional(false)) != taken.end();
    text += (is_out ? "" : line) + "\n";
  }
  return text;
}

std::vector<Token> tokens_of(std::string_view source) {
  std::vector<Token> tokens;
  int line = 1;
  bool line_begins = true;
  for (std::size_t at = 0; at < source.size();) {
    const char c = source[at];
    std::size_t end = behind_comment(source, at, line_begins);
    if (end > at) {
      line += static_cast<int>(std::ranges::count(source.substr(at, end - at), '\n'));
    } else if (c == '\n' || std::isspace(static_cast<unsigned char>(c)) != 0) {
      line += c == '\n' ? 1 : 0;
      line_begins = line_begins || c == '\n';
      end = at + 1;
    } else {
      end = is_letter_of_word(c) ? behind_word(source, at) : c == '"' || c == '\'' ? behind_string(source, at) : at + 1;
      tokens.push_back({.text = source.substr(at, end - at), .line = line});
      line_begins = false;
    }
    at = end;
  }
  return tokens;
}

// The place behind the bracket that closes the one at `at`.
std::size_t behind_brackets(Tokens tokens, std::size_t at, std::string_view open, std::string_view close) {
  int depth = 0;
  for (; at < tokens.size(); ++at) {
    depth += tokens[at].text == open ? 1 : tokens[at].text == close ? -1 : 0;
    if (depth == 0) {
      return at + 1;
    }
  }
  return at;
}

bool has(Tokens tokens, std::string_view word) {
  return std::ranges::find(tokens, word, &Token::text) != tokens.end();
}

// Words that no name of a parameter is: "unsigned long", "const float*" have none.
bool is_type_word(std::string_view word) {
  static constexpr std::string_view kWords[] = {"int",    "long",  "short", "unsigned", "signed", "char",   "bool",
                                                "double", "float", "const", "void",     "auto",   "size_t", "int64_t"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

bool is_restrict(std::string_view word) {
  return word == "__restrict__" || word == "__restrict" || word == "restrict";
}

// "const float* inp" of its tokens.
std::string text_of(Tokens tokens) {
  std::string text;
  for (const Token& token : tokens) {
    const bool apart =
        !text.empty() && is_word(token) && text.back() != ':' && text.back() != '<' && text.back() != '(';
    text += (apart ? " " : "") + std::string(token.text);
  }
  return text;
}

Parameter parameter_of(Tokens tokens) {
  Parameter parameter;
  const auto equals = std::ranges::find(tokens, "=", &Token::text);
  parameter.optional = equals != tokens.end();
  std::vector<Token> kept(tokens.begin(), equals);
  std::erase_if(kept, [](const Token& token) { return is_restrict(token.text); });
  parameter.text = text_of(kept);
  bool is_array = false;
  while (kept.size() > 1 && kept.back().text == "]") {  // "float x[4]" is a pointer
    is_array = true;
    while (kept.size() > 1 && kept.back().text != "[") {
      kept.pop_back();
    }
    kept.pop_back();
  }
  if (kept.size() > 1 && is_word(kept.back()) && !is_type_word(kept.back().text) && kept[kept.size() - 2].text != ":") {
    parameter.name = kept.back().text;
    kept.pop_back();
  }
  parameter.type = text_of(kept) + (is_array ? "*" : "");
  return parameter;
}

// Those between the brackets of a parameter list.
std::vector<Parameter> parameters_of(Tokens tokens) {
  std::vector<Parameter> parameters;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    const std::string_view text = i < tokens.size() ? tokens[i].text : ",";
    depth += text == "(" || text == "<" || text == "{" || text == "[" ? 1 : 0;
    depth -= text == ")" || text == ">" || text == "}" || text == "]" ? 1 : 0;
    if (depth <= 0 && text == ",") {
      const Tokens one = tokens.subspan(begin, i - begin);
      if (!one.empty() && !(one.size() == 1 && one.front().text == "void")) {
        parameters.push_back(parameter_of(one));
      }
      begin = i + 1;
    }
  }
  return parameters;
}

bool has_launch(Tokens body) {
  constexpr int kAngles = 3;  // <<<grid, block>>>
  const auto is_angle = [](const Token& token, bool wanted) { return (token.text == "<") == wanted; };
  return std::search_n(body.begin(), body.end(), kAngles, true, is_angle) != body.end();
}

// Adds the function of this head, if it is one for the host.
void add_function(Tokens head, Tokens body, std::vector<FunctionText>& functions) {
  const bool is_template = !head.empty() && head.front().text == "template";
  for (std::size_t i = 0; i < head.size();) {
    if (head[i].text == "<") {  // of a template, or of a type
      i = behind_brackets(head, i, "<", ">");
      continue;
    }
    if (head[i].text == "=") {  // of a variable
      return;
    }
    const bool opens = head[i].text == "(" && i > 0 && is_word(head[i - 1]);
    if (!opens) {
      ++i;
      continue;
    }
    const std::string_view name = head[i - 1].text;
    const std::size_t end = behind_brackets(head, i, "(", ")");
    if (name == "__attribute__" || name == "__launch_bounds__" || name == "alignas" || name == "decltype") {
      i = end;
      continue;
    }
    const bool of_device = has(head, "__global__") || (has(head, "__device__") && !has(head, "__host__"));
    const bool of_class = i > 1 && head[i - 2].text == ":";
    if (!of_device && !of_class && i > 1) {  // something stands before the name: its result
      functions.push_back({.name = std::string(name),
                           .line = head[i - 1].line,
                           .parameters = parameters_of(head.subspan(i + 1, end - i - 2)),
                           .is_template = is_template,
                           .launches = has_launch(body)});
    }
    return;
  }
}

}  // namespace

std::string FunctionText::signature() const {
  std::vector<std::string> texts;
  for (const Parameter& parameter : parameters) {
    texts.push_back(parameter.text);
  }
  return name + "(" + join(texts, ", ") + ")";
}

std::vector<FunctionText> host_functions(std::string_view source, const Symbols& known) {
  const std::string taken = without_untaken_sides(source, known);
  const std::vector<Token> all = tokens_of(taken);
  const Tokens tokens = all;
  std::vector<FunctionText> functions;
  std::size_t begin = 0;  // of the declaration
  for (std::size_t i = 0; i < tokens.size();) {
    const std::string_view text = tokens[i].text;
    if (text == ";" || text == "}") {
      begin = ++i;
      continue;
    }
    const Tokens head = tokens.subspan(begin, i - begin);
    if (text != "{") {
      ++i;
    } else if (has(head, "namespace") || (head.size() == 2 && head.front().text == "extern")) {
      begin = ++i;  // what stands inside is outside of functions too
    } else {
      const std::size_t end = behind_brackets(tokens, i, "{", "}");
      add_function(head, tokens.subspan(i, end - i), functions);
      begin = i = end;
    }
  }
  return functions;
}

}  // namespace apo
