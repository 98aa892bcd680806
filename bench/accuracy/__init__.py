"""Accuracy of the presets beside other detectors, in nested folds of groups.

    python -m bench.accuracy hapt-walking --rows boosting fast best --folds 0 1 --seeds 0
    python -m bench.accuracy.tables > tables.md

Every (data set, row, seed, fold) is one kept file, so that an interrupted run resumes and parts
can be run apart. The test groups of a fold are seen by no choice: a row gets the training
recordings and makes all its choices among them. The second command reads the kept files only.
"""
