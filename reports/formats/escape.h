// reports/formats/escape.h - makes any text harmless in markdown, XML and CSV; evidence comes from candidates.
#pragma once

#include <string>
#include <string_view>

namespace apo::report {

// Valid UTF-8 without control characters (tab and newline stay) and without characters that reorder text;
// each one that is not allowed becomes U+FFFD.
std::string clean_text(std::string_view text);
// clean_text with every run of white space as one space, so that it can't leave its line, cell or list item.
std::string one_line(std::string_view text);

std::string escape_xml(std::string_view text);           // for element text and double-quoted attributes
std::string escape_markdown(std::string_view text);      // one line of prose, also inside a table cell
std::string markdown_code(std::string_view text);        // one line as a code span, also inside a table cell
std::string markdown_code_block(std::string_view text);  // a fenced block; the fence is longer than any inside
// RFC 4180; text that a spreadsheet would run as a formula gets a leading apostrophe (report.json has it unchanged).
std::string csv_field(std::string_view text);
std::string csv_field(double value);  // the shortest text that reads back as the same; "" where there is none

}  // namespace apo::report
