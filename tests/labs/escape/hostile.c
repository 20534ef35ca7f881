// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs in the place of a lab's kernel, and tries to reach what is not the lab's.
 *
 * "targets" of its folder has the lines of NAME=VALUE that test_boundary.py writes; what it finds
 * out goes to "ways", a line for each: the way's name and "open" or "shut". A way is open where
 * the call has done what it is for; nothing is changed by those that can be.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static FILE *ways;

static void way(const char *name, int open)
{
	fprintf(ways, "%s %s\n", name, open ? "open" : "shut");
	fflush(ways);
}

/* The value of a name of "targets". */
static const char *target(const char *name)
{
	static char line[4096];
	size_t length = strlen(name);
	FILE *file = fopen("targets", "r");

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, length) && line[length] == '=') {
			line[strcspn(line, "\n")] = 0;
			fclose(file);
			return line + length + 1;
		}
	fprintf(stderr, "targets: no %s\n", name);
	exit(2);
}

static int can_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		return 0;
	close(fd);
	return 1;
}

/* Does one byte of it come? */
static int can_read(const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int got = fd >= 0 && read(fd, &byte, 1) == 1;

	if (fd >= 0)
		close(fd);
	return got;
}

static void folders(void)
{
	static const char *host[] = {"/root", "/home", "/etc", "/usr/bin", "/var", "/sys/kernel",
		"/proc/1", "/proc/sys/kernel/core_pattern", "/proc/self/root", "/dev/shm", "/run"};
	char place[4200];

	for (size_t i = 0; i < sizeof(host) / sizeof(*host); i++) {
		snprintf(place, sizeof(place), "see:%s", host[i]);
		way(place, can_open(host[i], O_PATH));
	}
	way("see:home", can_open(target("home"), O_PATH));
	way("read:secret", can_read(target("secret")));
	snprintf(place, sizeof(place), "../../../../../../../../../../../..%s", target("secret"));
	way("read:above", can_read(place));
	way("read:link-in-share", can_read("host/theirs/link"));
	way("read:own-link", !symlink(target("secret"), "link") && can_read("link"));
	way("read:hard-link", !link(target("secret"), "hard") && can_read("hard"));
	way("write:checkout", can_open("host/repo/harness/__init__.py", O_RDWR));
	way("write:share", can_open("host/theirs/file", O_RDWR));
	way("make:share", can_open("host/theirs/new", O_RDWR | O_CREAT));
	way("write:image", can_open("host/image/etc/passwd", O_RDWR));
	way("write:programs", can_open("host/programs/nsfarm", O_RDWR));
	way("write:kernel", can_open("host/linux", O_RDWR) && errno != ETXTBSY);
	way("write:inbox", can_open("inbox/0001.json", O_RDWR | O_CREAT));
	way("see:git", can_open("host/repo/.git", O_PATH));
	way("read:image", can_read("host/image/etc/passwd"));
	way("read:share", can_read("host/theirs/file"));
	way("write:run", can_open("results/new", O_RDWR | O_CREAT));
}

/* Hold what others wait for: who locks a file in that folder, or writes to it. */
static void locks(void)
{
	int fd = open("host/theirs/file", O_RDONLY | O_CLOEXEC);
	struct flock range = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

	way("lock:file", !flock(fd, LOCK_EX | LOCK_NB));
	way("lock:range", !fcntl(fd, F_SETLK, &range));
	way("lock:range-wait", !fcntl(fd, F_SETLKW, &range));
	way("lock:open-file", !fcntl(fd, F_OFD_SETLK, &range));
	way("lock:open-file-wait", !fcntl(fd, F_OFD_SETLKW, &range));
	way("lease", !fcntl(fd, F_SETLEASE, F_RDLCK));
	close(fd);
}

/* Put links where the host goes on reading and writing. */
static void links(void)
{
	int moved = !rename("results", "moved");

	way("replace:results", moved && !symlink(target("home"), "results"));
	if (moved)
		mkdir("results", 0755);
	way("replace:events", !rename("events.jsonl", "moved-events"));
	way("replace:inbox", !rename("inbox", "moved-inbox"));
	/* It goes back: its owner reads it to the end. */
	way("replace:console", !rename("console.log", "away") && !rename("away", "console.log"));
}

/* Does a call go through in a process of its own? */
static int done_by_child(int (*call)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(!call());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* getpid(2) as a program of 32 bits asks for it: no filter of 64 bit numbers would fit. */
static int call_ia32(void)
{
	long pid;

	asm volatile("int $0x80" : "=a" (pid) : "0" (20L) : "r8", "r9", "r10", "r11", "memory");
	return pid > 0;
}

static int call_x32(void)
{
	return syscall(0x40000000 + SYS_getpid) > 0;
}

static int clone_user(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (!pid)
		_exit(0);
	return pid > 0;
}

static int clone3_user(void)
{
	unsigned long long words[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
	long pid = syscall(SYS_clone3, words, sizeof(words));

	if (!pid)
		_exit(0);
	return pid > 0;
}

static void calls(void)
{
	way("call:32-bit", done_by_child(call_ia32));
	way("call:x32", done_by_child(call_x32));
	way("namespace:clone", done_by_child(clone_user));
	way("namespace:clone3", done_by_child(clone3_user));
}

static void mounts(void)
{
	way("remount:share", !mount(0, "host/theirs", 0, MS_REMOUNT | MS_BIND, 0));
	way("mount:tmpfs", !mount("x", "results", "tmpfs", 0, 0));
	way("mount:proc", !mount("x", "results", "proc", 0, 0));
	way("unmount", !umount2("inbox", MNT_DETACH));
	way("namespace", !unshare(CLONE_NEWUSER));
	/* A process of its own, for what cannot be undone. */
	if (!fork())
		_exit(!unshare(CLONE_NEWUSER | CLONE_NEWNS) && !mount("x", "results", "tmpfs", 0, 0));
	int status;
	wait(&status);
	way("namespace:mount", status != 0);
	way("chroot", !chroot("."));
}

static void devices(void)
{
	dev_t disk = strtoull(target("disk"), 0, 10);

	way("see:mem", can_open("/dev/mem", O_RDONLY));
	way("see:kmsg", can_open("/dev/kmsg", O_RDONLY));
	way("see:tty", can_open("/dev/ptmx", O_RDWR));
	way("make:disk", !mknod("results/disk", S_IFBLK | 0600, disk) && can_read("results/disk"));
	way("make:mem", !mknod("results/mem", S_IFCHR | 0600, makedev(1, 1)) && can_open("results/mem", O_RDONLY));
	way("module", syscall(SYS_init_module, "", 0, "") == 0 || errno == ENOEXEC || errno == EINVAL);
}

static void processes(void)
{
	pid_t pid = atoi(target("victim"));
	char place[64];

	snprintf(place, sizeof(place), "/proc/%d/environ", pid);
	way("read:environment", can_read(place));
	way("signal", !kill(pid, 0));
	int traced = !ptrace(PTRACE_ATTACH, pid, 0, 0);
	way("trace", traced);
	if (traced) {
		waitpid(pid, 0, __WALL);
		ptrace(PTRACE_DETACH, pid, 0, 0);
	}
}

static int connects(const struct sockaddr *address, socklen_t length)
{
	int fd = socket(address->sa_family, SOCK_STREAM, 0);
	int done = fd >= 0 && !connect(fd, address, length);

	if (fd >= 0)
		close(fd);
	return done;
}

static int connects_unix(const char *path, int abstract)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strncpy(address.sun_path + abstract, path, sizeof(address.sun_path) - 2);
	return connects((void *)&address, offsetof(struct sockaddr_un, sun_path) + abstract + strlen(path));
}

static void sockets(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(target("port")))};
	int pair[2];

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	way("connect:loopback", connects((void *)&address, sizeof(address)));
	way("connect:abstract", connects_unix(target("abstract"), 1));
	way("connect:path", connects_unix(target("socket"), 0));
	way("connect:share", connects_unix("host/theirs/socket", 0));
	way("pair:datagram", !socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	way("netlink", socket(AF_NETLINK, SOCK_RAW, 0) >= 0);
}

/* A filter of its own tells the calls to a listener, at socket(2) and then getppid(2). */
static int told(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* Does the host make a call that it refuses if a listener says that it shall go on? */
static int socket_by_listener(void)
{
	volatile int *listener = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct seccomp_notif call = {0};
	struct seccomp_notif_resp go_on = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
	int status;
	pid_t pid;

	*listener = -2;
	pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		*listener = told();
		status = socket(AF_UNIX, SOCK_STREAM, 0);
		syscall(SYS_getppid);
		_exit(status < 0);
	}
	while (*listener == -2)
		sched_yield();
	do {
		memset(&call, 0, sizeof(call));
		if (ioctl(*listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
			break;
		go_on.id = call.id;
		ioctl(*listener, SECCOMP_IOCTL_NOTIF_SEND, &go_on);
	} while (call.data.nr != SYS_getppid);
	close(*listener);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void objects(void)
{
	struct rlimit limit = {0, 0};

	way("socket:listener", socket_by_listener());
	way("memory", shmget(atoi(target("memory")), 0, 0) >= 0);
	way("queue", mq_open(target("queue"), O_RDONLY) >= 0);
	way("key", syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", target("key"), 0) > 0);
	way("core-helper", !setrlimit(RLIMIT_CORE, &limit));
	for (int fd = 3; fd < 1024; fd++)
		if (fd != fileno(ways) && fcntl(fd, F_GETFD) >= 0)
			return way("inherited", 1);
	way("inherited", 0);
}

/* The call fails as the filter says; else the signal would end this program at the first way. */
static void on_refused(int sig, siginfo_t *info, void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -info->si_errno;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO};

	sigaction(SIGSYS, &action, 0);
	ways = fopen("ways", "w");
	if (!ways)
		return 3;
	folders();
	locks();
	sockets();
	objects();
	processes();
	devices();
	calls();
	links();
	mounts();
	return 0;
}
