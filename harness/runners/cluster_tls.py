# SPDX-License-Identifier: GPL-2.0-only
"""The secret of a cluster: a key and its certificate, in one file that all its machines have.

Who has the file is let in, as scheduler, worker or campaign; nobody else is. Dask's own TLS
does the rest: each end shows the certificate and accepts no other.
"""

from __future__ import annotations

import datetime
import socket
import ssl
from pathlib import Path

import dask
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from distributed.security import Security

from harness.host import paths
from harness.host.ownership import make_folder
from harness.records.whole import write_whole
from plan.errors import UsageError

PROBE_S = 5.0
VALID_DAYS = 3650
ROLES = ("client", "scheduler", "worker")


def default_file() -> Path:
    """Where a scheduler puts the secret, and where it is looked for, if no file is named."""
    return paths.places()["cache"] / "cluster.pem"


def made(path: Path) -> Security:
    """The secret in a file, which is made when it is not there.

    Raises:
        UsageError: what is there is no such file, or others may read it.
    """
    if not path.exists():
        make_folder(path.parent)
        write_whole(path, secret(), mode=0o600)
    return read(path)


def secret() -> str:
    """A new key and the certificate that it has signed itself, as PEM.

    With what OpenSSL's strict checks want of a certificate that is its own authority; Dask's
    own Security.temporary() has no such, and Python 3.13 checks strictly.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "cellbed cluster")])
    now = datetime.datetime.now(datetime.UTC)
    hour = datetime.timedelta(hours=1)  # the clocks of its machines may differ
    usage = dict.fromkeys(USAGES, False) | {"digital_signature": True, "key_cert_sign": True}
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - hour)
        .not_valid_after(now + VALID_DAYS * 24 * hour)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(**usage), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    private = key.private_bytes(*form, serialization.NoEncryption())
    return (private + certificate.public_bytes(serialization.Encoding.PEM)).decode()


USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


def read(path: Path) -> Security:
    """The secret in a file.

    Raises:
        UsageError: there is none, it is no such file, it is out of date, or others may read it.
    """
    if not path.is_file():
        raise UsageError(f"{path} does not exist; copy it from the machine of ./cellbed scheduler")
    if path.stat().st_mode & 0o077:
        raise UsageError(f"{path}: other users may read this secret; run chmod 600 on it")
    try:
        context = ssl.create_default_context(cafile=str(path))
        context.load_cert_chain(str(path))
        ends = x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc
    except (ssl.SSLError, ValueError) as error:
        raise UsageError(f"{path} does not have the key and certificate of a cluster") from error
    if ends < datetime.datetime.now(datetime.UTC):
        raise UsageError(
            f"{path}: the certificate ended on {ends:%Y-%m-%d}; remove this file, and"
            " ./cellbed scheduler makes a new one"
        )
    name = str(path)
    return Security(
        require_encryption=True,
        tls_ca_file=name,
        **{f"tls_{role}_{part}": name for role in ROLES for part in ("key", "cert")},
    )


def security_for(address: str, path: Path | None) -> Security | None:
    """What to show the scheduler at an address, None where it is not asked for (tcp://).

    Raises:
        UsageError: the address wants a secret and there is none, or the other way round.
    """
    if not address.startswith("tls://"):
        if path is not None:
            raise UsageError(
                f"--tls {path} needs an address that begins with tls://, not {address}"
            )
        return None
    configured = dask.config.get("distributed.comm.tls.ca-file") is not None
    if path is None and configured and not default_file().exists():
        return Security()  # as Dask's own configuration says
    return read(path or default_file())


def why_not(address: str, security: Security | None) -> str:
    """Why the scheduler at an address did not let one in, as far as its port tells."""
    encrypted = speaks_tls(address)
    if encrypted is None:
        return "no Dask scheduler answers there"
    if encrypted and security is None:
        return f"the scheduler there asks for its secret; use tls://{place(address)} and --tls FILE"
    if encrypted:
        return "the scheduler there has another secret than the file of --tls, or is other software"
    return (
        "no Dask scheduler answers there"
        if security is None
        else "the program there does not use TLS"
    )


def place(address: str) -> str:
    """An address without what says how it is spoken to."""
    return address.rpartition("://")[2]


def speaks_tls(address: str) -> bool | None:
    """Does whoever listens at an address speak TLS? None where nobody listens."""
    host, _, port = place(address).rpartition(":")
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        where = (host.strip("[]"), int(port))
        with socket.create_connection(where, PROBE_S) as plain, context.wrap_socket(plain):
            return True
    except ssl.SSLError:
        return False
    except TimeoutError:
        return False
    except (OSError, ValueError, OverflowError):
        return None
