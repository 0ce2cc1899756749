"""What the noise model learns from real pairs, and what it believes without any."""

from collections import Counter

import numpy as np
import pytest

from nmspeller.lab.data.noise_fitting import (
    ProfileRecipe,
    Similar,
    Taste,
    count_words,
    error_rates,
    fit,
    words_of_one_sound,
)
from nmspeller.lab.data.pairs import Pair
from nmspeller.text.vocabulary import Vocabulary


def some_similar(random, count=30):
    return [
        Similar(chr(0x4E00 + number), *random.random(2).tolist(), float(10 ** random.uniform(-6, -2)))
        for number in range(count)
    ]


def test_a_taste_is_found_again_in_what_it_wrote():
    random = np.random.default_rng(0)
    true = Taste(frequency=0.3, sound=2.0, shape=8.0)
    similar = {right: some_similar(random) for right in "甲乙丙丁戊己庚辛"}
    errors = {}
    for right, others in similar.items():
        weights = np.array([true(other) for other in others])
        drawn = random.choice(len(others), size=2_000, p=weights / weights.sum())
        errors[right] = Counter(others[number].character for number in drawn)
    found = Taste.fitted(errors, similar)
    assert found.frequency == pytest.approx(true.frequency, abs=0.03)
    assert found.sound == pytest.approx(true.sound, abs=0.3)
    assert found.shape == pytest.approx(true.shape, abs=0.3)


def test_few_errors_hardly_move_a_taste_and_unlike_ones_not_at_all():
    similar = {"甲": some_similar(np.random.default_rng(0))}
    assert Taste.fitted({}, similar) == Taste()
    assert Taste.fitted({"甲": Counter("鑫鑫"), "乙": Counter("一")}, similar) == Taste()
    once = Taste.fitted({"甲": Counter([similar["甲"][0].character])}, similar)
    assert once.sound == pytest.approx(Taste().sound, abs=0.2)


def test_sound_and_shape_multiply():
    taste = Taste()
    alike = ((0, 0), (1, 0), (0, 1), (1, 1))
    nothing, heard, seen, both = (taste(Similar("喜", *each, 1e-4)) for each in alike)
    assert both / nothing == pytest.approx(heard / nothing * seen / nothing)


@pytest.mark.parametrize("power", [-0.7, -0.1])
def test_error_rates_follow_the_power_of_the_pairs(power):
    random = np.random.default_rng(0)
    frequencies = 10 ** random.uniform(-5.9, -2, 3_000)
    seen = random.poisson(frequencies * 1e8)
    true = 1e-4 * frequencies**power
    rates = error_rates(random.poisson(seen * true), seen, frequencies)
    assert np.log(rates / true) == pytest.approx(0, abs=0.15)


def test_without_pairs_rare_characters_are_still_the_ones_that_are_misspelt():
    frequencies = np.array([0.0, 1e-7, 1e-6, 1e-4, 1e-2])
    rates = error_rates(np.zeros(5), np.zeros(5), frequencies)
    assert rates[0] == rates[1] == rates[2] > 3 * rates[3] > 9 * rates[4]


def test_a_profile_misspells_the_rare_character_with_the_one_that_sounds_and_looks_like_it():
    vocabulary = Vocabulary(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"嬉喜西戏他"))
    frequencies = np.array([0, 0, 0, 0, 0, 1e-6, 1e-4, 1e-3, 1e-4, 1e-2])
    similar = {
        "嬉": [Similar("喜", 0.9, 0.8, 1e-4), Similar("西", 1.0, 0.0, 1e-3), Similar("他", 0.0, 0.0, 1e-2)],
        "他": [Similar("西", 0.1, 0.0, 1e-3)],
    }
    recipe = ProfileRecipe("writer", [Pair("他西戏", "他西戏")] * 50, strength=4.0, word_share=0.0)
    noise = fit([recipe], vocabulary, similar, {"西戏": [("喜戏", 1.0)]}, frequencies)
    rare, common = vocabulary.id("嬉"), vocabulary.id("他")
    assert noise.place[0, rare] > 3 * noise.place[0, common] > 0
    assert noise.place[0, vocabulary.id("戏")] == 0
    assert noise.wrong[0, rare, 0] == vocabulary.id("喜")
    assert noise.wrong_cumulative[0, rare, 0] > 0.5


def test_words_that_people_wrote_come_before_those_that_only_sound_alike():
    words = [("知道", 900), ("直到", 300), ("指导", 200), ("执导", 5), ("时间", 100)]
    pairs = [Pair("我不执导。", "我不知道。")] * 20
    counted = count_words(pairs, dict(words))
    assert counted == {"知道": Counter({"执导": 20})}
    table = words_of_one_sound(words, counted)
    assert [word for word, _ in table["知道"]] == ["执导", "直到", "指导"]
    assert next(word for word, _ in table["直到"]) == "知道"
    assert "时间" not in table
