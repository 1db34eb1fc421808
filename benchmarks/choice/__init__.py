"""`python -m benchmarks.choice`: how well variants are pruned, predicted and chosen, and what choosing costs.

Parts run one after the other (`--only pruning,kernel_tuner`), each case of a part gives one row, and a row is written
to the JSON file as soon as it is there: a second run with the same file measures only what is missing.
"""
