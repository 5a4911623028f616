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
  const table = element("table", null, panel);
  for (const [label, value] of facts(design, item)) {
    const row = element("tr", null, table);
    element("td", label, row);
    element("td", value, row);
  }
  list(panel, "It waited for", state, state.related.before, select);
  list(panel, "What waited for it", state, state.related.behind, select);
  if (state.related.way.length) list(panel, "On its way", state, state.related.way, select);
}

function name(item) {
  return { op: ` · op ${item.index}`, write: ` · w${item.index}` }[item.kind] ?? "";
}

function overview(panel, state, select) {
  const { data } = state;
  data.designs.forEach((design, number) => design.crash && crash(panel, state, design, number, select));
  element("h2", "Nothing is selected", panel);
  element("p", "Click a persist, a fence or a write, or press the full stop, to see what it waited for and what waited for it.", panel);
  const where = { caches: "once it is visible", queue: "once its write is in the write queue (ADR)", media: "once its write is on the media" };
  for (const design of data.designs) {
    element("h3", `${design.name}: ${design.workload} on ${design.machine}`, panel);
    const table = element("table", null, panel);
    for (const [key, value] of Object.entries(design.shown)) {
      if (value == null) continue;
      const row = element("tr", null, table);
      element("td", key.replaceAll("_", " "), row);
      element("td", value.toLocaleString("en"), row);
    }
    element("p", `A store is durable ${where[design.durable]}.`, panel);
  }
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
  for (const { text, item, cycles: waited, isBad } of found.slice(0, MOST)) {
    const row = element("li", waited == null ? `${text} ` : `${text}, ${cycles(waited)} `, all);
    if (isBad) row.className = "bad";
    if (!item) continue;
    const to = element("a", labelOf(state.data.designs[item.design], item), row);
    activates(to, () => select(item));
  }
  if (found.length > MOST) element("li", `and ${found.length - MOST} more`, all);
}

// Rows of the panel's table: a time is given with the cycles since the one before.
function facts(design, item) {
  const row = item.index;
  if (item.kind === "op") return opFacts(design, row);
  if (item.kind === "write") return writeFacts(design, row);
  const all = [["from", at(item.begin)], ["to", at(item.end)], ["for", cycles(item.end - item.begin)]];
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
  const task = taskOf(design, ops.core[op], ops.begin[op]);
  if (task) all.push(["during", task]);
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
  if (writes.refused[write]) all.push(["refused, or kept by the design", "yes"]);
  return all;
}

// The task that a core was in.
function taskOf(design, core, time) {
  const { spans, names } = design;
  const inside = (row, what) => spans.core[row] === core && names[spans.what[row]] === what && spans.begin[row] <= time && (spans.end[row] < 0 || time <= spans.end[row]);
  const rows = [...Array(spans.length).keys()];
  const runs = rows.find((row) => inside(row, "runs"));
  const task = rows.find((row) => inside(row, "task") && (runs === undefined || spans.lane[row] === spans.lane[runs]));
  return task === undefined ? null : `task ${spans.number[task]}` + (runs === undefined ? "" : `, lane ${spans.lane[task]}`);
}
