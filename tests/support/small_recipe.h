// A Llama of eight small layers on four ranks, for tests that plan it in many ways.
#pragma once

#include <QStringList>
#include <vector>

#include "engine/recipe/parse.h"

/// With these keys, as `--set` takes them. Ends the test where they do not fit each other.
inline heddle::recipe::Recipe small_recipe(const QStringList& sets) {
  using namespace heddle;
  std::vector<std::string> all;
  for (const QString& each : sets) all.push_back(each.toStdString());
  const recipe::Parsed parsed = recipe::resolve(recipe::parse(
      "[model]\ndim = 24\nn_layers = 8\nn_heads = 2\nn_kv_heads = 2\nffn_dim = 40\n"
      "vocab_size = 77\n[data]\ntoken_ids = \"none\"\nseq_len = 16\n[training]\nlocal_batch = 4\n"
      "[hardware]\nranks = 4\n",
      "small.toml", all));
  for (const recipe::Fault& fault : parsed.faults) qFatal("%s", fault.what.c_str());
  return parsed.recipe;
}
