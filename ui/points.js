// Documents as points, drawn by plotly.js in place: the camera stays when the numbers change, and a click names a document.
// Panels that stand side by side share one camera.

const SOURCE = new URL("app/static/plotly.min.js", document.baseURI).href;
const CLICK = 4; // pixels a pointer may move between down and up and still click; more is a drag

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

const scenes = (layout) => Object.keys(layout).filter((name) => /^scene\d*$/.test(name));

function themed(layout, element) {
  const style = getComputedStyle(element);
  const text = style.getPropertyValue("--st-text-color").trim();
  const family = style.getPropertyValue("--st-font").trim();
  layout.font = { ...layout.font, ...(text && { color: text }), ...(family && { family }) };
  return layout;
}

// Cameras by the component's key: a view that was taken away while a run went on comes back as it was left.
const cameras = (window.factscopeCameras ??= {});

function listen(Plotly, plot, report) {
  // A click is a pointer that goes down and up in one place while a point is hovered; plotly's own click event wants it within 5 pixels of
  // a 3-D point's centre, and takes the beginning of a drag for one.
  let down = null;
  let hovered = null;
  let turning = false;
  plot.on("plotly_hover", (event) => (hovered = event.points[0].customdata));
  plot.on("plotly_unhover", () => (hovered = null));
  plot.addEventListener("pointerdown", (event) => (down = { x: event.clientX, y: event.clientY, point: hovered }), true);
  window.addEventListener("pointerup", (event) => {
    if (down && down.point !== null && Math.hypot(event.clientX - down.x, event.clientY - down.y) <= CLICK) report("point", down.point);
    down = null;
  }, true);
  const turn = (change, done) => {
    const name = Object.keys(change).find((key) => key.endsWith(".camera"));
    if (!name || turning) return;
    const camera = (cameras[plot.dataset.key] = change[name]);
    const others = scenes(plot.layout).filter((scene) => `${scene}.camera` !== name);
    turning = true;
    Plotly.relayout(plot, Object.fromEntries(others.map((scene) => [`${scene}.camera`, camera]))).then(() => (turning = false));
    if (done) report("camera", camera);
  };
  plot.on("plotly_relayouting", (change) => turn(change, false));
  plot.on("plotly_relayout", (change) => turn(change, true));
}

export default function ({ data, parentElement, setStateValue }) {
  const plot = parentElement.querySelector(".factscope-points");
  plot.dataset.key = data.key;
  const figure = JSON.parse(data.figure);
  plotly().then((Plotly) => {
    const layout = themed(figure.layout, parentElement);
    const camera = cameras[data.key];
    if (camera) for (const scene of scenes(layout)) layout[scene].camera = camera;
    Plotly.react(plot, figure.data, layout, { responsive: true, displaylogo: false }).then(() => {
      if (!plot.listening) {
        plot.listening = true;
        listen(Plotly, plot, setStateValue);
      }
      plot.dataset.drawn = String(Number(plot.dataset.drawn ?? 0) + 1);
    });
  });
}
