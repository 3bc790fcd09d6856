"""PDF files for tests, written by hand so that their text and their faults are known."""

from collections.abc import Iterable
from io import BytesIO

from pypdf import PdfReader, PdfWriter


def pdf(pages: Iterable[str], *, packed: bytes | None = None) -> bytes:
    """A PDF whose pages have these texts, a line for each of theirs; or a page's content as it is, packed by zlib."""
    texts = list(pages)
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(texts)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(texts)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index, text in enumerate(texts):
        page = 4 + 2 * index
        lines = " ".join(f"({line}) Tj T*" for line in text.splitlines())
        stream = f"BT /F1 12 Tf 14 TL 20 780 Td {lines} ET"
        box = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] "
        objects.append(f"{box}/Resources << /Font << /F1 3 0 R >> >> /Contents {page + 1} 0 R >>".encode())
        content, how = (stream.encode(), "") if packed is None else (packed, "/Filter /FlateDecode ")
        objects.append(b"<< %s/Length %d >>\nstream\n%s\nendstream" % (how.encode(), len(content), content))
    return _file(objects)


def _file(objects: list[bytes]) -> bytes:
    body = b"%PDF-1.4\n"
    places = []
    for number, text in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, text)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    tail = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + f"{head}{table}{tail}".encode()


def encrypted(data: bytes, *, user_password: str) -> bytes:
    """The same PDF under AES-256; with an empty user password anyone may open it."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    writer.encrypt(user_password, owner_password="owner", algorithm="AES-256")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()
