// Draws a figure of Plotly's: once, at the width that it has, those in view before the others; tells what is clicked.
const figures = new WeakMap();
const MARGIN = 200, NARROWEST = 150, RESTS = 120;  // pixels, pixels, milliseconds
const HEIGHT = 450, NARROW = 560;
const CORNERS = {
  width: 24, height: 24,
  path: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
};

// figures are drawn for paper: in the dark each color has its own counterpart, and hues stay what sentences call them
const DARK = {
  "white": "#14171B", "#FFFFFF": "#14171B", "#22262B": "#E8EBEE", "#9AA1A9": "#6C757F", "#B8BDC4": "#5A636C",
  "#D55E00": "#FF8A3D", "#0072B2": "#4A9FD8", "#009E73": "#2FC497", "#EEF0F2": "#22282E", "#ECEEF1": "#2A3037",
  "#EBF0F8": "#3A424B", "#E4E7EA": "#2E353C", "#565E67": "#AEB6BE",
};
const scheme = matchMedia("(prefers-color-scheme: dark)");
const inScheme = text => scheme.matches
  ? text.replace(/"(white|#[0-9A-Fa-f]{6})"/g, (whole, color) => `"${DARK[color] ?? DARK[color.toUpperCase()] ?? color}"`)
  : text;

let loading = null;
const plotly = address => loading ??= new Promise((done, failed) => {
  if (window.Plotly) return done(window.Plotly);
  const before = document.querySelector(`script[src$="${address}"]`);  // every page asks for it when it rests
  const script = before ?? document.createElement("script");
  script.addEventListener("load", () => done(window.Plotly));
  script.addEventListener("error", () => { loading = null; script.remove(); failed(new Error("no answer")); });
  if (before) return;
  script.src = new URL(`../../../${address}`, import.meta.url);
  document.head.append(script);
});

// figures out of view are drawn one after the other, whenever the browser has nothing else to do
const waiting = new Set();
const idly = window.requestIdleCallback ?? (act => setTimeout(act, 50));
const next = () => {
  const [first] = waiting;
  if (!first) return;
  waiting.delete(first);
  draw(first).finally(() => { if (waiting.size) idly(next, {timeout: 500}); });
};
const later = own => {
  if (!waiting.size) idly(next, {timeout: 500});
  waiting.add(own);
};
const inView = box => {
  const {top, bottom} = box.getBoundingClientRect();
  return top < innerHeight + MARGIN && bottom > -MARGIN;
};
const coming = new IntersectionObserver(entries => {
  for (const {target, isIntersecting} of entries)
    if (isIntersecting && waiting.delete(target.figure)) draw(target.figure);
}, {rootMargin: `${MARGIN}px`});

// one drawing of a figure after the other: Plotly fails at one that is changed or let go while it is drawn
const draw = own => own.work = own.work.catch(() => {}).then(() => drawn(own));

// what a figure has otherwise on a narrow screen: domains of panels, places of titles and names, height, size of dots
function narrowed(layout, data = []) {
  const {dots = 1, taller = 0, below, ...lays} = layout.meta?.narrow ?? {};
  for (const {marker} of data) if (marker?.size > 0) marker.size *= dots;
  for (const [name, own] of Object.entries(lays))
    if (Array.isArray(own)) own.forEach((each, place) => Object.assign(layout[name][place], each));
    else if (typeof own === "object") Object.assign(layout[name], own);
    else layout[name] = own;
  layout.height += taller;
}

async function drawn(own) {
  const {box, asked} = own;
  let Plotly;
  try {
    Plotly = await plotly(asked.script);
  } catch {
    box.textContent = "The figure could not be loaded: reload the page.";
    return;
  }
  const width = Math.max(Math.floor(box.clientWidth), NARROWEST);
  if (own.gone || !box.clientWidth || (own.drawn === own.text && own.width === width)) return;
  own.drawn = own.text;
  own.width = width;
  const {data, layout = {}, frames} = JSON.parse(inScheme(own.text)).figure;  // afresh: Plotly writes into what it is given
  const narrow = width < (layout.meta?.narrow?.below ?? NARROW);
  if (narrow) narrowed(layout, data);
  if (own.narrow === !narrow) {  // Plotly keeps the room that a legend of the other kind took
    Plotly.purge(box);
    own.listening = false;
  }
  own.narrow = narrow;
  const whole = document.fullscreenElement === box;
  layout.width = width;
  layout.height = whole ? innerHeight : layout.height ?? HEIGHT;
  if (!whole) box.style.minHeight = `${layout.height}px`;  // less on a narrow screen than was kept free
  if (matchMedia("(hover: none)").matches) layout.dragmode = false;  // a finger on it moves the page
  await Plotly.react(box, {data, layout, frames: frames ?? undefined, config: own.config});
  if (frames?.length) linked(own, own.listening);
  if (own.listening) return;
  own.listening = true;
  if (frames?.length) sliding(own);
  box.on("plotly_click", event => { if (!own.nested(event)) own.clicked(event); });  // it hears its own click
  box.on("plotly_sunburstclick", event => own.clicked(event));
  box.on("plotly_hover", event => box.classList.toggle("of-people", own.place(event) !== null));
  box.on("plotly_unhover", () => box.classList.remove("of-people"));
}

// a slider is moved by the arrow keys, too, and where its figure says so the address holds the step
const still = matchMedia("(prefers-reduced-motion: reduce)");
const linkOf = own => own.asked.figure.layout?.meta?.link;
const stepOf = own => own.wanted ?? own.box._fullLayout?.sliders?.[0]?.active ?? 0;

function go(own, step) {
  const {frames} = own.asked.figure;
  const place = Math.min(Math.max(step, 0), frames.length - 1);
  const at = {mode: "immediate", frame: {duration: 0, redraw: true}, transition: {duration: 0}};
  own.wanted = place;  // a key that follows at once counts from here
  window.Plotly.animate(own.box, [frames[place].name], at)
    .then(() => {
      if (own.wanted === place) own.wanted = null;
      return window.Plotly.relayout(own.box, {"sliders[0].active": place});
    })
    .catch(() => {  // a movement that had begun before broke it off
      if (!own.gone && own.wanted === place) setTimeout(() => own.wanted === place && go(own, place), 50);
    });
}

function linked(own, before) {
  const asked = new URLSearchParams(location.search).get(linkOf(own));
  const place = own.asked.figure.frames.findIndex(frame => Number(frame.name) === Number(asked));
  if (!before && linkOf(own) && asked !== null && place >= 0) go(own, place);
}

function sliding(own) {
  const {box} = own;
  box.tabIndex = 0;
  if (!own.keyed) box.addEventListener("keydown", event => {
    const by = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Home: -1e6, End: 1e6}[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    go(own, stepOf(own) + by);
  });
  own.keyed = true;
  const write = () => {
    if (!linkOf(own)) return;
    const address = new URL(location.href);
    address.searchParams.set(linkOf(own), own.asked.figure.frames[stepOf(own)].name);
    history.replaceState(history.state, "", address);
  };
  box.on("plotly_sliderstart", () => { own.wanted = null; });
  box.on("plotly_sliderchange", write);
  box.on("plotly_relayout", write);
  box.on("plotly_buttonclicked", () => {  // Play
    own.wanted = null;
    if (still.matches) setTimeout(() => go(own, own.asked.figure.frames.length - 1));
  });
}

function made(parent) {
  const box = document.createElement("div");
  box.className = "figure";
  box.dataset.testid = "figure";
  box.setAttribute("role", "figure");
  parent.append(box);
  const own = {box, gone: false, text: "", listening: false, work: Promise.resolve()};
  box.figure = own;
  // which trace and point an event is of, where it stands for people
  own.place = event => {
    const point = event?.points?.[0];
    if (!point) return null;
    const place = {trace: point.curveNumber ?? 0, point: point.pointNumber ?? point.pointIndex};
    const {type, meta} = own.asked.figure.data[place.trace] ?? {};
    if (type === "sankey" && !(point.source && point.target)) return null;  // a node, which stands for nobody
    return own.asked.clicks && meta?.[place.point] ? place : null;
  };
  own.clicked = event => { if (own.place(event)) own.tell(own.place(event)); };
  own.nested = event => own.asked.figure.data[event?.points?.[0]?.curveNumber]?.type === "sunburst";
  own.resized = new ResizeObserver(() => {
    const width = Math.max(Math.floor(box.clientWidth), NARROWEST);
    if (!box.clientWidth || width === own.width) return;
    clearTimeout(own.turned);
    own.turned = setTimeout(() => draw(own), own.width ? RESTS : 0);
  });
  own.resized.observe(box);
  coming.observe(box);
  own.anew = () => { own.width = 0; draw(own); };
  box.addEventListener("fullscreenchange", own.anew);
  scheme.addEventListener("change", own.anew);
  return own;
}

function removed(own) {
  own.gone = true;
  waiting.delete(own);
  own.resized.disconnect();
  coming.unobserve(own.box);
  scheme.removeEventListener("change", own.anew);
  clearTimeout(own.turned);
  own.work.catch(() => {}).then(() => {
    if (own.drawn) window.Plotly.purge(own.box);
    own.box.remove();
  });
}

export default function ({data, parentElement, setTriggerValue}) {
  let own = figures.get(parentElement);
  if (!own) figures.set(parentElement, own = made(parentElement));
  own.tell = place => setTriggerValue("clicked", place);
  const text = new TextDecoder().decode(data);
  if (text !== own.text) {
    own.text = text;
    own.asked = JSON.parse(text);
    const {box, asked: {name, alt, tools, figure}} = own;
    box.style.minHeight = `${figure.layout?.height ?? HEIGHT}px`;
    if (alt) box.setAttribute("aria-label", alt);
    own.config ??= {
      displaylogo: false,
      showTips: false,
      displayModeBar: tools ? "hover" : false,
      toImageButtonOptions: {filename: name, scale: 2},
      // dragging zooms, nothing is selected by a box, and no data go to a cloud
      modeBarButtonsToRemove: [
        "zoom", "pan", "zoomIn", "zoomOut", "autoScale", "select2d", "lasso2d", "sendChartToCloud",
      ],
      modeBarButtonsToAdd: [{
        name: "Fullscreen", title: "Fullscreen", icon: CORNERS,
        click: () => (document.fullscreenElement ? document.exitFullscreen() : box.requestFullscreen()),
      }],
    };
    if (inView(box)) draw(own);
    else later(own);
  }
  return () => { removed(own); figures.delete(parentElement); };
}
