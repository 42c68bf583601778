#include "remote/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <memory>

#include "base/plain_file.h"

namespace heddle::remote {
namespace {

class Hash {
 public:
  explicit Hash(const EVP_MD* kind = EVP_sha256()) : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), kind, nullptr);
  }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    std::string text;
    for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256(std::string_view bytes) {
  Hash hash;
  hash.add(bytes);
  return hash.hex();
}

std::string sha1(std::string_view bytes) {
  Hash hash(EVP_sha1());
  hash.add(bytes);
  return hash.hex();
}

Result<std::string> sha256_of_file(const std::string& path,
                                   const std::function<bool(uint64_t)>& on_bytes) {
  auto file = PlainFile::open_existing(path);
  if (!file) return fail(file);
  Hash hash;
  while (true) {
    const auto bytes = file->read(1 << 20);
    if (!bytes) return fail(bytes);
    if (bytes->empty()) return hash.hex();
    hash.add(*bytes);
    if (on_bytes && !on_bytes(bytes->size())) return fail("stopped while reading {}", path);
  }
}

}  // namespace heddle::remote
