#include <QAction>
#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLineEdit>
#include <QMenu>

#include "engine/recipe/text.h"
#include "gui/theme/icons.h"
#include "gui/views/compose/field_kinds.h"
#include "gui/widgets/file_dialog.h"

namespace heddle::gui {
namespace {

class TextField : public KeyField {
 public:
  TextField(RecipeDocument& document, const recipe::KeyInfo& info)
      : KeyField(document, info, new QLineEdit) {
    line()->setProperty("role", "mono");
    line()->setPlaceholderText(QString::fromStdString(info.zero));
    connect(line(), &QLineEdit::textEdited, this, [this](const QString& text) { takeText(text); });
    connect(line(), &QLineEdit::editingFinished, this, [this] { this->document().endEdit(); });
  }

  int widestText() const override { return kWide; }

 protected:
  static constexpr int kWide = 1000;
  virtual void takeText(const QString& text) { take(quoted(text)); }
  virtual QString textOf(const QString& toml) const { return unquoted(toml); }
  /// Two texts of one meaning: the typed one stays.
  virtual bool same(const QString& a, const QString& b) const { return a == b; }
  void showValue(const QString& toml) override {
    const QString text = textOf(toml);
    if (line()->hasFocus() && same(line()->text(), text)) return;
    if (line()->text() != text) line()->setText(text);
  }
  QLineEdit* line() const { return static_cast<QLineEdit*>(editor()); }
};

class ListField : public TextField {
 public:
  using TextField::TextField;

 protected:
  QString textOf(const QString& toml) const override { return toml.mid(1, toml.size() - 2); }
  bool same(const QString& a, const QString& b) const override {
    return QString(a).remove(QChar(' ')) == QString(b).remove(QChar(' '));
  }
  void takeText(const QString& text) override {
    const QString toml = QStringLiteral("[%1]").arg(text.trimmed());
    const bool list = recipe::with_key("", info().key, toml.toStdString()).has_value();
    setOwnFault(list ? QString() : tr("%1 is no list of numbers, as in 15, 16, 16").arg(text));
    if (list) take(text.trimmed().isEmpty() ? QString() : toml);
  }
};

class NamesField : public TextField {
 public:
  using TextField::TextField;

 protected:
  QString textOf(const QString& toml) const override {
    QStringList names;
    for (const QJsonValue name : QJsonDocument::fromJson(toml.toUtf8()).array())
      names << name.toString();
    return names.join(QStringLiteral(", "));
  }
  bool same(const QString& a, const QString& b) const override { return split(a) == split(b); }
  void takeText(const QString& text) override {
    QStringList names;
    for (const QString& name : split(text)) names << quoted(name);
    take(QStringLiteral("[%1]").arg(names.join(QStringLiteral(", "))));
  }

 private:
  static QStringList split(const QString& text) {
    QStringList names;
    for (const QString& name : text.split(QChar(',')))
      if (!name.trimmed().isEmpty()) names << name.trimmed();
    return names;
  }
};

class PathField : public TextField {
 public:
  PathField(RecipeDocument& document, const recipe::KeyInfo& info)
      : TextField(document, info), list_(info.type == "list"), folder_(info.files == "/") {
    QAction* browse =
        line()->addAction(icon(QStringLiteral("open"), Tone::muted), QLineEdit::TrailingPosition);
    browse->setToolTip(tr("Choose"));
    connect(browse, &QAction::triggered, this, [this] { list_ ? askWhich() : choose(folder_); });
  }

 protected:
  QString textOf(const QString& toml) const override {
    if (!list_) return unquoted(toml);
    QStringList paths;
    for (const QJsonValue path : QJsonDocument::fromJson(toml.toUtf8()).array()) {
      paths << path.toString();
    }
    return paths.join(QStringLiteral("; "));
  }
  bool same(const QString& a, const QString& b) const override { return split(a) == split(b); }
  void takeText(const QString& text) override {
    if (!list_) return take(quoted(text));
    QStringList paths;
    for (const QString& path : split(text)) paths << quoted(path);
    take(QStringLiteral("[%1]").arg(paths.join(QStringLiteral(", "))));
  }

 private:
  static QStringList split(const QString& text) {
    QStringList paths;
    for (const QString& path : text.split(QChar(';'))) {
      if (!path.trimmed().isEmpty()) paths << path.trimmed();
    }
    return paths;
  }

  void askWhich() {
    QMenu menu(line());
    const QAction* files = menu.addAction(tr("Files …"));
    const QAction* folder = menu.addAction(tr("A folder …"));
    const QAction* chosen = menu.exec(line()->mapToGlobal(QPoint(0, line()->height())));
    if (chosen == files || chosen == folder) choose(chosen == folder);
  }

  void choose(bool folder) {
    const QString base = document().file().isEmpty() ? QDir::homePath()
                                                     : QFileInfo(document().file()).absolutePath();
    const QString first = split(line()->text()).value(0);
    const QString start = !first.isEmpty()              ? QDir(base).absoluteFilePath(first)
                          : document().file().isEmpty() ? FileDialog::lastFolder()
                                                        : base;
    const QString title = tr("Choose: %1").arg(line()->accessibleName());
    const QString patterns = QString::fromStdString(info().files);
    const QString filter = tr("%1;;All files (*)").arg(QStringLiteral("(%1)").arg(patterns));
    QStringList chosen;
    if (folder) {
      chosen << FileDialog::folder(line(), title, start);
    } else if (list_) {
      chosen = FileDialog::filesToOpen(line(), title, start, filter);
    } else {
      chosen << FileDialog::fileToOpen(line(), title, start, filter);
    }
    chosen.removeAll(QString());
    if (chosen.isEmpty()) return;
    line()->setText(chosen.join(QStringLiteral("; ")));
    takeText(line()->text());
    document().endEdit();
  }

  bool list_, folder_;
};

}  // namespace

QString unquoted(const QString& toml) {
  return QJsonDocument::fromJson(QStringLiteral("[%1]").arg(toml).toUtf8())
      .array()
      .at(0)
      .toString();
}

QString quoted(const QString& text) {
  return QString::fromStdString(recipe::quote(text.toStdString()));
}

KeyField* textField(RecipeDocument& document, const recipe::KeyInfo& info) {
  return new TextField(document, info);
}

KeyField* listField(RecipeDocument& document, const recipe::KeyInfo& info) {
  return new ListField(document, info);
}

KeyField* namesField(RecipeDocument& document, const recipe::KeyInfo& info) {
  return new NamesField(document, info);
}

KeyField* pathField(RecipeDocument& document, const recipe::KeyInfo& info) {
  return new PathField(document, info);
}

}  // namespace heddle::gui
