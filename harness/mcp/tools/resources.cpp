// harness/mcp/tools/resources.cpp - the table of addresses, and how one becomes a command.
#include "harness/mcp/tools/resources.h"

#include <algorithm>
#include <array>
#include <vector>

#include "harness/core/text.h"

namespace apo::mcp {
namespace {

constexpr std::string_view kScheme = "apo://";

struct Resource {
  const char* path;  // {...} stands for one part
  const char* name;
  const char* title;
  const char* description;
  const char* mime_type;
  const char* words;  // of the command; {1} is the first part that stands for something
  const char* field;
};

constexpr std::array kResources = {
    Resource{"lessons", "lessons", "Lessons", "What past experiments taught, and under which condition it holds",
             "text/plain", "lessons", ""},
    Resource{"report", "report", "Report", "The report of the newest campaign", "text/markdown",
             "report --format=markdown --output=-", ""},
    Resource{"status", "status", "Workers", "The workers of running campaigns: devices, what each judges, failures",
             "application/json", "list --workers --json", ""},
    Resource{"brief/{family}/{workload}", "brief", "Research brief",
             "The incumbent, its bottlenecks, and what to try next", "application/json",
             "research {1} --workload={2} --json", ""},
    Resource{"experiment/{id}", "experiment", "Experiment", "One judgement with its gates and evidence", "text/plain",
             "show {1}", ""},
    Resource{"source/{family}/{name}", "source", "Source", "The source text of a variant", "text/plain",
             "show {1}/{2} --source --json", "source"},
};

bool is_template(const Resource& resource) {
  return std::string_view(resource.path).find('{') != std::string_view::npos;
}

// Letters, digits and what names are made of; so none is an option, and none leads elsewhere.
bool is_plain(const std::string& part) {
  return !part.empty() && part.size() <= 200 && part.front() != '-' &&
         part.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
             std::string::npos;
}

// The values of the parts in braces; nullopt where the path does not fit.
std::optional<std::vector<std::string>> match(const std::string& path, const Resource& resource) {
  const std::vector<std::string> given = split(path, '/');
  const std::vector<std::string> wanted = split(resource.path, '/');
  if (given.size() != wanted.size()) {
    return std::nullopt;
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (wanted[i].starts_with('{')) {
      if (!is_plain(given[i])) {
        return std::nullopt;
      }
      parts.push_back(given[i]);
    } else if (given[i] != wanted[i]) {
      return std::nullopt;
    }
  }
  return parts;
}

CommandLine line_for(const Resource& resource, const std::vector<std::string>& parts) {
  CommandLine line;
  for (std::string word : split_words(resource.words)) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      word = replace_all(std::move(word), "{" + std::to_string(i + 1) + "}", parts[i]);
    }
    line.words.push_back(std::move(word));
  }
  return line;
}

Json documents(bool templates) {
  Json list = Json::array();
  for (const Resource& resource : kResources) {
    if (is_template(resource) == templates) {
      list.push_back({{templates ? "uriTemplate" : "uri", std::string(kScheme) + resource.path},
                      {"name", resource.name},
                      {"title", resource.title},
                      {"description", resource.description},
                      {"mimeType", resource.mime_type}});
    }
  }
  return list;
}

}  // namespace

Json resource_documents() {
  return documents(false);
}

Json template_documents() {
  return documents(true);
}

std::optional<ResourceCommand> resource_command(const std::string& uri) {
  if (!uri.starts_with(kScheme)) {
    return std::nullopt;
  }
  for (const Resource& resource : kResources) {
    if (const auto parts = match(uri.substr(kScheme.size()), resource)) {
      return ResourceCommand{
          .line = line_for(resource, *parts), .mime_type = resource.mime_type, .field = resource.field};
    }
  }
  return std::nullopt;
}

}  // namespace apo::mcp
