#include "gui/models/recipe_document.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QUndoCommand>
#include <algorithm>
#include <filesystem>

#include "engine/checkpoint/load_recipe.h"
#include "gui/models/text_file.h"

namespace heddle::gui {

namespace {

/// How many lists or tables there are in a list of them; 0: it is none.
qint64 entriesOf(const QString& toml) {
  if (!toml.startsWith(QLatin1String("[[")) && !toml.startsWith(QLatin1String("[{"))) return 0;
  qint64 entries = 0;
  int depth = 0;
  bool quoted = false;
  for (const QChar c : toml) {
    if (c == QLatin1Char('"')) quoted = !quoted;
    if (quoted) continue;
    const bool opens = c == QLatin1Char('[') || c == QLatin1Char('{');
    if (opens && depth++ == 1) ++entries;
    if (c == QLatin1Char(']') || c == QLatin1Char('}')) --depth;
  }
  return entries;
}

/// A value as a label has room for it.
QString shortValue(const QString& toml) {
  constexpr int kMax = 28;
  QString text = toml.simplified();
  const qint64 entries = entriesOf(QString(text).replace(QLatin1String("[ "), QLatin1String("[")));
  if (entries > 0 && text.size() > kMax)
    return entries == 1 ? QObject::tr("one entry") : QObject::tr("%1 entries").arg(entries);
  for (const char* ends : {"[]", "\"\""}) {  // a list of one is shown as its entry
    const bool within = text.size() > 1 && text.front() == QLatin1Char(ends[0]) &&
                        text.back() == QLatin1Char(ends[1]) &&
                        !text.contains(QLatin1String("\", "));
    if (within) text = text.mid(1, text.size() - 2);
  }
  if (text.isEmpty()) return QStringLiteral("–");
  return text.size() <= kMax ? text : QChar(0x2026) + text.right(kMax - 1);
}

}  // namespace

/// The whole text before and after: recipes are a few kilobytes. With a key its label tells the
/// value before and after.
class TextChange : public QUndoCommand {
 public:
  TextChange(RecipeDocument& document, QString after, QString name, QString key, int edit)
      : QUndoCommand(name),
        document_(document),
        before_(document.text()),
        after_(std::move(after)),
        name_(std::move(name)),
        key_(std::move(key)),
        valueBefore_(document.value(key_)),
        edit_(edit) {}

  void undo() override { document_.replace(before_); }
  void redo() override {
    document_.replace(after_);
    tell(document_.value(key_));
  }
  int id() const override { return 1; }

  bool mergeWith(const QUndoCommand* other) override {
    const auto* next = static_cast<const TextChange*>(other);
    if (next->edit_ != edit_ || next->name_ != name_) return false;
    after_ = next->after_;
    tell(next->valueAfter_);
    setObsolete(before_ == after_);
    return true;
  }

 private:
  void tell(const QString& value) {
    valueAfter_ = value;
    if (!key_.isEmpty())
      setText(QStringLiteral("%1 %2 → %3")
                  .arg(name_, shortValue(valueBefore_), shortValue(valueAfter_)));
  }

  RecipeDocument& document_;
  QString before_, after_, name_, key_, valueBefore_, valueAfter_;
  int edit_;
};

RecipeDocument::RecipeDocument(QObject* parent) : QObject(parent) {
  autosaveTimer_.setSingleShot(true);
  autosaveTimer_.setInterval(500);
  connect(&autosaveTimer_, &QTimer::timeout, this, &RecipeDocument::autosave);
  connect(&files_, &RecipeFiles::changed, this, [this] {
    read();
    Q_EMIT changed();
  });
  read();
}

RecipeDocument::~RecipeDocument() {
  if (autosaveTimer_.isActive()) autosave();
}

void RecipeDocument::load(const QString& name, const QString& text, const QString& file) {
  name_ = name;
  file_ = file;
  saved_ = text;
  history_.clear();
  endEdit();
  replace(text);
  Q_EMIT loaded();
}

Result<> RecipeDocument::open(const QString& file) {
  const Result<QString> text = readText(file);
  if (!text) return fail(text);
  load(QFileInfo(file).completeBaseName(), *text, QFileInfo(file).absoluteFilePath());
  return {};
}

Result<> RecipeDocument::save() {
  if (auto written = writeText(file_, text_); !written) return written;
  saved_ = text_;
  autosave();
  Q_EMIT changed();
  return {};
}

Result<> RecipeDocument::saveAs(const QString& file) {
  const QString folder = QFileInfo(file).absolutePath();
  const bool moved = !file_.isEmpty() && QFileInfo(file_).absolutePath() != folder;
  QString text = text_;
  if (moved && readable_) {
    recipe::Recipe paths = recipe::parse(text.toStdString(), "").recipe;
    recipe::resolve_paths(paths, QFileInfo(file_).absolutePath().toStdString());
    for (const auto& [key, value] : recipe::flatten(paths)) {
      const QString name = QString::fromStdString(key);
      if (!isWritten(name) || values_.value(name) == QString::fromStdString(value)) continue;
      if (const auto edited = recipe::with_key(text.toStdString(), key, value)) {
        text = QString::fromStdString(*edited);
      }
    }
  }
  if (auto written = writeText(file, text); !written) return written;
  file_ = QFileInfo(file).absoluteFilePath();
  name_ = QFileInfo(file).completeBaseName();
  saved_ = text;
  endEdit();
  if (text != text_) {
    history_.push(new TextChange(*this, text, tr("save elsewhere"), {}, edit_));
    endEdit();
  }
  autosave();
  Q_EMIT changed();
  return {};
}

void RecipeDocument::autosave() {
  autosaveTimer_.stop();
  if (autosaveFile_.isEmpty()) return;
  if (!isEdited()) {
    QFile::remove(autosaveFile_);
    return;
  }
  QDir().mkpath(QFileInfo(autosaveFile_).absolutePath());
  const QJsonObject kept{{"name", name_}, {"file", file_}, {"saved", saved_}, {"text", text_}};
  const auto written = writeText(autosaveFile_, QString::fromUtf8(QJsonDocument(kept).toJson()));
  if (!written) Q_EMIT refused(QString::fromStdString(written.error().message));
}

bool RecipeDocument::keepUnsavedIn(const QString& file) {
  autosaveFile_ = file;
  const auto text = readText(file);
  if (!text) return false;
  const QJsonObject kept = QJsonDocument::fromJson(text->toUtf8()).object();
  if (!kept.contains("text")) return false;
  load(kept["name"].toString(), kept["saved"].toString(), kept["file"].toString());
  replace(kept["text"].toString());
  return true;
}

QStringList RecipeDocument::unsavedChanges() const {
  const recipe::Parsed old = recipe::parse(saved_.toStdString(), "");
  const recipe::Parsed now = recipe::parse(text_.toStdString(), "");
  QStringList changes;
  if (!readable_) return changes;
  for (const auto& [key, before, after] : recipe::changes(old.recipe, now.recipe)) {
    // A change of preset is listed alone, without the values that follow from it.
    const bool written = old.places.contains(key) || now.places.contains(key);
    if (!written && key.find('.') != std::string::npos) continue;
    changes << QStringLiteral("%1  %2 → %3")
                   .arg(QString::fromStdString(key), shortValue(QString::fromStdString(before)),
                        shortValue(QString::fromStdString(after)));
  }
  return changes;
}

bool RecipeDocument::isWritten(const QString& key) const {
  return resolved_.places.contains(key.toStdString());
}

void RecipeDocument::setKey(const QString& key, const QString& value) {
  const bool already = !isWritten(key) && values_.value(key) == value;
  if (!already) setKeys({{key, value}}, key.section(QChar('.'), 1));
}

void RecipeDocument::refuse(const QString& why) {
  Q_EMIT refused(why);
  Q_EMIT changed();  // fields show the text again
}

const recipe::Fault* RecipeDocument::faultOf(const QString& key) const {
  for (const auto* faults : {&faults_, &unsupported_}) {
    const auto found = std::ranges::find(*faults, key.toStdString(), &recipe::Fault::key);
    if (found != faults->end()) return &*found;
  }
  return nullptr;
}

bool RecipeDocument::isOpen(const recipe::Fault& fault) const {
  return recipe::find_key(fault.key) != nullptr && !resolved_.places.contains(fault.key);
}

qint64 RecipeDocument::mistakes() const {
  return std::ranges::count_if(faults_, [this](const auto& fault) { return !isOpen(fault); });
}

std::vector<recipe::Offer> RecipeDocument::offers(const QString& key) const {
  const recipe::Fault* fault = faultOf(key);
  if (fault == nullptr || !readable_) return {};
  recipe::Parsed parsed = recipe::parse(text_.toStdString(), "");
  // A checkpoint's numbers are the model's, and its folder is not read again for each try.
  parsed.recipe.model = resolved_.recipe.model;
  return recipe::offers(parsed, *fault);
}

void RecipeDocument::setOverrides(const std::vector<recipe::Override>& overrides,
                                  const QString& what) {
  const auto edited = recipe::with_overrides(text_.toStdString(), overrides);
  if (!edited) return refuse(QString::fromStdString(edited.error().message));
  lastTyped_ = -1;
  const QString after = QString::fromStdString(*edited);
  if (after != text_) history_.push(new TextChange(*this, after, what, {}, edit_));
}

Result<QString> RecipeDocument::textWith(const KeyValues& pairs) const {
  std::string text = text_.toStdString();
  for (const auto& [key, value] : pairs) {
    auto edited = recipe::with_key(text, key.toStdString(), value.toStdString());
    if (!edited) return fail(edited);
    text = std::move(*edited);
  }
  return QString::fromStdString(text);
}

void RecipeDocument::setKeys(const KeyValues& pairs, const QString& what) {
  const Result<QString> after = textWith(pairs);
  if (!after) return refuse(QString::fromStdString(after.error().message));
  lastTyped_ = -1;
  if (*after == text_) return;
  // A value of several lines says nothing in one.
  const auto& [key, value] = pairs.first();
  history_.push(
      new TextChange(*this, *after, what, value.contains(QChar('\n')) ? QString() : key, edit_));
}

void RecipeDocument::setText(const QString& text) {
  if (text == text_) return;
  // Everything between the common beginning and the common end has changed.
  const qsizetype shorter = std::min(text.size(), text_.size());
  qsizetype from = 0;
  while (from < shorter && text[from] == text_[from]) ++from;
  qsizetype same = 0;
  while (same < shorter - from && text[text.size() - 1 - same] == text_[text_.size() - 1 - same]) {
    ++same;
  }
  const QStringView inserted = QStringView(text).mid(from, text.size() - same - from);
  const qsizetype removed = text_.size() - same - from;
  const bool goesOn = lastTyped_ >= from && lastTyped_ <= from + removed;
  if (!goesOn || inserted.contains(QChar('\n')) || inserted.size() > 1) endEdit();
  const int line = static_cast<int>(QStringView(text).left(from).count(QChar('\n'))) + 1;
  history_.push(new TextChange(*this, text, tr("typing in line %1").arg(line), {}, edit_));
  lastTyped_ = from + inserted.size();
}

void RecipeDocument::replace(const QString& text) {
  text_ = text;
  lastTyped_ = -1;
  read();
  if (!autosaveFile_.isEmpty()) autosaveTimer_.start();
  Q_EMIT changed();
}

void RecipeDocument::read() {
  const std::string text = text_.toStdString();
  const std::string file =
      (file_.isEmpty() ? name_ + QStringLiteral(".toml") : file_).toStdString();
  recipe::Parsed parsed = recipe::parse(text, file);
  readable_ = std::ranges::none_of(parsed.faults,
                                   [](const recipe::Fault& fault) { return fault.key.empty(); });
  unsupported_.clear();
  if (!readable_) {
    faults_ = std::move(parsed.faults);
    return;
  }
  resolved_ = checkpoint::load_recipe(
      text, file, {}, 0, [this](const std::string& folder) { return files_.modelOf(folder); });
  values_.clear();
  const auto take = [this](const auto& pair) {
    values_.insert(QString::fromStdString(pair.first), QString::fromStdString(pair.second));
  };
  std::ranges::for_each(recipe::flatten(parsed.recipe), take);
  // As a preset's, a checkpoint's numbers are the model's.
  for (const auto& pair : recipe::flatten(resolved_.recipe))
    if (pair.first.starts_with("model.") && pair.first != "model.checkpoint") take(pair);
  faults_ = resolved_.faults;
  if (faults_.empty()) unsupported_ = recipe::unsupported(resolved_);
}

}  // namespace heddle::gui
