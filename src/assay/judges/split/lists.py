"""Lists whose members are claims: coordinated gerund subjects, answers after a colon."""

from __future__ import annotations

from assay.judges.split.tokens import Token

Part = tuple[str, int, int]
_SINGULAR = {"are": "is", "were": "was", "have": "has"}


def listed(text: str, toks: list[Token]) -> list[Part]:
    """The members, each with the words that the list shares, as (text, start, end); or none."""
    return _gerunds(text, toks) or _answers(text, toks)


def _gerunds(text: str, toks: list[Token]) -> list[Part]:
    """ "Doing A, doing B, and doing C helps": one claim each."""
    if toks[0].low[-3:] != "ing" or len(toks[0].low) < 6:
        return []
    verb = next((i for i, tok in enumerate(toks) if tok.tag in "AVZ;:SWR" and i), None)
    if verb is None or toks[verb].tag not in "AZ":
        return []
    starts = [0]
    for i in range(1, verb):
        joint = toks[i - 1].tag == "," or toks[i - 1].low == "and"
        if joint and toks[i].tag == "G" and i - starts[-1] > 1:
            starts.append(i)
    if len(starts) < 2 or not any(t.low == "and" for t in toks[starts[-1] - 1 : starts[-1]]):
        return []
    rest = text[toks[verb].end : toks[-1].end].strip()
    shared = f"{_SINGULAR.get(toks[verb].low, toks[verb].text)} {rest}"
    out = []
    for a, b in zip(starts, [*starts[1:], verb], strict=True):
        end = b
        while toks[end - 1].tag == "," or (b != verb and toks[end - 1].low == "and"):
            end -= 1
        if end - a < 2:
            return []
        piece = text[toks[a].start : toks[end - 1].end]
        out.append((f"{piece} {shared}", toks[a].start, toks[end - 1].end))
    return out


def _answers(text: str, toks: list[Token]) -> list[Part]:
    """ "The answers are: X; Y": the words before the colon with each answer."""
    colon = next((i for i, tok in enumerate(toks) if tok.tag == ":"), None)
    if (
        colon is None
        or colon < 2
        or toks[colon - 1].low
        not in ("is", "are", "was", "were", "include", "includes", "included", "answers", "answer")
    ):
        return []
    lead = text[toks[0].start : toks[colon].end]
    members: list[list[Token]] = [[]]
    for tok in toks[colon + 1 :]:
        if tok.tag == ";":
            members.append([])
        else:
            members[-1].append(tok)
    members = [m[1:] if m and m[0].low == "and" else m for m in members]
    members = [m for m in members if m]
    if len(members) < 2:
        return []
    return [(f"{lead} {text[m[0].start : m[-1].end]}", m[0].start, m[-1].end) for m in members]
