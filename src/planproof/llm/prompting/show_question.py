"""A question as a person can read it: what `--show-prompt` prints."""

from __future__ import annotations

from planproof.core.content import Image
from planproof.core.model import Question


def format_question(question: Question) -> str:
    """The instructions and the case, word for word; images by their kind and size."""
    case = "\n".join(
        _describe_image(part) if isinstance(part, Image) else part for part in question.parts
    )
    return f"{question.instructions}\n\n{case}\n"


def count_characters(question: Question) -> int:
    """How long a question is, without its images."""
    texts = (part for part in question.parts if isinstance(part, str))
    return len(question.instructions) + sum(map(len, texts))


def _describe_image(image: Image) -> str:
    if image.data is None:
        return f"<{image.media_type} at {image.url}>"
    return f"<{image.media_type}, {len(image.data) * 3 // 4:,} bytes>"
