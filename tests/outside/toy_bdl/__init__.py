"""A package outside of bdl that holds one variant of each family, each in one file.

Its entry points are all that bdl knows of it; they are in ``toy_bdl-1.0.dist-info``.
"""
