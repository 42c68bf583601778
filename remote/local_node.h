// This machine as a node: processes and files, no SSH.
#pragma once

#include "remote/node.h"

namespace heddle::remote {

class LocalNode final : public Node {
 public:
  explicit LocalNode(std::string name) : Node(std::move(name)) {}
  using Node::read;

  bool is_this_machine() const override { return true; }
  bool connected() const override { return true; }
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
};

}  // namespace heddle::remote
