// A run played in the browser: every frame is here, and nothing is asked of the server while it moves.
// Space plays and pauses, the arrow keys step, Home and End go to the ends; a click on a document names it.

const SOURCE = new URL("app/static/plotly.min.js", document.baseURI).href;
const SPEED = 15; // steps a second
const FAR = 1e30; // places beyond this are not drawn

function plotly() {
  window.factscopePlotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = SOURCE;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error("plotly.js could not be loaded"));
    document.head.append(script);
  });
  return window.factscopePlotly;
}

const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

// Where each player stands, by its key: a figure that is made anew after a control has moved shows the same step.
const kept = (window.factscopePlayers ??= {});

function unpacked(array) {
  const bytes = Uint8Array.from(atob(array.data), (letter) => letter.charCodeAt(0));
  return { shape: array.shape, values: new Float32Array(bytes.buffer) };
}

const short = (value) => {
  if (value === null || value === undefined) return "not finite";
  const size = Math.abs(value);
  if (value === 0) return "0";
  return size >= 1e6 || size < 1e-3 ? value.toExponential(4) : value.toPrecision(6);
};

// A move at a place between two frames: what is written into the trace.
function moved(move, array, place) {
  const [frames, points, width] = array.shape;
  const i = Math.min(Math.floor(place), frames - 1);
  const j = Math.min(i + 1, frames - 1);
  const part = place - i;
  const size = points * width;
  const at = (n) => {
    const a = array.values[i * size + n];
    return part === 0 ? a : a + part * (array.values[j * size + n] - a);
  };
  if (move.z) return { z: Array.from({ length: points }, (_, r) => Array.from({ length: width }, (_, c) => at(r * width + c))) };
  const axis = (d) => move.rows.map((row) => {
    if (row < 0) return null;
    const value = at(row * width + d);
    return Math.abs(value) < FAR ? value : null;
  });
  return Object.fromEntries([...move.axes].map((name, d) => [name, axis(d)]));
}

function themed(figure, element) {
  const style = getComputedStyle(element);
  const ink = style.getPropertyValue("--st-text-color").trim() || "#222";
  const ground = style.getPropertyValue("--st-background-color").trim() || "#fff";
  const family = style.getPropertyValue("--st-font").trim();
  figure.layout.font = { ...figure.layout.font, color: ink, ...(family && { family }) };
  for (const trace of figure.data) {
    if (trace.meta === "ink") trace.marker = { ...trace.marker, color: ink, line: { width: 1, color: ground } };
  }
  return figure;
}

const scenes = (layout) => Object.keys(layout).filter((name) => /^scene\d*$/.test(name));

class Player {
  constructor(element) {
    this.element = element;
    this.plot = element.querySelector(".player-plot");
    this.range = element.querySelector("input[type=range]");
    this.speed = element.querySelector("select");
    this.busy = false;
    element.querySelector(".player-bar").addEventListener("click", (event) => {
      const what = event.target.closest("button")?.dataset.do;
      if (what) this.act(what);
    });
    this.range.addEventListener("input", () => { this.pause(); this.go(Number(this.range.value)); });
    this.speed.addEventListener("change", () => (this.state.speed = Number(this.speed.value)));
    // Keys reach the player from anywhere on the page but from fields of their own: a presenter does not hold a mouse.
    this.keys = (event) => {
      const target = event.target;
      const field = target instanceof Element && target.closest("input:not(.player-bar input), textarea, select, [role=slider], [role=combobox], [contenteditable]");
      const button = target instanceof Element && target.closest("button, a, summary");
      const inside = element.contains(target);
      if (field || event.ctrlKey || event.metaKey || event.altKey || (!inside && button)) return;
      const what = { " ": "play", ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" }[event.key];
      if (!what || !element.isConnected || (event.key === " " && inside && button)) return;
      event.preventDefault();
      this.act(what);
    };
  }

  get last() { return this.data.steps.length - 1; }

  show(data, report) {
    this.data = data;
    this.report = report;
    document.addEventListener("keydown", this.keys); // once, however often it is said
    this.arrays = data.arrays.map(unpacked);
    this.state = kept[data.key] ??= { place: data.atEnd ? Infinity : 0, speed: calm() ? 1 : SPEED };
    this.state.place = Math.min(this.state.place, this.last);
    this.element.classList.toggle("large", data.large);
    this.range.max = String(this.last);
    this.speed.value = String(this.state.speed);
    this.readouts();
    this.table();
    const figure = themed(JSON.parse(data.figure), this.element);
    const camera = this.camera;
    if (camera) for (const name of scenes(figure.layout)) figure.layout[name].camera = camera;
    this.write(figure.data, this.state.place);
    this.picture = null;
    return plotly().then((Plotly) => {
      this.Plotly = Plotly;
      return Plotly.react(this.plot, figure.data, figure.layout, { responsive: true, displayModeBar: false });
    }).then(() => {
      if (!this.listening) this.listen();
      this.words();
      this.element.dataset.drawn = String(Number(this.element.dataset.drawn ?? 0) + 1);
    });
  }

  listen() {
    this.listening = true;
    let down = null;
    let hovered = null;
    this.plot.on("plotly_hover", (event) => (hovered = event.points[0].customdata ?? null));
    this.plot.on("plotly_unhover", () => (hovered = null));
    this.plot.addEventListener("pointerdown", (event) => (down = { x: event.clientX, y: event.clientY, point: hovered }), true);
    window.addEventListener("pointerup", (event) => {
      if (down && down.point !== null && Math.hypot(event.clientX - down.x, event.clientY - down.y) <= 4) this.report("point", down.point);
      down = null;
    }, true);
    let turning = false;
    const turn = (change) => {
      const name = Object.keys(change).find((key) => key.endsWith(".camera"));
      if (!name || turning) return;
      this.camera = change[name];
      const others = scenes(this.plot.layout).filter((scene) => `${scene}.camera` !== name);
      turning = true;
      this.Plotly.relayout(this.plot, Object.fromEntries(others.map((scene) => [`${scene}.camera`, this.camera]))).then(() => (turning = false));
    };
    this.plot.on("plotly_relayouting", turn);
    this.plot.on("plotly_relayout", turn);
  }

  act(what) {
    const step = Math.floor(this.state.place + 1e-9);
    if (what === "play") return this.playing ? this.pause() : this.play();
    this.pause();
    if (what === "first") this.go(0);
    if (what === "last") this.go(this.last);
    if (what === "back") this.go(Math.max(this.state.place > step ? step : step - 1, 0));
    if (what === "forward") this.go(Math.min(step + 1, this.last));
  }

  play() {
    if (this.state.place >= this.last) this.state.place = 0;
    this.playing = true;
    this.element.classList.add("playing");
    let before = null;
    const tick = (now) => {
      if (!this.playing || !this.element.isConnected) return;
      const passed = before === null ? 0 : Math.min((now - before) / 1000, 0.25);
      before = now;
      const place = Math.min(this.state.place + passed * this.state.speed, this.last);
      this.go(place).then(() => {
        if (place >= this.last) return this.pause();
        requestAnimationFrame(tick);
      });
    };
    requestAnimationFrame(tick);
  }

  pause() {
    this.playing = false;
    this.element.classList.remove("playing");
    this.state.place = Math.floor(this.state.place + 1e-9);
    this.go(this.state.place);
  }

  // Writes the frame into traces that are not drawn yet.
  write(traces, place) {
    for (const move of this.data.moves) Object.assign(traces[move.trace], moved(move, this.arrays[move.array], place));
  }

  go(place) {
    this.state.place = place;
    this.words();
    if (!this.Plotly || this.busy) { this.waiting = true; return Promise.resolve(); }
    this.busy = true;
    const shown = calm() ? Math.floor(place) : place; // no gliding between steps where motion is not wanted
    const batches = {};
    for (const move of this.data.moves) (batches[move.z ? "z" : move.axes] ??= []).push(move);
    const jobs = Object.entries(batches).map(([kind, moves]) => {
      const changes = moves.map((move) => moved(move, this.arrays[move.array], kind === "z" ? Math.floor(shown) : shown));
      const traces = moves.map((move) => move.trace);
      if (kind === "xy") {
        // Points and lines are moved in place; a redraw of the whole figure would take ten times as long.
        return this.Plotly.animate(this.plot, { data: changes, traces }, { mode: "immediate", transition: { duration: 0 }, frame: { duration: 0, redraw: false } });
      }
      if (kind === "z" && this.picture === Math.floor(shown)) return null;
      if (kind === "z") this.picture = Math.floor(shown);
      const update = Object.fromEntries(Object.keys(changes[0]).map((name) => [name, changes.map((change) => change[name])]));
      return this.Plotly.restyle(this.plot, update, traces);
    });
    return Promise.all(jobs).then(() => {
      this.busy = false;
      this.frames = (this.frames ?? 0) + 1;
      this.element.dataset.frames = String(this.frames);
      if (this.waiting) { this.waiting = false; return this.go(this.state.place); }
    });
  }

  readouts() {
    const box = this.element.querySelector(".player-readouts");
    box.replaceChildren(...this.data.tracks.map((track) => {
      const card = document.createElement("div");
      card.className = "player-track";
      const line = (name, className) => {
        const row = document.createElement("span");
        const label = document.createElement("i");
        label.textContent = label.title = name;
        const value = document.createElement("em");
        if (className) value.className = className;
        row.append(label, value);
        card.append(row);
        return value;
      };
      track.shown = [{ place: line(this.data.curve, "player-objective"), values: track.values }];
      for (const measure of track.measures) if (measure.name !== this.data.curve) track.shown.push({ place: line(measure.name), values: measure.values, few: true });
      for (const note of track.notes) {
        const [name, ...value] = note.split(/(?<= )(?=[\d.]+$)/);
        line(name).textContent = value.join("");
      }
      return card;
    }));
  }

  words() {
    const step = Math.min(Math.floor(this.state.place + 1e-9), this.last);
    this.range.value = String(step);
    this.range.setAttribute("aria-valuetext", `step ${this.data.steps[step]}`);
    this.element.dataset.step = String(this.data.steps[step]);
    this.element.querySelector(".player-step").textContent = `step ${this.data.steps[step]} of ${this.data.steps[this.last]}`;
    for (const track of this.data.tracks) {
      for (const { place, values, few } of track.shown ?? []) {
        const value = values[step];
        const share = this.data.curve !== "objective" && !few;
        place.textContent = value === null ? "not finite" : share ? `${(100 * value).toFixed(1)} %` : few ? (Math.abs(value) >= 1e4 ? value.toExponential(2) : value.toPrecision(3)) : short(value);
        place.dataset.value = String(value);
      }
    }
    this.row(step);
  }

  table() {
    const box = this.element.querySelector(".player-numbers");
    box.replaceChildren();
    const n = this.data.numbers;
    this.cells = null;
    if (!n) return;
    const concepts = n.old[0].length;
    const ratio = Object.keys(n.up).length > 0;
    const formula = document.createElement("div");
    formula.className = "player-formula";
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    const letter = n.block.toLowerCase();
    const th = (row, words) => { const cell = document.createElement("th"); cell.textContent = words; row.append(cell); return cell; };
    th(head, n.row);
    for (let c = 0; c < concepts; c++) th(head, `concept ${c + 1}`);
    const body = table.createTBody();
    this.cells = [];
    const line = (name, values, strong = false) => {
      const row = body.insertRow();
      if (strong) row.className = "strong";
      th(row, name);
      const cells = Array.from({ length: concepts }, () => row.insertCell());
      this.cells.push({ cells, values });
    };
    line(`${letter} before`, (t) => n.old[t], true);
    for (const [name, values] of Object.entries(n.up)) line(`above: ${name}`, (t) => values[t]);
    for (const [name, values] of Object.entries(n.down)) line(`below: ${name}`, (t) => values[t]);
    line(ratio && n.power !== 1 ? `factor (to the power ${n.power})` : "factor", (t) => n.new[t].map((value, c) => (n.old[t][c] ? value / n.old[t][c] : 0)));
    line(`${letter} after the update`, (t) => n.new[t], true);
    line(`${letter} at the end of the step, rescaled`, (t) => n.after[t]);
    box.append(formula, table);
    this.formula = formula;
  }

  row(step) {
    const n = this.data.numbers;
    if (!n || !this.cells) return;
    const t = Math.min(step, n.old.length - 1);
    for (const { cells, values } of this.cells) values(t).forEach((value, c) => (cells[c].textContent = short(value)));
    // The formula with the numbers of the document's largest coordinate.
    const c = n.new[t].indexOf(Math.max(...n.new[t]));
    const say = (words) => { const span = document.createElement("span"); span.textContent = words; return span; };
    const sum = (parts) => Object.values(parts).map((values) => short(values[t][c])).join(" + ");
    const named = (parts) => Object.keys(parts).join(" + ");
    const fraction = (above, below) => {
      const box = document.createElement("span");
      box.className = "player-fraction";
      box.append(say(above), say(below));
      return box;
    };
    const letter = n.block.toLowerCase();
    this.formula.replaceChildren(say(`Step ${t} → ${t + 1}, concept ${c + 1}:`));
    if (Object.keys(n.up).length) {
      const power = n.power === 1 ? [] : [say("to the power"), say(String(n.power))];
      this.formula.append(
        say(`${letter} ∘`), fraction(named(n.up), named(n.down)), ...power, say("="),
        say(`${short(n.old[t][c])} ×`), fraction(sum(n.up), sum(n.down)), ...power.map((node) => node.cloneNode(true)), say("="), say(short(n.new[t][c])),
      );
    } else {
      this.formula.append(say(`${short(n.old[t][c])} becomes ${short(n.new[t][c])}`));
    }
  }
}

export default function ({ data, parentElement, setStateValue }) {
  const element = parentElement.querySelector(".factscope-player");
  element.player ??= new Player(element);
  element.player.show(data, setStateValue);
  return () => document.removeEventListener("keydown", element.player.keys);
}
