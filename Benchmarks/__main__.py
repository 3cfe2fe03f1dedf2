"""Speed, the papers' tables and the simulated clicks: `python -m Benchmarks --help`."""

import argparse
from pathlib import Path

from . import clicks, frame, papers, speed

TABLES = {
    "kfoe-english": papers.english,
    "kfoe-chinese": papers.chinese,
    "kfoe-directions": papers.directions,
    "field-sizes": papers.field_sizes,
    "field-threads": papers.field_threads,
    "connectedness": speed.connected,
    "segment": speed.clicked,
    "skeleton": speed.skeletons,
    "first-use": speed.first_use,
    "blocks": speed.blocks,
    "peers": speed.peers,
    "clicks": clicks.by_clicks,
    "clicks-phantoms": clicks.on_phantoms,
    "clicks-random": clicks.by_random_click,
    "vessels": clicks.by_vessels,
    "scans": clicks.by_scan,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m Benchmarks", description=__doc__)
    add = parser.add_argument
    add("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}; by default all")
    add("--data", help="folder with ircadb01_01_*.nrrd, seeds.json and vessels/*.npz")
    add("--device", default="auto", help="auto, cpu, cuda or cuda:1")
    add("--quick", action="store_true", help="small volumes, to see that all runs")
    add("--repeats", type=int, default=7, help="runs after the warm-up; their median counts")
    add("--json", type=Path, help="add the tables to this file")
    add("--plots", type=Path, help="draw the tables of --json into this folder; runs nothing")
    options = parser.parse_args()
    for name in options.tables:
        if name not in TABLES:
            parser.error(f"unknown table {name!r}; one of {', '.join(TABLES)}")
    if options.plots:
        if not options.json or not options.json.is_file():
            parser.error("--plots draws what --json holds: name the file of an earlier run, too")
        options.plots.mkdir(parents=True, exist_ok=True)
        for name, (table, machine) in frame.read_json(options.json).items():
            if not options.tables or name in options.tables:
                print(frame.markdown(table), end="\n\n")
                frame.draw(table, machine, options.plots / f"{name}.svg")
        return
    setting = frame.make_setting(options.device, options.data, options.quick, options.repeats)
    machine = frame.environment(setting)
    print(frame.described(machine), end="\n\n")
    for name in options.tables or TABLES:
        table = TABLES[name](setting)
        print(frame.markdown(table), end="\n\n", flush=True)
        if options.json:
            frame.write_json(options.json, machine, name, table)


if __name__ == "__main__":
    main()
