#include "remote/ssh_config_options.h"

#include <glob.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "remote/ssh_config_values.h"
#include "remote/ssh_folder.h"
#include "remote/ssh_pattern.h"
#include "remote/ssh_tokens.h"

namespace heddle::remote {
namespace {

constexpr int kDeepestInclude = 16;
constexpr int kMaxLines = 1'000'000;  // files that include each other would never end

enum class Whose { user, system };

/// Names that are no patterns, each once, in the order in which they come.
class Aliases {
 public:
  void add(const std::string& word) {
    if (word.find_first_of("*?!") == word.npos && seen_.insert(word).second) names.push_back(word);
  }
  std::vector<std::string> names;

 private:
  std::unordered_set<std::string> seen_;
};

/// Reads files line by line for one host, as ssh does: what Match asks for may depend on the lines
/// before it.
class Walk {
 public:
  /// `aliases`: of the Host lines it comes by; may be null.
  Walk(ConfigFiles& files, const Asked& asked, ConfigOptions& options, Aliases* aliases = nullptr)
      : files_(files), asked_(asked), options_(options), aliases_(aliases) {}

  Result<> read(const std::string& file, Whose whose, ConfigFiles::Owner owner) {
    active_ = true;
    return read(file, whose, owner, 0, false);
  }

  /// Again, with what the first pass has found, where a Match asks for it.
  bool wants_final() const { return wants_final_; }
  void begin_final() {
    asked_.alias = host();
    final_ = true;
  }

 private:
  /// `never`: in a block that does not hold for the host.
  Result<> read(const std::string& file, Whose whose, ConfigFiles::Owner owner, int depth,
                bool never) {
    if (depth > kDeepestInclude) return fail("{}: too many files inside one another", file);
    const auto lines = files_.lines(file, owner);
    if (!lines) return fail(lines);
    for (const ConfigLine& line : **lines) {
      if (++read_ > kMaxLines) return fail("{}: too many lines with all that it includes", file);
      const std::string& key = line.key;
      if (line.words.empty()) return fail("{}: {} has no value", line.place, line.keyword);
      if (key == "include") {
        if (const Result<> done = include(line, whose, depth, never); !done) return done;
      } else if (key == "host") {
        if (const Result<> done = begin_host(line); !done) return done;
        active_ &= !never;
      } else if (key == "match") {
        const Result<bool> holds = match(line);
        if (!holds) return fail(holds);
        active_ = *holds && !never;
      } else {
        if (!line.fault.empty()) return fail("{}", line.fault);
        if (active_) take(line, key);
      }
    }
    return {};
  }

  void take(const ConfigLine& line, const std::string& key) {
    if (key == "hostname" && !hostname_) hostname_ = line.words[0];
    if (key == "user" && asked_.user.empty()) asked_.user = line.words[0];
    options_.lines.push_back(line);
  }

  Result<> begin_host(const ConfigLine& line) {
    active_ = false;
    bool excluded = false;
    for (const std::string& word : line.words) {
      if (word.empty()) return fail("{}: Host has an empty name", line.place);
      if (aliases_) aliases_->add(word);
      const bool negated = word.starts_with('!');
      if (!matches_pattern(asked_.alias, std::string_view(word).substr(negated))) continue;
      (negated ? excluded : active_) = true;
    }
    active_ &= !excluded;
    return {};
  }

  Result<> include(const ConfigLine& line, Whose whose, int depth, bool never) {
    const bool active = active_;
    for (const std::string& word : line.words) {
      if (word.empty() || (word.starts_with('~') && whose == Whose::system)) {
        return fail("{}: Include: \"{}\" is no path", line.place, word);
      }
      const std::string folder = whose == Whose::user ? home() + "/.ssh/" : "/etc/ssh/";
      const std::string path = word.starts_with('/')   ? word
                               : word.starts_with('~') ? in_home(word)
                                                       : folder + word;
      glob_t found{};
      Result<> done;
      if (glob(path.c_str(), 0, nullptr, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && done; ++i) {
          done = read(found.gl_pathv[i], whose, ConfigFiles::Owner::user_or_root, depth + 1,
                      never || !active);
          active_ = active;
        }
      }
      globfree(&found);
      if (!done) return done;
    }
    return {};
  }

  /// The host's name as far as it is known by now.
  std::string host() const {
    if (final_ || !hostname_) return asked_.alias;
    return with_tokens(*hostname_, {{'h', asked_.alias}}).value_or(*hostname_);
  }

  Result<bool> match(const ConfigLine& line) {
    const std::vector<std::string> words = match_words(line.rest);
    const auto bad = [&](const std::string& why) {
      return fail(
          "{}: Match: {}; valid: all, final, or pairs of host, originalhost, user, "
          "localuser, exec and what must match",
          line.place, why);
    };
    bool holds = true, undecided = false;
    for (size_t at = 0; at < words.size(); ++at) {
      const bool negated = words[at].starts_with('!');
      const std::string what = lower(words[at].substr(negated));
      bool found = false;
      if (what == "all") {
        if (at > 1 || at + 1 < words.size()) return bad("all must be the only word");
        found = true;
      } else if (what == "final" || what == "canonical") {
        wants_final_ |= what == "final";
        found = final_;
      } else if (at + 1 == words.size()) {
        return bad(fmt::format("{} of what", words[at]));
      } else {
        const std::string& list = words[++at];
        if (what == "host") {
          found = matches_list(lower(host()), lower(list));
        } else if (what == "originalhost") {
          found = matches_list(lower(typed_), lower(list));
        } else if (what == "user") {
          found = matches_list(asked_.user.empty() ? local_user() : asked_.user, list);
        } else if (what == "localuser") {
          found = matches_list(local_user(), list);
        } else if (what == "exec") {
          undecided = true;
          continue;
        } else {
          return bad(fmt::format("\"{}\" is nothing to match", what));
        }
      }
      holds &= found != negated;
    }
    if (words.empty()) return bad("nothing to match");
    if (holds && undecided && !final_) {
      options_.notes.push_back(
          fmt::format("{}: Match exec is ignored, with all lines up to the next Host or Match: "
                      "Heddle does not run the command",
                      line.place));
    }
    return holds && !undecided;
  }

  ConfigFiles& files_;
  Asked asked_;
  const std::string typed_ = asked_.alias;
  ConfigOptions& options_;
  Aliases* const aliases_;
  std::optional<std::string> hostname_;
  bool active_ = true;
  bool final_ = false;
  bool wants_final_ = false;
  int read_ = 0;
};

Result<> read_all(Walk& walk, const std::string& file) {
  using Owner = ConfigFiles::Owner;
  if (!file.empty()) return walk.read(file, Whose::user, Owner::any);
  const Result<> done = walk.read(home() + "/.ssh/config", Whose::user, Owner::user_or_root);
  return done ? walk.read("/etc/ssh/ssh_config", Whose::system, Owner::any) : done;
}

}  // namespace

std::string local_user() {
  const passwd* user = getpwuid(getuid());
  return user ? user->pw_name : "";
}

Result<ConfigOptions> options_for(ConfigFiles& files, const std::string& file, const Asked& asked) {
  ConfigOptions options;
  Walk walk(files, asked, options);
  Result<> done = read_all(walk, file);
  if (done && walk.wants_final()) {
    walk.begin_final();
    done = read_all(walk, file);
  }
  if (!done) return fail(done);
  return options;
}

Result<std::vector<std::string>> aliases_in(ConfigFiles& files, const std::string& file) {
  ConfigOptions options;
  Aliases aliases;
  Walk walk(files, {}, options, &aliases);
  if (const Result<> done = read_all(walk, file); !done) return fail(done);
  return std::move(aliases.names);
}

}  // namespace heddle::remote
