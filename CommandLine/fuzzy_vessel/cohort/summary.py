"""What the user reads when a cohort is done."""

from .case_table import DONE, TABLE, CohortRecord
from .thumbnails import PAGE


def summary(record: CohortRecord) -> tuple[list[str], list[str]]:
    """Lines of the summary, and a warning for each case that failed."""
    rows = record.rows()
    failed = [row for row in rows if row["status"] != DONE]
    lines = [
        f"cases      {len(rows) - len(failed)} of {len(rows)} done",
        f"table      {(record.folder / TABLE).resolve()}",
        f"pictures   {(record.folder / PAGE).resolve()}",
        f"results    {record.folder.resolve()}",
    ]
    return lines, [f"case {row['case']}: {row['error']}" for row in failed]
