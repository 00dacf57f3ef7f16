"""Tables larger than memory become a graph on disk (`paretognn.graph.mapped`).

DuckDB reads, joins and sorts, with a bound on its memory and the disk beyond it; what it streams is written in order.
Direction, repeats, self-loops and weights are settled as `paretognn.graph.build` does.
"""

from paretognn.graph.importing.store import import_tables

__all__ = ["import_tables"]
