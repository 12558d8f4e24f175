"""Small images in the forms that are sent to models."""

from __future__ import annotations

from base64 import b64encode

PNG_BYTES = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + bytes(17)
PNG = b64encode(PNG_BYTES).decode()
JPEG = b64encode(b"\xff\xd8\xff\xe0" + bytes(20)).decode()
GIF = b64encode(b"GIF89a" + bytes(20)).decode()
WEBP = b64encode(b"RIFF\x10\0\0\0WEBPVP8 " + bytes(12)).decode()
