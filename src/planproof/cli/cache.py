"""`planproof cache`: the answers of models that are kept, so that nothing is paid for twice."""

from __future__ import annotations

import typer

from planproof.cli.exit_codes import tells_failures

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Show or remove the answers of models that are kept.\n\n"
    "They stand in one SQLite file, so that nothing is paid for twice; $PLANPROOF_CACHE names "
    "another file.",
)


def info() -> None:
    """Say where the answers are kept, and how many of which models."""
    from planproof.llm import answer_cache as cache

    found = cache.info(cache.default_path())
    typer.echo(str(found.path))
    cost = f", which cost {found.cost:.2f} dollars" if found.cost else ""
    noun = "answer" if found.answers == 1 else "answers"
    typer.echo(f"{found.answers:,} {noun}, {found.size / 1e6:.1f} MB{cost}")
    for model, count in found.models:
        typer.echo(f"  {model}  {count:,}")


def clear() -> None:
    """Remove all answers that are kept."""
    from planproof.llm import answer_cache as cache

    path = cache.default_path()
    typer.echo(f"{path}: {cache.clear(path) / 1e6:.1f} MB removed")


app.command()(tells_failures(info))
app.command()(tells_failures(clear))
