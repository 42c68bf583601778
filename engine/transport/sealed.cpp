#include "engine/transport/sealed.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <limits>
#include <string_view>

namespace heddle::transport {
namespace {

constexpr std::string_view kNext = "next key";

// Happens only when memory has run out or the library lacks its own algorithms.
tl::unexpected<Error> broken() { return fail("cannot be talked to: libcrypto does not encrypt"); }

OSSL_PARAM octets(const char* name, std::span<const uint8_t> bytes) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

Key::~Key() { OPENSSL_cleanse(bytes.data(), bytes.size()); }

Result<Key> derive_key(std::span<const uint8_t> from, std::span<const uint8_t> salt,
                       std::span<const uint8_t> info) {
  const std::unique_ptr<EVP_KDF, void (*)(EVP_KDF*)> hkdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr),
                                                          EVP_KDF_free);
  const std::unique_ptr<EVP_KDF_CTX, void (*)(EVP_KDF_CTX*)> context(
      hkdf ? EVP_KDF_CTX_new(hkdf.get()) : nullptr, EVP_KDF_CTX_free);
  std::string digest = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      octets(OSSL_KDF_PARAM_KEY, from), octets(OSSL_KDF_PARAM_SALT, salt),
      octets(OSSL_KDF_PARAM_INFO, info), OSSL_PARAM_construct_end()};
  Key key;
  if (!context ||
      EVP_KDF_derive(context.get(), key.bytes.data(), key.bytes.size(), parameters) != 1)
    return broken();
  return key;
}

tl::unexpected<Error> altered() {
  return fail(
      "has sent what does not authenticate: somebody changes it on the way, or the two sides run "
      "different engines");
}

size_t text_bytes(std::span<const uint8_t> record) {
  size_t length = 0;
  for (size_t i = 0; i < kRecordLengthBytes; ++i) length |= size_t{record[i]} << (8 * i);
  return length;
}

Seal::Seal(const Key& key, Side side, uint64_t first)
    : key_(key), side_(side), next_(first), cipher_(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free) {
  keyed_ = set_key();
}

bool Seal::set_key() {
  return cipher_ && EVP_CipherInit_ex(cipher_.get(), EVP_aes_256_gcm(), nullptr, key_.bytes.data(),
                                      nullptr, side_ == Side::seals) == 1;
}

Result<> Seal::renew_key() {
  // The RFC's value where there is no salt; libcrypto 3.0 refuses an empty one.
  constexpr std::array<uint8_t, 32> kNoSalt{};
  auto next = derive_key(key_.bytes, kNoSalt,
                         {reinterpret_cast<const uint8_t*>(kNext.data()), kNext.size()});
  if (!next) return fail(next);
  key_ = *next;
  keyed_ = set_key();
  return {};
}

// The nonce, and what is authenticated besides the text.
Result<> Seal::begin(std::span<const uint8_t> length) {
  // One nonce twice would give the text away; at a million records a second this takes ages.
  if (next_ == std::numeric_limits<uint64_t>::max())
    return fail("cannot be talked to: so many records have no numbers");
  if (next_ > 0 && next_ % kRecordsPerKey == 0)
    if (const auto renewed = renew_key(); !renewed) return renewed;
  std::array<uint8_t, 12> nonce{};
  for (size_t i = 0; i < 8; ++i) nonce[i] = static_cast<uint8_t>(next_ >> (8 * i));
  int done = 0;
  if (!keyed_ ||
      EVP_CipherInit_ex(cipher_.get(), nullptr, nullptr, nullptr, nonce.data(),
                        side_ == Side::seals) != 1 ||
      EVP_CipherUpdate(cipher_.get(), nullptr, &done, length.data(),
                       static_cast<int>(length.size())) != 1)
    return broken();
  ++next_;
  return {};
}

Result<> Seal::seal(std::span<const iovec> text, std::span<uint8_t> record) {
  const size_t length = record.size() - record_bytes(0);
  for (size_t i = 0; i < kRecordLengthBytes; ++i)
    record[i] = static_cast<uint8_t>(length >> (8 * i));
  if (const auto begun = begin(record.first(kRecordLengthBytes)); !begun) return begun;
  uint8_t* place = record.data() + kRecordLengthBytes;
  int done = 0;
  for (const iovec& piece : text) {
    if (EVP_CipherUpdate(cipher_.get(), place, &done, static_cast<const uint8_t*>(piece.iov_base),
                         static_cast<int>(piece.iov_len)) != 1)
      return broken();
    place += piece.iov_len;
  }
  if (EVP_CipherFinal_ex(cipher_.get(), place, &done) != 1 ||
      EVP_CIPHER_CTX_ctrl(cipher_.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, place) != 1)
    return broken();
  return {};
}

Result<> Seal::open(std::span<const uint8_t> record, std::span<const iovec> places) {
  if (const auto begun = begin(record.first(kRecordLengthBytes)); !begun) return begun;
  const uint8_t* text = record.data() + kRecordLengthBytes;
  int done = 0;
  for (const iovec& piece : places) {
    if (EVP_CipherUpdate(cipher_.get(), static_cast<uint8_t*>(piece.iov_base), &done, text,
                         static_cast<int>(piece.iov_len)) != 1)
      return broken();
    text += piece.iov_len;
  }
  uint8_t none = 0;
  auto* tag = const_cast<uint8_t*>(record.data() + record.size() - kTagBytes);
  if (EVP_CIPHER_CTX_ctrl(cipher_.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag) != 1)
    return broken();
  if (EVP_CipherFinal_ex(cipher_.get(), &none, &done) != 1) return altered();
  return {};
}

}  // namespace heddle::transport
