#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle {
namespace {

constexpr size_t kDigits = 2 * Secret::kBytes;
// The starter of a program hands the secret over at once.
constexpr int kHandOverMs = 30'000;

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

int value_of(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

// At most the digits and a line's end; wiped with its owner.
struct Line {
  std::array<char, kDigits + 1> text{};
  size_t size = 0;
  ~Line() { OPENSSL_cleanse(text.data(), text.size()); }

  Result<Secret> secret() const {
    std::string_view digits(text.data(), size);
    if (digits.ends_with('\n')) digits.remove_suffix(1);
    return Secret::from_hex(digits);
  }
};

}  // namespace

Secret::~Secret() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

Result<Secret> Secret::make() {
  Secret secret;
  if (RAND_bytes(secret.bytes_.data(), kBytes) != 1)
    return fail("this machine gives no random numbers for a run's secret");
  return secret;
}

Result<Secret> Secret::from_hex(std::string_view digits) {
  Secret secret;
  if (digits.size() != kDigits)
    return fail("a secret is {} hexadecimal digits, not {} characters", kDigits, digits.size());
  for (size_t i = 0; i < kBytes; ++i) {
    const int high = value_of(digits[2 * i]), low = value_of(digits[2 * i + 1]);
    if (high < 0 || low < 0) return fail("a secret is {} digits of 0-9 a-f", kDigits);
    secret.bytes_[i] = static_cast<uint8_t>(16 * high + low);
  }
  return secret;
}

std::string Secret::hex() const {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(kDigits + 1);
  for (const uint8_t byte : bytes_) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

bool Secret::operator==(const Secret& other) const {
  return CRYPTO_memcmp(bytes_.data(), other.bytes_.data(), kBytes) == 0;
}

Result<> write_secret(const std::string& path, const Secret& secret) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return fail("{}: {}", path, strerror(errno));
  const File file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.fd() < 0) return fail("{}: {}", path, strerror(errno));
  std::string line = secret.hex() + "\n";
  const ssize_t written = write(file.fd(), line.data(), line.size());
  const int error = errno;
  const bool whole = written == static_cast<ssize_t>(line.size());
  OPENSSL_cleanse(line.data(), line.size());
  if (whole) return {};
  unlink(path.c_str());
  return fail("{}: {}", path, written < 0 ? strerror(error) : "the disk is full");
}

Result<Secret> read_secret(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.fd() < 0) return fail("{}: {}", path, strerror(errno));
  struct stat status {};
  if (fstat(file.fd(), &status) != 0) return fail("{}: {}", path, strerror(errno));
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
    return fail("{}: must be a file that only this user reads and writes (chmod 600)", path);
  Line line;
  const ssize_t got = read(file.fd(), line.text.data(), line.text.size());
  if (got < 0) return fail("{}: {}", path, strerror(errno));
  line.size = static_cast<size_t>(got);
  auto secret = line.secret();
  if (!secret) return fail("{}: {}", path, secret.error().message);
  return secret;
}

Result<Secret> receive_secret(int fd) {
  Line line;
  while (line.size < line.text.size() && (line.size == 0 || line.text[line.size - 1] != '\n')) {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, kHandOverMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return fail("no secret came on stdin within {} s", kHandOverMs / 1000);
    const ssize_t got = read(fd, line.text.data() + line.size, line.text.size() - line.size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail("stdin: {}", strerror(errno));
    if (got == 0) break;
    line.size += static_cast<size_t>(got);
  }
  auto secret = line.secret();
  if (!secret) return fail("stdin: {}", secret.error().message);
  return secret;
}

}  // namespace heddle
