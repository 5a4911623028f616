// A power failure: which stores are lost, what recovery read, and which order was broken.

// The first failure that takes what a core's caches hold: when, and of what.
function lossOf(design, core) {
  const { at } = design.crash, stop = stopOf(design, core);
  return stop < at ? { at: stop, what: `host h${design.hosts[core]} failed` } : { at, what: "power failed" };
}

const COMMON = ["store queues", "L1", "L2", "LLC", "link", "switch", "write queues", "device queue", "device cache", "media"];

// What may hold a store that has left the store queue, and has not set out: the design may have buffers of its own.
function buffersOf({ ops, names, crash: { places } }, op) {
  if (names[ops.kind[op]] === "nt-store") return "a combining buffer";
  return ["the caches", ...places.map(([name]) => name).filter((name) => !COMMON.includes(name))].join(", or the ");
}

// Where the newest copy of a store's bytes was at a time.
function whereWas(design, op, time) {
  const { ops, writes, crossings } = design, write = ops.write[op];
  const came = (at) => at >= 0 && at <= time;
  const host = new Set(design.hosts).size > 1 ? ` of h${design.hosts[ops.core[op]]}` : "";
  const end = crossings.length ? "device" : "controller";
  if (!came(ops.left[op])) return `in the store queue${host}`;
  if (write < 0 || !came(writes.begin[write])) return `in ${buffersOf(design, op)}${host}`;
  if (came(writes.accepted[write])) return came(writes.media[write]) ? "on the media" : `in the queue of the ${end}`;
  if (came(writes.arrived[write])) return `at the ${end}, before its queue`;
  const row = crossings.write.indexOf(write);
  if (row >= 0 && came(crossings.enters[row])) return came(crossings.leaves[row]) ? "on its way to the device" : "in the switch";
  return row >= 0 && came(crossings.begins[row]) ? `on the link${host}` : `on its way from the caches${host}`;
}

// What a failure left of an operation.
function afterCrash(design, op) {
  const { begin, line, visible, durable, kind, core } = design.ops, { at, what } = lossOf(design, core[op]);
  const isDurable = durable[op] >= 0 && durable[op] <= design.crash.at;
  if (begin[op] <= at && !isDurable && line[op] >= 0 && !isFlush(design.names[kind[op]])) {
    const seen = visible[op] >= 0 && visible[op] <= at ? "visible, and not durable," : "not visible";
    return `It was ${seen} when ${what}: it is lost. It was ${whereWas(design, op, at)}.`;
  }
  if (begin[op] > at) return `It was not dispatched before ${what}.`;
  return isDurable && !isFlush(design.names[kind[op]]) ? "It was durable when power failed." : `It was dispatched before ${what}.`;
}

// The stores that were visible and are lost, and the durable ones that are younger in their core's program than one of these.
function crashLists(design, number) {
  const { ops } = design, { at } = design.crash;
  const lost = [], ahead = [], waits = new Map();
  for (let op = 0; op < ops.length; op++) {
    if (ops.line[op] < 0 || ops.visible[op] < 0 || ops.visible[op] > at || ops.void[op] || isFlush(design.names[ops.kind[op]])) continue;
    const isDurable = ops.durable[op] >= 0 && ops.durable[op] <= at, end = lossOf(design, ops.core[op]);
    const item = { kind: "op", design: number, index: op };
    if (!isDurable) {
      lost.push({ text: `visible at ${ops.visible[op].toLocaleString("en")}, ${whereWas(design, op, end.at)} when ${end.what}`, item });
      waits.set(ops.core[op], true);
    } else if (waits.get(ops.core[op])) ahead.push({ text: "durable at " + ops.durable[op].toLocaleString("en"), item });
  }
  return { lost, ahead };
}

function crash(panel, state, design, number, select) {
  const [time, ofRun] = [design.crash.at, design.crash.ofRun].map((cycle) => cycle.toLocaleString("en"));
  element("h2", `${design.name}: power fails at cycle ${time}`, panel);
  element("p", `Cycle ${time} is cycle ${ofRun} of the run, by which the words of the case count.`, panel).className = "dim";
  for (const failure of design.failures) element("p", failureInWords(failure), panel);
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
  survival(panel, design);
  element("h3", "The case", panel);
  for (const words of more) element("p", words, panel).className = "case";
}

function failureInWords({ host, at: cycle, told }) {
  const heard = told === null ? "The others are not told." : `The others are told at ${at(told)}.`;
  return `Host h${host} fails at cycle ${at(cycle)}. ${heard}`;
}

// What the failures leave of each place.
function survival(panel, design) {
  const { places } = design.crash;
  if (!places.length) return;
  const causes = [...(design.failures.length ? ["host"] : []), "power"];
  element("h3", "What survives", panel);
  const words = ([name, fates]) => [name, causes.map((cause) => (causes.length > 1 ? `${cause}: ${fates[cause]}` : fates[cause])).join(", ")];
  rows(panel, places.map(words));
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
