// Lays designs out in groups of rows. In a row nothing overlaps, so that the visible part is found by bisection.

const TALL = 15, LOW = 9, LEAST = 2, HEADING = 24, UNIT = 14;
// A group of rows is as high as this at most, as long as its rows are no lower than they may be.
const HIGHEST = 84;

// A group: {kind, name, label, design, unit, base, rows: [[item…]…]}; an item: {kind, design, index, begin, end}. The
// groups of a core or a controller are one unit, below a group of kind `unit`.
function groupsOf(data) {
  const groups = [];
  data.designs.forEach((design, number) => {
    groups.push({ kind: "heading", label: design.name, design: number, id: `${number}`, rows: [[]], base: HEADING });
    for (let core = 0; core < design.cores; core++) addCore(groups, design, number, core);
    const controllers = [...new Set(design.writes.controller)].sort((a, b) => a - b);
    for (const controller of controllers) addController(groups, design, number, controller);
    const counts = items(design, number, "count", () => true);
    addGroup(groups, { name: "counted by the design", kind: "count", design: number, base: LOW, isFlat: true }, counts);
  });
  return groups;
}

function addUnit(groups, number, label) {
  const unit = { kind: "unit", label, design: number, id: `${number} ${label}`, rows: [[]], base: UNIT, strip: [] };
  groups.push(unit);
  return unit;
}

function addCore(groups, design, number, core) {
  const of = (kind, table, test = () => true) =>
    items(design, number, kind, (row) => table.core[row] === core && test(row));
  const span = (...kinds) => of("span", design.spans, (row) => kinds.includes(design.names[design.spans.what[row]]));
  const { line } = design.ops;
  const unit = addUnit(groups, number, `core ${core}`);
  const add = (name, kind, base, found) => addGroup(groups, { name, kind, design: number, base, unit }, found);
  add("tasks", "span", TALL, span("task", "operation"));
  add("regions", "span", LOW, span("region", "aborted"));
  add("commits", "span", LOW, span("commit"));
  add("lanes", "span", LOW, span("runs", "library"));
  add("stalls", "stall", TALL, of("stall", design.stalls));
  add("misses", "miss", LOW, of("miss", design.misses));
  add("fences", "op", LOW, of("op", design.ops, (row) => line[row] < 0));
  add("persists", "op", LOW, of("op", design.ops, (row) => line[row] >= 0));
  addLevel(groups, design, number, core, unit);
  add("speculation", "speculation", LOW, of("speculation", design.speculations));
  unit.strip = of("stall", design.stalls);
}

function addController(groups, design, number, controller) {
  const unit = addUnit(groups, number, `controller ${controller}`);
  const found = items(design, number, "write", (row) => design.writes.controller[row] === controller);
  addGroup(groups, { name: "writes", kind: "write", design: number, base: LOW, unit }, found);
  unit.strip = found;
}

const TABLES = {
  op: "ops", write: "writes", stall: "stalls", miss: "misses", wait: "waits", count: "counts", span: "spans", speculation: "speculations",
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
  return found.sort((a, b) => a.begin - b.begin || a.index - b.index);
}

function itemOf(design, number, kind, row) {
  return { kind, design: number, index: row, begin: design[TABLES[kind]].begin[row], end: endOf(design, kind, row) };
}

function addGroup(groups, group, found) {
  if (!found.length) return;
  const rows = [], ends = [];
  for (const item of found) {
    let row = group.isFlat ? 0 : ends.findIndex((end) => end <= item.begin);
    if (row < 0) row = ends.length;
    ends[row] = Math.max(item.end, item.begin + 1);
    (rows[row] ??= []).push(item);
  }
  groups.push({ ...group, label: group.name, rows, all: found });
}

// How many of a core's stores are visible and not yet durable.
function addLevel(groups, design, number, core, unit) {
  const { ops } = design;
  const changes = new Map();
  const change = (at, by) => changes.set(at, (changes.get(at) ?? 0) + by);
  for (let op = 0; op < ops.length; op++) {
    if (ops.core[op] !== core || ops.visible[op] < 0 || !isPersistent(ops.line[op]) || ops.durable[op] <= ops.visible[op]) continue;
    change(ops.visible[op], 1);
    change(ops.durable[op], -1);
  }
  let level = 0;
  const steps = [...changes].sort(([a], [b]) => a - b).map(([at, by]) => ({ at, level: (level += by) }));
  const most = steps.reduce((high, step) => Math.max(high, step.level), 0);
  const name = "visible, not durable";
  if (most) groups.push({ kind: "level", name, label: name, design: number, unit, base: 30, rows: [[]], steps, most });
}

// Gives each group that is shown its place, with the rows that are in use between these times of its design. A group that is
// not shown has no height.
function arrange(groups, isShown, timesOf) {
  let top = 0;
  for (const group of groups) {
    group.isShown = isShown(group);
    group.top = top;
    if (!group.isShown) {
      group.tall = 0;
      continue;
    }
    group.used = rowsIn(group, ...timesOf(group.design));
    group.height = Math.min(group.base, Math.max(LEAST, Math.floor(HIGHEST / group.used.length)));
    group.tall = group.used.length * group.height;
    top += group.tall + (group.kind === "unit" || group.kind === "heading" ? 1 : 4);
  }
  return top;
}

function rowsIn({ rows }, from, to) {
  const used = [...rows.keys()].filter((row) => rows[row][firstBehind(rows[row], from)]?.begin <= to);
  return used.length ? used : [0];
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
