// Looks up a host's key in known_hosts files: as ssh reads them, or stricter.
//
// Stricter, since libssh shows no certificates: a @cert-authority line makes no host known, the
// user is asked. And where ssh skips a line that it cannot read, though it names the host, there is
// no connection.
#pragma once

#include <string>
#include <vector>

#include "remote/target.h"

namespace heddle::remote {

enum class Trust {
  known,
  unknown,     // no line names the host, or none that settles it
  changed,     // lines name it with other keys only, one of the presented type among them
  other_type,  // lines name it with keys of other types only
  revoked,     // a line says that this key is not to be trusted
  unreadable   // a line that names the host cannot be read
};

struct Verdict {
  Trust trust = Trust::unknown;
  std::string because;  // which file and line, and what is in it; empty where nothing is
  /// The line that revokes another key of the host, if any: perhaps the key of the authority which
  /// signed its certificate. A caller that cannot rule that out must refuse the host.
  std::string revoked_other;
};

class KnownHosts {
 public:
  /// Reads what `files` say about `host`. An absent file says nothing; one that exists and cannot
  /// be read, or is no file, is an error: nobody knows what it would have said.
  static Result<KnownHosts> read(const std::vector<std::string>& files, const Host& host);

  /// `key`: the public key as SSH sends it (RFC 4253, 6.6).
  Verdict judge(const std::string& key) const;
  /// The types of the keys that would be known: a host that has several keys is asked for these.
  std::vector<std::string> types() const;

 private:
  enum class Marker { none, authority, revoked };
  struct Line {
    std::string place;  // FILE:LINE
    Marker marker = Marker::none;
    std::string type;
    std::string key;  // empty: cannot be read
  };
  struct Name {
    std::string text;
    std::vector<Line> lines;
  };

  void read_line(const std::string& place, std::string_view text);
  static Verdict judge(const Name& name, const std::string& key);

  std::vector<Name> names_;  // with its port first; the other counts where that says nothing
};

/// The files that hold for the host: its own, else those that ssh reads by default.
std::vector<std::string> known_hosts_files(const Host& host, const std::string& ssh_folder);

/// Empty when the text is not exactly what encoding bytes gives.
std::string from_base64(std::string_view text);

/// "ssh-ed25519" of a public key as SSH sends it; empty when it is none.
std::string type_of_key(std::string_view key);

}  // namespace heddle::remote
