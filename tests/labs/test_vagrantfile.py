# SPDX-License-Identifier: GPL-2.0-only
"""The Vagrantfile, as far as the tools here go: vagrant, or ruby with a stand-in for vagrant."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.small import PROJECT

STAND_IN = r"""
require "json"
class Settings
  def initialize(name, said) = (@name, @said = name, said)
  def method_missing(called, *words, **options)
    name = "#{@name}.#{called.to_s.delete_suffix("=")}"
    @said << [name, *words, options] unless words.empty? && options.empty?
    inner = Settings.new([name, *words].join(" "), @said)
    yield inner if block_given?
    inner
  end
end
module Vagrant
  def self.configure(version) = yield(Settings.new("config", SAID))
  def self.user_data_path = ENV["HOME"]
end
SAID = []
load ARGV[0]
puts JSON.dump(SAID)
"""


@pytest.mark.skipif(shutil.which("vagrant") is None, reason="no vagrant")
def test_vagrant_takes_it() -> None:
    subprocess.run(["vagrant", "validate", "--ignore-provider"], cwd=PROJECT, check=True)


CACHE = "sudo install -d -o vagrant -g vagrant ~/.cache"
NEEDS_RUBY = pytest.mark.skipif(shutil.which("ruby") is None, reason="no ruby")
Said = list[list[Any]]


def settings(home: Path, project: Path = PROJECT, **environment: str) -> Said:
    """What the Vagrantfile sets, in its order, for somebody with nothing but a home."""
    argv = ["ruby", "-e", STAND_IN, str(project / "Vagrantfile")]
    clean = {"PATH": os.environ["PATH"], "HOME": str(home), **environment}
    done = subprocess.run(argv, capture_output=True, text=True, check=True, env=clean)
    said: Said = json.loads(done.stdout)
    return said


def value(said: Said, name: str) -> Any:
    """The first word of the last setting of a name."""
    return [words[0] for found, *words in said if found == name][-1]


def shared(said: Said) -> dict[str, dict[str, Any]]:
    """The options of each shared folder, by its place in the machine."""
    folders = [words for found, *words in said if found == "config.vm.synced_folder"]
    return {place: options for _, place, options in folders}


@NEEDS_RUBY
def test_it_asks_for_what_the_documents_say(tmp_path: Path) -> None:
    said = settings(tmp_path, CELLBED_CPUS="3")
    assert value(said, "config.vm.box") == "debian/trixie64"
    for provider in ("libvirt", "virtualbox"):
        assert value(said, f"config.vm.provider {provider}.cpus") == 3
        assert value(said, f"config.vm.provider {provider}.memory") == 4096
    [provision] = [words[1] for found, *words in said if found == "config.vm.provision"]
    assert not provision["privileged"]
    assert provision["inline"].split(" && ")[-2:] == [CACHE, "/cellbed/lab/setup --native"]
    assert (PROJECT / "lab/setup").stat().st_mode & 0o111
    [provision] = [
        words[1]
        for found, *words in settings(tmp_path, CELLBED_MACHINES="2")
        if found == "config.vm.provision"
    ]
    assert provision["inline"].endswith(" && /cellbed/lab/setup --cluster")


@NEEDS_RUBY
def test_a_release_is_unpacked_before_anything_is_built(tmp_path: Path) -> None:
    release = tmp_path / "cellbed $(false).tar"
    release.touch()
    said = settings(tmp_path, CELLBED_RELEASE=str(release))
    copied, provision = [words for found, *words in said if found == "config.vm.provision"]
    place = "/tmp/cellbed-release.tar"
    assert copied == ["file", {"source": str(release), "destination": place}]
    steps = provision[1]["inline"].split(" && ")
    unpack = [f"/cellbed/lab/setup --from {place}", f"rm {place}"]
    assert steps[-4:] == [CACHE, *unpack, "/cellbed/lab/setup --native"]


@NEEDS_RUBY
def test_a_release_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as found:
        settings(tmp_path, CELLBED_RELEASE="/nowhere/a.tar")
    assert "CELLBED_RELEASE is /nowhere/a.tar, but there is no such file" in found.value.stderr


@NEEDS_RUBY
def test_a_box_that_was_made_here_is_taken(tmp_path: Path) -> None:
    (tmp_path / "boxes" / "cellbed").mkdir(parents=True)
    assert value(settings(tmp_path), "config.vm.box") == "cellbed"
    assert value(settings(tmp_path, CELLBED_BOX="other"), "config.vm.box") == "other"


@NEEDS_RUBY
def test_products_that_were_made_here_are_shared_and_no_others(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    argv = [str(PROJECT / "lab" / "paths"), "--python", "3.13"]
    environment = {**os.environ, "CELLBED_CACHE": str(cache)}
    text = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True).stdout
    places = {name: Path(path) for name, path in (line.split("=") for line in text.splitlines())}
    assert list(shared(settings(tmp_path, CELLBED_CACHE=str(cache)))) == ["/vagrant", "/cellbed"]

    for name in ("image", "kernel", "environment"):
        places[name].mkdir(parents=True)
    (cache / "kernel-of-another-source").mkdir()
    for name in ("kernel", "environment"):
        (places[name] / "complete").touch()
    options = shared(settings(tmp_path, CELLBED_CACHE=str(cache)))["/home/vagrant/.cache/cellbed"]
    included = {word for word in options["rsync__args"] if word.startswith("--include=")}
    assert included == {f"--include=/{places[name].name}/***" for name in ("image", "kernel")}
    assert options["rsync__args"][:2] == ["--archive", "--chmod=ug-s"], "nobody's rights come along"
    assert options["rsync__args"][-1] == "--exclude=*" and options["type"] == "rsync"
    assert "--delete" not in options["rsync__args"], "what the machine has made stays"


@NEEDS_RUBY
@pytest.mark.skipif(not Path("/dev/kvm").exists(), reason="slow: no /dev/kvm here")
def test_kvm_is_not_taken_where_its_guests_hang(tmp_path: Path) -> None:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    driver = "config.vm.provider libvirt.driver"
    for seen, wanted in (("works", "kvm"), ("fails", "qemu")):
        (tmp_path / f"kvm-{boot}").write_text(seen)
        assert value(settings(tmp_path, CELLBED_CACHE=str(tmp_path)), driver) == wanted
    said = settings(tmp_path, CELLBED_CACHE=str(tmp_path), CELLBED_VAGRANT_DRIVER="kvm")
    assert value(said, driver) == "kvm"


@NEEDS_RUBY
def test_a_virtual_clock_is_an_emulated_processor_that_counts(tmp_path: Path) -> None:
    said = settings(tmp_path, CELLBED_VAGRANT_CLOCK="virtual", CELLBED_VAGRANT_DRIVER="kvm")
    libvirt = "config.vm.provider libvirt"
    assert value(said, f"{libvirt}.driver") == "qemu"
    assert value(said, f"{libvirt}.cpus") == 1
    words = [found[1]["value"] for found in said if found[0] == f"{libvirt}.qemuargs"]
    assert words == ["-icount", "shift=0,sleep=on"]
    assert value(said, "config.vm.boot_timeout") == 3600, "longer than Vagrant's own five minutes"
    busy = [found[2] for found in said if found[0] == "config.vm.provision"][-1]
    assert busy["run"] == "always", "also after a restart the machine is never idle"
    assert "CPUSchedulingPolicy=idle" in busy["inline"]
    usual = settings(tmp_path)
    assert not [name for name, *_ in usual if name.endswith(".qemuargs")]
    assert not [words for name, *words in usual if "always" in str(words)]


@NEEDS_RUBY
def test_a_machine_gets_nothing_from_outside_the_project(tmp_path: Path) -> None:
    """A link in the folder, for example in a student's work, may lead to a key in one's home."""
    said = settings(tmp_path)
    # Without arguments, Vagrant copies the files to which links lead.
    made_here = ["__pycache__/", "/.mypy_cache/", "/.ruff_cache/", "/.pytest_cache/"]
    assert shared(said) == {
        "/vagrant": {"disabled": True},
        "/cellbed": {
            "type": "rsync",
            "rsync__args": ["--verbose", "--archive", "--delete"],
            "rsync__exclude": ["/.git/", "/build/", "/results/", *made_here],
        },
    }
    assert value(said, "config.vm.provider libvirt.graphics_type") == "none", "a port on the host"


@NEEDS_RUBY
def test_no_other_setting_opens_a_machine(tmp_path: Path) -> None:
    """Such as a forwarded port, a public network, the user's agent, or a key that stays."""
    machine = ("provider libvirt", "provider virtualbox", "define cellbed1")
    said = settings(
        tmp_path,
        CELLBED_MACHINES="1",
        CELLBED_VAGRANT_CLOCK="virtual",
        CELLBED_VAGRANT_DRIVER="qemu",
    )
    found = {name.removeprefix("config.vm.") for name, *_ in said}
    assert found == {
        *("box", "hostname", "boot_timeout", "synced_folder", "provision", "provider", "define"),
        *(
            f"provider {one}.{key}"
            for one in ("libvirt", "virtualbox")
            for key in ("cpus", "memory")
        ),
        *(f"{machine[0]}.{key}" for key in ("driver", "graphics_type", "qemuargs")),
        *(f"{machine[2]}.vm.{key}" for key in ("hostname", "network")),
    }
    networks = [words[0] for name, *words in said if name.endswith(".vm.network")]
    assert networks == ["private_network"]


KEY = "ssh-rsa AAAA"
EVERYBODY = f"{KEY} vagrant insecure public key\n"


@NEEDS_RUBY
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (EVERYBODY, EVERYBODY),
        (f"# keys\n\n{EVERYBODY}", f"# keys\n\n{EVERYBODY}"),
        (f"{EVERYBODY}{KEY} vagrant\n{EVERYBODY}", f"{KEY} vagrant\n"),
    ],
)
def test_a_key_that_everybody_has_goes_when_there_is_another(
    tmp_path: Path, before: str, after: str
) -> None:
    said = settings(tmp_path)
    [provision] = [words[1] for name, *words in said if name == "config.vm.provision"]
    keys = tmp_path / ".ssh" / "authorized_keys"
    keys.parent.mkdir()
    keys.write_text(before)
    step = provision["inline"].partition(f" && {CACHE}")[0]
    subprocess.run(["sh", "-c", step], check=True, env={**os.environ, "HOME": str(tmp_path)})
    assert keys.read_text() == after


@NEEDS_RUBY
def test_what_a_class_cannot_be_is_refused(tmp_path: Path) -> None:
    for number, said in (("201", "CELLBED_MACHINES is 201, but 200 are allowed"), ("two", "two")):
        with pytest.raises(subprocess.CalledProcessError) as found:
            settings(tmp_path, CELLBED_MACHINES=number)
        assert said in found.value.stderr


@NEEDS_RUBY
def test_a_class_is_as_large_as_asked_for_or_as_it_is(tmp_path: Path) -> None:
    project = tmp_path / "project"
    copied(project)
    assert not defined(settings(tmp_path, project))
    said = settings(tmp_path, project, CELLBED_MACHINES="2")
    assert defined(said) == ["cellbed1", "cellbed2"]
    address = "config.vm.define cellbed2.vm.network"
    assert [words[1]["ip"] for name, *words in said if name == address] == ["192.168.56.12"]

    for name in ("cellbed1", "cellbed2", "default"):
        (project / ".vagrant" / "machines" / name / "libvirt").mkdir(parents=True)
        (project / ".vagrant" / "machines" / name / "libvirt" / "id").touch()
    assert defined(settings(tmp_path, project)) == ["cellbed1", "cellbed2"]
    assert defined(settings(tmp_path, project, CELLBED_MACHINES="1")) == ["cellbed1", "cellbed2"]
    of = project / ".vagrant" / "machines"
    (of / "cellbed1" / "libvirt" / "id").unlink()
    assert defined(settings(tmp_path, project)) == ["cellbed1", "cellbed2"], "destroy forgets none"
    (of / "cellbed2" / "libvirt" / "id").unlink()
    assert not defined(settings(tmp_path, project))


@NEEDS_RUBY
def test_the_name_of_the_project_s_folder_is_no_command_and_no_pattern(tmp_path: Path) -> None:
    project = tmp_path / "a[b] $(touch pwned)"
    copied(project)
    (project / ".vagrant" / "machines" / "cellbed3" / "libvirt").mkdir(parents=True)
    (project / ".vagrant" / "machines" / "cellbed3" / "libvirt" / "id").touch()
    assert defined(settings(tmp_path, project))[-1] == "cellbed3"
    assert not list(tmp_path.rglob("pwned")) and not Path("pwned").exists()


def copied(project: Path) -> None:
    """The Vagrantfile in a folder of its own, with all that lab/paths reads."""
    for name in ("bpf", "harness", "lab", "tcp-configs", "topology", "workload"):
        shutil.copytree(PROJECT / name, project / name)
    shutil.copy(PROJECT / "Vagrantfile", project)


def defined(said: Said) -> list[str]:
    """The names of the machines that a Vagrantfile defines."""
    return [words[0] for name, *words in said if name == "config.vm.define"]
