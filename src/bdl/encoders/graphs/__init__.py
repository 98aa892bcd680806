"""The package's encoders as ONNX operators; each file is beside the network of the same name."""
