"""The command line. Each command is thin and imports what it needs when it is called; nothing is computed here."""

from typing import Annotated

import typer

import dynrnn

# Typer's colours and tables load rich, which costs more start-up time than the whole command line.
app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dynrnn {dynrnn.__version__}")
        raise typer.Exit


@app.callback()
def dynrnn_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """TensorFlow 1's dynamic_rnn system on PyTorch."""


# The parser stops at PROGRAM: whatever follows it, `--help` too, belongs to the program.
@app.command(context_settings={"allow_interspersed_args": False})
def run(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="A TensorFlow 1 program, Python 2 or 3.")],
    args: Annotated[list[str] | None, typer.Argument(metavar="ARGS", help="The program's own arguments.")] = None,
) -> None:
    """Run a TensorFlow 1 program unchanged: `import tensorflow` finds dynrnn's TensorFlow 1 face."""
    from dynrnn.runner.program import run_program

    raise typer.Exit(run_program(program, args or ()))


@app.command()
def check(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="A TensorFlow 1 program, Python 2 or 3.")],
    modules: Annotated[
        list[str] | None,
        typer.Argument(metavar="MODULE", help="More files; those that PROGRAM imports are read anyway."),
    ] = None,
) -> None:
    """Report which TensorFlow names a program uses and which of them are missing, without running it.

    The exit status is 0 if all are supported, 1 if one is missing, 2 if a file cannot be read.
    """
    from dynrnn.runner.check import check_program

    raise typer.Exit(check_program(program, modules or ()))


def main() -> None:
    """Run the command line on `sys.argv` and exit."""
    # Calling `app` itself would replace `sys.excepthook`, which belongs to the program that is run.
    typer.main.get_command(app)(prog_name="dynrnn")
