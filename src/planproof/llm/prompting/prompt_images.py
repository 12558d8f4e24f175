"""Images of a case: which are sent, where in the prompt, and why others are not.

Each image is named in the text by a mark that the authors of the case could not know; the image
follows the mark as a separate part.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from planproof.core.content import Content, Image
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.llm.prompting.escaping import to_compact_json

_MAGIC_NUMBERS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_DATA_URL_PREFIX = "data:image/"
_DATA_URL = re.compile(r"data:(image/[a-z.+-]{1,40});base64,([A-Za-z0-9+/]{16,}={0,2})")
_MAX_URL_LENGTH = 2_000


@dataclass(frozen=True, slots=True)
class ImageRules:
    """Limits on the images sent: number, size, and whether remote URLs are passed on.

    Local files are read only below `folder`, because a trace may name any file. URLs are never
    fetched, and are passed on only if `allow_urls` is set.
    """

    allow_urls: bool = False
    folder: Path = field(default_factory=Path)
    max_images: int = 20
    max_bytes_per_image: int = 5_000_000
    max_total_bytes: int = 20_000_000


class ImageGallery:
    """The images of one case, numbered in the order of task, plan and trace."""

    def __init__(self, mark: str, rules: ImageRules) -> None:
        self._mark = mark
        self._rules = rules
        self._numbers: dict[Image, int] = {}
        self._sent: dict[int, Image] = {}
        self._bytes = 0
        self.left_out: list[str] = []
        """Images that are not sent, with the reason."""

    @classmethod
    def from_case(
        cls, task: Content, plan: Plan, trace: Trace, mark: str, rules: ImageRules
    ) -> ImageGallery:
        """Collect all images of a case."""
        gallery = cls(mark, rules)
        texts = (text for step in plan.steps for text in (step.text,))
        for image in (
            *task.images,
            *_find_inline_images(task.text),
            *plan.images,
            *_find_inline_images(*texts),
        ):
            gallery.add(image)
        for event in trace.events:
            if event.images or _DATA_URL_PREFIX in event.text or _DATA_URL_PREFIX in event.output:
                for image in (*event.images, *_find_inline_images(event.text, event.output)):
                    gallery.add(image)
        return gallery

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def sent_count(self) -> int:
        """Number of images sent."""
        return len(self._sent)

    def add(self, image: Image) -> None:
        """Number an image; the same image keeps its number."""
        if image in self._numbers:
            return
        number = self._numbers[image] = len(self._numbers) + 1
        admitted = self._admit(image)
        if isinstance(admitted, str):
            self.left_out.append(f"image {number}: {admitted}")
        else:
            self._sent[number] = admitted

    def write_marks(self, images: Iterable[Image]) -> tuple[str, ...]:
        """Return the marks that represent images in the text."""
        return tuple(self._write_mark(self._numbers[image]) for image in images)

    def replace_inline_images(self, text: str) -> str:
        """Replace images embedded in a text with marks."""
        if _DATA_URL_PREFIX not in text:
            return text
        return _DATA_URL.sub(
            lambda match: self._write_mark(self._numbers[Image(match[1], data=match[2])]), text
        )

    def split_parts(self, text: str) -> tuple[str | Image, ...]:
        """Split a text at marks: each image follows the line that mentions it first."""
        if not self._sent:
            return (text,) if text else ()
        mark_pattern = re.compile(rf"\[image (\d+) {re.escape(self._mark)}\]")
        parts: list[str | Image] = []
        pending_text = ""
        shown: set[int] = set()
        for line in text.splitlines(keepends=True):
            numbers = [int(match[1]) for match in mark_pattern.finditer(line)]
            pending_text += mark_pattern.sub(r"[image \1]", line)
            for number in numbers:
                if number not in shown:
                    shown.add(number)
                    parts += (pending_text, self._sent[number])
                    pending_text = ""
        parts.append(pending_text)
        return tuple(part for part in parts if part != "")

    def _write_mark(self, number: int) -> str:
        if number in self._sent:
            return f"[image {number} {self._mark}]"
        return f"[image {number}: not shown]"

    def _admit(self, image: Image) -> Image | str:
        """Return the image as it is sent, or the reason why it is not."""
        if len(self._sent) >= self._rules.max_images:
            return f"only the first {self._rules.max_images} are sent"
        if image.data is None and image.url is not None and _is_remote(image.url):
            if not self._rules.allow_urls:
                return "it is a remote URL (--allow-image-urls sends it)"
            is_short_enough = len(image.url) <= _MAX_URL_LENGTH
            return (
                Image(image.media_type, url=image.url) if is_short_enough else "its URL is too long"
            )
        content = self._read_content(image)
        if isinstance(content, str):
            return content
        media_type = _detect_media_type(content)
        if media_type is None:
            return "it is not a PNG, JPEG, GIF or WebP image"
        size = len(content)
        if size > self._rules.max_bytes_per_image:
            return f"it has {size:,} bytes, more than {self._rules.max_bytes_per_image:,}"
        if self._bytes + size > self._rules.max_total_bytes:
            return f"all images together have more than {self._rules.max_total_bytes:,} bytes"
        self._bytes += size
        return Image(media_type, data=b2a_base64(content, newline=False).decode())

    def _read_content(self, image: Image) -> bytes | str:
        if image.data is not None:
            if len(image.data) > 2 * self._rules.max_bytes_per_image:
                return f"it has more than {self._rules.max_bytes_per_image:,} bytes"
            try:
                return a2b_base64(image.data)
            except (Error, ValueError):
                return "its data is not valid base64"
        return self._read_file((image.url or "").removeprefix("file://"))

    def _read_file(self, name: str) -> bytes | str:
        """Read a local file if it is inside the folder after resolving links."""
        try:
            folder = self._rules.folder.resolve()
            path = (folder / name).resolve()
            if not path.is_relative_to(folder):
                return f"the file {to_compact_json(name[:200])} is outside the working folder"
            with path.open("rb") as file:
                return file.read(self._rules.max_bytes_per_image + 1)
        except (OSError, ValueError):
            return f"the file {to_compact_json(name[:200])} can't be read"


def _find_inline_images(*texts: str) -> Iterator[Image]:
    """Yield the images embedded in texts."""
    for text in texts:
        if _DATA_URL_PREFIX in text:
            yield from (Image(match[1], data=match[2]) for match in _DATA_URL.finditer(text))


def _is_remote(url: str) -> bool:
    return url[:8].lower().startswith(("http://", "https://"))


def _detect_media_type(content: bytes) -> str | None:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next(
        (_MAGIC_NUMBERS[magic] for magic in _MAGIC_NUMBERS if content.startswith(magic)), None
    )
