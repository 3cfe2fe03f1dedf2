"""Counts the cases of a part and keeps what went wrong."""

import traceback
from collections import Counter

MOST_SHOWN = 20
MOST_LINES = 12


class Finding(AssertionError):
    """A case in which the program did what it must not do; the message says what."""


class Tally:
    """What became of the cases of one part.

    Attributes
    ----------
    outcomes : Counter
        Of words such as "read" and "refused".
    findings : list of (int, str)
        Number of the case, and what went wrong.
    """

    def __init__(self):
        self.outcomes = Counter()
        self.findings = []

    @property
    def cases(self):
        return self.outcomes.total() + len(self.findings)

    def try_case(self, check, number):
        """Check one case: `check(number)` returns its outcome, or raises what is a finding."""
        try:
            outcome = check(number)
        except Finding as finding:
            self.findings.append((number, str(finding)))
        except Exception as error:
            lines = "".join(traceback.format_exception(error)).strip().splitlines()
            self.findings.append((number, "\n".join(lines[-MOST_LINES:])))
        else:
            self.outcomes[outcome] += 1

    def lines(self):
        """The counts and the first findings, as text."""
        counts = ", ".join(f"{count} {word}" for word, count in self.outcomes.most_common())
        yield f"{self.cases} cases: {counts or 'nothing'}; {len(self.findings)} findings"
        for number, text in self.findings[:MOST_SHOWN]:
            yield f"case {number}: {text}"
        if len(self.findings) > MOST_SHOWN:
            yield f"and {len(self.findings) - MOST_SHOWN} more"
