"""Where raw files are published, and how they are downloaded.

Nothing is downloaded unless asked for. Licence and citation are those of the data set.
"""

from bdl.datasets.downloads.download import Download, FileProgress
from bdl.datasets.downloads.kaggle_download import Kaggle
from bdl.datasets.downloads.physionet_download import PhysioNet

__all__ = ["Download", "FileProgress", "Kaggle", "PhysioNet"]
