"""Templates: which can be used, and that they see nothing but data."""

from __future__ import annotations

import pytest

from planproof.errors import InvalidInput
from planproof.llm.prompting.templates import UserTemplate, compute_prompts_digest, render

USES_ALL = "{{ user_task }} {{ agent_plan }} {{ execution_trace_json }}"


def render_user_template(source: str, *, images: bool = False) -> str:
    return UserTemplate(source).validate().render_case(task="T", plan="P", trace="E", images=images)


def test_the_variables_of_the_specification() -> None:
    source = USES_ALL + "{{ _fragments.multimodal_input_rules }}"
    assert render_user_template(source) == "T P E"
    assert "[image N]" in render_user_template(source, images=True)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("{{ user_task }}", "does not use `agent_plan`"),
        ("{{ agent_plan }}", "does not use `execution_trace_json`"),
        (USES_ALL + "{{ trace }}", "uses the unknown variable `trace`"),
        (USES_ALL + "{{ _fragments.other }}", "other"),
        (USES_ALL + "{% if %}", "line 1"),
        (USES_ALL + "{{ user_task.__class__.__mro__ }}", "unsafe"),
        (USES_ALL + "{{ user_task.format.__globals__ }}", "unsafe"),
        (USES_ALL + "{% include 'nothing' %}", "nothing"),
        (USES_ALL + "{{ 1 / 0 }}", "ZeroDivisionError"),
        (USES_ALL + "{% for i in range(10 ** 9) %}{% endfor %}", "OverflowError"),
        ("x" * 1_000_001, "more than 1,000,000"),
    ],
)
def test_what_can_t_be_used_says_why(source: str, what: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        render_user_template(source)
    assert what in str(caught.value)


def test_text_of_a_case_is_never_a_template() -> None:
    template = UserTemplate(USES_ALL)
    text = template.render_case(task="{{ 7 * 7 }}", plan="{% raw %}", trace="{#", images=False)
    assert text == "{{ 7 * 7 }} {% raw %} {#"


def test_the_multimodal_rules_are_there_if_and_only_if_there_are_images() -> None:
    without, having = (render("prompt.jinja", images=images, mark="") for images in (False, True))
    for word in ("image", "picture", "screenshot", "visual", "multimodal"):
        assert word not in without.lower()
    assert "# Images" in having


def test_the_digest_is_of_all_prompts() -> None:
    assert len(compute_prompts_digest()) == 64
    assert UserTemplate("a").digest != UserTemplate("b").digest
