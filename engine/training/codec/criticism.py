"""A critic beside what it criticises: it learns to tell made from real speech, and says how far
apart they are.
"""

import torch
from torch import Tensor, nn

from engine.training import recipe as recipes
from engine.training.codec.sound_losses import Critic, critic_loss, feature_loss, fooling_loss
from engine.training.loop import ADVERSARIAL_BETAS, BETAS, Moment, descend, in_bf16, optimiser
from engine.training.ranks import Ranks


class Criticism:
    """The critic of a recipe, with the optimisers of both sides."""

    def __init__(self, recipe: recipes.Decoder, making: nn.Module, device: torch.device) -> None:
        self._recipe = recipe
        self.critic = Critic(recipe.critic).to(device)
        betas = ADVERSARIAL_BETAS if recipe.adversary_from < recipe.schedule.steps else BETAS
        self.optimisers = {
            "making": optimiser(making, recipe.schedule, betas=betas),
            "critic": optimiser(
                self.critic, recipe.schedule, betas=betas, scale=recipe.critic_rate
            ),
        }

    def descend(
        self, losses: dict[str, Tensor], pcm: Tensor, output: Tensor, moment: Moment
    ) -> dict[str, float]:
        """One step of what makes the output [B, S] of samples [B, S], and of the critic once it is
        due; the losses to report.
        """
        recipe = self._recipe
        total = torch.stack(list(losses.values())).sum()
        report = {name: float(loss.detach()) for name, loss in losses.items()}
        if moment.step >= recipe.adversary_from:
            windows = slice(recipe.critic_windows)
            report["critic"] = self._teach(pcm[windows], output[windows], moment.ranks)
            total = total + self._criticised(pcm[windows], output[windows])
        descend(total, self.optimisers["making"], recipe.schedule.clip, moment.ranks)
        return report

    def _teach(self, pcm: Tensor, output: Tensor, ranks: Ranks) -> float:
        with in_bf16(pcm.device, asked=self._recipe.schedule.bf16):
            loss = critic_loss(self.critic(pcm), self.critic(output.detach()))
        descend(loss, self.optimisers["critic"], self._recipe.schedule.clip, ranks)
        return float(loss.detach())

    def _criticised(self, pcm: Tensor, output: Tensor) -> Tensor:
        self.critic.requires_grad_(requires_grad=False)
        with in_bf16(pcm.device, asked=self._recipe.schedule.bf16):
            of_made = self.critic(output)
            with torch.no_grad():
                of_real = self.critic(pcm)
            loss = self._recipe.adversary * fooling_loss(of_made)
            loss = loss + self._recipe.features * feature_loss(of_real, of_made)
        self.critic.requires_grad_(requires_grad=True)
        return loss
