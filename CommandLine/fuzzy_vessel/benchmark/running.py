"""Runs the tables that were asked for, and writes what they say."""

import sys
from argparse import Namespace
from pathlib import Path

from FuzzyVesselCoreLib.errors import InputError

from ..progress_bar import ProgressBar
from . import results
from .table_text import markdown, plain_text


def run(options: Namespace, progress: ProgressBar) -> tuple[list[str], list[str]]:
    """Run tables, or draw and print those of an earlier run.

    Parameters
    ----------
    options : argparse.Namespace
    progress : ProgressBar

    Returns
    -------
    lines : list of str
    warnings : list of str
    """
    if options.plots:
        return _show(options)
    from .environment import environment
    from .setting import make_setting
    from .tables import TABLES

    names = options.table or list(TABLES)
    for name in names:
        if name not in TABLES:
            raise InputError(f"Unknown table {name!r}; one of {', '.join(TABLES)}.")
    setting = make_setting(options, progress.stage)
    machine = environment(setting, options.quick)
    if options.json:
        results.refuse_foreign(options.json, machine)
    progress.clear()
    print(f"{results.described(machine)}\n")
    for number, name in enumerate(names):
        try:
            table = TABLES[name](setting)
        except KeyboardInterrupt:
            if number == 0 or not options.json:
                raise
            progress.clear()
            print(
                f"fuzzy-vessel: cancelled; {options.json} has the tables before.", file=sys.stderr
            )
            sys.exit(130)
        progress.clear()
        print(plain_text(table), flush=True)
        if options.json:  # after each table: a run that is cut short keeps what it has found
            results.merge_into(options.json, machine, {name: table})
    lines = [f"results    {Path(options.json).resolve()}"] if options.json else []
    return lines, [setting.no_gpu] if setting.no_gpu and options.device != "cpu" else []


def _show(options):
    """The plots of an earlier run into a folder; its tables in Markdown on standard output."""
    from .plots import draw

    if not options.json:
        raise InputError("--plots draws what --json holds: name the file of an earlier run, too.")
    content, tables = results.read(options.json)
    names = options.table or list(tables)
    folder = Path(options.plots)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; name another folder.") from error
    print(f"{results.described(content['environment'])}\n")
    drawn = []
    for name in names:
        if name not in tables:
            raise InputError(f"{options.json} has no table {name!r}; it has {', '.join(tables)}.")
        print(markdown(tables[name]))
        picture = draw(tables[name], results.described(content["environment"]))
        if picture:
            results.write_whole(folder / f"{name}.svg", picture)
            drawn.append(f"plot       {(folder / name).resolve()}.svg")
    sys.stdout.flush()
    return drawn, []
