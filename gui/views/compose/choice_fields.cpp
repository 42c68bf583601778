#include <QComboBox>
#include <algorithm>

#include "engine/recipe/presets.h"
#include "gui/views/compose/bucket_edits.h"
#include "gui/views/compose/field_kinds.h"

namespace heddle::gui {
namespace {

constexpr int kFew = 6;  // choices of which each is a neighbour of each

class ChoiceField : public KeyField {
 public:
  ChoiceField(RecipeDocument& document, const recipe::KeyInfo& info)
      : KeyField(document, info, new QComboBox) {
    const bool yesNo = info.type == "boolean";
    for (size_t i = 0; i < info.choices.size(); ++i) {
      const QString word = QString::fromStdString(info.choices[i]);
      const QString name = i < info.names.size() ? QString::fromStdString(info.names[i]) : word;
      add(yesNo && info.names.empty() ? (i == 0 ? tr("yes") : tr("no")) : name,
          yesNo ? word : quoted(word));
    }
    combo()->setFocusPolicy(Qt::StrongFocus);
    connect(combo(), &QComboBox::activated, this, [this](int index) {
      choose(combo()->itemData(index).toString());
      this->document().endEdit();
    });
  }

  int widestText() const override {
    int widest = 0;
    for (int i = 0; i < combo()->count(); ++i)
      widest = std::max(widest, editor()->fontMetrics().horizontalAdvance(combo()->itemText(i)));
    return widest;
  }
  QString shownValue() const override { return combo()->currentText(); }
  QList<KeyValue> nextValues() const override {
    QList<KeyValue> all;
    const int now = combo()->currentIndex();
    for (int i = 0; i < combo()->count(); ++i)
      if (i != now && (combo()->count() <= kFew || std::abs(i - now) == 1))
        all << KeyValue{combo()->itemText(i), combo()->itemData(i).toString()};
    return all;
  }

 protected:
  virtual void choose(const QString& toml) { take(toml); }
  void showValue(const QString& toml) override {
    combo()->setCurrentIndex(combo()->findData(toml));
  }
  void add(const QString& name, const QString& toml) { combo()->addItem(name, toml); }
  QComboBox* combo() const { return static_cast<QComboBox*>(editor()); }
};

class PresetField : public ChoiceField {
 public:
  PresetField(RecipeDocument& document, const recipe::KeyInfo& info) : ChoiceField(document, info) {
    combo()->insertItem(0, tr("own numbers"), quoted({}));
  }

  KeyValues pairsFor(const QString& toml) const override {
    const bool own = toml == quoted({});
    KeyValues pairs;
    for (const recipe::KeyInfo& info : recipe::keys()) {
      const bool number = info.group == this->info().group && info.key != this->info().key &&
                          info.key != "model.checkpoint";
      if (!number) continue;
      const QString key = QString::fromStdString(info.key);
      // Without a preset its numbers must be in the text; defaults need not.
      const QString value = document().value(key);
      const bool needed = own && value != QString::fromStdString(info.fallback);
      pairs.append({key, needed ? value : QString()});
    }
    pairs.prepend({key(), own ? QString() : toml});
    return withBuckets(document(), pairs);
  }

 protected:
  void choose(const QString& toml) override { document().setKeys(pairsFor(toml), tr("preset")); }
};

class RopeScalingField : public ChoiceField {
 public:
  RopeScalingField(RecipeDocument& document, const recipe::KeyInfo& info)
      : ChoiceField(document, info) {
    add(tr("none"), QStringLiteral("false"));
    const auto offer = [&](const QString& name, const recipe::RopeScaling& scaling) {
      recipe::Recipe with;
      with.model.rope_scaling = scaling;
      const auto values = recipe::flatten(with);
      add(name, QString::fromStdString(
                    std::ranges::find(values, info.key, &std::pair<std::string, std::string>::first)
                        ->second));
    };
    offer(tr("Llama 3.1, 8 times"), *recipe::preset("llama3-8b")->rope_scaling);
    offer(tr("Llama 3.2, 32 times"), *recipe::preset("llama3-1b")->rope_scaling);
    offer(tr("linear, 4 times"), {.type = recipe::RopeType::linear, .factor = 4.0});
    offer(tr("YaRN, 4 times"), {.type = recipe::RopeType::yarn, .factor = 4.0});
  }

 protected:
  void showValue(const QString& toml) override {
    if (combo()->findData(toml) < 0) add(tr("as written"), toml);
    ChoiceField::showValue(toml);
  }
};

/// This machine, the catalogue's nodes, and the written name if it is none of them.
class HardwareField : public ChoiceField {
 public:
  HardwareField(RecipeDocument& document, const recipe::KeyInfo& info)
      : ChoiceField(document, info) {
    add(tr("this machine"), quoted(QLatin1String(hardware::kThisMachine)));
    for (const auto& [name, node] : catalogue().nodes) {
      add(QString::fromStdString(name), quoted(QString::fromStdString(name)));
      combo()->setItemData(combo()->count() - 1, QString::fromStdString(node.title),
                           Qt::ToolTipRole);
    }
  }

 protected:
  void showValue(const QString& toml) override {
    if (combo()->findData(toml) < 0) add(unquoted(toml), toml);
    ChoiceField::showValue(toml);
  }
};

class ReshardField : public ChoiceField {
 public:
  using ChoiceField::ChoiceField;

  int widestText() const override {
    return editor()->fontMetrics().horizontalAdvance(tr("kept in groups of 1,024"));
  }

 protected:
  void showValue(const QString& toml) override {
    const qint64 shards = document().resolved().recipe.parallelism.dp_shard;
    combo()->clear();
    add(tr("after forward"), QStringLiteral("true"));
    add(tr("never within a step"), QStringLiteral("false"));
    for (qint64 size = 2; size < std::min<qint64>(shards, 1024); ++size)
      if (shards % size == 0) add(tr("kept in groups of %1").arg(size), QString::number(size));
    if (combo()->findData(toml) < 0) add(tr("kept in groups of %1").arg(toml), toml);
    ChoiceField::showValue(toml);
  }
};

}  // namespace

KeyField* choiceField(RecipeDocument& document, const recipe::KeyInfo& info) {
  return new ChoiceField(document, info);
}

KeyField* presetField(RecipeDocument& document, const recipe::KeyInfo& info) {
  return new PresetField(document, info);
}

KeyField* ropeScalingField(RecipeDocument& document, const recipe::KeyInfo& info) {
  return new RopeScalingField(document, info);
}

KeyField* hardwareField(RecipeDocument& document, const recipe::KeyInfo& info) {
  return new HardwareField(document, info);
}

const hardware::Catalogue& catalogue() {
  static const hardware::Catalogue all = hardware::load_catalogue();
  return all;
}

KeyField* reshardField(RecipeDocument& document, const recipe::KeyInfo& info) {
  return new ReshardField(document, info);
}

}  // namespace heddle::gui
