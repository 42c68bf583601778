#include "gui/charts/board_layout.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QSettings>
#include <QUrl>
#include <algorithm>

#include "gui/settings.h"

namespace heddle::gui {
namespace {

QString lastKey(const QString& page) { return QStringLiteral("charts/%1/last").arg(page); }
QString viewsKey(const QString& page) { return QStringLiteral("charts/%1/views").arg(page); }

/// A name as a key of the settings, which know a slash as a group.
QString keyOf(const QString& name) { return QString::fromLatin1(QUrl::toPercentEncoding(name)); }

}  // namespace

std::optional<BoardLayout> boardLayout(const QByteArray& json) {
  const QJsonObject object = QJsonDocument::fromJson(json).object();
  if (!object["cards"].isArray()) return std::nullopt;
  BoardLayout layout;
  layout.columns = std::clamp(object["columns"].toInt(), 0, BoardLayout::kMaxColumns);
  for (const QJsonValue& value : object["cards"].toArray()) {
    const QJsonObject card = value.toObject();
    BoardCard made{.spec = chartSpec(card)};
    if (made.spec.metric.empty()) continue;
    made.columns = std::clamp(card["columns"].toInt(1), 1, BoardLayout::kMaxColumns);
    made.height = std::clamp(card["height"].toInt(BoardCard::kHeight), BoardCard::kMinHeight,
                             BoardCard::kMaxHeight);
    layout.cards.push_back(std::move(made));
  }
  return layout;
}

QByteArray toJson(const BoardLayout& layout) {
  QJsonArray cards;
  for (const BoardCard& card : layout.cards) {
    QJsonObject object = toJson(card.spec);
    object["columns"] = card.columns;
    object["height"] = card.height;
    cards.append(object);
  }
  const QJsonObject object{{"cards", cards}, {"columns", layout.columns}};
  return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

std::optional<BoardLayout> BoardViews::last() const {
  if (!keeps()) return std::nullopt;
  return boardLayout(openSettings()->value(lastKey(page_)).toByteArray());
}

void BoardViews::setLast(const std::optional<BoardLayout>& layout) {
  if (!keeps()) return;
  const auto settings = openSettings();
  layout ? settings->setValue(lastKey(page_), toJson(*layout)) : settings->remove(lastKey(page_));
}

QStringList BoardViews::names() const {
  if (!keeps()) return {};
  const auto settings = openSettings();
  settings->beginGroup(viewsKey(page_));
  QStringList names;
  for (const QString& key : settings->childKeys())
    names << QUrl::fromPercentEncoding(key.toLatin1());
  names.sort(Qt::CaseInsensitive);
  return names;
}

std::optional<BoardLayout> BoardViews::view(const QString& name) const {
  const auto settings = openSettings();
  settings->beginGroup(viewsKey(page_));
  return boardLayout(settings->value(keyOf(name)).toByteArray());
}

void BoardViews::save(const QString& name, const BoardLayout& layout) {
  const auto settings = openSettings();
  settings->beginGroup(viewsKey(page_));
  settings->setValue(keyOf(name), toJson(layout));
}

void BoardViews::remove(const QString& name) {
  const auto settings = openSettings();
  settings->beginGroup(viewsKey(page_));
  settings->remove(keyOf(name));
}

}  // namespace heddle::gui
