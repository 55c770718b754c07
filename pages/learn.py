"""Learn: lessons beside live figures, runs to step through, and a card for every method."""

import streamlit as st

from fact_core.algorithms import algorithms
from fact_core.lessons import read_lessons
from ui import links
from ui.corpus import corpus_in_sidebar
from ui.lessons import PRESENT, PRESENTER, cost_table, show_card, show_lesson, slips_table, step_through
from ui.words import plain

TABS = {"lessons": "Lessons", "steps": "Step through", "methods": "Methods"}

head = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
with head:
    tab = links.option("What to see", TABS, "lessons", "learn", label_visibility="collapsed")
    if tab == "lessons":
        shelf = read_lessons()
        if shelf.lessons:
            numbers = {lesson.name: f"{place}. {lesson.title}" for place, lesson in enumerate(shelf.lessons, start=1)}
            name = links.choice("Lesson", numbers, shelf.lessons[0].name, "lesson", label_visibility="collapsed", width=420)
    large = links.switch("Presenter layout", PRESENT, help="Large type and no sidebar. The link keeps it.")
if large:
    st.html(PRESENTER)

if tab == "lessons":
    for problem in shelf.problems:
        st.warning(f"A lesson could not be read. {plain(problem)}")
    if shelf.lessons:
        show_lesson(next(lesson for lesson in shelf.lessons if lesson.name == name), large)
    else:
        st.info("There is no lesson to show.")
elif tab == "steps":
    step_through(large)
else:
    corpus = corpus_in_sidebar()
    with st.sidebar:
        names = {key: method.title for key, method in algorithms().items()} | {
            "slips": "All slips of the papers",
            "work": "Work of one step, compared",
        }
        most = max(1, min(60, len(corpus)))
        k = links.slider("k, concepts", 1, most, min(len(corpus.label_names) or 5, most), f"k.{corpus.fingerprint[:8]}") if most > 1 else 1
    chosen = links.choice("Method", names, "lccf", "card", width=420)
    if chosen == "slips":
        slips_table()
    elif chosen == "work":
        cost_table(corpus, k)
    else:
        show_card(algorithms()[chosen], corpus, k)
