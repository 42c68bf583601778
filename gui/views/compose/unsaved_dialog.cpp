#include "gui/views/compose/unsaved_dialog.h"

#include "gui/theme/theme.h"
#include "gui/widgets/dialog.h"

namespace heddle::gui {

Unsaved askUnsaved(QWidget* parent, const QString& recipe, const QStringList& changes,
                   bool saveAs) {
  constexpr int kMax = 8;
  Dialog dialog(QObject::tr("Unsaved recipe"), QStringLiteral("warning"), Tone::warn, parent);
  dialog.setObjectName(QStringLiteral("unsaved"));
  auto* words =
      new QLabel(changes.isEmpty()
                     ? QObject::tr("The text of %1 has been changed and is not saved.").arg(recipe)
                     : QObject::tr("%1 is not saved. What has changed:").arg(recipe));
  words->setWordWrap(true);
  dialog.body()->addWidget(words);
  if (!changes.isEmpty()) {
    QLabel* list = mono(changes.mid(0, kMax).join(QChar('\n')));
    list->setObjectName(QStringLiteral("changes"));
    dialog.body()->addWidget(list);
  }
  if (changes.size() > kMax)
    dialog.body()->addWidget(muted(QObject::tr("and %1 more").arg(changes.size() - kMax)));

  QPushButton* cancel = quietButton(QObject::tr("Cancel"));
  QPushButton* discard = dangerButton(QObject::tr("Discard"));
  QPushButton* save = primaryButton(saveAs ? QObject::tr("Save as …") : QObject::tr("Save"));
  Unsaved answer = Unsaved::cancel;
  for (const auto& [button, means] :
       {std::pair(cancel, Unsaved::cancel), {discard, Unsaved::discard}, {save, Unsaved::save}}) {
    dialog.addButton(button);
    QObject::connect(button, &QPushButton::clicked, &dialog, [&dialog, &answer, means = means] {
      answer = means;
      dialog.accept();
    });
  }
  cancel->setObjectName(QStringLiteral("cancel"));
  discard->setObjectName(QStringLiteral("discard"));
  save->setObjectName(QStringLiteral("save"));
  save->setDefault(true);
  save->setFocus();
  return dialog.exec() == QDialog::Accepted ? answer : Unsaved::cancel;
}

}  // namespace heddle::gui
