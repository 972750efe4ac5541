"""The published graph: read, cut into parts, its decoder written anew. Only this needs onnx."""
