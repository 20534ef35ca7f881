// SPDX-License-Identifier: GPL-2.0-only
/*
 * Put into the lab's kernel, calls the host's kernel, as that of User-Mode Linux does: says which
 * of the files that its parameters name the lab's process can open. Never stays.
 */
#include <linux/fcntl.h>
#include <linux/module.h>

#define HOST_OPEN 2
#define HOST_CLOSE 3

static char *own, *secret;
module_param(own, charp, 0);
module_param(secret, charp, 0);

static long host(long number, const void *first, long second)
{
	long result;

	asm volatile("syscall" : "=a" (result) : "0" (number), "D" (first), "S" (second), "d" (0L)
		     : "rcx", "r11", "memory");
	return result;
}

static void try(const char *name, const char *path)
{
	long fd = host(HOST_OPEN, path, O_RDONLY);

	pr_alert("hostile_module: %s %s\n", name, fd < 0 ? "shut" : "open");
	if (fd >= 0)
		host(HOST_CLOSE, (void *)fd, 0);
}

static int __init hostile_init(void)
{
	try("own", own);
	try("secret", secret);
	return -ECANCELED;
}

module_init(hostile_init);
MODULE_DESCRIPTION("what a lab's kernel can reach of the host");
MODULE_LICENSE("GPL");
