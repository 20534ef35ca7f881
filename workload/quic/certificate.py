# SPDX-License-Identifier: GPL-2.0-only
"""In the lab: the servers' key and certificate. python3 -m workload.quic.certificate SEED KEY CERT

The key is made of the trial's seed. Ed25519 signs without random numbers, and its signatures have
one length (RFC 8032): with ECDSA, a certificate's length and so the packets would vary.
"""

from __future__ import annotations

import hashlib
import sys
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

FROM, UNTIL = datetime(2000, 1, 1), datetime(2100, 1, 1)  # noqa: DTZ001 (x509 takes UTC)


def main(seed: str, key: Path, certificate: Path) -> None:
    secret = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(f"quic {seed}".encode()).digest())
    key.write_bytes(secret.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name).issuer_name(name).public_key(secret.public_key()).serial_number(1)
        .not_valid_before(FROM).not_valid_after(UNTIL).sign(secret, None)
    )  # fmt: skip
    certificate.write_bytes(made.public_bytes(Encoding.PEM))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
