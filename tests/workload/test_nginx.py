# SPDX-License-Identifier: GPL-2.0-only
"""nginx's configuration: paths go where they belong, bad ones are refused."""

import dataclasses
from pathlib import Path

import pytest

from workload import nginx, nginx_servers
from workload.errors import WorkloadError

SERVER = nginx.Server(run_dir=Path("/run/s7"), docroot=Path("/run/www"), port=8080)


def test_everything_it_writes_lies_in_its_run_directory():
    text = nginx.text(SERVER)
    paths = [word.rstrip(";") for word in text.split() if word.startswith("/")]
    assert paths.count("/run/www") == 1
    rest = [path for path in paths if path != "/run/www"]
    assert len(rest) == len(set(rest)) == 7
    assert all(path.startswith("/run/s7/") for path in rest)


def test_it_listens_where_it_is_told():
    assert "listen 8080 " in nginx.text(SERVER)
    two = dataclasses.replace(SERVER, addresses=("10.2.0.2", "10.2.0.3"))
    assert "listen 10.2.0.2:8080 " in nginx.text(two)
    assert "listen 10.2.0.3:8080 " in nginx.text(two)


def test_a_header_waits_for_its_file_where_they_are_joined():
    assert "postpone_output 0;" in nginx.text(SERVER)
    assert "postpone_output 1460;" in nginx.text(dataclasses.replace(SERVER, joined=True))


def test_nginx_has_room_for_the_connections_of_all_hosts():
    """With fewer than a sixteenth of all free, it would close idle ones."""
    assert nginx_servers.connections_of(100, 8) == 800
    assert nginx_servers.connections_of(1, 8) == 64
    assert nginx_servers.connections_of(5000, 64) == 65535
    hosts = 2000
    assert nginx_servers.connections_of(hosts, 8) * 15 // 16 > 2 * hosts


def test_sockets_that_it_inherits_are_named_in_its_environment():
    assert nginx.inheriting([7, 8]) == {"NGINX": "7;8;"}


def test_write_clears_the_traces_of_an_earlier_server(tmp_path):
    server = nginx.Server(run_dir=tmp_path / "s1", docroot=tmp_path / "www")
    server.run_dir.mkdir()
    server.pid_path.write_text("1\n")
    server.error_log_path.write_text("old\n")
    nginx.write(server)
    assert server.conf_path.read_text() == nginx.text(server)
    assert not server.pid_path.exists()
    assert not server.error_log_path.exists()
    assert nginx.argv(server)[-2:] == ["-c", str(server.conf_path)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"port": 0}, "port 0"),
        ({"port": 65536}, "port 65536"),
        ({"connections": 1}, "connections 1"),
        ({"run_dir": Path("run")}, "path run: must be absolute"),
        ({"docroot": Path("/a b")}, "path /a b"),
        ({"docroot": Path("/a;b")}, "path /a;b"),
    ],
)
def test_what_is_refused(change, message):
    good = {"run_dir": Path("/run/s1"), "docroot": Path("/run/www")}
    with pytest.raises(WorkloadError, match=message):
        nginx.Server(**(good | change))
