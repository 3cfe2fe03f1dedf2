"""Keeps what a file says about itself from spoiling the messages that quote it."""

LONGEST = 300


def one_line(text):
    """The text without control characters, and not too long."""
    line = "".join(sign if sign.isprintable() else "?" for sign in str(text))
    return line if len(line) <= LONGEST else line[:LONGEST] + "..."
