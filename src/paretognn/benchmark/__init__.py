"""Comparisons: a grid of cells (data set x method x training seed), kept in a store, and the tables made from it."""
