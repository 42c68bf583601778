// A PAM module that asks two questions: a name that may be seen, and one more than the challenge,
// hidden. Debian's modules ask for no more than a password.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The ABI of <security/pam_modules.h>, which is not everywhere; sshd has the library loaded.
struct pam_handle;
struct pam_message {
  int style;
  const char* text;
};
struct pam_response {
  char* text;
  int code;
};
struct pam_conv {
  int (*ask)(int count, const pam_message** messages, pam_response** answers, void* data);
  void* data;
};
extern "C" int pam_get_item(const pam_handle* handle, int type, const void** item);

namespace {

constexpr int kSuccess = 0, kRefused = 7, kConversation = 5;
constexpr int kHidden = 1, kSeen = 2, kWords = 4;

/// Whether the answer is the expected one.
bool asks(const pam_conv& conversation, int style, const char* text, const char* expected) {
  const pam_message message{style, text};
  const pam_message* messages = &message;
  pam_response* answer = nullptr;
  if (conversation.ask(1, &messages, &answer, conversation.data) != kSuccess || !answer)
    return false;
  const bool right = !expected || (answer->text && strcmp(answer->text, expected) == 0);
  free(answer->text);
  free(answer);
  return right;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int pam_sm_authenticate(pam_handle* handle, int,
                                                                          int, const char**) {
  const void* item = nullptr;
  if (pam_get_item(handle, kConversation, &item) != kSuccess || !item) return kRefused;
  const auto& conversation = *static_cast<const pam_conv*>(item);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const unsigned challenge = 1000 + static_cast<unsigned>(now.tv_nsec / 1000 % 9000);
  char question[64], expected[16];
  snprintf(question, sizeof(question), "Code for %u: ", challenge);
  snprintf(expected, sizeof(expected), "%u", challenge + 1);
  asks(conversation, kWords, "The lab's computers are for the lab.", nullptr);
  const bool named = asks(conversation, kSeen, "Your loom: ", "jacquard");
  const bool coded = asks(conversation, kHidden, question, expected);
  return named && coded ? kSuccess : kRefused;
}

extern "C" __attribute__((visibility("default"))) int pam_sm_setcred(pam_handle*, int, int,
                                                                     const char**) {
  return kSuccess;
}
