// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets many sysctls with two system calls, for a lab whose system calls are dear.
 *
 * A write to /proc/cellbed_sysctls has a line "NAME VALUE" for each sysctl. NAME is relative to
 * /proc/sys/net/ipv4, as the caller's network namespace has it. The module opens these files,
 * writes the values into them and reads them again, as a program would. So the kernel's own
 * handlers see each value. The module knows no sysctl itself.
 *
 * A read then gives a line "NAME VALUE" for each file, with what the file said after its write.
 * All files are opened first: where one is missing, nothing is written. The answer ends at the
 * first failure, with the line "NAME !ERRNO" for a failed write and "NAME ?ERRNO" for a failed
 * open.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define FOLDER		"/proc/sys/net/ipv4/"
#define MOST_BYTES	8192
#define MOST_FILES	128
#define VALUE_BYTES	512
#define PATH_BYTES	128

struct answer {
	size_t bytes;
	char text[MOST_BYTES];
};

struct sysctl {
	const char *name, *value;
	struct file *file;
};

static void say(struct answer *answer, const char *name, const char *value)
{
	answer->bytes += scnprintf(answer->text + answer->bytes, MOST_BYTES - answer->bytes,
				   "%s %s\n", name, value);
}

static void say_error(struct answer *answer, const char *name, char kind, long error)
{
	char text[24];

	snprintf(text, sizeof(text), "%c%ld", kind, -error);
	say(answer, name, text);
}

/* Splits the lines in place; returns their number, or an error. */
static int split(char *text, struct sysctl *wanted)
{
	char *line, *name;
	int count = 0;

	while ((line = strsep(&text, "\n"))) {
		if (!*line)
			continue;
		name = strsep(&line, " ");
		if (!line || strstr(name, "..") || count == MOST_FILES)
			return -EINVAL;
		wanted[count++] = (struct sysctl){ .name = name, .value = line };
	}
	return count;
}

static int open_all(struct sysctl *wanted, int count, struct answer *answer)
{
	char path[PATH_BYTES];
	struct file *file;

	for (int i = 0; i < count; i++) {
		if (snprintf(path, sizeof(path), FOLDER "%s", wanted[i].name) >= sizeof(path))
			file = ERR_PTR(-ENAMETOOLONG);
		else
			file = filp_open(path, O_RDWR, 0);
		if (IS_ERR(file)) {
			say_error(answer, wanted[i].name, '?', PTR_ERR(file));
			return -1;
		}
		wanted[i].file = file;
	}
	return 0;
}

/* Writes a value and reads it again; a value without its line break goes into the answer. */
static int put(const struct sysctl *one, struct answer *answer)
{
	char found[VALUE_BYTES];
	loff_t at = 0;
	ssize_t bytes = kernel_write(one->file, one->value, strlen(one->value), &at);

	at = 0;
	if (bytes >= 0)
		bytes = kernel_read(one->file, found, sizeof(found) - 1, &at);
	if (bytes < 0) {
		say_error(answer, one->name, '!', bytes);
		return -1;
	}
	found[bytes] = '\0';
	say(answer, one->name, strim(found));
	return 0;
}

static void set_all(struct sysctl *wanted, int count, struct answer *answer)
{
	answer->bytes = 0;
	if (open_all(wanted, count, answer) == 0)
		for (int i = 0; i < count && put(&wanted[i], answer) == 0; i++)
			;
	for (int i = 0; i < count && wanted[i].file; i++)
		filp_close(wanted[i].file, NULL);
}

static ssize_t sysctls_write(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
	struct sysctl *wanted;
	char *text;
	int count;

	if (bytes >= MOST_BYTES)
		return -EFBIG;
	text = memdup_user_nul(from, bytes);
	if (IS_ERR(text))
		return PTR_ERR(text);
	wanted = kcalloc(MOST_FILES, sizeof(*wanted), GFP_KERNEL);
	count = wanted ? split(text, wanted) : -ENOMEM;
	if (count >= 0)
		set_all(wanted, count, file->private_data);
	kfree(wanted);
	kfree(text);
	return count < 0 ? count : bytes;
}

static ssize_t sysctls_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	struct answer *answer = file->private_data;

	return simple_read_from_buffer(to, bytes, at, answer->text, answer->bytes);
}

static int sysctls_open(struct inode *inode, struct file *file)
{
	file->private_data = kzalloc(sizeof(struct answer), GFP_KERNEL);
	return file->private_data ? 0 : -ENOMEM;
}

static int sysctls_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static const struct proc_ops sysctls_ops = {
	.proc_open = sysctls_open,
	.proc_release = sysctls_release,
	.proc_read = sysctls_read,
	.proc_write = sysctls_write,
	.proc_lseek = default_llseek,
};

static int __init sysctls_init(void)
{
	return proc_create("cellbed_sysctls", 0600, NULL, &sysctls_ops) ? 0 : -ENOMEM;
}

static void __exit sysctls_exit(void)
{
	remove_proc_entry("cellbed_sysctls", NULL);
}

module_init(sysctls_init);
module_exit(sysctls_exit);
MODULE_DESCRIPTION("Many sysctls of a network namespace with two system calls");
MODULE_LICENSE("GPL");
