#include "base/signature.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cctype>
#include <memory>
#include <vector>

namespace heddle {
namespace {

constexpr size_t kKeyBytes = 32, kSignatureBytes = 64;
// The secret serves the ranks' handshakes too: a key of its own for each purpose.
constexpr std::string_view kPurpose = "heddle: signatures of a run";

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Digest = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Key private_key(const Secret& secret) {
  std::array<unsigned char, kKeyBytes> seed{};
  HMAC(EVP_sha256(), secret.bytes().data(), Secret::kBytes, bytes_of(kPurpose), kPurpose.size(),
       seed.data(), nullptr);
  Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()),
          &EVP_PKEY_free);
  OPENSSL_cleanse(seed.data(), seed.size());
  return key;
}

std::string hex(const unsigned char* bytes, size_t size) {
  std::string text(2 * size + 1, '\0');  // OpenSSL ends it with a zero
  size_t length = 0;
  OPENSSL_buf2hexstr_ex(text.data(), text.size(), &length, bytes, size, '\0');
  text.resize(2 * size);
  for (char& digit : text) digit = static_cast<char>(std::tolower(digit));
  return text;
}

/// Empty where the text is not `size` bytes in hexadecimal.
std::vector<unsigned char> from_hex(const std::string& text, size_t size) {
  std::vector<unsigned char> bytes(size);
  size_t length = 0;
  if (text.size() != 2 * size || text.find_first_not_of("0123456789abcdef") != std::string::npos ||
      OPENSSL_hexstr2buf_ex(bytes.data(), size, &length, text.c_str(), '\0') != 1)
    bytes.clear();
  return bytes;
}

}  // namespace

Result<std::string> public_key(const Secret& secret) {
  const Key key = private_key(secret);
  std::array<unsigned char, kKeyBytes> raw{};
  size_t size = raw.size();
  if (!key || EVP_PKEY_get_raw_public_key(key.get(), raw.data(), &size) != 1)
    return fail("libcrypto of this machine makes no Ed25519 key");
  return hex(raw.data(), size);
}

Result<std::string> sign(const Secret& secret, std::string_view text) {
  const Key key = private_key(secret);
  const Digest digest(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  std::array<unsigned char, kSignatureBytes> signature{};
  size_t size = signature.size();
  if (!key || !digest ||
      EVP_DigestSignInit(digest.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(digest.get(), signature.data(), &size, bytes_of(text), text.size()) != 1)
    return fail("libcrypto of this machine makes no Ed25519 signature");
  return hex(signature.data(), size);
}

bool is_signed(const std::string& public_key, std::string_view text, const std::string& signature) {
  const auto raw = from_hex(public_key, kKeyBytes),
             signed_with = from_hex(signature, kSignatureBytes);
  if (raw.empty() || signed_with.empty()) return false;
  const Key key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw.data(), raw.size()),
                &EVP_PKEY_free);
  const Digest digest(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  return key && digest &&
         EVP_DigestVerifyInit(digest.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(digest.get(), signed_with.data(), signed_with.size(), bytes_of(text),
                          text.size()) == 1;
}

}  // namespace heddle
