"""Route each utterance to the replica with the most free slots."""

from ray.serve.request_router import PendingRequest, RequestRouter, RunningReplica


class FreeSlots(RequestRouter):  # type: ignore[misc]  # Ray may not be installed
    """Ray's own router compares two random replicas. With a few slots each, all are compared: Ray
    takes the candidate with the fewest requests, and waits while all are full.
    """

    async def choose_replicas(
        self,
        candidate_replicas: list[RunningReplica],
        pending_request: PendingRequest | None = None,
    ) -> list[list[RunningReplica]]:
        """See RequestRouter."""
        return [candidate_replicas]
