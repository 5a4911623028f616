// Lays designs out in groups of rows. In a row nothing overlaps, so that the visible part is found by bisection.

const TALL = 15, LOW = 9;

// A group: {label, kind, design, height, rows: [[item…]…]}; an item: {kind, design, index, begin, end}.
function layOut(data) {
  const groups = [];
  data.designs.forEach((design, number) => {
    groups.push({ kind: "heading", label: design.name, design: number, rows: [[]], height: 24 });
    for (let core = 0; core < design.cores; core++) addCore(groups, design, number, core);
    const controllers = [...new Set(design.writes.controller)].sort((a, b) => a - b);
    for (const controller of controllers) {
      const writes = items(design, number, "write", (row) => design.writes.controller[row] === controller);
      addGroup(groups, `controller ${controller}: writes`, "write", number, LOW, writes);
    }
    addGroup(groups, "counted by the design", "count", number, LOW, items(design, number, "count", () => true), true);
  });
  let top = 0;
  for (const group of groups) {
    group.top = top;
    top += group.rows.length * group.height + 5;
  }
  return { groups, height: top };
}

function addCore(groups, design, number, core) {
  const of = (kind, table, test = () => true) =>
    items(design, number, kind, (row) => table.core[row] === core && test(row));
  const span = (...kinds) => of("span", design.spans, (row) => kinds.includes(design.names[design.spans.what[row]]));
  const { line } = design.ops;
  const add = (label, kind, height, rows) => addGroup(groups, `core ${core}: ${label}`, kind, number, height, rows);
  add("tasks", "span", TALL, span("task", "operation"));
  add("regions", "span", LOW, span("region", "aborted"));
  add("commits", "span", LOW, span("commit"));
  add("lanes", "span", LOW, span("runs", "library"));
  add("stalls", "stall", TALL, of("stall", design.stalls));
  add("fences", "op", LOW, of("op", design.ops, (row) => line[row] < 0));
  add("persists", "op", LOW, of("op", design.ops, (row) => line[row] >= 0));
  addLevel(groups, design, number, core);
  add("speculation", "speculation", LOW, of("speculation", design.speculations));
}

const TABLES = {
  op: "ops", write: "writes", stall: "stalls", wait: "waits", count: "counts", span: "spans", speculation: "speculations",
};

function endOf(design, kind, row) {
  if (kind === "op") return endOfOp(design, row);
  if (kind === "write") return endOfWrite(design, row);
  if (kind === "count") return design.counts.begin[row];
  const end = design[TABLES[kind]].end[row];
  return end < 0 ? design.end : end;
}

function items(design, number, kind, test) {
  const table = design[TABLES[kind]];
  const found = [];
  for (let row = 0; row < table.length; row++) {
    if (test(row)) found.push(itemOf(design, number, kind, row));
  }
  return found;
}

function itemOf(design, number, kind, row) {
  return { kind, design: number, index: row, begin: design[TABLES[kind]].begin[row], end: endOf(design, kind, row) };
}

function addGroup(groups, label, kind, design, height, found, flat = false) {
  if (!found.length) return;
  found.sort((a, b) => a.begin - b.begin || a.index - b.index);
  const rows = [], ends = [];
  for (const item of found) {
    let row = flat ? 0 : ends.findIndex((end) => end <= item.begin);
    if (row < 0) row = ends.length;
    ends[row] = Math.max(item.end, item.begin + 1);
    (rows[row] ??= []).push(item);
  }
  groups.push({ kind, label, design, height, rows, all: found });
}

// How many of a core's stores are visible and not yet durable.
function addLevel(groups, design, number, core) {
  const { ops } = design;
  const changes = new Map();
  const change = (at, by) => changes.set(at, (changes.get(at) ?? 0) + by);
  for (let op = 0; op < ops.length; op++) {
    if (ops.core[op] !== core || ops.visible[op] < 0 || ops.line[op] < 0 || ops.durable[op] <= ops.visible[op]) continue;
    change(ops.visible[op], 1);
    change(ops.durable[op], -1);
  }
  let level = 0;
  const steps = [...changes].sort(([a], [b]) => a - b).map(([at, by]) => ({ at, level: (level += by) }));
  const most = steps.reduce((high, step) => Math.max(high, step.level), 0);
  const label = `core ${core}: visible, not durable`;
  if (most) groups.push({ kind: "level", label, design: number, height: 34, rows: [[]], steps, most });
}

// The first item of a row that ends behind a time.
function firstBehind(row, time) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Math.max(row[middle].end, row[middle].begin + 1) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
