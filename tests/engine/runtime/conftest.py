from tests.help.machine.own_data import own_data

__all__ = ["own_data"]
