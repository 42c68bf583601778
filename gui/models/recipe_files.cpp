#include "gui/models/recipe_files.h"

#include <QFileInfo>

#include "engine/checkpoint/load_recipe.h"
#include "gui/models/tokenizer_size.h"

namespace heddle::gui {
namespace {

constexpr qint64 kOld = 2000;  // milliseconds

}  // namespace

RecipeFiles::RecipeFiles(QObject* parent) : QObject(parent), reading_(thread_, this) {}

template <typename T, typename Read>
std::optional<T> RecipeFiles::ask(QHash<QString, Known<T>>& known, const QString& path, Read read) {
  Known<T>& entry = known[path];
  if (!entry.asked && (!entry.answer || entry.age.elapsed() > kOld)) {
    entry.asked = true;
    reading_.add([read, before = entry.answer] { return read(before); },
                 [this, &known, path](T answer) {
                   Known<T>& now = known[path];
                   now.asked = false;
                   now.age.start();
                   if (now.answer == answer) return;
                   now.answer = std::move(answer);
                   Q_EMIT changed();
                 });
  }
  return entry.answer;
}

std::optional<qint64> RecipeFiles::vocabulary(const QString& tokenizer) {
  const auto read = [tokenizer](const std::optional<Vocabulary>& before) {
    const QDateTime modified = QFileInfo(tokenizer).lastModified();
    if (before && before->modified == modified) return *before;
    return Vocabulary{modified, tokenizerSize(tokenizer)};
  };
  const auto found = ask(vocabularies_, tokenizer, read);
  return found ? std::optional(found->size) : std::nullopt;
}

Result<recipe::Model> RecipeFiles::modelOf(const std::string& folder) {
  const auto read = [folder](const std::optional<Described>&) {
    const auto model = checkpoint::model_at(folder);
    return model ? Described{*model, {}} : Described{{}, model.error().message};
  };
  const auto found = ask(models_, QString::fromStdString(folder), read);
  if (!found) return fail("{} is being read", folder);
  if (!found->model) return fail("{}", found->why);
  return *found->model;
}

}  // namespace heddle::gui
