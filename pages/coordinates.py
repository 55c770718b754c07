"""Coordinates: the affinity of the documents, and what eigenvectors, HHt and PSPt make of it, in three dimensions under one camera."""

import streamlit as st

from fact_core.algorithms import algorithms
from fact_core.presets import PRESETS
from fact_core.projection import Projection
from ui import figures, links, runs
from ui.corpus import corpus_in_sidebar
from ui.documents import document_card
from ui.names import long_names

FIGURE = "The NMF-PSPt figure: eigenvectors, HHt, PSPt"
VIEWS = {Projection.CONCEPTS: "three concepts", Projection.PCA: "principal components", Projection.UMAP: "UMAP"}

corpus = corpus_in_sidebar(key="figure.corpus", default="three-topics")
with st.sidebar:
    names = {"figure": FIGURE} | {key: method.title for key, method in algorithms().items()}
    names |= {name: name for name, preset in PRESETS.items() if preset.options}
    what = links.choice("Show", names, "figure", "figure.show")
    most = min(30, len(corpus))
    k = links.slider("k, clusters", 2, most, min(max(2, len(corpus.label_names) or 3), most), f"figure.k.{corpus.fingerprint[:8]}")
    ncw = what == "figure" and links.switch("Normalised cut (NC forms)", "figure.ncw")
    eta = None
    if what in ("figure", "pspt", "NC-PSPt"):
        eta = links.slider("η, share of the fit; the rest goes to orthogonality", 0.0, 1.0, 0.8, "figure.eta", step=0.05)
    seed = links.number("Seed", 0, 2**31 - 1, 0, "figure.seed") or 0

common: dict = {"n_clusters": k, "seed": seed}
if what == "figure":
    common |= {"weighting": "ncw" if ncw else "none"}
    forms: list[tuple[str, dict]] = [("spectral", {}), ("hht", {"restarts": 4}), ("pspt", {"restarts": 4, "eta": eta})]
    tasks = [runs.Task(corpus, key, common | more) for key, more in forms]
    titles = ["NC: eigenvectors", "NC-HHt", "NC-PSPt"] if ncw else ["AA: eigenvectors", "AA-HHt", "AA-PSPt"]
else:
    tasks = [runs.Task(corpus, what, common | ({"eta": eta} if eta is not None else {}))]
    titles = [names[what]]
results = runs.obtain_or_stop("coordinates", tasks)

axes, colour, which = st.columns([2, 2, 3])
views = list(VIEWS) if k > 3 else [Projection.CONCEPTS, Projection.PCA]
view = axes.selectbox("Axes", views, format_func=VIEWS.__getitem__, key="figure.axes", index=0 if k <= 3 else 1)
ways = ["class", "cluster", "concept weight"] if corpus.labels is not None else ["cluster", "concept weight"]
by = colour.selectbox("Colour by", ways, key="figure.colour")
if view is Projection.CONCEPTS:
    chosen = which.multiselect(
        "Concepts on the axes",
        range(k),
        list(range(min(3, k))),
        max_selections=3,
        format_func=lambda c: f"{c + 1}",
        key=f"figure.concepts.{k}",
    )
    if len(chosen) < 2:
        st.info("Choose two or three concepts.")
        st.stop()
    dimensions = len(chosen)
else:
    dimensions = which.segmented_control("Dimensions", [2, 3], default=3, required=True, key="figure.dimensions")
concept = 0
if by == "concept weight":
    concept = st.segmented_control("Concept", range(k), default=0, required=True, format_func=lambda c: f"{c + 1}", key=f"figure.weigh.{k}")


scored = [f"{t}, accuracy {r.scores['accuracy']:.3f}" if r.scores else t for t, r in zip(titles, results, strict=True)]
seen: dict = {"projection": view.value, "dimensions": dimensions, "colour": by, "concept": concept + 1, "titles": scored}
seen |= {"names": long_names(results[0])} if len(results) == 1 else {}
seen |= {"concepts": [c + 1 for c in chosen]} if view is Projection.CONCEPTS else {}
clicked = figures.show_points(figures.of_runs("coordinates", tasks, results, titles, **seen), "figure-points")
st.caption("Drag to turn all panels together, scroll to zoom, click a point to read the document.")
if clicked is not None and clicked < len(corpus):
    document_card(corpus, clicked, results[-1])

st.markdown(f"**Affinity of the documents, ordered by {'class' if corpus.labels is not None else 'cluster'}**")
figures.show(figures.of_runs("affinity", tasks[-1:], results[-1:]), "affinity")
