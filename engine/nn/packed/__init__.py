"""Transformer stacks with low-bit weights for the CPU, as ONNX Runtime graphs."""
