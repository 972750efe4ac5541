"""Language models inside this process (GGUF, llama.cpp)."""
