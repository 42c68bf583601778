// What a rank has last said of itself to the supervisor that started it: how far it has come, and
// whether that is the end. It lies in memory that the two share and nobody else can reach (a
// memfd), so that no file can be forged, no disk can be full, and it outlives a rank that is
// killed.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace heddle::launch {

struct Word {
  enum class State { working, done, stopped };
  State state = State::working;
  int64_t step = 0;  // the last that was trained whole; 0: none yet
};

/// The supervisor's side. Movable; one thread.
class LastWord {
 public:
  static Result<LastWord> make();
  LastWord(LastWord&& other) noexcept;
  LastWord& operator=(LastWord&& other) noexcept;
  ~LastWord();

  /// What the rank is handed as --word-fd; closed on exec unless the program keeps it.
  int fd() const { return fd_; }
  /// A rank that has said nothing that can be understood is still working, at step 0.
  Word heard() const;

 private:
  explicit LastWord(int fd) : fd_(fd) {}
  int fd_;
};

/// The rank's side: replaces what it said before. `fd` -1: nobody listens.
void give_word(int fd, const Word& word);

}  // namespace heddle::launch
