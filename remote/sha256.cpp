#include "remote/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

namespace heddle::remote {
namespace {

class Hash {
 public:
  Hash() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string hex() {
    std::array<unsigned char, 32> digest{};
    EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
    std::string text;
    for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
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

Result<std::string> sha256_of_file(const std::string& path,
                                   const std::function<bool(uint64_t)>& on_bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail("cannot read {}: {}", path, std::strerror(errno));
  Hash hash;
  std::vector<char> buffer(1 << 20);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), file.gcount() > 0) {
    const auto size = static_cast<size_t>(file.gcount());
    hash.add({buffer.data(), size});
    if (on_bytes && !on_bytes(size)) return fail("stopped while reading {}", path);
  }
  if (file.bad()) return fail("cannot read {}: {}", path, std::strerror(errno));
  return hash.hex();
}

}  // namespace heddle::remote
