"""From the fuzzy scene to labels: which threshold, and the gaps that noise leaves."""
