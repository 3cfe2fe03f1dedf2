"""The first run after an installation: seconds to its result, and of compiling by function."""
