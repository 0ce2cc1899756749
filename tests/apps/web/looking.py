"""What a test sees of the page."""

import json


def wait_until_ready(page):
    page.wait_for_function("() => document.documentElement.dataset.theme")


def reload(page):
    page.reload()
    wait_until_ready(page)


def wait_until_checked(page, findings):
    page.wait_for_function(
        "count => document.querySelector('#state').dataset.state === 'done'"
        " && document.querySelectorAll('#underlay mark').length === count",
        arg=findings,
    )


def write(page, text, findings):
    page.fill("#text", text)
    wait_until_checked(page, findings)


def text(page):
    return page.input_value("#text")


def marked(page):
    return page.locator("#underlay mark").all_text_contents()


def answer_with(page, **fields):
    """Give the edits of the server's answers further fields, by the text that they replace."""

    def change(route):
        answer = route.fetch()
        parts = [json.loads(line) for line in answer.text().splitlines()]
        for part in parts[:-1]:
            for edit in part["edits"]:
                edit.update(fields.get(edit["source"], {}))
        route.fulfill(response=answer, body="".join(json.dumps(part) + "\n" for part in parts))

    page.route("**/v1/check", change)
