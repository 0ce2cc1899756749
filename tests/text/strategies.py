"""Texts to try everything on."""

from hypothesis import strategies as st

# Any code point whatever, lone surrogates among them.
any_text = st.text(st.characters())
# Texts made of the signs that this room cares about, which arbitrary Unicode seldom holds.
busy_text = st.text(
    st.sampled_from(
        "字天氣气发發里后，、：。！？；…”」\"')\n\r\u2028 aZé1２.,-_@＠#$%`~\\()[]{}/:元年℃\ud83d\ude00😀"
    )
)
texts = st.one_of(any_text, busy_text)
