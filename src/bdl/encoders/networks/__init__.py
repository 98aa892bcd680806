"""The torch modules of the encoders, one file per encoder."""
