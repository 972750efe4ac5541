"""Which replica an utterance goes to: the one with the most free places."""

from ray.serve.request_router import PendingRequest, RequestRouter, RunningReplica


class FreeSlots(RequestRouter):  # type: ignore[misc]  # Ray may not be installed
    """Ray's own looks at two replicas drawn at random; with a few places each, all are worth a
    look. Of those given, Ray takes the one with the fewest requests, and waits while all are full.
    """

    async def choose_replicas(
        self,
        candidate_replicas: list[RunningReplica],
        pending_request: PendingRequest | None = None,
    ) -> list[list[RunningReplica]]:
        """See RequestRouter."""
        return [candidate_replicas]
