# SPDX-License-Identifier: GPL-2.0-only
"""nginx as the WWW server of the paper: one process for all hosts; it never cuts an answer short.

98-0876R1, section 5.2, assumes infinitely fast servers: an answer starts when its request arrives.
The last short segment of an answer leaves at once (tcp_nodelay). No timeout and no limit of
requests ends a connection. The response header is as short as nginx allows, because the paper has
none. It leaves at once, in its own segment. With `joined`, it waits for the file (postpone_output),
and both share segments (tcp_nopush: TCP_CORK until the answer is complete).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workload.errors import WorkloadError

BACKLOG = 64
# More bytes than a header, so that the header waits for the file.
POSTPONE_BYTES = 1460

# The reason for each line:
#   master_process off   one process is enough. Foreground: its launcher ends it.
#   user root            the default user does not exist in a user namespace of one user
#   open_file_cache      saves open, fstat and close for each answer; UML's system calls are slow
#   sendfile_max_chunk   0: as much of a file at once as the socket accepts
#   *_timeout            a day: an answer may wait behind megabytes on a lossy 550 ms path
#   keepalive_*          a connection lasts the whole trial, whatever the number of requests
#   etag, max_ranges, add_header, default_type
#                        leave out ETag, Accept-Ranges, Last-Modified, Content-Type
_TEMPLATE = """\
master_process off;
daemon off;
user root;
pid {run}/nginx.pid;
error_log {run}/error.log error;
pcre_jit off;
events {{
    use epoll;
    worker_connections {connections};
    accept_mutex off;
}}
http {{
    access_log off;
    log_not_found off;
    server_tokens off;
    etag off;
    max_ranges 0;
    if_modified_since off;
    add_header Last-Modified "";
    types {{}}
    default_type "";
    gzip off;
    chunked_transfer_encoding off;

    sendfile on;
    sendfile_max_chunk 0;
    tcp_nopush on;
    tcp_nodelay on;
    postpone_output {postpone_bytes};
    open_file_cache max=64 inactive=1d;
    open_file_cache_valid 1d;
    open_file_cache_min_uses 1;

    keepalive_timeout 1d;
    keepalive_time 1d;
    keepalive_requests 1000000000;
    client_header_timeout 1d;
    client_body_timeout 1d;
    send_timeout 1d;
    reset_timedout_connection off;
    lingering_close off;
    client_header_buffer_size 4k;

    client_body_temp_path {run}/body;
    proxy_temp_path {run}/proxy;
    fastcgi_temp_path {run}/fastcgi;
    uwsgi_temp_path {run}/uwsgi;
    scgi_temp_path {run}/scgi;

    server {{
        {listen}
        root {docroot};
    }}
}}
"""


@dataclass(frozen=True, kw_only=True)
class Server:
    """One server: its own `run_dir` (conf, pid, error log), the shared `docroot`, its addresses.

    addresses: IPv4; none means all addresses of the host. connections: the largest number at a
    time. joined: whether an answer's header and file are one stream.
    """

    run_dir: Path
    docroot: Path
    port: int = 80
    addresses: tuple[str, ...] = ()
    connections: int = 64
    joined: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.port <= 65535:
            raise WorkloadError(f"nginx port {self.port}: allowed are 1 to 65535")
        if not 8 <= self.connections <= 65535:
            raise WorkloadError(f"nginx connections {self.connections}: allowed are 8 to 65535")
        for name in (self.run_dir, self.docroot):
            if not name.is_absolute() or set(str(name)) & set(" \t\n\"';{}$\\"):
                raise WorkloadError(
                    f"nginx path {name}: must be absolute, without blank, quote, ;, {{, }}, $ or \\"
                )

    @property
    def conf_path(self) -> Path:
        """The file into which `write` writes the configuration."""
        return self.run_dir / "nginx.conf"

    @property
    def pid_path(self) -> Path:
        """The file that nginx makes when it listens. If it exists, the server is ready."""
        return self.run_dir / "nginx.pid"

    @property
    def error_log_path(self) -> Path:
        """The file with nginx's own complaints; empty after a good trial."""
        return self.run_dir / "error.log"

    @property
    def ends(self) -> list[str]:
        """The addresses on which nginx listens, in nginx's words."""
        return [f"{address}:{self.port}" for address in self.addresses] or [str(self.port)]


def text(server: Server) -> str:
    """Return the server's configuration."""
    return _TEMPLATE.format(
        run=server.run_dir,
        docroot=server.docroot,
        listen="\n        ".join(f"listen {end} backlog={BACKLOG};" for end in server.ends),
        connections=server.connections,
        postpone_bytes=POSTPONE_BYTES if server.joined else 0,
    )


def write(server: Server) -> None:
    """Make the run directory and write the configuration; remove an old pid file or log."""
    server.run_dir.mkdir(parents=True, exist_ok=True)
    server.pid_path.unlink(missing_ok=True)
    server.error_log_path.unlink(missing_ok=True)
    server.conf_path.write_text(text(server), encoding="ascii")


def argv(server: Server) -> list[str]:
    """Return the command that runs the server in the foreground until SIGTERM."""
    return [
        "nginx",
        "-e",
        str(server.run_dir / "startup.log"),  # for messages before the configuration is read
        "-p",
        str(server.run_dir),
        "-c",
        str(server.conf_path),
    ]


def inheriting(descriptors: Sequence[int]) -> dict[str, str]:
    """Return the environment of a server that inherits open listening sockets.

    nginx uses this mechanism when it replaces its own program: each directive `listen` takes the
    socket with its address.
    """
    return {"NGINX": "".join(f"{descriptor};" for descriptor in descriptors)}
