// How late the event loop of this thread is: a timer that notes by how much it missed its time.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <algorithm>
#include <vector>

namespace heddle::bench {

class DelayProbe {
 public:
  DelayProbe() {
    timer_.setTimerType(Qt::PreciseTimer);
    QObject::connect(&timer_, &QTimer::timeout, [this] {
      const qint64 now = clock_.elapsed();
      delays_.push_back(static_cast<double>(std::max<qint64>(0, now - due_)));
      due_ = now + kEveryMs;
    });
  }
  /// Forgets what it has noted.
  void start() {
    delays_.clear();
    clock_.start();
    due_ = kEveryMs;
    timer_.start(kEveryMs);
  }
  qint64 elapsed() const { return clock_.elapsed(); }
  /// Milliseconds; `share` 0.5 is the median, 1 the longest.
  double delay(double share) const {
    if (delays_.empty()) return 0;
    std::vector<double> sorted = delays_;
    const auto at =
        sorted.begin() + static_cast<ptrdiff_t>(share * static_cast<double>(sorted.size() - 1));
    std::nth_element(sorted.begin(), at, sorted.end());
    return *at;
  }

 private:
  static constexpr int kEveryMs = 10;
  QTimer timer_;
  QElapsedTimer clock_;
  qint64 due_ = 0;
  std::vector<double> delays_;
};

}  // namespace heddle::bench
