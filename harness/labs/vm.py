# SPDX-License-Identifier: GPL-2.0-only
"""The `vm` lab: Debian's stock kernel in QEMU, in virtual or real time, without root.

KVM is taken only where a guest has been seen to run under it: on some machines /dev/kvm
opens and the guest then hangs. Elsewhere QEMU translates (TCG), 10 to 20 times slower.
"""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from harness.host import paths
from harness.labs import sealed, stock
from harness.labs.hardware import X86_64, Hardware
from harness.labs.supervised import AGENT, SupervisedLab
from plan.errors import MissingError

QEMU = X86_64.qemu
KVM_TRIAL_S = 10.0
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# Each instruction takes 1 ns of the guest's time and an idle guest jumps to its next timer:
# what the host does meanwhile cannot be seen from inside. One processor: with two, each
# would wait up to 100 ms until the other has had its turn.
VIRTUAL_CLOCK = (
    *("-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-smp", "1"),
    *("-rtc", "base=2020-01-01,clock=vm"),
)
# QEMU's main thread lets an idle machine's clock jump. It may look just when the processor has
# gone idle and its last instructions are not yet counted: the clock then jumps too far, by these.
# While QEMU records, main thread and processor take turns. The recording itself is of no use.
ICOUNT = "shift=0,sleep=off"
TAKING_TURNS = tuple(
    f"{word},rr=record,rrfile=/dev/null" if word == ICOUNT else word for word in VIRTUAL_CLOCK
)
# No lock: the disk is never written, and other labs are using it.
ROOT_DISK = "if=none,id=root,format=raw,readonly=on"
# As the kernel of the uml lab. Else hosts speak of their IPv6 addresses before the trial, and these
# packets are counted in a queue and not at its device.
NO_IPV6 = "ipv6.disable=1"
FAILED = ("Kernel panic", "vm lab: failed")
CONSOLE_LINES = 400
MODULE = "cellbed_tcp.ko"
WINDOW = "cellbed_window.ko"  # in the initramfs (lab/vm/window)
SHARES = ["repo", "run", "programs"]


class VmLab(SupervisedLab):
    """QEMU over the lab image, the stock kernel and an initramfs with its modules.

    In virtual time, a lab for one trial starts with all that it needs (sealed.py).

    Attributes:
        hardware: the machine.
    """

    hardware = X86_64

    def argv(self) -> list[str]:
        kernel = paths.stock_kernel(self.arch)
        programs = self.own_programs(kernel)
        self.link_host_paths(kernel=kernel, disk=self.disk(), programs=programs)
        return [
            qemu(self.hardware),
            *self.clock(),
            *machine(self.spec.memory_mib, self.hardware),
            *("-kernel", "host/kernel/vmlinuz"),
            *(self.sealed_in(kernel) if self.sealed else self.devices()),
            *(word for tag in self.tags() for word in share(tag)),
            *("-append", self.boot_line()),
        ]

    def clock(self) -> tuple[str, ...]:
        """What moves its clock."""
        if self.sealed:
            return TAKING_TURNS
        return VIRTUAL_CLOCK if self.spec.clock == "virtual" else self.real_clock()

    def devices(self) -> list[str]:
        """What it starts from where it may wait for its host."""
        return [
            *("-initrd", "host/kernel/initramfs"),
            *("-drive", f"file=host/disk,file.locking=off,{ROOT_DISK}"),
            *("-device", "virtio-blk-pci,drive=root"),
        ]

    def sealed_in(self, kernel: Path) -> list[str]:
        """What it starts from, with its jobs, where it may not."""
        assert self.spec.only is not None
        name, plan = self.spec.only
        self.submit_network(plan.topology)
        self.submit_trial(name, plan)
        self.submit({"kind": "end"})
        file = sealed.initramfs(self.run_directory, kernel / "initramfs", self.disk())
        self.open_files.append(file)
        return sealed.words(plan.seed, self.hardware.events, file.fileno())

    @property
    def sealed(self) -> bool:
        return self.spec.clock == "virtual" and self.spec.only is not None

    def told(self) -> list[str]:
        virtual = (*VIRTUAL_CLOCK, *TAKING_TURNS, *self.hardware.events, *sealed.told())
        clock = virtual if self.spec.clock == "virtual" else ("real clock",)
        return [*clock, *machine(self.spec.memory_mib, self.hardware), self.boot_line()]

    def real_clock(self) -> tuple[str, ...]:
        """The fastest way to run this guest in real time here."""
        return real_clock()

    def kernel_identity(self) -> str:
        """The emulator is part of the machine that the kernel runs on."""
        folder = paths.product("vm", self.arch)
        made = paths.content(*(folder / name for name in ("vmlinuz", MODULE, WINDOW)))
        return f"{made}, {qemu_version(self.hardware)}"

    def boot_line(self) -> str:
        """Words the kernel does not know reach the image's init."""
        words, main = [self.hardware.boot_words], self.spec.main or AGENT
        if not self.spec.main:
            words.append(NO_IPV6)
        if self.sealed:
            words += ["cellbed_share=none", f"cellbed_sealed={self.hardware.events_port}"]
            main = sealed.MAIN
        else:
            words += ["cellbed_share=9p", *(f"cellbed_{tag}={tag}" for tag in self.tags())]
        return " ".join([*words, f'cellbed_main="{main}"'])

    def tags(self) -> list[str]:
        """The names of the folders that the guest can mount."""
        return ["run"] if self.sealed else [*SHARES, *self.spec.shares]

    def disk(self) -> Path:
        """The image as a squashfs."""
        image = self.spec.image
        return paths.disk(self.arch) if image is None else paths.require(Path(f"{image}.squashfs"))

    def own_programs(self, kernel: Path) -> Path:
        """The lab's programs with the stock kernel's TCP module among them."""
        folder = self.run_directory / "programs"
        stock.copy_programs(paths.programs(self.arch), folder)
        shutil.copyfile(kernel / MODULE, folder / MODULE)
        return folder

    def poll(self) -> int | None:
        """QEMU leaves with 0 however its guest ended; what went wrong is on the console."""
        status = super().poll()
        return 1 if status == 0 and self.failure() else status

    def failure(self) -> str:
        """The line of the console that says why the guest ended, or nothing."""
        lines = super().console(CONSOLE_LINES).splitlines()
        return next((line for line in lines if any(words in line for words in FAILED)), "")

    def console(self, lines: int = 25) -> str:
        """The end of the console; a panic's reason is above it, where its trace is long."""
        end, reason = super().console(lines), self.failure()
        return end if reason in end else f"{reason}\n...\n{end}"


LAB = VmLab


def qemu(hardware: Hardware = X86_64) -> str:
    """The emulator's path; MissingError when it is not installed."""
    found = shutil.which(hardware.qemu)
    if found is None:
        raise MissingError(f"{hardware.qemu} is not installed; run {hardware.setup}")
    return found


def qemu_version(hardware: Hardware = X86_64) -> str:
    """What the emulator says it is."""
    found = shutil.which(hardware.qemu)
    if found is None:
        return paths.ABSENT
    argv = [found, "--version"]
    said = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600).stdout
    return said.partition("\n")[0]


def real_clock() -> tuple[str, ...]:
    """The fastest way to run a guest in real time here."""
    return ("-accel", "kvm" if kvm_works() else "tcg,thread=multi", "-smp", "2")


def machine(memory_mib: int, hardware: Hardware = X86_64) -> list[str]:
    """A machine with nothing but processors, memory, a console and a source of entropy."""
    return [
        *("-machine", hardware.machine, "-cpu", hardware.cpu, "-m", str(memory_mib)),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"),
        *("-device", "virtio-rng-pci"),
    ]


def share(tag: str) -> list[str]:
    """A directory of this machine for the guest; only the run directory is writable."""
    options = f"local,id={tag},path=host/{tag}/.,security_model=none,multidevs=remap"
    readonly = "" if tag == "run" else ",readonly=on"
    return [
        *("-fsdev", options + readonly),
        *("-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"),
    ]


def kvm_works() -> bool:
    """Has a guest been seen to run under KVM since this machine was started?

    Tried once a boot of the machine, since it costs up to KVM_TRIAL_S where it fails.
    """
    try:
        with Path("/dev/kvm").open("r+b"):
            pass
    except OSError:
        return False
    seen = paths.places()["cache"] / f"kvm-{BOOT_ID.read_text().strip()}"
    if seen.exists():
        return seen.read_text() == "works"
    works = try_kvm()
    with suppress(OSError):  # a cache that cannot be written remembers nothing
        partial = seen.with_suffix(".partial")
        partial.write_text("works" if works else "fails")
        partial.rename(seen)
    return works


def try_kvm() -> bool:
    """Boot the stock kernel under KVM up to its first process; False when it does not get there."""
    kernel = paths.stock_kernel()
    boot = ("-kernel", str(kernel / "vmlinuz"), "-initrd", str(kernel / "initramfs"))
    words = f"{X86_64.boot_words} cellbed_try=1"
    argv = [qemu(), "-accel", "kvm", *machine(512), *boot, "-append", words]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=KVM_TRIAL_S, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0 and b"vm lab: runs" in done.stdout
