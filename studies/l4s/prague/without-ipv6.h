/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lab's kernel has no IPv6, so its sockets have no IPv6 addresses. Prague names them where it
 * prints one. No connection of the lab comes there.
 */
#include <net/sock.h>

#if !IS_ENABLED(CONFIG_IPV6)
#undef sk_v6_daddr
#undef sk_v6_rcv_saddr
#define sk_v6_daddr sk_daddr
#define sk_v6_rcv_saddr sk_rcv_saddr
#endif
