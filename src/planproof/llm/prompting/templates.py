"""Prompt templates: the built-in prompts and fragments, and templates from users.

Templates see only data. They run in a sandbox, and an undefined name is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, NoReturn

from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_VARIABLES = ("user_task", "agent_plan", "execution_trace_json", "_fragments")
_REQUIRED_VARIABLES = ("agent_plan", "execution_trace_json")
_ADVICE = (
    "A template may use user_task, agent_plan, execution_trace_json and "
    "_fragments.multimodal_input_rules."
)
_MAX_CHARS = 1_000_000


@dataclass(frozen=True, slots=True)
class UserTemplate:
    """A user's template; `name` is used in messages."""

    source: str
    name: str = "template"

    @property
    def digest(self) -> str:
        """A hash of the template."""
        return sha256(self.source.encode("utf-8", "surrogatepass")).hexdigest()

    def validate(self) -> UserTemplate:
        """Return the template if it is valid; raise `InvalidInput` otherwise."""
        from jinja2 import TemplateError, meta  # noqa: PLC0415 - only for user templates

        if len(self.source) > _MAX_CHARS:
            raise InvalidInput(f"has more than {_MAX_CHARS:,} characters.", where=self.name)
        try:
            used = meta.find_undeclared_variables(_get_environment().parse(self.source))
        except TemplateError as error:
            _raise_invalid_template(error, self.name)
        absent = [name for name in _REQUIRED_VARIABLES if name not in used]
        if absent:
            what = f"does not use `{absent[0]}`, so nothing could be judged."
            raise InvalidInput(what, where=self.name, advice=_ADVICE)
        unknown = sorted(used.difference(_VARIABLES))
        if unknown:
            what = f"uses the unknown variable `{unknown[0]}`."
            raise InvalidInput(what, where=self.name, advice=_ADVICE)
        return self

    def render_case(self, *, task: str, plan: str, trace: str, images: bool) -> str:
        """Render the template for a case. The multimodal rules are empty if there are no images."""
        from jinja2 import TemplateError  # noqa: PLC0415 - only for user templates

        rules = render("fragments/multimodal_input_rules.jinja") if images else ""
        try:
            return (
                _get_environment()
                .from_string(self.source)
                .render(
                    user_task=task,
                    agent_plan=plan,
                    execution_trace_json=trace,
                    _fragments={"multimodal_input_rules": rules},
                )
            )
        except TemplateError as error:
            _raise_invalid_template(error, self.name)
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(
                f"rendering failed: {type(error).__name__}: {error}.",
                where=self.name,
                advice=_ADVICE,
            ) from error


def render(name: str, **values: object) -> str:
    """Render a built-in prompt such as "prompt.jinja", or a fragment."""
    return _get_environment().get_template(name).render(**values).strip()


@cache
def compute_prompts_digest() -> str:
    """Return a hash of all built-in prompts."""
    digest = sha256()
    for source in _list_prompt_files():
        digest.update(source.read_bytes())
    return digest.hexdigest()


@cache
def _list_prompt_files() -> tuple[Traversable, ...]:
    folder = files("planproof.llm").joinpath("prompts")
    entries = [*folder.iterdir(), *folder.joinpath("fragments").iterdir()]
    return tuple(
        sorted((entry for entry in entries if entry.is_file()), key=lambda entry: entry.name)
    )


@cache
def _get_environment() -> ImmutableSandboxedEnvironment:
    from jinja2 import PackageLoader, StrictUndefined  # noqa: PLC0415 - heavy, and only here
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415

    return ImmutableSandboxedEnvironment(
        loader=PackageLoader("planproof.llm", "prompts"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )


def _raise_invalid_template(error: TemplateError, name: str) -> NoReturn:
    line = getattr(error, "lineno", None)
    location = f"{name}, line {line}" if line else name
    raise InvalidInput(
        f"is not a valid template: {error.message or type(error).__name__}.",
        where=location,
        advice=_ADVICE,
    ) from error
