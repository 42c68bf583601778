#include "remote/ssh_config.h"

#include <unistd.h>

#include <algorithm>

#include "base/host_name.h"
#include "remote/sha256.h"
#include "remote/ssh_config_options.h"
#include "remote/ssh_config_values.h"
#include "remote/ssh_folder.h"
#include "remote/ssh_pattern.h"
#include "remote/ssh_tokens.h"

namespace heddle::remote {
namespace {

using Lines = std::vector<ConfigLine>;

bool is(const ConfigLine& line, std::string_view key) { return line.key == key; }

const ConfigLine* first(const Lines& lines, std::string_view key) {
  const auto found =
      std::ranges::find_if(lines, [&](const ConfigLine& line) { return is(line, key); });
  return found == lines.end() ? nullptr : &*found;
}

std::string value(const Lines& lines, std::string_view key) {
  const ConfigLine* line = first(lines, key);
  return line ? line->words[0] : "";
}

Error at(const ConfigLine& line, const std::string& what) {
  return {fmt::format("{}: {}: {}", line.place, line.keyword, what)};
}

/// Options that decide about keys or ways and that Heddle cannot follow.
Result<> check_possible(const Lines& lines) {
  for (const ConfigLine& line : lines) {
    if (is_none(line)) continue;
    if (is(line, "revokedhostkeys")) {
      return tl::unexpected(at(line,
                               "lists of revoked keys are not possible; valid: @revoked "
                               "lines in known_hosts"));
    }
    if (is(line, "knownhostscommand")) {
      return tl::unexpected(at(line,
                               "host keys from a command are not possible; valid: lines in "
                               "known_hosts"));
    }
  }
  return {};
}

std::vector<std::string> notes_of(const ConfigOptions& options) {
  std::vector<std::string> notes = options.notes;
  for (const ConfigLine& line : options.lines) {
    std::string note = fmt::format("{}: {} is ignored", line.place, line.keyword);
    const bool none =
        is_none(line) && (is(line, "revokedhostkeys") || is(line, "knownhostscommand"));
    if (is_followed(line) || is_idle(line) || none || std::ranges::find(notes, note) != notes.end())
      continue;
    notes.push_back(std::move(note));
  }
  return notes;
}

/// The meaning of %-letters in the paths of files.
Tokens tokens(const Host& host, const std::string& alias) {
  const std::string here = host_name();
  return {{'d', home()},
          {'h', host.address},
          {'i', std::to_string(getuid())},
          {'k', host.host_key_alias.empty() ? alias : host.host_key_alias},
          {'L', here.substr(0, here.find('.'))},
          {'l', here},
          {'n', alias},
          {'p', std::to_string(host.port)},
          {'r', host.user.empty() ? local_user() : host.user},
          {'u', local_user()}};
}

Result<> add_identities(Host& host, const Lines& lines, const Tokens& tokens) {
  std::vector<std::string> written;
  for (const ConfigLine& line : lines) {
    if (!is(line, "identityfile")) continue;
    const std::string& word = line.words[0];
    if (std::ranges::find(written, word) != written.end()) continue;
    written.push_back(word);
    // A path in the user's home is shown as it is written.
    const bool own = word.starts_with("~/");
    auto file = with_tokens_and_environment(own ? word : in_home(word), tokens);
    if (!file) return tl::unexpected(at(line, file.error().message));
    host.identity_files.push_back(std::move(*file));
  }
  return {};
}

Result<> add_certificates(Host& host, const Lines& lines, const Tokens& tokens) {
  for (const ConfigLine& line : lines) {
    if (!is(line, "certificatefile") || is_none(line)) continue;
    auto file = with_tokens_and_environment(in_home(line.words[0]), tokens);
    if (!file) return tl::unexpected(at(line, file.error().message));
    if (std::ranges::find(host.certificate_files, *file) == host.certificate_files.end())
      host.certificate_files.push_back(std::move(*file));
  }
  return {};
}

/// The files with known keys, where the config has a word about them.
Result<> add_known_hosts(Host& host, const Lines& lines, const Tokens& tokens) {
  const ConfigLine* user = first(lines, "userknownhostsfile");
  const ConfigLine* global = first(lines, "globalknownhostsfile");
  if (!user && !global) return {};
  if (!user) {
    host.known_hosts = {"~/.ssh/known_hosts", "~/.ssh/known_hosts2"};
  } else if (lower(user->words[0]) != "none") {
    for (const std::string& word : user->words) {
      auto file = with_tokens_and_environment(in_home(word), tokens);
      if (!file) return tl::unexpected(at(*user, file.error().message));
      host.known_hosts.push_back(std::move(*file));
    }
  }
  const std::vector<std::string> usual{"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"};
  for (const std::string& file : global ? global->words : usual)
    if (!global || lower(file) != "none") host.known_hosts.push_back(file);
  if (host.known_hosts.empty()) host.known_hosts = {"/dev/null"};
  return {};
}

/// The first line that says how the host is reached; nullptr: directly.
const ConfigLine* way(const Lines& lines) {
  const ConfigLine* jump = nullptr;
  for (const ConfigLine& line : lines) {
    if (is(line, "proxyjump") && !jump) jump = &line;
    if (!is(line, "proxycommand")) continue;
    if (jump && !is_none(*jump)) break;
    return is_none(line) ? nullptr : &line;
  }
  return jump && !is_none(*jump) ? jump : nullptr;
}

/// The command, for a shell, with the host's names in it.
Result<std::string> proxy_command(const ConfigLine& line, const Host& host) {
  const Tokens tokens{{'h', host.address},
                      {'n', host.name},
                      {'p', std::to_string(host.port)},
                      {'r', host.user.empty() ? local_user() : host.user}};
  for (const auto& [letter, text] : tokens) {
    const bool used = line.rest.find(std::string("%") + letter) != line.rest.npos;
    // As newer ssh have it: a name is never part of a program.
    if (used && text.find_first_of("'`\"$\\;&<>|(){}*?#!~ \t\n") != text.npos)
      return tl::unexpected(
          at(line,
             fmt::format("%{} is \"{}\", which a shell takes for more than a name", letter, text)));
  }
  auto command = with_tokens(line.rest, tokens);
  if (!command) return tl::unexpected(at(line, command.error().message));
  return command;
}

/// The socket of the user's own connections to the host; empty: none.
Result<std::string> control_path(const Lines& lines, Tokens tokens) {
  const ConfigLine* line = first(lines, "controlpath");
  if (!line || is_none(*line)) return std::string();
  tokens['C'] = sha1(tokens['l'] + tokens['h'] + tokens['p'] + tokens['r']);
  tokens['j'] = "";
  const auto path = with_tokens_and_environment(in_home(line->words[0]), tokens);
  if (!path) return tl::unexpected(at(*line, path.error().message));
  return *path;
}

class Resolver {
 public:
  explicit Resolver(std::string file) : file_(std::move(file)) {}

  /// Reads all files, whatever hosts they are for.
  Result<std::vector<std::string>> aliases() { return aliases_in(files_, file_); }
  const ConfigFiles& files() const { return files_; }

  Result<ResolvedHost> resolve(const Asked& asked) {
    const ConfigLine* through = nullptr;
    const auto options = options_for(files_, file_, asked);
    if (!options) return fail(options);
    auto resolved = resolve(asked, *options, through);
    if (!resolved || !through) return resolved;
    if (is(*through, "proxycommand")) {
      auto command = proxy_command(*through, resolved->host);
      if (!command) return fail(command);
      resolved->host.proxy_command = std::move(*command);
      resolved->notes.push_back(fmt::format("{}: {} is run on this machine for each connection: {}",
                                            through->place, through->keyword,
                                            resolved->host.proxy_command));
      return resolved;
    }
    if (const Result<> done = add_jump(*resolved, *through); !done) return fail(done);
    return resolved;
  }

 private:
  /// `through`: the line with the way to the host, which is not followed here.
  Result<ResolvedHost> resolve(const Asked& asked, const ConfigOptions& options,
                               const ConfigLine*& through) {
    const Lines& lines = options.lines;
    if (const Result<> possible = check_possible(lines); !possible) return fail(possible);
    through = way(lines);

    ResolvedHost resolved;
    Host& host = resolved.host;
    host.name = asked.alias;
    host.address = asked.alias;
    if (const ConfigLine* line = first(lines, "hostname")) {
      const Result<std::string> name = with_tokens(line->words[0], {{'h', asked.alias}});
      if (!name) return tl::unexpected(at(*line, name.error().message));
      if (!is_address(*name)) return tl::unexpected(at(*line, '"' + *name + "\" names no host"));
      host.address = *name;
    }
    host.address = lower(host.address);
    host.user = asked.user.empty() ? value(lines, "user") : asked.user;
    host.port = asked.port;
    if (host.port == 0) {
      const ConfigLine* line = first(lines, "port");
      host.port = line ? *port_value(*line) : uint16_t{22};
    }
    host.host_key_alias = lower(value(lines, "hostkeyalias"));
    if (const ConfigLine* line = first(lines, "identitiesonly")) {
      host.identities_only = *flag_value(*line);
    }
    const Tokens known = tokens(host, asked.alias);
    if (const Result<> added = add_identities(host, lines, known); !added) return fail(added);
    if (const Result<> added = add_known_hosts(host, lines, known); !added) return fail(added);
    if (const Result<> added = add_certificates(host, lines, known); !added) return fail(added);
    auto socket = control_path(lines, known);
    if (!socket) return fail(socket);
    host.control_path = std::move(*socket);
    resolved.notes = notes_of(options);
    return resolved;
  }

  static bool is_address(const std::string& text) {
    return !text.empty() && text.find_first_of(" \t\n/'\"\\@") == text.npos &&
           !text.starts_with('-');
  }

  /// The host to go through, itself resolved; it must be reached directly.
  Result<> add_jump(ResolvedHost& resolved, const ConfigLine& line) {
    const auto jumps = jumps_value(line);
    if (!jumps) return fail(jumps);
    if (jumps->size() > 1) {
      return tl::unexpected(at(line, line.rest + ": only one host to go through is possible"));
    }
    const Result<Host> typed = parse_host(jumps->front());
    if (!typed) return tl::unexpected(at(line, typed.error().message));
    const Asked asked{typed->address, typed->user, typed_port(jumps->front())};
    const ConfigLine* further = nullptr;
    const auto options = options_for(files_, file_, asked);
    if (!options) return fail(options);
    const auto jump = resolve(asked, *options, further);
    if (!jump) return fail(jump);
    if (further) {
      return tl::unexpected(at(line, fmt::format("{}: it needs a {} of its own: only one host to "
                                                 "go through is possible",
                                                 line.rest, further->keyword)));
    }
    return take_jump(resolved, line, *jump);
  }

  /// Heddle logs in there as at the host itself: reports options that ask otherwise.
  static Result<> take_jump(ResolvedHost& resolved, const ConfigLine& line,
                            const ResolvedHost& jump) {
    const Host& there = jump.host;
    Host& host = resolved.host;
    if (!there.host_key_alias.empty() || there.known_hosts != host.known_hosts) {
      return tl::unexpected(at(line, there.name + ": a HostKeyAlias or known_hosts files of its "
                                                  "own are not possible for a host to go through"));
    }
    const bool brackets = there.address.find(':') != there.address.npos;
    host.jump = fmt::format("{}{}{}{}{}:{}", there.user, there.user.empty() ? "" : "@",
                            brackets ? "[" : "", there.address, brackets ? "]" : "", there.port);
    host.jump_control_path = there.control_path;
    if (there.identity_files != host.identity_files ||
        there.identities_only != host.identities_only) {
      resolved.notes.push_back(fmt::format(
          "{}: {} {} is logged in to with the keys of {}, not with its own IdentityFile "
          "and IdentitiesOnly",
          line.place, line.keyword, there.name, host.name));
    }
    for (const std::string& note : jump.notes)
      if (std::ranges::find(resolved.notes, note) == resolved.notes.end())
        resolved.notes.push_back(note);
    return {};
  }

  const std::string file_;
  ConfigFiles files_;
};

}  // namespace

const SshConfig& ConfiguredHosts::now() {
  Resolver resolver(file_);
  const auto aliases = resolver.aliases();
  if (aliases && resolver.files() == files_) return config_;
  config_ = {};
  files_ = {};
  if (!aliases) {
    config_.warnings.push_back(aliases.error().message);
    return config_;
  }
  files_ = resolver.files();
  for (const std::string& alias : *aliases) {
    auto resolved = resolver.resolve({alias, {}, 0});
    if (resolved) {
      config_.hosts.push_back(std::move(resolved->host));
    } else {
      config_.warnings.push_back(fmt::format("{}: {}", alias, resolved.error().message));
    }
  }
  return config_;
}

Result<ResolvedHost> resolve_host(std::string_view text, const std::string& file) {
  const Result<Host> typed = parse_host(text);
  if (!typed) return fail(typed);
  return Resolver(file).resolve({typed->address, typed->user, typed_port(text)});
}

}  // namespace heddle::remote
