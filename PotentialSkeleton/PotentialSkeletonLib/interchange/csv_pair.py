"""The network as two comma-separated files, nodes and edges, as VesselVio and igraph users read it.

VesselVio: graph file format CSV, vertex representation Branches, delimiter a comma; the columns are
called as it proposes. igraph: `Graph.DataFrame(edges, vertices=nodes)` after `pandas.read_csv`, with
the columns Source ID and Target ID first.
"""  # noqa: E501

import csv
import io
from collections.abc import Iterable, Mapping
from os import PathLike

from numpy.typing import ArrayLike

from ..graph.curve_skeleton import CurveSkeleton
from .graph_tables import SOURCE, TARGET, edge_table, node_table
from .whole_files import write_text


def write_csv_pair(
    skeleton: CurveSkeleton,
    nodes_path: str | PathLike,
    edges_path: str | PathLike,
    *,
    ijk_to_ras: ArrayLike | None = None,
    names: Mapping[int, str] | None = None,
    roots: Iterable[int] | None = None,
) -> None:
    """Write nodes and edges; columns as in `graph_tables`.

    Parameters
    ----------
    skeleton : CurveSkeleton
    nodes_path, edges_path : str or Path
    ijk_to_ras, names, roots
        As for `graphml.write_graphml`.

    Raises
    ------
    InputError
        If the matrix, a name or a root does not fit.
    OSError
        If a file cannot be written.

    Notes
    -----
    Names may hold commas, quotes and line breaks: they are quoted as RFC 4180 says. A value that
    does not exist, the tortuosity of a loop, is an empty field.
    """
    edges = edge_table(skeleton, names, roots)
    first = {name: edges[name] for name in (SOURCE, TARGET)}
    nodes_text = table_text(node_table(skeleton, ijk_to_ras))
    edges_text = table_text({**first, **edges})
    write_text(nodes_text, nodes_path)
    write_text(edges_text, edges_path)


def table_text(table: Mapping[str, list]) -> str:
    """Comma-separated text of columns; numbers with 6 digits after the point.

    Examples
    --------
    >>> print(table_text({"name": ["left, main", ""], "length": [1.5, None]}), end="")
    name,length
    "left, main",1.500000
    ,
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    for row in zip(*table.values()):
        writer.writerow(f"{value:.6f}" if isinstance(value, float) else value for value in row)
    return text.getvalue()
