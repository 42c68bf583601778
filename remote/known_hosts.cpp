#include "remote/known_hosts.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>

#include "base/read_file.h"
#include "remote/ssh_folder.h"
#include "remote/ssh_pattern.h"

namespace heddle::remote {
namespace {

constexpr uint64_t kMaxHostsBytes = uint64_t{64} << 20;  // of one file
constexpr std::string_view kBlank = " \t";
constexpr std::string_view kHashed = "|1|";

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

/// The first word, taken off the text, with the blanks after it.
std::string_view take_hosts_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find_first_of(kBlank));
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(kBlank)));
  return word;
}

/// "|1|salt|hash" of a host's name: HMAC-SHA1 of it, keyed with the salt.
bool is_hash_of(std::string_view hashed, const std::string& name) {
  const std::string_view both = hashed.substr(kHashed.size());
  const size_t bar = both.find('|');
  if (bar == both.npos) return false;
  const std::string salt = from_base64(both.substr(0, bar));
  if (salt.size() != 20) return false;
  std::string hash(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  HMAC(EVP_sha1(), salt.data(), static_cast<int>(salt.size()),
       reinterpret_cast<const unsigned char*>(name.data()), name.size(),
       reinterpret_cast<unsigned char*>(hash.data()), &size);
  hash.resize(size);
  return both.substr(bar + 1) == base64(hash);
}

bool names(std::string_view patterns, const std::string& name) {
  if (patterns.starts_with('|')) {
    return patterns.starts_with(kHashed) && is_hash_of(patterns, name);
  }
  return matches_list(name, lower(patterns));
}

/// A key's type as a line names it: RSA has one key and several signatures.
std::string_view key_type(std::string_view written) {
  return written.starts_with("rsa-sha2-") ? "ssh-rsa" : written;
}

/// "ssh-ed25519" as people say it.
std::string spoken(std::string_view type) {
  if (type == "ssh-rsa") return "RSA";
  if (type.starts_with("ecdsa-")) return "ECDSA";
  return type == "ssh-ed25519" ? "ED25519" : std::string(type);
}

}  // namespace

std::string from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return {};
  std::string bytes(text.size() / 4 * 3, '\0');
  if (EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size())) < 0) {
    return {};
  }
  bytes.resize(bytes.size() - static_cast<size_t>(text.ends_with("==") ? 2 : text.ends_with('=')));
  return base64(bytes) == text ? bytes : "";
}

std::string type_of_key(std::string_view key) {
  if (key.size() < 4) return {};
  size_t size = 0;
  for (int i = 0; i < 4; ++i) size = size << 8 | static_cast<unsigned char>(key[i]);
  return size <= key.size() - 4 ? std::string(key.substr(4, size)) : "";
}

std::vector<std::string> known_hosts_files(const Host& host, const std::string& ssh_folder) {
  if (!host.known_hosts.empty()) {
    std::vector<std::string> files;
    for (const std::string& file : host.known_hosts) files.push_back(in_home(file));
    return files;
  }
  return {ssh_folder + "/known_hosts", ssh_folder + "/known_hosts2", "/etc/ssh/ssh_known_hosts",
          "/etc/ssh/ssh_known_hosts2"};
}

Result<KnownHosts> KnownHosts::read(const std::vector<std::string>& files, const Host& host) {
  KnownHosts known;
  const std::string name = lower(host.host_key_alias.empty() ? host.address : host.host_key_alias);
  if (host.host_key_alias.empty() && host.port != 22) {
    known.names_.push_back({fmt::format("[{}]:{}", name, host.port), {}});
  }
  known.names_.push_back({name, {}});
  for (const std::string& file : files) {
    const auto text = read_file_if_there(file, kMaxHostsBytes);
    if (!text) {
      return fail("{}; host keys cannot be checked without it", text.error().message);
    }
    int number = 0;
    for (std::string_view rest = *text ? **text : std::string_view(); !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      known.read_line(fmt::format("{}:{}", file, ++number), line);
    }
  }
  return known;
}

void KnownHosts::read_line(const std::string& place, std::string_view text) {
  text = text.substr(0, text.find('\0'));  // where ssh's line ends as well
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(kBlank)));
  if (text.empty() || text.starts_with('#')) return;
  Line line;
  line.place = place;
  // A word that nobody knows is taken for the one that trusts least.
  for (; text.starts_with('@'); take_hosts_word(text)) {
    const bool authority = text.substr(0, text.find_first_of(kBlank)) == "@cert-authority";
    if (line.marker != Marker::revoked)
      line.marker = authority ? Marker::authority : Marker::revoked;
  }
  const std::string_view patterns = take_hosts_word(text);
  line.type = key_type(take_hosts_word(text));
  std::string key(take_hosts_word(text));
  std::erase_if(key, [](char c) { return c == '\r' || c == '\v' || c == '\f'; });  // as ssh
  line.key = from_base64(key);
  if (type_of_key(line.key) != line.type) line.key.clear();
  for (Name& name : names_) {
    if (names(patterns, name.text)) name.lines.push_back(line);
  }
}

Verdict KnownHosts::judge(const Name& name, const std::string& key) {
  const std::string type = type_of_key(key);
  const Line *same = nullptr, *other = nullptr, *unread = nullptr, *authority = nullptr;
  std::string revoked_other;
  for (const Line& line : name.lines) {
    if (line.marker == Marker::revoked) {
      if (line.key == key) {
        return {Trust::revoked, fmt::format("{} revokes this key", line.place), {}};
      }
      revoked_other = line.place;
      if (line.key.empty()) unread = &line;
    } else if (line.marker == Marker::authority) {
      authority = &line;
    } else if (line.key.empty()) {
      if (!unread) unread = &line;
    } else if (line.key == key) {
      same = &line;
    } else if (!other || (other->type != type && line.type == type)) {
      other = &line;
    }
  }
  if (unread && (!same || unread->marker == Marker::revoked)) {
    return {Trust::unreadable,
            fmt::format("{} names it and has no key that can be read; valid: NAMES TYPE BASE64",
                        unread->place),
            {}};
  }
  if (same) return {Trust::known, same->place, revoked_other};
  if (other) {
    return {other->type == type ? Trust::changed : Trust::other_type,
            fmt::format("{} has {} key of it", other->place,
                        other->type == type ? "another" : "only the " + spoken(other->type)),
            {}};
  }
  return {Trust::unknown,
          authority ? fmt::format("{} names an authority for its certificates, which Heddle cannot "
                                  "check",
                                  authority->place)
                    : "",
          revoked_other};
}

Verdict KnownHosts::judge(const std::string& key) const {
  Verdict verdict = judge(names_.front(), key);
  if (names_.size() == 1) return verdict;
  // ssh knows a host at another port by its bare name, too, where no line names the port.
  Verdict bare = judge(names_.back(), key);
  if (verdict.trust == Trust::revoked || bare.trust == Trust::revoked) {
    return verdict.trust == Trust::revoked ? verdict : bare;
  }
  if (verdict.revoked_other.empty()) verdict.revoked_other = bare.revoked_other;
  if (verdict.trust != Trust::unknown) return verdict;
  if (bare.trust == Trust::known || bare.trust == Trust::unreadable) {
    verdict.trust = bare.trust;
    verdict.because = bare.because;
  }
  return verdict;
}

std::vector<std::string> KnownHosts::types() const {
  for (const Name& name : names_) {
    std::vector<std::string> types;
    for (const Line& line : name.lines)
      if (line.marker == Marker::none && !line.key.empty()) types.push_back(line.type);
    if (!types.empty()) return types;
  }
  return {};
}

}  // namespace heddle::remote
