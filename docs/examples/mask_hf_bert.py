"""N-gram masking in a Hugging Face BERT: one call, then train as always.

Run it: python docs/examples/mask_hf_bert.py. It uses a tiny BERT with random weights, so that nothing is
downloaded; for a real one, write BertForMaskedLM.from_pretrained("bert-base-chinese") and leave out mask_id.
"""

import torch
from transformers import BertConfig, BertForMaskedLM

from nmspeller.lab.models.plugin import mask_bert

CHARACTERS = "我们去外国可以认识很多的人就借少介绍"
TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *CHARACTERS]


def encode(sentences: list[str]) -> dict[str, torch.Tensor]:
    rows = [torch.tensor([2, *(TOKENS.index(character) for character in text), 3]) for text in sentences]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    return {"input_ids": ids, "attention_mask": (ids != 0).long()}


def main() -> None:
    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
    model = BertForMaskedLM(BertConfig(vocab_size=len(TOKENS), **sizes))

    mask_bert(model, ngram="trigram", mask_id=TOKENS.index("[MASK]"))  # the one call

    wrong, right = encode(["我们就可以借少", "很多的人"]), encode(["我们就可以介绍", "很多的人"])
    labels = right["input_ids"].masked_fill(right["attention_mask"] == 0, -100)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model.train()  # the masking layer works in training and is skipped in prediction
    for step in range(61):
        loss = model(**wrong, labels=labels).loss
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        if step % 20 == 0:
            print(f"step {step}: loss {loss.item():.3f}")

    model.eval()
    answer = model(**wrong).logits.argmax(-1)[0, 1:-1]
    print("".join(TOKENS[i] for i in answer))


if __name__ == "__main__":
    main()
