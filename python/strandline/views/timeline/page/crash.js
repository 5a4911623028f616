// A power failure: which stores are lost, what recovery read, and which order was broken.

// What a power failure left of an operation.
function afterCrash(design, op) {
  const { begin, line, visible, durable, kind } = design.ops, { at } = design.crash;
  if (begin[op] > at) return "Power failed before it was dispatched.";
  if (line[op] < 0 || isFlush(design.names[kind[op]])) return "It was dispatched before power failed.";
  if (durable[op] >= 0 && durable[op] <= at) return "It was durable when power failed.";
  return visible[op] >= 0 && visible[op] <= at ? "It was visible, and not durable, when power failed: it is lost." : "It was not visible when power failed.";
}

// The stores that were visible and are lost, and the durable ones that are younger in their core's program than one of these.
function crashLists(design, number) {
  const { ops } = design, { at } = design.crash;
  const lost = [], ahead = [], waits = new Map();
  for (let op = 0; op < ops.length; op++) {
    if (ops.line[op] < 0 || ops.visible[op] < 0 || ops.visible[op] > at || ops.void[op] || isFlush(design.names[ops.kind[op]])) continue;
    const isDurable = ops.durable[op] >= 0 && ops.durable[op] <= at;
    const item = { kind: "op", design: number, index: op };
    if (!isDurable) {
      lost.push({ text: "visible at " + ops.visible[op].toLocaleString("en"), item });
      waits.set(ops.core[op], true);
    } else if (waits.get(ops.core[op])) ahead.push({ text: "durable at " + ops.durable[op].toLocaleString("en"), item });
  }
  return { lost, ahead };
}

function crash(panel, state, design, number, select) {
  const [time, ofRun] = [design.crash.at, design.crash.ofRun].map((cycle) => cycle.toLocaleString("en"));
  element("h2", `${design.name}: power fails at cycle ${time}`, panel);
  element("p", `Cycle ${time} is cycle ${ofRun} of the run, by which the words of the case count.`, panel).className = "dim";
  const [wrong, ...more] = design.crash.words;
  element("p", wrong, panel);
  const { reads } = design.crash;
  if (design.crash.verdict) orderOf(panel, design, number, select);
  if (reads) {
    list(panel, "What recovery and the checks read", state, reads.map((read) => readingOf(design, number, read)), select);
    element("p", readsNote(design.crash), panel).className = "dim";
  }
  const { lost, ahead } = crashLists(design, number);
  list(panel, "Visible, and lost", state, lost.reverse(), select);
  list(panel, "Durable, behind a lost store of the same core", state, ahead.reverse(), select);
  element("h3", "The case", panel);
  for (const words of more) element("p", words, panel).className = "case";
}

function readsNote({ read: [words, stored] }) {
  return `They read ${words.toLocaleString("en")} words, of which stores had changed ${stored.toLocaleString("en")}.`;
}

// A word that was read, and the store that it had or lacked.
function readingOf(design, number, read) {
  const what = `${read.addr} holds ${read.value}, read by ${read.by}`;
  const event = design.crash.events[read.lacks ?? read.store];
  const item = event && event.op >= 0 ? { kind: "op", design: number, index: event.op } : null;
  if (read.lacks != null) return { text: `${what}; it lacks`, item, isBad: true };
  if (read.rewritten) return { text: `${what}; recovery had written it`, item: null };
  return { text: read.store == null ? `${what}, as at first` : `${what}; from`, item };
}

const ROW = 34, ARCS = 48, DOT = 5;

// The stores between which there is an order, in the order of time, with an arc for each pair.
function orderOf(panel, design, number, select) {
  const { events, order, forbidden, verdict } = design.crash;
  element("h3", forbidden ? "The order that the model wanted" : "The order that the program lacked", panel);
  element("p", verdict, panel);
  const shown = [...new Set(order.flatMap(({ before, after }) => [before, after]))].sort((a, b) => events[a].at - events[b].at || a - b);
  if (!shown.length) return;
  const box = element("div", null, panel);
  box.className = "order";
  const image = svg("svg", { width: ARCS, height: ROW * shown.length, role: "img", "aria-label": orderInWords(design.crash) }, box);
  const y = (event) => ROW * (shown.indexOf(event) + 0.5);
  const strongLast = [...order].sort((a, b) => (a.kind === "kept" ? 0 : 1) - (b.kind === "kept" ? 0 : 1));
  for (const edge of strongLast) arc(image, y(edge.before), y(edge.after), edge.kind);
  const rows = element("div", null, box);
  for (const event of shown) {
    dot(image, y(event), events[event].durable);
    rowOf(rows, events[event], number, select);
  }
  const words = ["Filled: durable when power failed. Hollow: lost.", "A thick arc: the lower is durable without the upper, which had to come first."];
  if (order.some(({ kind }) => kind === "kept")) words.push("A thin arc: an order of the model that the state keeps.");
  element("p", words.join(" "), panel).className = "dim";
}

function orderInWords({ events, order }) {
  const strong = order.filter(({ kind }) => kind !== "kept");
  return strong.map(({ before, after }) => `${events[before].what} before ${events[after].what}`).join("; ") || "every order is kept";
}

function rowOf(rows, event, number, select) {
  const row = element("div", null, rows);
  row.style.height = `${ROW}px`;
  const linked = event.op >= 0;
  const what = element(linked ? "a" : "span", event.short ?? event.what, row);
  what.title = event.what;
  if (linked) activates(what, () => select({ kind: "op", design: number, index: event.op }));
  element("small", `core ${event.core}, ${event.isStore ? "visible" : "announced"} at ${event.at.toLocaleString("en")}${left(event)}`, row);
}

const left = (event) => (event.isStore ? (event.durable ? ", durable" : ", lost") : "");

// The namespace of pictures, from one: the page has no address in it, not even this one.
const SVG = Object.assign(document.createElement("div"), { innerHTML: "<svg></svg>" }).firstChild.namespaceURI;

function svg(tag, attributes, parent) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  parent.append(made);
  return made;
}

function dot(image, y, isDurable) {
  const colour = isDurable ? "var(--flight)" : "var(--void)";
  svg("circle", { cx: ARCS - 8, cy: y, r: DOT, stroke: colour, "stroke-width": 2, fill: isDurable ? colour : "var(--panel)" }, image);
}

// From the event that comes first down, or up, to the one behind it, with a head.
function arc(image, from, to, kind) {
  const x = ARCS - 8 - DOT - 2, reach = Math.min(x - 4, 10 + 0.12 * Math.abs(to - from) + 6);
  const colour = kind === "kept" ? "var(--dim)" : "var(--void)", width = kind === "kept" ? 1 : 2.5;
  const path = `M${x},${from} C${x - reach * 1.3},${from} ${x - reach * 1.3},${to} ${x - 4},${to}`;
  svg("path", { d: path, fill: "none", stroke: colour, "stroke-width": width, class: kind }, image);
  svg("path", { d: `M${x + 1},${to} l-7,-3.5 v7 z`, fill: colour }, image);
}

// The pairs of the order whose two stores are on the canvas.
function orderItems(design, number) {
  const { order, events } = design.crash;
  const pairs = (order ?? []).map(({ before, after, kind }) => ({ kind, pair: [events[before].op, events[after].op] }));
  const drawn = pairs.filter(({ pair }) => pair.every((op) => op >= 0));
  return drawn.map(({ kind, pair }) => ({ kind, pair: pair.map((index) => ({ kind: "op", design: number, index })) }));
}
