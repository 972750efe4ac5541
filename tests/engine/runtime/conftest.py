from tests.own_data import own_data

__all__ = ["own_data"]
