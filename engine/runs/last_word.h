// A rank's last word to the supervisor that started it: how far it has come,
// whether that is the end, and why it failed. The two share memory that nobody else can reach (a
// memfd): no file can be forged, no disk can be full, and it outlives a rank that is killed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle::runs {

/// A rank's flight recorder (engine/transport/flight_recorder.h) has so many bytes of the same
/// memory from here on: a multiple of a page.
inline constexpr off_t kFlightAt = 20480;
inline constexpr size_t kFlightRoom = size_t{32} * 1024;

struct Word {
  enum class State { working, done, stopped };
  State state = State::working;
  int64_t step = 0;        // the last that was trained whole; 0: none yet
  std::string cause = {};  // why it failed; empty: it has not said so
  bool lasting = false;    // its failure would only repeat if the run went on from a checkpoint
};

/// The supervisor's side. Movable; one thread.
class LastWord {
 public:
  static Result<LastWord> make();
  LastWord(LastWord&& other) noexcept;
  LastWord& operator=(LastWord&& other) noexcept;
  ~LastWord();

  /// The rank's --word-fd; closed on exec unless the program keeps it.
  int fd() const { return fd_; }
  /// A rank that has said nothing that can be understood is still working, at step 0.
  Word heard() const;

 private:
  explicit LastWord(int fd) : fd_(fd) {}
  int fd_;
};

/// The rank's side: replaces state and step. `fd` -1: nobody listens.
void give_word(int fd, const Word& word);
/// Why it fails; the end of a cause that is longer than 16 KiB.
void give_cause(int fd, std::string_view cause);
/// The failure would only repeat: its reason is in the numbers or in the files, not in a process.
void give_lasting(int fd);

}  // namespace heddle::runs
