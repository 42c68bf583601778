#include "engine/launch/tokenizing.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/data/corpus.h"
#include "engine/launch/spawn.h"

namespace heddle::launch {

Result<Tokenizing> Tokenizing::start(const recipe::Recipe& recipe, const std::string& engine,
                                     const std::string& run_dir) {
  Tokenizing tokenizing;
  // Before looking whether they are whole, so that they stay so.
  for (const auto& [key, data, part, weight] : data::texts_of(recipe))
    if (const auto origin = data::store_origin(data, part))
      tokenizing.uses_.emplace_back(origin->folder());
  const auto nothing_to_do = data::is_tokenized(recipe);
  if (!nothing_to_do || *nothing_to_do) return tokenizing;
  // An earlier run's reason for giving up is not this one's.
  for (const auto& [key, data, part, weight] : data::texts_of(recipe))
    if (const auto origin = data::store_origin(data, part))
      unlink(data::failure_path(origin->folder()).c_str());
  auto id = spawn({.words = {engine, "tokenize-corpus", run_dir + "/recipe.toml"},
                   .environment = rank_environment(1),
                   .output = run_dir + "/tokenize.err",
                   .kept_fds = {}});
  if (!id) return fail(id);
  tokenizing.id_ = *id;
  return tokenizing;
}

Tokenizing::~Tokenizing() {
  if (id_.pid == 0) return;
  kill(id_.pid, SIGKILL);
  waitpid(id_.pid, nullptr, 0);
}

}  // namespace heddle::launch
