// A host behind SSH as a node: every operation is a small /bin/sh program on it, its arguments
// passed as arguments.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "remote/frames.h"
#include "remote/node.h"
#include "remote/ssh_session.h"

namespace heddle::remote {

/// Bytes as a program's stdin.
Source source_of(std::string bytes);

class SshNode final : public Node {
 public:
  explicit SshNode(std::shared_ptr<SshSession> session);
  using Node::read;

  bool is_this_machine() const override { return false; }
  bool connected() const override { return session_->connected(); }
  Greeting greeting() const override { return session_->greeting(); }
  Result<Completed> run(const Command& command) override;
  Result<> put_file(const Put& put, const Progress& progress) override;
  Result<> put_files(const std::vector<Put>& puts, const Progress& progress) override;
  Result<> put_bytes(const std::string& bytes, const std::string& to, int mode) override;
  Result<std::vector<std::optional<std::string>>> read(const std::vector<Range>& ranges) override;
  Result<std::vector<Entry>> list(const std::string& folder) override;
  Result<std::optional<Entry>> stat(const std::string& path) override;
  Result<> make_folders(const std::string& path) override;
  Result<> remove(const std::string& path) override;
  Result<std::string> home() override;

 private:
  /// Runs a script that must end with 0; `what` begins the error's sentence.
  Result<std::string> script(const std::string& text, std::vector<std::string> arguments,
                             const std::string& what, Limit limit, Source source = {});
  Result<std::vector<Upload>> find_parts(const std::vector<Put>& puts);
  Result<std::vector<bool>> append(const std::vector<Upload>& uploads, const Progress& progress);
  Result<std::vector<std::string>> finish(const std::vector<Upload>& uploads);

  std::shared_ptr<SshSession> session_;
  std::atomic<bool> packs_{false};  // the host can unpack
  std::mutex home_asked_;
  std::string home_;  // empty: not known yet
};

}  // namespace heddle::remote
