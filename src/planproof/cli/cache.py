"""`planproof cache`: show or clear the cache of model answers."""

from __future__ import annotations

import typer

from planproof.cli.exit_codes import handle_errors

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Show or clear the cache of model answers.\n\n"
    "Answers are cached in a SQLite file, so that no request is paid for twice. Set "
    "$PLANPROOF_CACHE to use another file.",
)


def info() -> None:
    """Show the path, the size and the number of answers of the cache."""
    from planproof.llm import answer_cache as cache

    cache_info = cache.read_cache_info(cache.get_default_cache_path())
    typer.echo(str(cache_info.path))
    cost = f", which cost {cache_info.cost:.2f} dollars" if cache_info.cost else ""
    noun = "answer" if cache_info.answers == 1 else "answers"
    typer.echo(f"{cache_info.answers:,} {noun}, {cache_info.size / 1e6:.1f} MB{cost}")
    for model, count in cache_info.models:
        typer.echo(f"  {model}  {count:,}")


def clear() -> None:
    """Remove all cached answers."""
    from planproof.llm import answer_cache as cache

    path = cache.get_default_cache_path()
    typer.echo(f"{path}: {cache.clear_cache(path) / 1e6:.1f} MB removed")


app.command()(handle_errors(info))
app.command()(handle_errors(clear))
