// Which addresses the internet reaches.
#include "base/address.h"

#include <arpa/inet.h>

#include <QTest>
#include <cstring>

#include "tests/support/accept.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

Address address_of(const QByteArray& text) {
  Address address;
  if (text.contains(':')) {
    inet_pton(AF_INET6, text.constData(), address.ip.data());
  } else {
    address.ip[10] = address.ip[11] = 0xff;
    inet_pton(AF_INET, text.constData(), address.ip.data() + 12);
  }
  return address;
}

}  // namespace

class AddressTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void what_the_internet_reaches() {
    for (const char* text :
         {"127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.7.7", "169.254.1.1",
          "100.64.0.1", "100.127.255.255", "198.18.0.1", "192.0.2.1", "224.0.0.1", "::1", "fe80::1",
          "fd12:3456::1", "2001:db8::1"})
      QVERIFY2(!is_public(address_of(text)), text);
    for (const char* text :
         {"8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "192.167.0.1",
          "11.0.0.1", "2606:4700::1111", "2001:db7::1", "0.0.0.0", "::"})
      QVERIFY2(is_public(address_of(text)), text);
  }

  void both_sides_of_a_socket_agree() {
    for (const char* host : {"127.0.0.1", "::1"}) {
      const auto listener = listen_on(host, 0);
      if (!listener) QSKIP(listener.error().message.c_str());
      const auto caller = connect_to(host, listener->port(), std::chrono::seconds(5));
      const auto answerer = test::accept_from(*listener, std::chrono::seconds(5));
      QVERIFY(caller && answerer);
      QCOMPARE(peer_address(*caller), own_address(*answerer));
      QCOMPARE(own_address(*caller), peer_address(*answerer));
      QCOMPARE(own_address(*answerer).port, listener->port());
      QCOMPARE(ip_text(own_address(*answerer)), std::string(host));
      QCOMPARE(interface_of(own_address(*answerer)), std::string("lo"));
    }
    QCOMPARE(interface_of(address_of("192.0.2.77")), std::string());
  }
};

HEDDLE_TEST(AddressTest)
#include "address_test.moc"
