// The panel that describes the selected item, and links to what it is related to.

function element(tag, text, parent) {
  const made = document.createElement(tag);
  if (text != null) made.textContent = text;
  parent?.append(made);
  return made;
}

const cycles = (value) => `${Math.round(value).toLocaleString("en")} cycles`;

function describe(panel, state, select) {
  panel.replaceChildren();
  const item = state.selected;
  if (!item) return overview(panel, state, select);
  const design = state.data.designs[item.design];
  element("h2", labelOf(design, item), panel);
  if (design.crash && item.kind === "op") element("p", afterCrash(design, item.index), panel).style.color = "var(--void)";
  element("div", `${design.name}${name(item)}`, panel).style.color = "var(--dim)";
  rows(panel, facts(design, item));
  if (item.kind === "stall") chain(panel, state, item, select);
  else list(panel, "It waited for", state, state.related.before, select);
  if (!["stall", "span"].includes(item.kind)) list(panel, "What waited for it", state, state.related.behind, select);
  if (state.related.way.length) list(panel, "On its way", state, state.related.way, select);
  elsewhere(panel, state, item, select);
}

// What a stall waited for, step by step, and how its cycles divide among what the last persist went through.
function chain(panel, state, item, select) {
  const steps = chainOf(state.data, item);
  list(panel, steps.length > 1 ? "It waited for, and that for" : "It waited for", state, steps, select);
  const design = state.data.designs[item.design];
  const persist = steps.map((step) => step.item).find((one) => one?.kind === "op" && design.ops.line[one.index] >= 0);
  if (!persist) return;
  element("h3", `In these cycles ${labelOf(design, persist)}`, panel);
  rows(panel, stagesOf(design, item, persist.index).map(([text, spent]) => [text, cycles(spent)]));
}

// What a store or flush, and the write that carries or acknowledges it, went through during a stall.
function stagesOf(design, stall, op) {
  const { ops, writes } = design, write = ops.write[op];
  const marks = [["executed, and retired in order", ops.begin[op]], ["was in the store queue", ops.ready[op]]];
  marks.push([isFlush(design.names[ops.kind[op]]) ? "was looked for in the caches" : "was not sent", ops.left[op]]);
  if (write >= 0) {
    marks.push(["was on its way to the controller", writes.begin[write]], ["waited for the write queue", writes.arrived[write]]);
    marks.push(["was acknowledged", writes.accepted[write]]);
  }
  const come = marks.filter(([, at]) => at >= 0);
  const endOf = (place) => Math.max(come[place][1], come[place + 1]?.[1] ?? stall.end);
  const spent = come.map(([text, at], place) => [text, overlap([stall.begin, stall.end], [at, endOf(place)])]);
  return spent.filter(([, cycles]) => cycles > 0);
}

// The same task under the other designs.
function elsewhere(panel, state, item, select) {
  const tasks = sameTask(state.data, item);
  if (tasks.length < 2) return;
  element("h3", `${labelOf(state.data.designs[tasks[0].design], tasks[0])} under each design`, panel);
  const all = element("ul", null, panel);
  for (const task of tasks) {
    const row = element("li", null, all);
    activates(element("a", state.data.designs[task.design].name, row), () => select(task));
    row.append(`: ${cycles(task.end - task.begin)}`);
  }
  const button = element("button", state.view.aligned ? "As they were (J)" : "Side by side (J)", panel);
  button.addEventListener("click", () => state.align());
}

// What is told at the pointer.
function tipOf(data, item) {
  const design = data.designs[item.design];
  const long = item.kind === "count" ? "" : `, ${cycles(item.end - item.begin)}`;
  const [first] = item.kind === "stall" ? relations(data, item).before : [];
  const why = item.kind === "stall" ? `\nwaited for: ${design.names[design.stalls.why[item.index]]}` : "";
  const what = first?.item ? `, ${labelOf(design, first.item)}` : "";
  return `${labelOf(design, item)}\n${at(item.begin)}${long}${why}${what}`;
}

// A table of two columns.
function rows(panel, pairs) {
  const table = element("table", null, panel);
  for (const [label, value] of pairs) {
    const row = element("tr", null, table);
    element("td", label, row);
    element("td", value, row);
  }
}

function name(item) {
  return { op: ` · op ${item.index}`, write: ` · w${item.index}` }[item.kind] ?? "";
}

function overview(panel, state, select) {
  const { data } = state;
  data.designs.forEach((design, number) => design.crash && crash(panel, state, design, number, select));
  element("h2", "Nothing is selected", panel);
  const what = "Click a stall, a persist, a fence or a write, or press the full stop";
  element("p", `${what}, to see what it waited for and what waited for it.`, panel);
  const where = { caches: "once it is visible", queue: "once its write is in the write queue (ADR)", media: "once its write is on the media" };
  data.designs.forEach((design, number) => {
    element("h3", `${design.name}: ${design.workload} on ${design.machine}`, panel);
    const shown = Object.entries(design.shown).filter(([, value]) => value != null);
    rows(panel, shown.map(([key, value]) => [key.replaceAll("_", " "), value.toLocaleString("en")]));
    if (design.why) element("p", `Where the cycles went: ${design.why}.`, panel);
    element("p", `A store is durable ${where[design.durable]}.`, panel);
    list(panel, `Where dispatch of ${design.name} stalled`, state, stalled(design, number), select);
  });
}

// The kind of fence, store or miss that a stall waited for.
function kindOf({ stalls, ops, misses, names }, stall) {
  if (stalls.miss[stall] >= 0) return ` (${COLOURS[names[misses.source[stalls.miss[stall]]]]})`;
  return stalls.op[stall] >= 0 ? ` (${names[ops.kind[stalls.op[stall]]]})` : "";
}

// The cycles that cores stalled, by cause and by what they waited for, each with its longest stall.
function stalled(design, number) {
  const { stalls, names } = design;
  const found = new Map();
  for (let row = 0; row < stalls.length; row++) {
    const long = stalls.end[row] - stalls.begin[row];
    if (!long) continue;
    const text = `${STALLS[names[stalls.cause[row]]]}: ${names[stalls.why[row]]}${kindOf(design, row)}`;
    const known = found.get(text) ?? found.set(text, { text, cycles: 0, longest: -1 }).get(text);
    known.cycles += long;
    if (long > known.longest) Object.assign(known, { longest: long, name: `longest: ${long}`, item: itemOf(design, number, "stall", row) });
  }
  return [...found.values()].sort((a, b) => b.cycles - a.cycles);
}

// A click on the element, or Enter, acts.
function activates(made, act) {
  made.tabIndex = 0;
  made.setAttribute("role", "button");
  made.addEventListener("click", act);
  made.addEventListener("keydown", (event) => event.key === "Enter" && act());
}

function list(panel, title, state, found, select) {
  element("h3", found.length ? `${title} (${found.length})` : `${title}: nothing`, panel);
  const all = element("ul", null, panel);
  for (const { text, item, cycles: waited, isBad, name: called } of found.slice(0, MOST)) {
    const row = element("li", waited == null ? `${text} ` : `${text}, ${cycles(waited)} `, all);
    if (isBad) row.className = "bad";
    if (!item) continue;
    const to = element("a", called ?? labelOf(state.data.designs[item.design], item), row);
    activates(to, () => select(item));
  }
  if (found.length > MOST) element("li", `and ${found.length - MOST} more`, all);
}

// Rows of the panel's table: a time is given with the cycles since the one before.
function facts(design, item) {
  const row = item.index;
  if (item.kind === "op") return opFacts(design, row);
  if (item.kind === "write") return writeFacts(design, row);
  if (item.kind in STRETCHES) return crossingFacts(design, row);
  const all = [["from", at(item.begin)], ["to", at(item.end)], ["for", cycles(item.end - item.begin)]];
  if (item.kind === "miss") all.push(["came from", COLOURS[design.names[design.misses.source[row]]]], ["core", design.misses.core[row]]);
  if (item.kind === "stall") all.push(["core", design.stalls.core[row]], ...during(design, design.stalls.core[row], item.begin));
  if (item.kind === "count") return [["at", at(item.begin)], ["by", design.counts.by[row]]];
  if (item.kind === "span") all.push(["lane", design.spans.lane[row]]);
  return all;
}

const at = (time) => (time < 0 ? "never" : Math.round(time).toLocaleString("en"));

function since(times) {
  let before = null;
  return times.filter(([, time]) => time >= 0).map(([label, time]) => {
    const step = before === null ? "" : ` (+${(time - before).toLocaleString("en")})`;
    before = time;
    return [label, at(time) + step];
  });
}

function opFacts(design, op) {
  const { ops } = design;
  const isLine = ops.line[op] >= 0;
  const kind = design.names[ops.kind[op]];
  const times = [["dispatched", ops.begin[op]], [isLine ? "executed, retired" : "ready", ops.ready[op]], ["left the store queue", ops.left[op]]];
  if (isLine && !isFlush(kind)) times.push(["visible", ops.visible[op]], ["durable", ops.durable[op]]);
  else times.push([isLine ? "acknowledged" : "retired", ops.done[op]]);
  const all = since(times);
  all.push(["core", ops.core[op]], ["epoch of its core", ops.epoch[op]], ["strand of its core", ops.strand[op]], ["context", ops.context[op]]);
  if (isLine && !isFlush(kind)) all.push(["bytes", ops.size[op]]);
  all.push(...during(design, ops.core[op], ops.begin[op]));
  if (ops.void[op]) all.push(["rolled back", "yes"]);
  return all;
}

function writeFacts(design, write) {
  const { writes } = design;
  const all = since([
    ["sent", writes.begin[write]], ["at the controller", writes.arrived[write]], ["in the write queue", writes.accepted[write]],
    ["issued to the media", writes.issued[write]], ["on the media", writes.media[write]],
  ]);
  all.push(["controller", writes.controller[write]], ["from", writes.core[write] < 0 ? "an eviction" : `core ${writes.core[write]}`]);
  const isLost = writes.core[write] >= 0 && design.failures.some(({ host }) => host === design.hosts[writes.core[write]]);
  if (writes.refused[write]) all.push([isLost ? "lost with its host" : "refused, or kept by the design", "yes"]);
  return all;
}

function crossingFacts({ crossings, hosts }, row) {
  const { begin, device, ready, begins, ends, enters, leaves, arrives } = crossings;
  const isRead = crossings.back[row] === 1;
  const switched = [["at the switch", enters[row]], ["left the switch", leaves[row]]];
  const times = [[isRead ? "left the host" : "sent", begin[row]], ["at the device", device[row]], [isRead ? "read" : "at the link", ready[row]]];
  times.push(["took the link", begins[row]], ...switched, [isRead ? "at the host" : "at the device", arrives[row]]);
  const all = since(times);
  all.push(["held the link for", cycles(ends[row] - begins[row])], ["controller", crossings.controller[row]]);
  if (new Set(hosts).size > 1) all.push(["host", `h${crossings.host[row]}`]);
  return all;
}

// The task that a core was in.
function during(design, core, time) {
  const { spans } = design;
  const task = taskAt(design, core, time);
  return task === null ? [] : [["during", `task ${spans.number[task]}` + (spans.lane[task] ? `, lane ${spans.lane[task]}` : "")]];
}
