"""The four programs of the tour: plain loops on real or realistic data, one program in each file."""

from . import bilateral, clustering, cooccurrence, pagerank

PROBLEMS = (bilateral.PROBLEM, clustering.PROBLEM, pagerank.PROBLEM, cooccurrence.PROBLEM)
