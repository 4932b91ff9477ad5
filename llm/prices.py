"""What tokens cost, from a file of prices in LiteLLM's shape (`model_prices_and_context_window.json`)."""

from pathlib import Path

from reelbench.registry.errors import InputError
from reelbench.registry.files import read_json
from reelbench.registry.values import is_number, is_object

_FIELDS = {
    "input_cost_per_token": "usd_per_million_prompt",
    "output_cost_per_token": "usd_per_million_completion",
    "cache_read_input_token_cost": "usd_per_million_cached",
    "output_cost_per_reasoning_token": "usd_per_million_reasoning",
}
"""LiteLLM's name, in dollars per token -> ours, in dollars per million tokens (`AskOptions`)."""

_NEEDED = ("input_cost_per_token", "output_cost_per_token")


def model_prices(path: Path, model: str, *, batch: bool = False) -> dict[str, float]:
    """Return a model's prices, as `AskOptions` names them.

    Args:
        path: One JSON object: model -> its prices.
        model: Under its own name, or under one provider's (`openai/MODEL`).
        batch: Take the prices of a batch (`…_batches`) where the file has them.

    Raises:
        InputError: The file can't be read, or has no price for the model.
    """
    models = read_json(path)
    if not is_object(models):
        raise InputError(f"{path}: not one JSON object, model -> prices")
    names = [model] if model in models else [name for name in models if name.endswith(f"/{model}")]
    if len(names) != 1:
        why = f"has several: {', '.join(sorted(names)[:4])}" if names else "has none"
        raise InputError(f"{path}: no one price for {model!r} (it {why}); add it, or give the price itself")
    entry = models[names[0]]
    prices: dict[str, float] = {}
    for theirs, ours in _FIELDS.items():
        price = entry.get(theirs) if is_object(entry) else None
        if batch and is_object(entry):
            price = entry.get(f"{theirs}_batches", price)
        if price is None and theirs not in _NEEDED:
            continue
        if not is_number(price) or not 0 <= price < 1:
            raise InputError(f"{path}, {names[0]}: {theirs} is {price!r}, not dollars per token")
        prices[ours] = price * 1e6
    return prices
