"""Accuracy of the presets beside other detectors, in nested folds of groups.

    python -m bench.accuracy hapt-walking --rows boosting fast best --folds 0 1 --seeds 0
    python -m bench.accuracy.tables > tables.md

Every (data set, row, seed, fold) is one kept file, so that an interrupted run resumes and parts
can be run separately. No choice uses the test groups of a fold: a row gets the training recordings
and makes all its choices on them. The second command reads the kept files only.
"""
