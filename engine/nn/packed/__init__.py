"""Transformer stacks with 8-bit weights for the CPU, as ONNX Runtime graphs."""
