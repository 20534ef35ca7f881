/* SPDX-License-Identifier: GPL-2.0-only */
/* What many of the lab kernel's files include: read once, by lab/kernel/cc. */
#undef KBUILD_MODNAME
#define KBUILD_MODNAME "lab" /* in the text of errors that no file here gives */
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/init.h>
#include <linux/slab.h>
#include <linux/mm.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/mm.h>
#include <linux/interrupt.h>
#include <linux/syscalls.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <linux/skbuff.h>
#include <linux/netdevice.h>
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/filter.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <net/ip.h>
#include <net/route.h>
#include <net/pkt_sched.h>
#include <net/pkt_cls.h>
#include <net/netlink.h>
#include <net/genetlink.h>
#undef KBUILD_MODNAME
/* It refuses to be included twice. */
#undef __LINUX_COMPILER_VERSION_H
