"""Files that a runtime loads: how each is run, and what it says of itself."""
