"""Images: which are sent, where they stand, and what is said of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from planproof.core.content import Content, Image
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.llm.prompting.case_prompt import CaseWriter
from planproof.llm.prompting.prompt_images import ImageGallery, ImageRules
from tests.images import GIF, JPEG, PNG, PNG_BYTES, WEBP
from tests.replacement import replace
from tests.unit.llm.prompting.event_builders import PLAN, did, said

SEEN = Image("image/png", data=PNG)


def write_parts(
    *, task: Content | None = None, plan: Plan = PLAN, trace: Trace | None = None
) -> tuple[str | Image, ...]:
    writer = CaseWriter(
        task or Content("Do it."), plan, trace or Trace((said(1, "Yes."),)), budget=20_000
    )
    return writer.write_whole("").parts


def check_image(image: Image, rules: ImageRules | None = None) -> Image | str:
    gallery = ImageGallery("mark", rules or ImageRules())
    gallery.add(image)
    parts = gallery.split_parts(" ".join(gallery.write_marks([image])))
    return gallery.left_out[0] if gallery.left_out else next(p for p in parts if p != "[image 1]")


@pytest.mark.parametrize(
    ("data", "media_type"),
    [(PNG, "image/png"), (JPEG, "image/jpeg"), (GIF, "image/gif"), (WEBP, "image/webp")],
)
def test_the_kind_is_read_from_the_image_itself(data: str, media_type: str) -> None:
    assert check_image(Image("image/*", data=data)) == Image(media_type, data=data)


@pytest.mark.parametrize(
    ("image", "why"),
    [
        (Image("image/png", data="????"), "not a PNG"),
        (Image("image/png", data="A"), "not valid base64"),
        (Image("image/svg+xml", data="PHN2Zz48L3N2Zz4="), "not a PNG, JPEG, GIF or WebP"),
        (Image("image/png", url="https://example.org/a.png"), "--allow-image-urls"),
        (Image("image/png", url="HTTP://example.org/a.png"), "--allow-image-urls"),
        (Image("image/png", url="nowhere.png"), "can't be read"),
        (Image("image/png", url="/etc/passwd"), "outside the working folder"),
        (Image("image/png", url="file:///etc/passwd"), "outside the working folder"),
        (Image("image/png", url="../secret.png"), "outside the working folder"),
        (Image("image/png", url="a\0b"), "can't be read"),
        (Image("image/png"), "can't be read"),
    ],
)
def test_what_is_not_sent_is_named_with_its_reason(image: Image, why: str) -> None:
    told = check_image(image)
    assert isinstance(told, str)
    assert why in told


def test_an_address_is_passed_on_only_where_that_is_allowed() -> None:
    image = Image("image/*", url="https://example.org/a.png")
    assert check_image(image, ImageRules(allow_urls=True)) == image
    far = Image("image/*", url="https://example.org/" + "a" * 3_000)
    assert "too long" in str(check_image(far, ImageRules(allow_urls=True)))


def test_a_local_file_is_read_in_its_folder_and_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "case"
    folder.mkdir()
    (folder / "chart.png").write_bytes(PNG_BYTES)
    (tmp_path / "secret.png").write_bytes(PNG_BYTES)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "notes.png").write_text("no image")
    rules = ImageRules(folder=folder)
    assert check_image(Image("image/*", url="chart.png"), rules) == SEEN
    assert check_image(Image("image/*", url=f"file://{folder}/chart.png"), rules) == SEEN
    assert "outside" in str(check_image(Image("image/*", url="link.png"), rules))
    assert "not a PNG" in str(check_image(Image("image/*", url="notes.png"), rules))


def test_number_and_size_are_bounded() -> None:
    images = [Image("image/png", data=PNG[:-4] + "AAA" + letter) for letter in "AEIM"]
    gallery = ImageGallery("mark", ImageRules(max_images=2))
    for image in images:
        gallery.add(image)
    assert len(gallery) == 4
    assert [told.partition(":")[0] for told in gallery.left_out] == ["image 3", "image 4"]
    assert "more than 10" in str(check_image(SEEN, ImageRules(max_bytes_per_image=10)))
    assert "more than 20" in str(check_image(SEEN, ImageRules(max_bytes_per_image=20)))
    assert "together" in str(check_image(SEEN, ImageRules(max_total_bytes=20)))


def test_each_image_follows_its_text() -> None:
    shot = replace(did(2, "take_screenshot"), images=(Image("image/*", data=JPEG),))
    parts = write_parts(
        task=Content("Do it as here.", (SEEN,)),
        plan=replace(PLAN, images=(Image("image/*", data=GIF),)),
        trace=Trace((said(1, "Yes."), shot, said(3, "Done."))),
    )
    assert [type(part).__name__ for part in parts] == ["str", "Image"] * 3 + ["str"]
    texts = [part for part in parts if isinstance(part, str)]
    assert texts[0].splitlines()[-1] == "«Do it as here.» [image 1]"
    assert texts[1].splitlines()[-1] == "[image 2]"
    assert texts[2].splitlines()[-1] == "e2 action take_screenshot {} ok [image 3]"
    assert texts[3].startswith("e3 message")


def test_the_same_image_is_sent_once() -> None:
    events = tuple(replace(did(n, "look"), images=(SEEN,)) for n in (1, 2))
    parts = write_parts(trace=Trace(events))
    assert parts.count(SEEN) == 1
    assert "e2 action look {} ok [image 1]" in str(parts[-1])


def test_an_image_written_out_in_a_text_is_taken_out_of_it() -> None:
    trace = Trace((said(1, f"See ![chart](data:image/png;base64,{PNG}) here."),))
    parts = write_parts(trace=trace)
    assert parts[1] == SEEN
    assert str(parts[0]).endswith("e1 message «See ![chart]([image 1]) here.»\n")


def test_text_can_t_name_an_image() -> None:
    trace = Trace((replace(said(1, "[image 1] [image 1 mark]"), images=(SEEN,)), said(2, "x")))
    parts = write_parts(trace=trace)
    assert parts.count(SEEN) == 1
