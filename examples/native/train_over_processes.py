"""Train over several processes with DistributedDataParallel, and get the numbers of one process.

    torchrun --standalone --nproc-per-node 2 examples/native/train_over_processes.py

The task: number words come letter by letter, and after each letter the model guesses which language they are. Words
have different lengths, so a batch of them is padded; every process gets its share of the rows, and of the lengths with
them. Two things make the numbers those of one process on the whole batch, for any number of processes:

- Where rows cannot be shared out evenly, empty rows (length 0) fill up the last shares. They cost nothing and count
  nothing. A DistributedSampler repeats other rows instead, which then count twice.
- DistributedDataParallel takes the mean of the processes' gradients. Shares hold different numbers of letters, though,
  so the mean of the processes' mean losses is not the mean over all letters: a letter in a share of few would count for
  more. Each process therefore takes the sum over its own letters, times the number of processes, over the number of
  letters in all shares together (`mean_over_all_steps`).
"""

import os

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

import dynrnn

WORDS = {
    "English": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
    "German": "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn",
    "Spanish": "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
    "diecisiete dieciocho diecinueve",
}
LANGUAGES = list(WORDS)
ALPHABET = sorted(set("".join(WORDS.values())) - {" "})


class Guesser(nn.Module):
    """Guesses after every letter: `[batch, time]` letters and `[batch]` lengths to `[batch, time, languages]`."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(ALPHABET), 16)
        self.lstm = dynrnn.LSTM(16, 32, batch_first=True)
        self.guess = nn.Linear(32, len(LANGUAGES))

    def forward(self, letters: Tensor, lengths: Tensor) -> Tensor:
        outputs, _ = self.lstm(self.embedding(letters), lengths=lengths)
        return self.guess(outputs)


def padded(words: list[str]) -> tuple[Tensor, Tensor]:
    """Letters `[words, longest]` and lengths `[words]`; what stands in the padding is never read."""
    lengths = torch.tensor([len(word) for word in words])
    letters = torch.zeros(len(words), int(lengths.max()), dtype=torch.int64)
    for row, word in enumerate(words):
        letters[row, : len(word)] = torch.tensor([ALPHABET.index(letter) for letter in word])
    return letters, lengths


def share(rows: Tensor, rank: int, processes: int) -> Tensor:
    """This process's rows of a tensor, filled up with zeros until all have as many; a length of 0 is an empty row."""
    missing = -len(rows) % processes
    return torch.cat((rows, rows.new_zeros(missing, *rows.shape[1:])))[rank::processes]


def mean_over_all_steps(losses: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Return this process's part of the mean of losses `[batch, time]` over the valid steps of all processes.

    The part is for backward: the mean of the processes' parts, of which DistributedDataParallel takes the gradient, is
    the mean over all steps. Returned beside it: the sum of the losses and the number of steps of all processes.
    """
    valid = torch.arange(losses.shape[1]) < lengths.unsqueeze(1)
    own = losses[valid].sum()
    totals = torch.stack((own.detach(), lengths.sum().to(own.dtype)))
    dist.all_reduce(totals)
    return own * dist.get_world_size() / totals[1], totals


def train(model: nn.Module, epochs: int, batch_size: int = 16) -> list[float]:
    """Train on all words, in batches of rows that all processes draw alike; return the loss of every epoch."""
    rank, processes = dist.get_rank(), dist.get_world_size()
    words = [(word, language) for language in LANGUAGES for word in WORDS[language].split()]
    letters, lengths = padded([word for word, _ in words])
    languages = torch.tensor([LANGUAGES.index(language) for _, language in words])
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    order, history = torch.Generator().manual_seed(0), []
    for _ in range(epochs):
        loss_and_letters = torch.zeros(2, dtype=torch.float64)
        for batch in torch.randperm(len(words), generator=order).split(batch_size):
            own_letters, own_lengths, own_languages = (
                share(values[batch], rank, processes) for values in (letters, lengths, languages)
            )
            guesses = parallel(own_letters, own_lengths)
            targets = own_languages.unsqueeze(1).expand(guesses.shape[:2])
            losses = cross_entropy(guesses.transpose(1, 2), targets, reduction="none")
            own_part, totals = mean_over_all_steps(losses, own_lengths)
            optimizer.zero_grad()
            own_part.backward()
            optimizer.step()
            loss_and_letters += totals
        history.append(float(loss_and_letters[0] / loss_and_letters[1]))
    return history


def main() -> None:
    if "RANK" not in os.environ:
        raise SystemExit(
            "This program is started by torchrun, which comes with torch and tells each process its place:\n"
            "    torchrun --standalone --nproc-per-node 2 examples/native/train_over_processes.py\n"
            "With --nproc-per-node 1 it is one process, and prints the same numbers."
        )
    dist.init_process_group("gloo")
    torch.manual_seed(0)  # DistributedDataParallel gives all processes the weights of the first one anyway
    model = Guesser().double()
    history = train(model, epochs=30)
    if dist.get_rank() == 0:
        for epoch in (1, 10, 20, 30):
            print(f"epoch {epoch:2}, mean loss of a letter: {history[epoch - 1]:.4f}")
        words = ["siebzehn", "sixteen", "siete"]
        for word, guesses in zip(words, model(*padded(words)).argmax(2).tolist(), strict=True):
            firsts = "".join(LANGUAGES[guess][0] for guess in guesses[: len(word)])
            print(f"{word:8} {firsts}", flush=True)
    dist.barrier()  # nobody leaves while another one still works
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
