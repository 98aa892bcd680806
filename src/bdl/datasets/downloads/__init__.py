"""Downloads of published raw files from PhysioNet and Kaggle.

Nothing is downloaded without a request of the user.
"""

from bdl.datasets.downloads.download import Download, FileProgress
from bdl.datasets.downloads.kaggle_download import Kaggle
from bdl.datasets.downloads.physionet_download import PhysioNet

__all__ = ["Download", "FileProgress", "Kaggle", "PhysioNet"]
