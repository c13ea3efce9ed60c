// tests/reports/xml_check.h - a small strict check that a document is well-formed XML.
#pragma once

#include <string>

namespace apo::report {

// "" when every tag closes, attributes are quoted, and no bare '<', '&' or number that is not finite is left.
std::string xml_problem(const std::string& text);

}  // namespace apo::report
