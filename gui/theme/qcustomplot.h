// QCustomPlot's header is written with Qt's keywords, which Heddle is compiled without.
#pragma once

#include <QObject>

#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#define emit
#include <qcustomplot.h>
#undef emit
#undef foreach
#undef slots
#undef signals
