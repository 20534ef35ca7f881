// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives memory that holds nothing back to the host, for User-Mode Linux.
 *
 * A lab's memory is a file of the host. A page of it costs the host memory from its first use until
 * the lab ends, also when the lab has freed it, and also when it holds only zeros. A write to
 * /proc/cellbed_room makes holes in this file where the lab's kernel has no use for the content of
 * a page: the page is free, or all its bytes are zero. A hole reads as zeros, and the host fills
 * it again at its next use. So nothing in the lab sees a difference.
 *
 * Interrupts are off meanwhile, so no page changes between the look and the hole. The lab has one
 * processor, and no program of it runs while its kernel does.
 *
 * The kernel also has a description (struct page) of each page that it may have: 56 MiB for 4 GiB.
 * The text of the write is a number: how many MiB shall stay free. The module takes free blocks
 * beyond these from the allocator, and keeps them. Nothing needs the descriptions of their pages
 * then, so they become holes, too. When the kernel runs short of memory, it asks its shrinkers. The
 * module then writes the descriptions again and frees blocks. So a lab may have as much memory as
 * before.
 *
 * Who reads a description that is a hole reads zeros: a page that is not free and on no list.
 * Nobody but a search through all pages does so, and it passes over such a page.
 *
 * The text may have the word "files" after the number. Then the programs also lose all pages that
 * the kernel has read from files of the image for them, and read again those that they use.
 */
#include <linux/bitmap.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/swap.h>
#include <mem.h>

/* A thread of the host would write for the block device while interrupts are off. */
#if IS_ENABLED(CONFIG_SMP) || IS_ENABLED(CONFIG_PREEMPTION) || IS_ENABLED(CONFIG_BLK_DEV_UBD)
#error "Only where nothing else of the kernel runs until this sleeps."
#endif

/* Of the host's kernel (x86-64). */
#define HOST_LSEEK	8
#define HOST_SEEK_DATA	3
#define HOST_SEEK_HOLE	4
#define HOST_MADVISE	28
#define HOST_REMOVE	9	/* MADV_REMOVE */

#define BLOCK_ORDER	MAX_PAGE_ORDER
#define BLOCK_PAGES	(1UL << BLOCK_ORDER)
/* What the module frees when the kernel runs short. */
#define FREED_PAGES	(32UL << (20 - PAGE_SHIFT))
#define IMAGE		"hostfs"

/* Blocks that the module keeps, by the number of their first page over BLOCK_PAGES. */
static unsigned long *kept;
static unsigned long kept_blocks;
static unsigned long kept_flags;	/* of the description of each of their pages */
static struct shrinker *shrinker;

struct round {
	unsigned long hole, hole_end;	/* page numbers; equal: no hole waits */
	unsigned long next;	/* the page after that of the last look */
	unsigned long free_end;	/* pages before this number belong to a free block */
	unsigned long given;	/* pages */
};

static long host(long number, unsigned long first, unsigned long second, unsigned long third)
{
	long result;

	asm volatile("syscall"
		     : "=a"(result)
		     : "0"(number), "D"(first), "S"(second), "d"(third)
		     : "rcx", "r11", "memory");
	return result;
}

static unsigned long address_of(unsigned long page)
{
	return uml_physmem + (page << PAGE_SHIFT);
}

/* The host refuses where the memory is no file that can have holes; then all stays as it was. */
static void make_hole(struct round *round)
{
	unsigned long pages = round->hole_end - round->hole;

	if (pages && !host(HOST_MADVISE, address_of(round->hole), pages << PAGE_SHIFT, HOST_REMOVE))
		round->given += pages;
	round->hole = round->hole_end = 0;
}

static bool is_kept(unsigned long number)
{
	return test_bit(number / BLOCK_PAGES, kept);
}

/* Is the page a part of the descriptions, and has only those of kept blocks? */
static bool describes_kept(unsigned long number)
{
	unsigned long at = address_of(number), all = (unsigned long)pfn_to_page(0);
	unsigned long last = (at + PAGE_SIZE - 1 - all) / sizeof(struct page);

	return at >= all && last < max_mapnr &&
	       is_kept((at - all) / sizeof(struct page)) && is_kept(last);
}

/* The first page of a free block says how large the block is. A block may begin before its pages
 * that the host holds. To read the descriptions of a kept block would fill their holes.
 */
static unsigned long free_block_end(struct round *round, unsigned long number)
{
	int order = number == round->next ? 0 : MAX_PAGE_ORDER;

	if (is_kept(number))
		return round_up(number + 1, BLOCK_PAGES);
	for (; order >= 0; order--) {
		unsigned long first = round_down(number, 1UL << order);
		struct page *page = pfn_to_page(first);

		if (PageBuddy(page) && first + (1UL << page_private(page)) > number)
			return first + (1UL << page_private(page));
	}
	return 0;
}

static bool is_free(struct round *round, unsigned long number)
{
	if (number >= round->free_end)
		round->free_end = free_block_end(round, number);
	round->next = number + 1;
	return number < round->free_end;
}

static bool holds_nothing(struct round *round, unsigned long number)
{
	/* A kernel that looks for writes to free pages has a pattern in them. */
	if (is_free(round, number) && !IS_ENABLED(CONFIG_PAGE_POISONING))
		return true;
	return describes_kept(number) || !memchr_inv((void *)address_of(number), 0, PAGE_SIZE);
}

/* Looks at a page that the host holds. */
static void look(struct round *round, unsigned long number)
{
	if (!holds_nothing(round, number))
		return;
	if (number != round->hole_end) {
		make_hole(round);
		round->hole = number;
	}
	round->hole_end = number + 1;
}

/* The first page from `number` on that the host holds, or that it does not hold; or max_mapnr. */
static unsigned long seek(unsigned long number, int what)
{
	unsigned long long offset;
	int file = phys_mapping(number << PAGE_SHIFT, &offset);
	long found = host(HOST_LSEEK, file, offset, what);

	return found < 0 ? max_mapnr : min((unsigned long)found >> PAGE_SHIFT, max_mapnr);
}

/* The kernel holds free pages ready in lists of their own. These look as if they were in use. */
static void give_back_ready(struct round *round, struct per_cpu_pages *ready)
{
	struct page *page;

	for (int list = 0; list < NR_LOWORDER_PCP_LISTS; list++) {
		list_for_each_entry(page, &ready->lists[list], pcp_list) {
			unsigned long number = page_to_pfn(page);
			unsigned long end = number + (1UL << (list / MIGRATE_PCPTYPES));

			for (; number < end; number++) {
				if (seek(number, HOST_SEEK_DATA) != number)
					continue;
				round->hole = number;
				round->hole_end = number + 1;
				make_hole(round);
			}
		}
	}
}

static void give_back(struct round *round)
{
	unsigned long number, i;
	struct zone *zones = NODE_DATA(0)->node_zones;

	for (i = 0; i < MAX_NR_ZONES && !IS_ENABLED(CONFIG_PAGE_POISONING); i++)
		if (populated_zone(&zones[i]))
			give_back_ready(round, this_cpu_ptr(zones[i].per_cpu_pageset));
	for (number = 0; (number = seek(number, HOST_SEEK_DATA)) < max_mapnr;) {
		unsigned long end = seek(number, HOST_SEEK_HOLE);

		for (; number < end; number++)
			look(round, number);
		make_hole(round);
	}
}

/* Writes the descriptions of a block as they are in one that has just been allocated: those of
 * pages that have never been used (__init_single_page() of the kernel), and one user of the first.
 */
static void describe(struct page *block)
{
	for (struct page *page = block; page < block + BLOCK_PAGES; page++) {
		memset(page, 0, sizeof(*page));
		page->flags = kept_flags;
		atomic_set(&page->_mapcount, -1);
		INIT_LIST_HEAD(&page->lru);
	}
	set_page_count(block, 1);
}

/* Of a page without a use, the zone and the node. */
static unsigned long flags_of(struct page *page)
{
	return page->flags & ~PAGEFLAGS_MASK;
}

/* Keeps blocks until no more than `free_pages` are free. The allocation wakes nobody. */
static void keep_blocks(unsigned long free_pages)
{
	while (global_zone_page_state(NR_FREE_PAGES) > free_pages + BLOCK_PAGES) {
		struct page *block = alloc_pages(__GFP_MOVABLE | __GFP_NOWARN, BLOCK_ORDER);

		if (!block)
			break;
		if (!kept_blocks)
			kept_flags = flags_of(block);
		if (flags_of(block) != kept_flags) {
			__free_pages(block, BLOCK_ORDER);
			break;
		}
		set_bit(page_to_pfn(block) / BLOCK_PAGES, kept);
		kept_blocks++;
	}
}

/* The first kept block, which is kept no more; or NULL. */
static struct page *taken(void)
{
	unsigned long number = find_first_bit(kept, max_mapnr / BLOCK_PAGES);

	if (number >= max_mapnr / BLOCK_PAGES)
		return NULL;
	clear_bit(number, kept);
	kept_blocks--;
	return pfn_to_page(number * BLOCK_PAGES);
}

static unsigned long free_kept(unsigned long pages)
{
	unsigned long freed = 0;
	struct page *block;

	while (freed < pages && (block = taken())) {
		describe(block);
		__free_pages(block, BLOCK_ORDER);
		freed += BLOCK_PAGES;
	}
	return freed;
}

static unsigned long count_kept(struct shrinker *self, struct shrink_control *control)
{
	/* With no seeks, the kernel asks for half. */
	return min(kept_blocks * BLOCK_PAGES, 2 * FREED_PAGES) ?: SHRINK_EMPTY;
}

static unsigned long scan_kept(struct shrinker *self, struct shrink_control *control)
{
	unsigned long freed = free_kept(control->nr_to_scan);

	mm_account_reclaimed_pages(freed);
	return freed ?: SHRINK_STOP;
}

/* A file system that does not tell a program of a file's holes says that the file has none. */
static bool host_tells(void)
{
	return seek(0, HOST_SEEK_HOLE) < max_mapnr;
}

/* Takes the pages of mapped files away from the programs, and drops those that nobody else uses.
 * Files that are only read stay: their pages may be the data of packets.
 */
static void drop_mapped(struct super_block *super, void *unused)
{
	struct inode *inode, *last = NULL;

	spin_lock(&super->s_inode_list_lock);
	list_for_each_entry(inode, &super->s_inodes, i_sb_list) {
		spin_lock(&inode->i_lock);
		if (inode->i_state & (I_FREEING | I_WILL_FREE | I_NEW) ||
		    !mapping_mapped(inode->i_mapping)) {
			spin_unlock(&inode->i_lock);
			continue;
		}
		__iget(inode);
		spin_unlock(&inode->i_lock);
		spin_unlock(&super->s_inode_list_lock);
		unmap_mapping_range(inode->i_mapping, 0, 0, 0);
		invalidate_mapping_pages(inode->i_mapping, 0, -1);
		iput(last);
		last = inode;
		spin_lock(&super->s_inode_list_lock);
	}
	spin_unlock(&super->s_inode_list_lock);
	iput(last);
}

static void drop_files(void)
{
	struct file_system_type *image = get_fs_type(IMAGE);

	if (!image)
		return;
	iterate_supers_type(image, drop_mapped, NULL);
	module_put(image->owner);
}

static ssize_t room_write(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
	struct round round = {};
	unsigned long flags, free_mib;
	char text[24] = "", word[8] = "";

	if (bytes >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, bytes))
		return -EFAULT;
	if (sscanf(text, "%lu %7s", &free_mib, word) < 1 || (*word && strcmp(word, "files")))
		return -EINVAL;
	if (*word)
		drop_files();
	keep_blocks(free_mib << (20 - PAGE_SHIFT));
	local_irq_save(flags);
	if (host_tells())
		give_back(&round);
	local_irq_restore(flags);
	file->private_data = (void *)round.given;
	return bytes;
}

/* Two decimal numbers: pages that the last write to this open file gave back; blocks kept now. */
static ssize_t room_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	char text[48];
	int length = scnprintf(text, sizeof(text), "%lu %lu\n",
			       (unsigned long)file->private_data, kept_blocks);

	return simple_read_from_buffer(to, bytes, at, text, length);
}

static const struct proc_ops room_ops = {
	.proc_read = room_read,
	.proc_write = room_write,
	.proc_lseek = default_llseek,
};

static int __init room_init(void)
{
	kept = bitmap_zalloc(max_mapnr / BLOCK_PAGES + 1, GFP_KERNEL);
	shrinker = shrinker_alloc(0, "cellbed_room");
	if (!kept || !shrinker || !proc_create("cellbed_room", 0600, NULL, &room_ops))
		goto fail;
	shrinker->count_objects = count_kept;
	shrinker->scan_objects = scan_kept;
	shrinker->seeks = 0;
	shrinker->batch = BLOCK_PAGES;
	shrinker_register(shrinker);
	return 0;
fail:
	if (shrinker)
		shrinker_free(shrinker);
	bitmap_free(kept);
	return -ENOMEM;
}

static void __exit room_exit(void)
{
	remove_proc_entry("cellbed_room", NULL);
	shrinker_free(shrinker);
	free_kept(ULONG_MAX);
	bitmap_free(kept);
}

module_init(room_init);
module_exit(room_exit);
MODULE_DESCRIPTION("Gives memory that holds nothing back to the host");
MODULE_LICENSE("GPL");
