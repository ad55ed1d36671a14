#!/usr/bin/env python3
"""Makes wordnet.txt from a WordNet 3.x dictionary folder.

    make.py /usr/share/wordnet > wordnet.txt

One word a line, sorted by bytes: the word, then fields that a tab precedes. The first letter of a field names it:
  k  kinds of the noun, a letter each (see KINDS), of its commonest senses
  n v a r  synonyms as noun, verb, adjective, adverb
  d  words derived from it or that it derives from
  x  antonyms, of satellite adjectives those of their cluster's head
  h  what the noun is a kind of, nearest first
  g  what the verb is a way of doing
  p  what the adjective or adverb pertains to (french: france)
  i  what the verb entails or causes
Multi-word lemmas are joined with an underscore. Only lemmas that the tagged corpus holds, or that such a lemma
points to, have relations; other nouns have their kind alone.
"""
import collections, os, re, sys

FOLDER = sys.argv[1]
POS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
LEXNAMES = {3: "", 4: "C", 5: "B", 6: "A", 7: "", 8: "", 9: "", 10: "W", 11: "E", 13: "F", 14: "G", 15: "P", 17: "P", 18: "H",
            20: "B", 21: "M", 23: "Q", 27: "S", 28: "T"}
# Letters of kinds: H human, P place, G group, O organisation, T time, Q quantity, A artefact, E event, C act,
# F food, S substance, B beast or plant, W word or work, M money, L language.
ROOTS = {"O": ["organization.1", "institution.1"], "P": ["location.1", "structure.1", "district.1", "country.1", "body_of_water.1"],
         "T": ["time_period.1"], "Q": ["measure.2", "magnitude.1"], "L": ["language.1"], "H": ["person.1"], "F": ["food.1", "food.2"]}
TOO_WIDE = {"entity", "physical_entity", "abstraction", "abstract_entity", "object", "physical_object", "thing", "whole", "unit",
            "psychological_feature", "matter", "artifact", "artefact", "organism", "being", "living_thing", "causal_agent", "cause",
            "causal_agency", "animate_thing", "individual", "person", "organisation", "placental_mammal", "attribute", "relation", "instrumentality", "instrumentation", "group", "grouping", "event", "state",
            "act", "deed", "human_action", "human_activity", "measure", "quantity", "amount", "substance", "communication"}

Synset = collections.namedtuple("Synset", "pos lex words pointers kind")

def read():
    synsets, senses = {}, collections.defaultdict(list)
    for name, pos in POS.items():
        for line in open(os.path.join(FOLDER, "data." + name), encoding="utf8"):
            if line.startswith(" "):
                continue
            f = line.split(" | ")[0].split()
            count = int(f[3], 16)
            words = [re.sub(r"\(\w+\)$", "", w).lower() for w in f[4:4 + 2 * count:2]]
            at = 5 + 2 * count
            pointers = [(f[i], {"s": "a"}.get(f[i + 2], f[i + 2]), f[i + 1], int(f[i + 3][:2], 16), int(f[i + 3][2:], 16))
                        for i in range(at, at + 4 * int(f[4 + 2 * count]), 4)]
            synsets[pos, f[0]] = Synset(pos, int(f[1]), words, pointers, f[2])
        for line in open(os.path.join(FOLDER, "index." + name), encoding="utf8"):
            if not line.startswith(" "):
                f = line.split()
                senses[f[0], pos] = [(pos, o) for o in f[-int(f[2]):]]
    counts = collections.Counter()
    for line in open(os.path.join(FOLDER, "cntlist.rev"), encoding="utf8"):
        key, number, n = line.split()
        lemma, kind = key.split("%")
        counts[lemma, "nvara"[int(kind[0]) - 1], int(number)] = int(n)
    return synsets, senses, counts

synsets, senses, counts = read()

def common(word, pos, most):
    """The commonest senses of a word: those that make up at least an eighth of its uses."""
    all_ = senses.get((word, pos), [])
    total = sum(counts[word, pos, i + 1] for i in range(len(all_)))
    keep = [s for i, s in enumerate(all_[:most]) if i == 0 or counts[word, pos, i + 1] * 8 >= max(total, 1)]
    keep = keep if total else all_[:2]
    names = [s for s in keep if any(p[0] == "@i" for p in synsets[s].pointers)]
    return [s for s in keep if s not in names] or keep if len(senses.get((word, "v"), [])) or len(names) < len(keep) else keep

def above(synset, kinds=("@", "@i")):
    seen, queue = {}, [(synset, 0)]
    while queue:
        s, depth = queue.pop(0)
        for symbol, pos, offset, _, _ in synsets[s].pointers:
            if symbol in kinds and (pos, offset) not in seen:
                seen[pos, offset] = depth + 1
                queue.append(((pos, offset), depth + 1))
    return seen

roots = {}
for letter, names in ROOTS.items():
    for name in names:
        word, number = name.split(".")
        found = senses.get((word, "n"), [])
        if int(number) <= len(found):
            roots[found[int(number) - 1]] = letter

def put(list_, word, own):
    if word != own and word not in list_:
        list_.append(word)

def kinds_of(word):
    letters = set()
    for s in common(word, "n", 3):
        letters.update(LEXNAMES.get(synsets[s].lex, ""))
        letters.update(roots[a] for a in list(above(s)) + [s] if a in roots)
    return "".join(sorted(letters))

entries = collections.defaultdict(lambda: collections.defaultdict(list))
spoken = {w for (w, _, _), n in counts.items() if n > 0}
plain = re.compile(r"^[a-z][a-z'\-]*(_[a-z]+)?$")
for (word, pos) in sorted(senses):
    if not plain.match(word) or len(word) > 24:
        continue
    entry = entries[word]
    if pos == "n":
        entry["k"] = [kinds_of(word)] if kinds_of(word) and ("_" not in word or word in spoken) else []
    if word not in spoken:
        if "_" in word:
            continue
        wanted = senses[word, pos][:1]
        if set(entry["k"]) <= {"B", "S", ""} and pos == "n":
            continue
    else:
        wanted = common(word, pos, 4)
    for s in wanted:
        syn = synsets[s]
        for w in syn.words:
            if plain.match(w):
                put(entry[pos], w, word)
        cluster = []
        for symbol, p, offset, source, target in syn.pointers:
            other = synsets.get((p, offset))
            if other is None:
                continue
            mine = source == 0 or syn.words[source - 1] == word
            theirs = other.words if target == 0 else [other.words[target - 1]]
            if symbol == "+" and mine:
                for w in theirs: put(entry["d"], w, word)
            elif symbol == "!" and mine:
                for w in theirs: put(entry["x"], w, word)
            elif symbol == "\\" and mine:
                for w in theirs: put(entry["p" if pos == "a" else "d"], w, word)
            elif symbol == "&" and syn.kind == "s":
                cluster.append((p, offset))
            elif symbol in ("*", ">") and pos == "v":
                for w in theirs[:2]: put(entry["i"], w, word)
            elif symbol == "@" and pos == "v":
                for w in theirs[:3]: put(entry["g"], w, word)
        for head in cluster:
            for symbol, p, offset, source, target in synsets[head].pointers:
                if symbol == "!" and (p, offset) in synsets:
                    other = synsets[p, offset]
                    for w in ([other.words[target - 1]] if target else other.words[:1]): put(entry["x"], w, word)
        if pos == "n" and s in wanted[:2]:
            for a, depth in sorted(above(s).items(), key=lambda x: x[1]):
                if depth <= 5 and len(entry["h"]) < 9:
                    for w in synsets[a].words[:2]:
                        if w not in TOO_WIDE and plain.match(w): put(entry["h"], w, word)

out = []
for word in sorted(entries, key=lambda w: w.encode()):
    e = entries[word]
    if not any(e.values()):
        continue
    if word not in spoken:
        # A rare word keeps its kind and its nearest ties only.
        for c in "nvarxgi":
            e[c] = e[c][:2] if c in "va" else []
        e["h"] = e["h"][:1]
        e["d"] = e["d"][:3]
        if set("".join(e["k"])) <= set("BS") and not (e["v"] or e["d"] or e["p"] or e["a"]):
            continue
    limits = {"d": 8, "n": 7, "v": 10, "a": 6, "r": 5, "x": 6, "h": 7, "g": 4, "p": 4, "i": 4, "k": 1}
    fields = [c + ",".join(e[c][:limits[c]]) for c in "knvardxhgpi" if e[c]]
    out.append("\t".join([word] + fields))
sys.stdout.write("\n".join(out) + "\n")
