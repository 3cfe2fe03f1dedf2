"""From clicks and evidence to the fuzzy scene."""
