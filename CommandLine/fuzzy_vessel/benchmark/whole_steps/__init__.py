"""The steps that a person waits for, ours and other programs': to a segment, to centrelines."""
