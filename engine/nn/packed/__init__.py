"""Transformer stacks in few bits for the processor, as ONNX Runtime graphs."""
