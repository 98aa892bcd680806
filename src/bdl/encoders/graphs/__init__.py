"""The package's encoders as ONNX operators; a file has the name of the file of its network."""
