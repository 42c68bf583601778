#include "remote/ask_on_terminal.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <optional>

#include "base/one_line.h"
#include "base/say.h"

namespace heddle::remote {
namespace {

constexpr size_t kMaxAnswer = 1024;
constexpr char kCtrlC = 3, kCtrlD = 4, kCtrlU = 21, kBackspace = 8, kDelete = 127;

class Terminal {
 public:
  Terminal() : fd_(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {}
  ~Terminal() {
    if (fd_ >= 0) close(fd_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool is_there() const { return fd_ >= 0; }

  void print(const std::string& text) const {
    for (size_t done = 0; done < text.size();) {
      const ssize_t n = write(fd_, text.data() + done, text.size() - done);
      if (n < 0 && errno != EINTR) return;
      if (n > 0) done += static_cast<size_t>(n);
    }
  }

  /// The line that is typed, seen as the terminal shows it; nothing at its end.
  std::optional<std::string> line(const std::string& prompt) const {
    print(prompt);
    std::string text;
    for (char c = 0; (c = next()) != '\n';) {
      if (c == '\0') return std::nullopt;
      if (text.size() < kMaxAnswer) text += c;
    }
    return text;
  }

  /// The same unseen. The terminal hands over each key, Ctrl+C as well: it is as before in any
  /// case.
  std::optional<std::string> hidden_line(const std::string& prompt) const {
    termios before{};
    if (tcgetattr(fd_, &before) != 0) return std::nullopt;
    termios hidden = before;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG);
    hidden.c_cc[VMIN] = 1;
    hidden.c_cc[VTIME] = 0;
    if (tcsetattr(fd_, TCSAFLUSH, &hidden) != 0) return std::nullopt;
    print(prompt);
    auto text = keys();
    tcsetattr(fd_, TCSAFLUSH, &before);
    print("\n");
    return text;
  }

 private:
  /// '\0': there is no more.
  char next() const {
    char c = 0;
    for (;;) {
      const ssize_t n = read(fd_, &c, 1);
      if (n == 1) return c;
      if (n == 0 || errno != EINTR) return '\0';
    }
  }

  std::optional<std::string> keys() const {
    std::string text;
    for (;;) {
      const char c = next();
      if (c == '\0' || c == kCtrlC || c == kCtrlD) return std::nullopt;
      if (c == '\n' || c == '\r') return text;
      if (c == kCtrlU)
        text.clear();
      else if (c == kBackspace || c == kDelete)
        text.resize(last_character(text));
      else if (text.size() < kMaxAnswer)
        text += c;
    }
  }

  /// Where the last character of the text begins.
  static size_t last_character(const std::string& text) {
    size_t at = text.size();
    while (at > 0 && (static_cast<unsigned char>(text[--at]) & 0xC0) == 0x80) continue;
    return at;
  }

  const int fd_;
};

}  // namespace

Result<Answers> ask_on_terminal(const Questions& questions) {
  // A feed tries again and again.
  static std::atomic<bool> declined{false};
  if (questions.background && declined) return fail("you gave no answer");
  const Terminal terminal;
  if (!terminal.is_there()) return fail("there is no terminal to ask on");
  std::string before =
      questions.host + (questions.refused ? ": that was not right. The host asks again:\n"
                                          : ": the host asks before it lets you in:\n");
  for (const std::string& text : {questions.title, questions.text})
    if (!text.empty()) before += text + "\n";
  terminal.print(printable(before));
  Answers answers;
  for (const Prompt& prompt : questions.prompts) {
    const std::string text = one_line(prompt.text);
    auto answer = prompt.echo ? terminal.line(text) : terminal.hidden_line(text);
    if (!answer) {
      declined = true;
      return fail("you gave no answer");
    }
    answers.push_back(std::move(*answer));
  }
  return answers;
}

}  // namespace heddle::remote
