# SPDX-License-Identifier: GPL-2.0-only
"""Who has the cluster's file is let in, and nobody else; others are told why in one line."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

from harness.events import Event, Message
from harness.host import paths
from harness.runners import cluster, cluster_servers, cluster_tls
from harness.runners.cluster_servers import run_worker
from harness.runners.options import Cluster
from plan.errors import UsageError
from tests.harness.runners.test_cluster import Server, server


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("cluster")
    secret = folder / "new" / "cluster.pem"
    with server(folder, "scheduler", "--port", "0", secret=secret) as made:
        yield made


@pytest.fixture(autouse=True)
def impatient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No long waits, and no secret where set-up's products are."""
    for module in (cluster, cluster_servers):
        monkeypatch.setattr(module, "CONNECT_S", 1.0)
    monkeypatch.setattr(paths, "places", lambda: {"cache": tmp_path / "cache"})


def port(scheduler: Server) -> int:
    return int(scheduler.address.rpartition(":")[2])


def test_a_scheduler_is_of_this_machine_only_and_has_a_secret(scheduler: Server) -> None:
    assert scheduler.address.startswith("tls://127.0.0.1:")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port(scheduler)), 5)
    assert scheduler.secret.stat().st_mode & 0o777 == 0o600


def test_at_an_address_it_says_what_a_worker_needs(tmp_path: Path) -> None:
    secret = tmp_path / "cluster.pem"
    words = ("scheduler", "--port", "0", "--host", "127.0.0.2")
    with server(tmp_path / "other", *words, secret=secret) as made:
        assert made.address.startswith("tls://127.0.0.2:")
        assert made.process.stdout is not None
        said = made.process.stdout.readline()
        assert f"each worker needs a copy of {secret}; keep this file secret" in said


def test_who_has_the_file_is_let_in(scheduler: Server) -> None:
    with cluster.connected(Cluster(address=scheduler.address, secret=scheduler.secret)) as client:
        assert client.scheduler_info()["workers"] == {}


def others(scheduler: Server, folder: Path) -> list[tuple[Cluster, str]]:
    """Those without the file, and what they are told."""
    foreign = folder / "foreign.pem"
    cluster_tls.made(foreign)
    readable = folder / "readable.pem"
    readable.write_bytes(scheduler.secret.read_bytes())
    readable.chmod(0o644)
    empty = folder / "empty.pem"
    empty.touch(0o600)
    plain = f"tcp://127.0.0.1:{port(scheduler)}"
    secured = scheduler.address
    return [
        (Cluster(address=plain), f"asks for its secret; use {secured} and --tls FILE"),
        (
            Cluster(address=plain, secret=foreign),
            f"an address that begins with tls://, not {plain}",
        ),
        (Cluster(address=secured), "cache/cluster.pem does not exist; copy it from the machine of"),
        (Cluster(address=secured, secret=foreign), "has another secret than the file of --tls"),
        (
            Cluster(address=secured, secret=readable),
            "readable.pem: other users may read this secret",
        ),
        (Cluster(address=secured, secret=empty), "empty.pem does not have the key and certificate"),
        (Cluster(address="tls://127.0.0.1:1", secret=foreign), "no Dask scheduler answers there"),
        (Cluster(address="tls://127.0.0.1:x", secret=foreign), "no Dask scheduler answers there"),
    ]


def test_nobody_else_is(scheduler: Server, tmp_path: Path) -> None:
    for stranger, said in others(scheduler, tmp_path):
        begin = time.monotonic()
        with pytest.raises(UsageError) as campaign, cluster.connected(stranger):
            pass
        with pytest.raises(UsageError) as worker:
            run_worker(stranger, None, 1, lambda _: None)
        for refused in (campaign, worker):
            assert said in str(refused.value) and "\n" not in str(refused.value)
        assert time.monotonic() - begin < 60


def test_a_certificate_that_is_out_of_date_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_tls, "VALID_DAYS", 0)
    with pytest.raises(UsageError, match="the certificate ended on 20"):
        cluster_tls.made(tmp_path / "old.pem")


def test_the_certificate_stands_openssls_strict_checks(tmp_path: Path) -> None:
    """They are the default from Python 3.13 on."""
    secret = tmp_path / "cluster.pem"
    cluster_tls.made(secret)
    ends = []
    for purpose in (ssl.Purpose.CLIENT_AUTH, ssl.Purpose.SERVER_AUTH):
        context = ssl.create_default_context(purpose, cafile=str(secret))
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        context.load_cert_chain(str(secret))
        into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
        side = purpose is ssl.Purpose.CLIENT_AUTH
        ends.append((context.wrap_bio(into, out, server_side=side), into, out))
    done = set()
    for _ in range(8):
        for place, (end, _, out) in enumerate(ends):
            try:
                end.do_handshake()
                done.add(place)
            except ssl.SSLWantReadError:
                pass
            ends[1 - place][1].write(out.read())
    assert done == {0, 1}


def test_a_cluster_without_a_worker_says_so_and_for_how_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "LOOK_S", 0.05)
    monkeypatch.setattr(cluster, "SAY_AGAIN_S", 0.1)
    said: list[str] = []

    def hear(event: Event) -> None:
        assert isinstance(event, Message)
        said.append(event.text)

    def until(text: str) -> None:
        end = time.monotonic() + 60
        while not any(text in line for line in said):
            assert time.monotonic() < end, said
            time.sleep(0.02)

    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=None) as local,
        Client(local) as client,
        cluster.watching_workers(lambda: len(cluster.workers_of(client)), hear),
    ):
        time.sleep(0.3)
        assert not said
        local.scale(0)
        until("no worker is left; the trials wait until")
        until("no worker is left; the trials have waited for 0 s")
        local.scale(1)
        until("a worker has connected; the trials go on")
