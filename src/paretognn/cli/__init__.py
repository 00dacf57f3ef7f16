"""The command line, one file a command."""

import os

# Threads of a parallel loop that spin while they wait make every other process wait too: with one of two cores
# taken by something else, a training step took up to ten times as long. Must be set before torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
