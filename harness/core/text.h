// harness/core/text.h - small text helpers: splitting, numbers with units, nearest names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace apo {

std::vector<std::string> split(std::string_view text, char separator);  // keeps empty fields
std::vector<std::string> split_words(std::string_view text);            // by white space, no empty fields
std::string trim(std::string_view text);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string replace_all(std::string text, std::string_view from, std::string_view to);
// Drops repeats and keeps the order of first appearance.
std::vector<std::string> each_once(const std::vector<std::string>& texts);
// Returns the length of the UTF-8 sequence at the start of `text`, 0 when there is none (RFC 3629: no overlong forms,
// no surrogates).
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);
// Length of the character that no line of text should hold at the start of `text`: a control character, also of those
// of UTF-8 that terminals obey (C1), one that ends a line, that nobody sees, or that turns the order of words round. 0:
// none.
std::size_t control_length(std::string_view text);
std::string one_line(std::string_view text);  // with a space in place of each of them
// The same of each line of a text; tabs stay, and bytes that are not UTF-8 become '?'.
std::string clean_lines(std::string_view text);
std::string shell_word(std::string_view word);  // quoted only where sh needs it
// Indents each line of a text by two blanks, so that a candidate's words are not taken for ours.
std::string as_quotation(std::string_view text);
// The text, or where it does not fit as much of its two ends as does with `dots` between them.
std::string cut_middle(std::string_view text, std::string_view dots,
                       const std::function<bool(const std::string&)>& fits);
bool is_identifier(std::string_view text);  // [A-Za-z_][A-Za-z0-9_]*
bool is_letter_of_word(char c);             // [A-Za-z0-9_]
// Returns whether the identifier is a whole word of the text.
bool has_word(std::string_view text, std::string_view word);

std::optional<std::int64_t> parse_int(std::string_view text);  // the whole text, decimal, optional sign
std::optional<double> parse_double(std::string_view text);     // the whole text, finite
// Parses "90s", "1.5m", "2h" or "250ms" into seconds. Returns nullopt without a unit, for malformed text and unless
// positive.
std::optional<double> parse_duration(std::string_view text);

// Returns the closest of `names` within a third of the length (Damerau-Levenshtein), or "".
std::string nearest(std::string_view name, const std::vector<std::string>& names);
// "did you mean 'x'?" or "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& names);

std::string format_ns(double nanoseconds);                        // "1.234 ms", "56.7 us"
std::string format_seconds(double seconds);                       // "1.2 s", "2 min 05 s"
std::string format_si(double value, std::string_view unit);       // "12.3 Gflop/s"
std::string format_bytes(double bytes);                           // "1.50 MiB"
std::string format_ratio(double ratio);                           // "1.53x"
std::string format_percent(double log_effect, int decimals = 2);  // log effect -> "+1.25 %"; beyond twofold "2.10x"
std::string format_share(double share);                           // 0.41 -> "41 %", 4.614 -> "461 %"
std::string format_g(double value, int significant = 4);
// An element of a tensor: a whole number with all its digits, up to 15 of them, another one with 6.
std::string format_element(double value);

// Returns "(anonymous namespace)::scale(float*)" for "_ZN12_GLOBAL__N_15scaleEPf" and other text unchanged.
std::string demangled(const std::string& name);

std::string utc_now();  // ISO 8601 with seconds, UTC

}  // namespace apo
