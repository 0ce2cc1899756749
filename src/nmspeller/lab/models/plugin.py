"""N-gram masking for any Hugging Face BERT: one call adds the layer and changes nothing else."""

import inspect
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from nmspeller.errors import InputError
from nmspeller.lab.models import names
from nmspeller.lab.models.batch import Batch, PackedBatch
from nmspeller.lab.models.config import EncoderConfig, MaskingConfig
from nmspeller.lab.models.encoder import initialise
from nmspeller.lab.models.masking import NGramMasking

Model = TypeVar("Model", bound=nn.Module)


def mask_bert(
    model: Model,
    ngram: str = "trigram",
    *,
    mask_id: int = 103,
    offsets: tuple[int, ...] = (),
    active: str = "training",
    init: str = "from_layer0",
) -> Model:
    """Put an n-gram masking layer between the embeddings and the encoder of a transformers BERT, in place.

    model: a BertModel, or any model with one as `.bert` (BertForMaskedLM, BertForTokenClassification, …).
    Its inputs must be `[CLS] characters [SEP]`, padded on the right, with an attention mask where there is
    padding.
    mask_id: the id of [MASK] in the model's vocabulary.
    ngram, offsets, active, init: as in `MaskingConfig`.

    The layer is a submodule, `ngram_masking`: it trains, moves and is saved with the model.

    Raises:
        InputError: not such a model, or it has a masking layer already.
    """
    bert: Any = getattr(model, "bert", model)
    if not all(hasattr(bert, part) for part in ("embeddings", "encoder", "config")):
        raise InputError(
            f"{type(model).__name__} is not a BERT of transformers; give a BertModel or one with it."
        )
    if hasattr(bert, "ngram_masking"):
        raise InputError("this BERT has an n-gram masking layer already.")
    encoder = names.config_from_hugging_face(bert.config.to_dict(), mask_id)
    weight = bert.embeddings.word_embeddings.weight
    masking = NGramMasking(encoder, MaskingConfig(ngram=ngram, offsets=offsets, active=active, init=init))
    masking.apply(initialise)
    masking.start(_first_layer(bert, encoder), bert.embeddings.LayerNorm)
    bert.ngram_masking = masking.to(weight.device, weight.dtype).train(bert.training)
    _Hooks(bert, mask_id)
    return model


class _Hooks:
    """Notes the attention mask of each call, and passes the embeddings' output through the masking layer."""

    def __init__(self, bert: Any, mask_id: int) -> None:
        self.bert = bert
        self.mask_id = mask_id
        self.signature = inspect.signature(bert.forward)
        self.padding: Tensor | None = None
        self.given: dict[str, Any] = {}
        self.embedding_query = False
        bert.register_forward_pre_hook(self._note_call, with_kwargs=True)
        bert.embeddings.register_forward_hook(self._after_embeddings, with_kwargs=True)

    def _note_call(self, module: nn.Module, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
        self.padding = self.signature.bind(*arguments, **options).arguments.get("attention_mask")

    def _after_embeddings(
        self, module: nn.Module, arguments: tuple[Any, ...], options: dict[str, Any], embedded: Tensor
    ) -> Tensor:
        if self.embedding_query:  # our own call, for the query
            return embedded
        self.given = options
        real = None if self.padding is None else self.padding.bool()
        ids = torch.full(embedded.shape[:2], self.mask_id, device=embedded.device)
        masked: Tensor = self.bert.ngram_masking(embedded, Batch(ids, mask=real), self)
        return masked

    def of_mask(self, batch: Batch | PackedBatch) -> Tensor:
        """The embeddings of [MASK] everywhere, with the positions and types that the model was given."""
        given = {name: self.given.get(name) for name in ("token_type_ids", "position_ids")}
        self.embedding_query = True
        try:
            query: Tensor = self.bert.embeddings(input_ids=batch.ids, **given)
        finally:
            self.embedding_query = False
        return query


def _first_layer(bert: Any, encoder: EncoderConfig) -> dict[str, Tensor]:
    """The weights of the BERT's first layer under our names."""
    tensors = names.from_hugging_face(bert.state_dict(), encoder.layers, torch.cat)
    prefix = f"{names.SEMANTIC}layers.0."
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
