"""A transfer over QUIC.

quic_transfer.py serve FOLDER              writes its certificate there, prints "up"
quic_transfer.py fetch FOLDER HOST BYTES   asks for so many bytes, and looks whether they came as they were sent
"""

from __future__ import annotations

import asyncio
import datetime
import hashlib
import ipaddress
import sys
from pathlib import Path

from aioquic.asyncio import connect, serve
from aioquic.quic.configuration import QuicConfiguration
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

PORT = 4433
PROTOCOL = "transfer"


def certify(folder: Path) -> None:
    """A key and a certificate that it has signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mesh")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("10.77.0.6"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def content(length: int) -> bytes:
    return hashlib.shake_128(b"mesh").digest(length)


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(content(int(await reader.read())))
    writer.write_eof()


async def server(folder: Path) -> None:
    certify(folder)
    configuration = QuicConfiguration(is_client=False, alpn_protocols=[PROTOCOL])
    configuration.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    tasks = set()

    def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(answer(reader, writer)))

    await serve("0.0.0.0", PORT, configuration=configuration, stream_handler=stream)
    print("up", flush=True)
    await asyncio.Event().wait()


async def fetch(folder: Path, host: str, length: int) -> None:
    configuration = QuicConfiguration(is_client=True, alpn_protocols=[PROTOCOL])
    configuration.load_verify_locations(str(folder / "certificate.pem"))
    async with connect(host, PORT, configuration=configuration) as connection:
        reader, writer = await connection.create_stream()
        writer.write(str(length).encode())
        writer.write_eof()
        assert await reader.read() == content(length), "other bytes"
    print(f"{length} bytes as they were sent")


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(server(Path(sys.argv[2])))
    else:
        asyncio.run(fetch(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
