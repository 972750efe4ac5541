"""The published graph of Kokoro: reading it, cutting it into parts, and writing its decoder anew.
Only this folder needs the package onnx.
"""
