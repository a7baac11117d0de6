// What every page needs of the browser. Numbers as people write them: a browser's own field for numbers drops every
// comma without a word (0,5 became 5). Tables: to pass one by with Tab chooses nobody in it. And what draws figures.
if (!window.evenhand) {
  window.evenhand = true;
  const FIELD = '[data-testid="stNumberInputField"]';
  const GROUPS = /^[+-]?[1-9]\d{0,2}(?:([ .,'’])\d{3})(?:\1\d{3})*$/;
  const field = event => event.target instanceof Element && event.target.closest(FIELD);

  // what a text says: {number} as a program writes it, or why it is none
  const read = (text, whole) => {
    let t = text.trim().replace(/[\u00a0\u202f\u2009]/g, " ").replace(/^\u2212/, "-");
    const both = /^([+-]?[1-9]\d{0,2}(?:([ .,'’])\d{3})+)([.,])(\d+)$/.exec(t);
    if (both && both[2] !== both[3] && GROUPS.test(both[1]))
      t = both[1].replace(/[ .,'’]/g, "") + "." + both[4];
    else if (GROUPS.test(t)) {
      const mark = /[ .,'’]/.exec(t)[0], once = t.split(mark).length === 2;
      if (mark === "," && once && !whole)
        return {why: `can be ${t.replace(",", "")} or ${t.replace(",", ".")}; write one of them`};
      if (mark !== "." || !once || whole) t = t.replace(/[ .,'’]/g, "");
    } else if (/^[+-]?\d*,\d+$/.test(t)) t = t.replace(",", ".");
    if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(t) || !Number.isFinite(Number(t)))
      return {why: "is not a number; write it as 1234 or 0.5"};
    if (!whole) return {number: t};
    return Number.isInteger(Number(t)) ? {number: BigInt(Number(t)).toString()} : {why: "is not a whole number"};
  };
  const put = (input, text) => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, text);
    input.dispatchEvent(new Event("input", {bubbles: true}));
  };
  const say = (input, sentence) => {
    const box = input.closest('[data-testid="stNumberInput"]');
    box.querySelector(".number-said")?.remove();
    if (!sentence) return;
    const said = document.createElement("p");
    said.className = "number-said";
    said.setAttribute("role", "alert");
    said.textContent = sentence;
    box.append(said);
  };
  // has Streamlit see the number; false where there is none
  const taken = (input, leaving) => {
    if (input.value === input.dataset.before || !input.value.trim()) return true;
    const {number, why} = read(input.value, Number.isInteger(Number(input.step)));
    if (why) {
      const was = input.dataset.before;
      say(input, `“${input.value.slice(0, 40)}” ${why}. It is ${was ? `still ${was}` : "left out"}.`);
      if (leaving) put(input, was);
      return false;
    }
    say(input, "");
    if (number !== input.value) put(input, number);
    return true;
  };
  const listen = (name, act) => addEventListener(name, event => { if (field(event)) act(event, event.target); }, true);
  listen("focusin", (_, input) => {
    const fresh = input.type !== "text";
    if (fresh) {
      input.dataset.before = input.value;
      input.type = "text";
      input.autocomplete = "off";
      input.inputMode = Number(input.min) < 0 ? "text" : "decimal";
      input.select();
    }
    input.dataset.before = input.value;
  });
  listen("focusout", (_, input) => taken(input, true));
  listen("keydown", (event, input) => {
    if (!["Enter", "ArrowUp", "ArrowDown"].includes(event.key)) return;
    if (taken(input, false)) {
      // what Streamlit made of it is known a moment later; what it refuses is not taken
      setTimeout(() => { if (input.ariaInvalid !== "true") input.dataset.before = input.value; });
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
  });

  // a table takes the focus for a choice of its first cell: it hears of it when an arrow, Enter or Space asks for one
  const TABLE = '[data-testid="stDataFrame"] canvas';
  const KEYS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Enter", " "];
  let tabbed = false, passed = null;
  const table = event => (event.target instanceof Element ? event.target.closest(TABLE) : null);
  addEventListener("pointerdown", () => { tabbed = false; passed = null; }, true);
  addEventListener("focusin", event => {
    if (!tabbed || event.target !== table(event)) return;
    event.stopImmediatePropagation();
    passed = event.target;
  }, true);
  addEventListener("keydown", event => {
    tabbed = event.key === "Tab";
    const here = table(event);
    if (!here) return;
    if (tabbed) event.stopImmediatePropagation();  // and the browser goes on to what comes next
    else if (passed === here && KEYS.includes(event.key)) {
      event.preventDefault();
      event.stopImmediatePropagation();
      passed = null;
      here.dispatchEvent(new FocusEvent("focusin", {bubbles: true}));
    }
  }, true);

  // a number and its per-cent sign stay in one line, in whatever a page says
  const TEXTS = '[data-testid="stText"], [data-testid="stMarkdownContainer"]';
  const together = node => {
    if (node instanceof HTMLElement) {
      const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) together(texts.currentNode);
    } else if (node instanceof Text && /\d %/.test(node.data) && node.parentElement?.closest(TEXTS))
      node.data = node.data.replace(/(\d) %/g, "$1\u00a0%");
  };
  new MutationObserver(changes => {
    for (const {type, target, addedNodes} of changes)
      (type === "characterData" ? [target] : addedNodes).forEach(together);
  }).observe(document.body, {childList: true, subtree: true, characterData: true});
  together(document.body);

  // one press of Back leads to the page before: what a page opens with, and a tab, is no step of its own. What
  // the address loses or gains on the way out by a link is not written: the page left behind keeps its own
  const MINOR = ["run", "tab", "w"];
  const step = history.pushState.bind(history);
  const major = address => {
    const told = new URLSearchParams(address.search);
    MINOR.forEach(name => told.delete(name));
    told.sort();
    return `${address.pathname}?${told}`;
  };
  let leaving = 0, touched = false;
  ["pointerdown", "keydown"].forEach(name => addEventListener(name, () => { touched = true; }, true));
  addEventListener("click", event => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    const apart = event.ctrlKey || event.metaKey || event.shiftKey || link?.target === "_blank";  // another window's
    if (link?.origin === location.origin && link.pathname !== location.pathname && !apart) leaving = Date.now();
  }, true);
  history.pushState = (state, unused, url) => {
    const next = new URL(url ?? location.href, location.href);
    const opens = next.pathname !== location.pathname;
    if (opens) touched = leaving = 0;
    if (Date.now() - leaving < 10000) return;
    if (!opens && (!touched || major(next) === major(location))) history.replaceState(state, unused, next);
    else step(state, unused, next);
  };

  // what draws figures is there before the first of them: on the start page, which has none, only fetched
  const drawer = () => {
    if (window.Plotly || document.querySelector('script[src$="PLOTLY"]')) return;
    const start = location.pathname.endsWith("/");
    const made = document.createElement(start ? "link" : "script");
    Object.assign(made, start ? {rel: "prefetch", as: "script", href: "PLOTLY"} : {src: "PLOTLY"});
    made.onerror = () => made.remove();
    document.head.append(made);
  };
  window.requestIdleCallback ? requestIdleCallback(drawer, {timeout: 3000}) : setTimeout(drawer, 1000);
}
