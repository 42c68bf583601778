#include "remote/ssh_config.h"

#include <fnmatch.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

namespace heddle::remote {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestInclude = 8;

/// One option line that Heddle knows, with the Host patterns it stands under.
struct Option {
  std::string file;
  int line = 0;
  std::vector<std::string> patterns;
  std::string key;  // lower case
  std::string value;
};

struct Lines {
  std::vector<Option> options;       // in the order of the file: the first one that matches wins
  std::vector<std::string> aliases;  // Host words that are no patterns
  std::vector<std::string> warnings;
};

std::string home() {
  const char* folder = std::getenv("HOME");
  return folder ? folder : "";
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// `key value …` or `key=value`; double quotes group; a # begins a comment.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  bool any = false;
  const auto end_word = [&] {
    if (any) words.push_back(word);
    word.clear();
    any = false;
  };
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
      any = true;
    } else if (!quoted && c == '#' && !any) {
      break;
    } else if (!quoted && (c == ' ' || c == '\t' || c == '\r' || (c == '=' && words.empty()))) {
      end_word();
    } else if (!quoted && c == '=' && words.size() == 1 && !any) {
      continue;
    } else {
      word += c;
      any = true;
    }
  }
  end_word();
  return words;
}

bool is_pattern(const std::string& word) { return word.find_first_of("*?!") != word.npos; }

bool matches(const std::vector<std::string>& patterns, const std::string& alias) {
  bool matched = false;
  for (const std::string& pattern : patterns) {
    const bool negated = pattern.starts_with('!');
    if (fnmatch(pattern.c_str() + (negated ? 1 : 0), alias.c_str(), 0) != 0) continue;
    if (negated) return false;
    matched = true;
  }
  return matched;
}

class Reader {
 public:
  explicit Reader(std::string folder) : folder_(std::move(folder)) {}

  void read(const std::string& file, std::vector<std::string> patterns, int depth) {
    std::ifstream in(file);
    std::string line;
    bool in_match = false;
    for (int number = 1; std::getline(in, line); ++number) {
      const std::vector<std::string> words = words_of(line);
      if (words.size() < 2) continue;
      const std::string key = lower(words[0]);
      const std::string where = fmt::format("{}:{}", file, number);
      if (key == "host") {
        in_match = false;
        patterns.assign(words.begin() + 1, words.end());
        for (const std::string& word : patterns) {
          if (!is_pattern(word)) add_alias(word);
        }
      } else if (key == "match") {
        in_match = true;
        lines.warnings.push_back(where + ": Match is ignored, with all lines up to the next Host");
      } else if (in_match) {
        continue;
      } else if (key == "include") {
        for (size_t i = 1; i < words.size(); ++i) include(words[i], patterns, depth, where);
      } else if (is_known(key)) {
        lines.options.push_back({file, number, patterns, key, words[1]});
      } else {
        lines.warnings.push_back(fmt::format("{}: {} is ignored", where, words[0]));
      }
    }
  }

  Lines lines;

 private:
  static bool is_known(const std::string& key) {
    constexpr std::array kKnown{"hostname",       "user",      "port",        "identityfile",
                                "identitiesonly", "proxyjump", "proxycommand"};
    return std::find(kKnown.begin(), kKnown.end(), key) != kKnown.end();
  }

  void add_alias(const std::string& word) {
    if (std::find(lines.aliases.begin(), lines.aliases.end(), word) == lines.aliases.end()) {
      lines.aliases.push_back(word);
    }
  }

  void include(std::string pattern, const std::vector<std::string>& patterns, int depth,
               const std::string& where) {
    if (depth >= kDeepestInclude) {
      lines.warnings.push_back(where + ": Include is ignored: too many files inside one another");
      return;
    }
    if (pattern.starts_with("~/")) pattern = home() + pattern.substr(1);
    if (!pattern.starts_with('/')) pattern = folder_ + "/" + pattern;
    glob_t found{};
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc; ++i) read(found.gl_pathv[i], patterns, depth + 1);
    }
    globfree(&found);
  }

  std::string folder_;
};

Lines read_lines(const std::string& file) {
  const std::string path = file.empty() ? home() + "/.ssh/config" : file;
  Reader reader(fs::path(path).parent_path().string());
  reader.read(path, {"*"}, 0);
  return std::move(reader.lines);
}

std::optional<Option> first(const Lines& lines, const std::string& alias, std::string_view key) {
  for (const Option& option : lines.options) {
    if (option.key == key && matches(option.patterns, alias)) return option;
  }
  return std::nullopt;
}

/// "none" switches an option off, as in OpenSSH.
std::string value(const Lines& lines, const std::string& alias, std::string_view key) {
  const auto option = first(lines, alias, key);
  return option && option->value != "none" ? option->value : "";
}

std::string replaced(std::string text, std::string_view from, const std::string& to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

enum class Jumps { resolved, named };

Result<Host> resolve(const Lines& lines, const std::string& alias, Jumps jumps);

/// "[user@]alias[:port]" with the alias resolved.
Result<std::string> resolve_jump(const Lines& lines, const Option& option) {
  const auto where = [&] { return fmt::format("{}:{}: ProxyJump", option.file, option.line); };
  if (option.value.find(',') != option.value.npos) {
    return fail("{} {}: only one host to go through is possible", where(), option.value);
  }
  Result<Host> jump = parse_host(option.value);
  if (!jump) return fail("{}: {}", where(), jump.error().message);
  const Result<Host> known = resolve(lines, jump->address, Jumps::named);
  if (!known) return fail(known);
  if (!known->jump.empty()) {
    return fail("{} {}: it needs a ProxyJump of its own: only one host to go through is possible",
                where(), option.value);
  }
  if (jump->user.empty()) jump->user = known->user;
  if (jump->port == 22) jump->port = known->port;
  return fmt::format("{}{}{}:{}", jump->user, jump->user.empty() ? "" : "@", known->address,
                     jump->port);
}

/// `named`: the jump is left as written (a host to go through is looked up once, not on and on).
Result<Host> resolve(const Lines& lines, const std::string& alias, Jumps jumps) {
  if (const auto option = first(lines, alias, "proxycommand"); option && option->value != "none") {
    return fail(
        "{}: {}:{}: ProxyCommand: hosts reached through a command are not possible; valid: "
        "ProxyJump",
        alias, option->file, option->line);
  }
  Host host;
  host.name = alias;
  host.address = replaced(value(lines, alias, "hostname"), "%h", alias);
  if (host.address.empty()) host.address = alias;
  host.user = value(lines, alias, "user");
  host.identity_file = replaced(value(lines, alias, "identityfile"), "%d", home());
  host.identities_only = lower(value(lines, alias, "identitiesonly")) == "yes";
  if (const auto option = first(lines, alias, "port")) {
    const std::string& text = option->value;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), host.port);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || host.port == 0) {
      return fail("{}:{}: Port: \"{}\" is no port; valid: 1 to 65535", option->file, option->line,
                  text);
    }
  }
  const auto option = first(lines, alias, "proxyjump");
  if (option && option->value != "none") {
    const Result<std::string> jump =
        jumps == Jumps::named ? Result<std::string>(option->value) : resolve_jump(lines, *option);
    if (!jump) return fail(jump);
    host.jump = *jump;
  }
  return host;
}

}  // namespace

SshConfig hosts_of_ssh_config(const std::string& file) {
  const Lines lines = read_lines(file);
  SshConfig config;
  config.warnings = lines.warnings;
  for (const std::string& alias : lines.aliases) {
    const Result<Host> host = resolve(lines, alias, Jumps::resolved);
    if (host) {
      config.hosts.push_back(*host);
    } else {
      config.warnings.push_back(host.error().message);
    }
  }
  return config;
}

Result<Host> resolve_host(std::string_view text, const std::string& file) {
  Result<Host> typed = parse_host(text);
  if (!typed) return typed;
  Result<Host> host = resolve(read_lines(file), typed->address, Jumps::resolved);
  if (!host) return host;
  if (!typed->user.empty()) host->user = typed->user;
  if (text.ends_with(fmt::format(":{}", typed->port))) host->port = typed->port;
  return host;
}

}  // namespace heddle::remote
