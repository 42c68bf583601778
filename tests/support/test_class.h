// Test classes of a program that holds a folder's: `bin/base_tests utf8_test [FUNCTION...] [OPTIONS
// OF QT TEST...]`.
#pragma once

#include <QtTest>

#ifdef QT_WIDGETS_LIB
#include <QApplication>
#endif

namespace heddle::test {

using Run = int (*)(int argc, char** argv);

/// Before main. The class has the name of its file, without the ending.
bool add_class(const char* file, Run run);

template <typename Application, typename Class>
int run_class(int argc, char** argv) {
  Application application(argc, argv);
  application.setAttribute(Qt::AA_Use96Dpi, true);
  Class test;
  return QTest::qExec(&test, argc, argv);
}

}  // namespace heddle::test

#define HEDDLE_TEST_WITH(Application, Class)        \
  [[maybe_unused]] static const bool added##Class = \
      heddle::test::add_class(__FILE__, heddle::test::run_class<Application, Class>);

/// In place of Qt's QTEST_GUILESS_MAIN.
#define HEDDLE_TEST(Class) HEDDLE_TEST_WITH(QCoreApplication, Class)
/// In place of Qt's QTEST_MAIN.
#define HEDDLE_WIDGET_TEST(Class) HEDDLE_TEST_WITH(QApplication, Class)
