"""Rules beside the model, in both protocols: which apply, and what becomes of their fixes and hints."""

import json

import pytest
from fakes import FakeChecker

from nmspeller.runtime.findings import Edit, Reason
from nmspeller.runtime.rules import RULES
from nmspeller.runtime.why import why

IDIOM = "😀我很高心，他做事一向按步就班。"
NAMES = "张林说他来。张林先生请坐。\n\n" + "今天天气很好。\n" * 300 + "张琳说他不来。张琳先生请坐。"
ALL_KINDS = "我的的书，他按步就班，，用 Vim 或Python写完,没有错。"


def native(client, text, **more):
    answer = client.post("/v1/check", json={"text": text, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"][0]


def languagetool(client, text, **fields):
    answer = client.post("/v2/check", data={"text": text, "language": "zh-CN", **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()["matches"]


@pytest.mark.parametrize(
    ("settings", "asked", "rules"),
    [
        ({}, {}, [None, "idiom"]),
        ({}, {"rules": None}, [None, "idiom"]),
        ({}, {"rules": True}, [None, "idiom"]),
        ({}, {"rules": ["idiom"]}, [None, "idiom"]),
        ({}, {"rules": ["doubled_word"]}, [None]),
        ({}, {"rules": []}, [None]),
        ({"rules": ("typography",)}, {}, [None]),
        ({"rules": False}, {}, [None]),
        ({"rules": True}, {"rules": False}, [None]),
    ],
)
def test_a_request_chooses_its_rules(make_client, settings, asked, rules):
    found = native(make_client(**settings), IDIOM, **asked)
    assert [edit["rule"] for edit in found["edits"]] == rules
    assert ("按部就班" in found["text"]) == ("idiom" in rules)
    assert {edit["reason"] for edit in found["edits"] if edit["rule"]} <= {"rule"}


@pytest.mark.parametrize("rules", [["grammar"], "idiom", 1, [1], [None], {"idiom": True}])
def test_rules_that_there_are_not_are_an_error(client, rules):
    answer = client.post("/v1/check", json={"text": "好", "rules": rules})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("rules")


def test_what_is_wrong_with_rules_is_said(client):
    def error(rules):
        return client.post("/v1/check", json={"text": "好", "rules": rules}).json()["error"]

    assert error(["idiom", "idom"]).startswith("rules.1: Input should be one of 'spelling', ")
    assert error("idiom") == "rules: Input should be true or false, or a list."
    assert client.post("/v1/check", json={"text": 5}).json()["error"] == (
        "text: Input should be a string, or a list."
    )
    assert client.post("/v1/check", json=[]).json()["error"] == "Input should be an object."


@pytest.mark.parametrize(
    ("fields", "rules"),
    [
        ({}, ["NMSPELLER_IDIOM"]),
        ({"enabledOnly": "true", "enabledRules": "NMSPELLER_IDIOM"}, ["NMSPELLER_IDIOM"]),
        ({"disabledRules": "NMSPELLER_IDIOM"}, ["NMSPELLER_SAME_SOUND"]),
        ({"disabledRules": "NMSPELLER_SAME_SOUND,NMSPELLER_IDIOM"}, []),
    ],
)
def test_an_edit_that_is_not_wanted_hides_no_other(client, fields, rules):
    found = languagetool(client, "他默守成规。", **fields)
    assert [match["rule"]["id"] for match in found] == rules


def test_rules_read_the_whole_text(client):
    found = native(client, NAMES, rules=True)
    assert found["edits"] == []
    assert found["text"] == NAMES
    assert [(hint["offset"], hint["source"], hint["rule"]) for hint in found["hints"]] == [
        (0, "张林", "name_variants"),
        (6, "张林", "name_variants"),
    ]
    assert native(client, NAMES, rules=False)["hints"] == []
    apart = client.post("/v1/check", json={"text": NAMES.split("\n\n"), "rules": True}).json()["results"]
    assert [result["hints"] for result in apart] == [[], []]


def test_the_rules_alone_need_no_engine(make_client):
    checker = FakeChecker()
    client = make_client(checker)
    both = native(client, IDIOM + NAMES, rules=True)
    checker.batches.clear()
    alone = native(client, IDIOM + NAMES, rules=True, model=False)
    assert checker.batches == []
    assert alone["hints"] == both["hints"]
    assert alone["edits"] == [edit for edit in both["edits"] if edit["rule"]]
    assert native(client, IDIOM, model=False, rules=False)["edits"] == []


def test_words_of_the_request_are_left_alone_by_rules(client):
    assert native(client, IDIOM, rules=True, words=["按步就班", "高心"])["edits"] == []
    assert native(client, NAMES, rules=True, words=["张林"])["hints"] == []


def test_a_streamed_answer_has_the_same_rules_and_hints(client):
    text = NAMES + "\n" + (IDIOM + "他说：“好，，好。\n") * 60 + "”"
    rules = [*RULES]
    whole = native(client, text, rules=rules)
    answer = client.post("/v1/check", json={"text": text, "rules": rules, "stream": True})
    *parts, end = map(json.loads, answer.text.splitlines())
    assert len(parts) > 2
    assert end == {"done": True, "edits": len(whole["edits"])}
    for kind in ("edits", "hints"):
        assert whole[kind]
        assert [one for part in parts for one in part[kind]] == whole[kind]


def test_edits_and_hints_are_explained_in_the_language_of_the_request(client):
    labels = {"en": ["similar sound", "rule"], "zh-CN,zh;q=0.9": ["音近", "规则"]}
    for language, (of_the_model, of_a_rule) in labels.items():
        headers = {"Accept-Language": language}
        asked = {"text": IDIOM + NAMES, "rules": True, "explain": True}
        [found] = client.post("/v1/check", json=asked, headers=headers).json()["results"]
        assert [hint["why"] for hint in found["hints"]] == [hint["note"] for hint in found["hints"]]
        assert len(found["hints"]) == 2
        assert all("张琳" in hint["why"] for hint in found["hints"])
        assert [edit["label"] for edit in found["edits"]] == [of_the_model, of_a_rule]
        assert {hint["label"] for hint in found["hints"]} == {of_a_rule}
        assert all(("高兴" in edit["why"]) == (edit["rule"] is None) for edit in found["edits"])
        assert ("sound similar" in found["edits"][0]["why"]) == (language == "en")
    assert not {"label", "why"} & native(client, IDIOM)["edits"][0].keys()


def test_the_rules_are_listed(client):
    listed = client.get("/v1/rules").json()["rules"]
    assert [(rule["id"], rule["on_by_default"]) for rule in listed] == [
        (rule.id, rule.on_by_default) for rule in RULES.values()
    ]
    in_chinese = client.get("/v1/rules", headers={"Accept-Language": "zh"}).json()["rules"]
    for english, chinese in zip(listed, in_chinese, strict=True):
        assert english["id"] == chinese["id"]
        assert english["explanation"] != chinese["explanation"]


def ids(matches):
    return {match["rule"]["id"].removeprefix("NMSPELLER_").lower() for match in matches}


ON = {rule.id for rule in RULES.values() if rule.on_by_default}
FOUND = {"doubled_character", "idiom", "doubled_punctuation", "half_width_punctuation", "mixed_spacing"}


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({}, FOUND & ON),
        ({"disabledRules": "NMSPELLER_IDIOM,OTHER"}, (FOUND & ON) - {"idiom"}),
        ({"enabledRules": "NMSPELLER_MIXED_SPACING"}, (FOUND & ON) | {"mixed_spacing"}),
        (
            {"enabledRules": "NMSPELLER_IDIOM", "disabledRules": "NMSPELLER_IDIOM"},
            FOUND & ON,
        ),
        ({"enabledRules": "NMSPELLER_IDIOM", "enabledOnly": "true"}, {"idiom"}),
        ({"enabledRules": "NMSPELLER_MIXED_SPACING", "enabledOnly": "true"}, {"mixed_spacing"}),
        ({"enabledCategories": "REPETITIONS", "enabledOnly": "true"}, {"doubled_character"}),
        (
            {"enabledCategories": "REPETITIONS", "enabledRules": "NMSPELLER_IDIOM", "enabledOnly": "true"},
            {"doubled_character", "idiom"},
        ),
        ({"enabledCategories": "TYPOGRAPHY", "enabledOnly": "true"}, set()),
        ({"disabledCategories": "TYPOS"}, (FOUND & ON) - {"idiom"}),
        ({"disabledCategories": "TYPOS", "enabledRules": "NMSPELLER_IDIOM"}, FOUND & ON),
        ({"disabledCategories": "TYPOS", "enabledCategories": "TYPOS"}, FOUND & ON),
        ({"disabledCategories": "TYPOS,REPETITIONS,PUNCTUATION"}, set()),
        ({"mode": "textLevelOnly"}, set()),
    ],
)
def test_languagetool_clients_choose_rules_and_categories(client, fields, found):
    assert ids(languagetool(client, ALL_KINDS, **fields)) == found


def test_each_rule_is_one_of_languagetools(client):
    described = {}
    enabled = "NMSPELLER_MIXED_SPACING,NMSPELLER_DOUBLED_PUNCTUATION"
    for match in languagetool(client, ALL_KINDS, enabledRules=enabled) + languagetool(client, NAMES):
        rule = match["rule"]
        described[rule["id"]] = (rule["category"]["id"], rule["issueType"])
        assert rule["description"] == match["shortMessage"] != ""
        assert any("\u4e00" <= character <= "\u9fff" for character in match["message"])
    assert described["NMSPELLER_IDIOM"] == ("TYPOS", "misspelling")
    assert described["NMSPELLER_DOUBLED_CHARACTER"] == ("REPETITIONS", "duplication")
    assert described["NMSPELLER_DOUBLED_PUNCTUATION"] == ("PUNCTUATION", "typographical")
    assert described["NMSPELLER_MIXED_SPACING"] == ("TYPOGRAPHY", "whitespace")
    assert described["NMSPELLER_NAME_VARIANTS"] == ("PROPER_NOUNS", "inconsistency")


def test_what_inserts_or_deletes_is_shown_with_a_character_of_the_text(client):
    text = "😀用 Vim 和Python写我的的书"
    matches = languagetool(client, text, enabledRules="NMSPELLER_MIXED_SPACING")
    assert [match["replacements"][0]["value"] for match in matches] == ["和 ", "n ", "的"]
    units = text.encode("utf-16-le")
    for match in reversed(matches):
        start, stop = 2 * match["offset"], 2 * (match["offset"] + match["length"])
        units = units[:start] + match["replacements"][0]["value"].encode("utf-16-le") + units[stop:]
    assert units.decode("utf-16-le") == "😀用 Vim 和 Python 写我的书"


def test_a_hint_has_no_replacement(client):
    matches = languagetool(client, "😀" + NAMES)
    assert [(match["offset"], match["length"], match["replacements"]) for match in matches] == [
        (2, 2, []),
        (8, 2, []),
    ]
    assert matches[0]["context"]["text"].startswith("😀张林")


def test_a_match_explains_itself_in_chinese(client):
    [match] = languagetool(client, "己是", **{"motherTongue": "en"})
    edit = Edit(0, 1, "己", "已", 0.98, (), Reason.SIMILAR_SHAPE)
    from nmspeller.messages import speaking

    with speaking("zh"):
        assert match["message"] == f"“己”可能应为“已”。{why('己是', edit)}"
