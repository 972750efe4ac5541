"""The parts that neural models are made of: Llama blocks, sampling, packed low-bit products, CUDA
graphs."""
