"""The parts that neural models are made of: Llama blocks, sampling, packed 8-bit products, CUDA
graphs."""
