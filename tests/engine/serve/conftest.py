"""What needs the extra 'serve' is tested where that is installed."""

from engine.errors import ModelError
from engine.serve.server import check_installed

try:
    check_installed()
except ModelError:
    collect_ignore_glob = ["test_*.py", "*/test_*.py", "*/*/test_*.py"]
else:
    from tests.engine.serve.served import house, question  # noqa: F401 - fixtures
