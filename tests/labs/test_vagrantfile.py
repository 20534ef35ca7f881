# SPDX-License-Identifier: GPL-2.0-only
"""The Vagrantfile, as far as the tools here go: vagrant, or ruby with a stand-in for vagrant."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from tests.small import PROJECT

STAND_IN = r"""
require "json"
class Settings
  def initialize(name, said) = (@name, @said = name, said)
  def method_missing(called, *words, **options)
    name = "#{@name}.#{called.to_s.delete_suffix("=")}"
    @said << [name, *words, options] unless words.empty?
    inner = Settings.new([name, *words].join(" "), @said)
    yield inner if block_given?
    inner
  end
end
module Vagrant
  def self.configure(version) = yield(Settings.new("config", SAID))
end
SAID = []
load ARGV[0]
puts JSON.dump(SAID)
"""


@pytest.mark.skipif(shutil.which("vagrant") is None, reason="no vagrant")
def test_vagrant_takes_it() -> None:
    subprocess.run(["vagrant", "validate", "--ignore-provider"], cwd=PROJECT, check=True)


@pytest.mark.skipif(shutil.which("ruby") is None, reason="no ruby")
def test_it_asks_for_what_the_documents_say() -> None:
    argv = ["ruby", "-e", STAND_IN, str(PROJECT / "Vagrantfile")]
    environment = {**os.environ, "CELLBED_CPUS": "3"}
    done = subprocess.run(argv, capture_output=True, text=True, check=True, env=environment)
    said = {name: words for name, *words in json.loads(done.stdout)}
    assert said["config.vm.box"][0] == "debian/trixie64"
    for provider in ("libvirt", "virtualbox"):
        assert said[f"config.vm.provider {provider}.cpus"][0] == 3
        assert said[f"config.vm.provider {provider}.memory"][0] == 4096
    provision = said["config.vm.provision"][1]
    assert provision == {"privileged": False, "inline": "/cellbed/lab/setup --native"}
    script = provision["inline"]
    assert (PROJECT / script.split()[0].removeprefix("/cellbed/")).stat().st_mode & 0o111
