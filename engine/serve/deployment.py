"""The application as a deployment of Ray Serve, which starts, watches and replaces its replicas.

A connection stays with its replica, and so do its utterances. A replica to be removed accepts no
new ones and lives until its own have ended. Each replica has its own engine; the plan and the
voices are shared.
"""

import os
from dataclasses import dataclass, field
from typing import Any, Final

import ray
from ray import serve
from starlette.types import ASGIApp

from engine.runtime.factories import standard_factories
from engine.serve.address import Address
from engine.serve.application import Access, application
from engine.serve.limits import Limits
from engine.serve.service import Service
from engine.serve.voices import Copies, keep
from engine.settings import Settings

NAME: Final = "rubato"
DRAIN_S: Final = 600.0  # for the utterances of a replica to be removed


@dataclass(frozen=True)
class Plan:
    """Configuration of each replica; `gpus` for each, or a fraction of one."""

    settings: Settings
    access: Access
    limits: Limits = field(default_factory=Limits)
    gpus: float = 0.0


# For a cluster on this machine, which no other machine can reach.
_ALONE: Final[dict[str, Any]] = {
    "address": "local",
    "include_dashboard": False,
    "_node_ip_address": "127.0.0.1",
}


class Engine:
    """One replica."""

    # Ray awaits it.
    async def __init__(  # type: ignore[misc]
        self, plan: Plan, voices: Copies
    ) -> None:
        keep(voices)
        self._plan = plan
        self._service = Service(plan.settings, standard_factories(), plan.limits)
        await self._service.start()

    def __serve_build_asgi_app__(self) -> ASGIApp:
        return application(self._service, self._plan.access)

    def __del__(self) -> None:
        self._service.stop()


def deployed(plan: Plan, voices: Copies, replicas: int) -> Any:
    """Return the application that Ray Serve runs."""
    about = serve.deployment(
        name="Engine",
        num_replicas=replicas,
        # a replica itself refuses, with a message
        max_ongoing_requests=plan.limits.slots + plan.limits.queue,
        graceful_shutdown_timeout_s=DRAIN_S,
        ray_actor_options={"num_cpus": 1, "num_gpus": plan.gpus},
    )
    return about(serve.ingress()(Engine)).bind(plan, voices)


def start(plan: Plan, address: Address, voices: Copies, replicas: int) -> None:
    """Start the replicas, on the cluster of RAY_ADDRESS or else on this machine alone; return once
    they are ready. stop() ends them.
    """
    alone = {} if "RAY_ADDRESS" in os.environ else {"num_cpus": replicas, **_ALONE}
    ray.init(log_to_driver=False, **alone)
    serve.start(http_options={"host": address.host, "port": address.port})
    serve.run(deployed(plan, voices, replicas), name=NAME, route_prefix="/")


def stop() -> None:
    """End the replicas, each after its last utterance, and leave the cluster."""
    if ray.is_initialized():  # otherwise Serve would start a cluster to end it
        serve.shutdown()
    ray.shutdown()
