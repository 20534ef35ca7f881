// SPDX-License-Identifier: GPL-2.0-only
/*
 * For test_room.py: takes pages as a packet does that comes when nobody may wait for memory, many
 * at one moment, several times with a moment between. How many it did not get is in the file
 * /sys/module/burst/parameters/failed. It gives all back when it is removed.
 */
#include <linux/bottom_half.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>

static int bursts, mib, failed;
module_param(bursts, int, 0400);
module_param(mib, int, 0400);
module_param(failed, int, 0400);
static LIST_HEAD(taken);

static void take(void)
{
	struct page *page = alloc_page(GFP_ATOMIC | __GFP_NOWARN);

	if (page)
		list_add(&page->lru, &taken);
	else
		failed++;
}

static int __init burst_init(void)
{
	for (int burst = 0; burst < bursts; burst++) {
		local_bh_disable();
		for (int i = 0; i < mib << (20 - PAGE_SHIFT); i++)
			take();
		local_bh_enable();
		schedule_timeout_uninterruptible(1);
	}
	return 0;
}

static void __exit burst_exit(void)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, &taken, lru)
		__free_page(page);
}

module_init(burst_init);
module_exit(burst_exit);
MODULE_DESCRIPTION("Takes many pages at one moment");
MODULE_LICENSE("GPL");
