#include "remote/key_offers.h"

#include <fmt/format.h>
#include <libssh/libssh.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>

#include "base/read_file.h"
#include "remote/known_hosts.h"
#include "remote/ssh_folder.h"
#include "remote/ssh_key.h"
#include "remote/ssh_pattern.h"
#include "remote/wire.h"

namespace heddle::remote {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxKeyFile = 1 << 16;

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// Reads "ssh-ed25519 AAAA… comment".
std::string blob_of_line(const std::string& file) {
  if (!is_file(file)) return {};
  std::istringstream in(read_file(file, kMaxKeyFile).value_or(""));
  std::string type, base64;
  in >> type >> base64;
  return in ? from_base64(base64) : std::string();
}

/// The public half of a key file, or of the public file itself; empty where only its passphrase
/// would open it.
std::string public_blob(const std::string& file) {
  ssh_key read = nullptr;
  if (is_file(file) && ssh_pki_import_pubkey_file(file.c_str(), &read) == SSH_OK) {
    const Key key(read);
    char* base64 = nullptr;
    if (ssh_pki_export_pubkey_base64(read, &base64) == SSH_OK) {
      const std::string blob = from_base64(base64);
      ssh_string_free_char(base64);
      if (!blob.empty()) return blob;
    }
  }
  return blob_of_line(file + ".pub");
}

/// The key that a certificate is for, as SSH sends it (PROTOCOL.certkeys of OpenSSH); empty where
/// the text is none.
std::string key_in_certificate(std::string_view blob) {
  constexpr std::string_view kCertificate = "-cert-v01@openssh.com";
  const std::string type(take_text(blob));
  if (!type.ends_with(kCertificate)) return {};
  const std::string plain = type.substr(0, type.size() - kCertificate.size());
  take_text(blob);  // a nonce
  std::string key = wire_text(plain);
  for (int fields = plain == "ssh-ed25519" ? 1 : 2; fields > 0; --fields)
    key += wire_text(take_text(blob));
  return key;
}

class Offering {
 public:
  explicit Offering(const std::vector<AgentKey>& agent_keys) : agent_keys_(agent_keys) {}

  /// As ssh does it: a certificate next to the file comes before the plain key. False: there is
  /// nothing to offer.
  bool add_file(const std::string& file, bool only_in_agent = false) {
    const size_t before = offers_.size();
    const std::string certificate = file + "-cert.pub";
    add({.words = fmt::format("{} with its certificate", file),
         .file = file,
         .certificate = certificate},
        blob_of_line(certificate), is_file(certificate) && is_file(file), only_in_agent);
    add({.words = file, .file = file}, public_blob(file), is_file(file), only_in_agent);
    return offers_.size() > before;
  }

  /// A certificate with the key it is for: the agent's, or the file among `files`. False: there is
  /// neither.
  bool add_certificate(const std::string& certificate, const std::vector<std::string>& files) {
    const std::string blob = blob_of_line(certificate);
    const std::string key = key_in_certificate(blob);
    if (key.empty()) return false;
    const auto own = std::ranges::find_if(
        files, [&](const std::string& file) { return is_file(file) && public_blob(file) == key; });
    const bool has_file = own != files.end();
    const size_t before = offers_.size();
    add({.words = fmt::format("the certificate {}", certificate),
         .file = has_file ? *own : "",
         .certificate = certificate},
        blob, has_file, false);
    return offers_.size() > before;
  }

  void add_agent() {
    for (const AgentKey& key : agent_keys_)
      if (!offered_.contains(key.blob))
        add({.words = fmt::format("the agent's key {}", key.comment)}, key.blob, false, true);
  }

  std::vector<KeyOffer> take() { return std::move(offers_); }

 private:
  void add(KeyOffer offer, const std::string& blob, bool has_file, bool only_in_agent) {
    const auto held = std::ranges::find(agent_keys_, blob, &AgentKey::blob);
    if (!blob.empty() && held != agent_keys_.end()) offer.agent = *held;
    if (const std::string key = key_in_certificate(blob); !offer.agent && !key.empty()) {
      const auto plain = std::ranges::find(agent_keys_, key, &AgentKey::blob);
      if (plain != agent_keys_.end()) offer.agent = {blob, plain->comment, key};
    }
    if (!offer.agent && (only_in_agent || !has_file)) return;
    if (!blob.empty() && !offered_.insert(blob).second) return;
    offer.type = type_of_key(blob);
    offers_.push_back(std::move(offer));
  }

  const std::vector<AgentKey>& agent_keys_;
  std::set<std::string> offered_;
  std::vector<KeyOffer> offers_;
};

}  // namespace

KeyOffers offers_for(const Host& host, const ConnectOptions& options,
                     const std::vector<AgentKey>& agent_keys) {
  Offering offering(agent_keys);
  KeyOffers found;
  std::vector<std::string> usual;
  if (host.identity_files.empty())
    for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"})
      usual.push_back(ssh_folder_or_default(options.ssh_folder) + "/" + name);
  std::vector<std::string> own = usual;
  for (const std::string& named : host.identity_files) own.push_back(in_home(named));
  for (const std::string& named : host.certificate_files) {
    const std::string file = in_home(named);
    if (!is_file(file))
      found.notes.push_back(file + ": no such file");
    else if (key_in_certificate(blob_of_line(file)).empty())
      found.notes.push_back(file + ": is no certificate of a key");
    else if (!offering.add_certificate(file, own))
      found.notes.push_back(file + ": neither the agent nor a named file has its private key");
  }
  for (const std::string& named : host.identity_files) {
    if (lower(named) == kNoIdentity) continue;
    const std::string file = in_home(named);
    if (offering.add_file(file)) continue;
    if (is_file(file + ".pub"))
      found.notes.push_back(file + ".pub: neither the agent nor a file has its private key");
    else if (!is_file(file))
      found.notes.push_back(file + ": no such file");
  }
  for (const std::string& file : usual) offering.add_file(file, true);
  if (!host.identities_only) offering.add_agent();
  for (const std::string& file : usual) offering.add_file(file);
  found.offers = offering.take();
  return found;
}

}  // namespace heddle::remote
