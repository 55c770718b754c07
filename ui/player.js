// A run played in the browser: every frame is here, and nothing is asked of the server while it moves.
// Space plays and pauses, the arrow keys step, Home and End go to the ends; a click on a document names it.

const SOURCE = new URL("app/static/plotly.min.js", document.baseURI).href;
const SPEED = 15; // steps a second
const CAMERA = { around: Math.PI / 4, above: 0.45 }; // radians
const REST = 160; // milliseconds without movement after which the figure itself is brought to the frame
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
  const values = array.whole ? Float32Array.from(new Int8Array(bytes.buffer), (n) => (n === -128 ? NaN : n / 127)) : new Float32Array(bytes.buffer);
  return { shape: array.shape, values };
}

const short = (value) => {
  if (value === null || value === undefined) return "not finite";
  const size = Math.abs(value);
  if (value === 0) return "0";
  return size >= 1e6 || size < 1e-3 ? value.toExponential(4) : value.toPrecision(6);
};

// A move at a place between two frames: what is written into the trace. Three coordinates are seen from where the camera is, without perspective.
function moved(move, array, place, camera) {
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
  if (move.axes === "xy") return { x: axis(0), y: axis(1) };
  const [x, y, z] = [axis(0), axis(1), axis(2)];
  const [sin, cos, up, away] = [Math.sin(camera.around), Math.cos(camera.around), Math.cos(camera.above), Math.sin(camera.above)];
  return {
    x: x.map((_, i) => (x[i] === null ? null : cos * y[i] - sin * x[i])),
    y: x.map((_, i) => (x[i] === null ? null : up * z[i] - away * (cos * x[i] + sin * y[i]))),
  };
}

function themed(figure, element) {
  const style = getComputedStyle(element);
  const ink = style.getPropertyValue("--st-text-color").trim() || "#222";
  const ground = style.getPropertyValue("--st-background-color").trim() || "#fff";
  const family = style.getPropertyValue("--st-font").trim();
  figure.layout.font = { ...figure.layout.font, color: ink, ...(family && { family }) };
  for (const trace of figure.data) {
    if (trace.meta !== "ink") continue;
    if (trace.mode === "text") trace.textfont = { color: ink, size: figure.layout.font.size, family };
    else trace.marker = { ...trace.marker, color: ink, line: { width: 1, color: ground } };
  }
  return figure;
}

// A trace of points or lines in the plane, painted where plotly would draw it.
function flat(pen, plot, trace, where) {
  const layout = plot._fullLayout;
  const x = layout[`xaxis${(trace.xaxis ?? "x").slice(1)}`];
  const y = layout[`yaxis${(trace.yaxis ?? "y").slice(1)}`];
  pen.save();
  if (trace.cliponaxis !== false) {
    pen.beginPath();
    pen.rect(x._offset, y._offset, x._length, y._length);
    pen.clip();
  }
  const xs = [...where.x].map((value) => (value === null || Number.isNaN(value) ? NaN : x._offset + x.d2p(value)));
  const ys = [...where.y].map((value) => (value === null || Number.isNaN(value) ? NaN : y._offset + y.d2p(value)));
  painted(pen, trace, xs, ys);
  pen.restore();
}

function painted(pen, trace, xs, ys) {
  const { marker = {}, line = {} } = trace;
  if (trace.mode === "lines") {
    pen.strokeStyle = line.color;
    pen.lineWidth = line.width ?? 2;
    pen.setLineDash(line.dash === "dot" ? [2, 3] : []);
    pen.beginPath();
    xs.forEach((x, i) => {
      if (Number.isNaN(x) || Number.isNaN(ys[i])) return;
      if (i && !Number.isNaN(xs[i - 1])) pen.lineTo(x, ys[i]);
      else pen.moveTo(x, ys[i]);
    });
    pen.stroke();
    return;
  }
  if (trace.mode === "text") {
    pen.fillStyle = trace.textfont.color;
    pen.font = `${trace.textfont.size ?? 12}px ${trace.textfont.family ?? "sans-serif"}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    xs.forEach((x, i) => pen.fillText(trace.text[i], x, ys[i]));
    return;
  }
  const r = (marker.size ?? 6) / 2;
  const open = marker.symbol === "circle-open";
  pen.globalAlpha = marker.opacity ?? 1;
  pen.fillStyle = marker.color;
  pen.strokeStyle = marker.line?.color ?? marker.color;
  pen.lineWidth = open ? Math.max(marker.line?.width ?? 1, 1) : (marker.line?.width ?? 0);
  xs.forEach((x, i) => {
    if (Number.isNaN(x) || Number.isNaN(ys[i])) return;
    pen.beginPath();
    if (marker.symbol === "diamond") {
      const d = 1.3 * r;
      pen.moveTo(x, ys[i] - d);
      pen.lineTo(x + d, ys[i]);
      pen.lineTo(x, ys[i] + d);
      pen.lineTo(x - d, ys[i]);
      pen.closePath();
    } else pen.arc(x, ys[i], r, 0, 2 * Math.PI);
    if (!open) pen.fill();
    if (pen.lineWidth) pen.stroke();
  });
}

class Player {
  constructor(element) {
    this.element = element;
    this.plot = element.querySelector(".player-plot");
    this.canvas = element.querySelector("canvas");
    this.range = element.querySelector("input[type=range]");
    this.speed = element.querySelector("select");
    this.busy = false;
    element.querySelector(".player-bar").addEventListener("click", (event) => {
      const what = event.target.closest("button")?.dataset.do;
      if (what) this.act(what);
    });
    this.range.addEventListener("input", () => {
      const to = Number(this.range.value); // before the pause moves the handle back
      this.pause();
      this.go(to);
    });
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
    this.state = kept[data.key] ??= { place: data.atEnd ? Infinity : 0, speed: calm() ? 1 : SPEED, camera: { ...CAMERA } };
    this.state.place = Math.min(this.state.place, this.last);
    this.element.classList.toggle("large", data.large);
    this.range.max = String(this.last);
    this.speed.value = String(this.state.speed);
    this.readouts();
    this.table();
    const figure = themed(JSON.parse(data.figure), this.element);
    this.write(figure.data, this.state.place);
    this.pictured = null;
    return plotly().then((Plotly) => {
      this.Plotly = Plotly;
      return Plotly.react(this.plot, figure.data, figure.layout, { responsive: true, displayModeBar: false });
    }).then(() => {
      if (!this.listening) this.listen();
      this.element.classList.remove("live");
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
    if (!this.data.moves.some((move) => move.axes === "xyz")) return;
    let held = null;
    this.plot.style.cursor = "grab";
    this.plot.addEventListener("pointerdown", (event) => (held = { x: event.clientX, y: event.clientY, ...this.state.camera }), true);
    window.addEventListener("pointermove", (event) => {
      if (!held || !this.element.isConnected) return;
      this.state.camera.around = held.around - (event.clientX - held.x) / 150;
      this.state.camera.above = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, held.above + (event.clientY - held.y) / 150));
      this.turned = (this.turned ?? 0) + 1;
      this.go(this.state.place);
    });
    window.addEventListener("pointerup", () => (held = null), true);
  }

  act(what) {
    const step = Math.floor(this.state.place + 1e-9);
    if (what === "play") return this.playing ? this.pause() : this.play();
    this.pause();
    if (what === "save") return this.save(step);
    if (what === "first") this.go(0);
    if (what === "last") this.go(this.last);
    if (what === "back") this.go(Math.max(this.state.place > step ? step : step - 1, 0));
    if (what === "forward") this.go(Math.min(step + 1, this.last));
  }

  play() {
    if (this.state.place >= this.last) this.state.place = 0;
    this.playing = true;
    clearTimeout(this.rest);
    this.element.classList.add("playing");
    let before = null;
    const tick = (now) => {
      if (!this.playing || !this.element.isConnected) return;
      const passed = before === null ? 0 : Math.min((now - before) / 1000, 0.25);
      before = now;
      this.go(Math.min(this.state.place + passed * this.state.speed, this.last));
      if (this.state.place >= this.last) this.pause();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    this.playing = false;
    this.element.classList.remove("playing");
    this.go(Math.floor(this.state.place + 1e-9));
  }

  at(move, place) {
    return moved(move, this.arrays[move.array], place, this.state.camera);
  }

  // The figure of this step as an SVG file.
  save(step) {
    if (this.element.classList.contains("live")) return setTimeout(() => this.save(step), REST);
    return this.Plotly.downloadImage(this.plot, { format: "svg", filename: `${this.data.key} - step ${this.data.steps[step]}` });
  }

  // Writes the frame into traces that are not drawn yet.
  write(traces, place) {
    for (const move of this.data.moves) Object.assign(traces[move.trace], this.at(move, place));
  }

  // Shows a frame. While frames follow one another the points are painted on a canvas over the figure, at once; plotly takes a tenth of a
  // second for it. When nothing has moved for a moment the figure itself is brought to that frame, so that points can be hovered and clicked.
  go(place) {
    this.state.place = place;
    this.words();
    if (!this.Plotly) return;
    this.live();
    this.paint();
    clearTimeout(this.rest);
    if (!this.playing) this.rest = setTimeout(() => this.commit(), REST);
  }

  live() {
    if (this.element.classList.contains("live")) return;
    this.element.classList.add("live");
    this.fits();
  }

  commit() {
    if (this.busy || this.playing || !this.element.isConnected) return;
    this.busy = true;
    const place = this.state.place;
    const turned = this.turned;
    const moves = this.data.moves.filter((move) => !move.z);
    const changes = moves.map((move) => this.at(move, place));
    const update = { x: changes.map((change) => change.x), y: changes.map((change) => change.y) };
    this.Plotly.restyle(this.plot, update, moves.map((move) => move.trace)).then(() => {
      this.busy = false;
      if (this.state.place !== place || this.turned !== turned || this.playing) return this.playing || this.commit();
      this.element.classList.remove("live");
      this.element.dataset.settled = String(Number(this.element.dataset.settled ?? 0) + 1);
    });
  }

  // The canvas over the figure, in the pixels of the screen.
  fits() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.plot;
    if (this.canvas.width !== width * ratio || this.canvas.height !== height * ratio) {
      Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
      Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    }
    const pen = this.canvas.getContext("2d", { willReadFrequently: true }); // painted by the processor: a few hundred points are no work for a GPU
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    return pen;
  }

  paint() {
    const shown = calm() ? Math.floor(this.state.place) : this.state.place; // no gliding between steps where motion is not wanted
    const pen = this.fits();
    pen.clearRect(0, 0, this.plot.clientWidth, this.plot.clientHeight);
    const now = new Map();
    for (const move of this.data.moves) {
      if (!move.z) now.set(move.trace, this.at(move, shown));
      else this.picture(move, Math.floor(shown));
    }
    this.plot.data.forEach((trace, index) => {
      const where = now.get(index) ?? this.plot._fullData[index];
      if (trace.type === "scatter") flat(pen, this.plot, trace, where);
    });
    this.element.dataset.frames = String((this.frames = (this.frames ?? 0) + 1));
  }

  // Pictures are redrawn by plotly, a whole step at a time.
  picture(move, step) {
    if (this.drawing || this.pictured?.get(move.trace) === step) return;
    (this.pictured ??= new Map()).set(move.trace, step);
    const moves = this.data.moves.filter((other) => other.z);
    if (move !== moves.at(-1)) return;
    this.drawing = true;
    const z = moves.map((other) => this.at(other, step).z);
    this.Plotly.restyle(this.plot, { z }, moves.map((other) => other.trace)).then(() => {
      this.drawing = false;
      if (!this.playing && Math.floor(this.state.place) !== step) this.paint();
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
        place.textContent = value === null ? "not finite" : share ? `${(100 * value).toFixed(1)} %` : few ? (Math.abs(value) < 1e-12 ? "0" : Math.abs(value) >= 1e4 ? value.toExponential(2) : value.toPrecision(3)) : short(value);
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
