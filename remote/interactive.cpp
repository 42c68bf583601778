#include "remote/interactive.h"

#include <mutex>

namespace heddle::remote {
namespace {

std::mutex asker_mutex;  // of whom to ask
std::mutex asker_turns;  // one question at a time
Asker asker_of_the_process;

}  // namespace

void set_asker(Asker asker) {
  const std::lock_guard lock(asker_mutex);
  asker_of_the_process = std::move(asker);
}

Result<Answers> ask_person(const Questions& questions) {
  const std::lock_guard turn(asker_turns);
  Asker asker;
  {
    const std::lock_guard lock(asker_mutex);
    asker = asker_of_the_process;
  }
  if (!asker) return fail("nobody can be asked here");
  Result<Answers> answers = asker(questions);
  if (answers && answers->size() != questions.prompts.size())
    return fail("there are {} answers to {} questions", answers->size(), questions.prompts.size());
  return answers;
}

}  // namespace heddle::remote
