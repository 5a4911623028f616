// Lays designs out in groups of rows. In a row nothing overlaps, so that the visible part is found by bisection.

const TALL = 15, LOW = 9, LEAST = 2, HEADING = 24, UNIT = 14;
// A group of rows is as high as this at most, as long as its rows are no lower than they may be.
const HIGHEST = 84;

// A group: {kind, name, label, design, unit, base, rows: [[item…]…]}; an item: {kind, design, index, begin, end}. The
// groups of a core, a link, a switch or a controller are one unit, below a group of kind `unit`. Where there are several
// hosts, the units of each are below a group of kind `host`.
function groupsOf(data) {
  const groups = [];
  data.designs.forEach((design, number) => {
    groups.push({ kind: "heading", label: design.name, design: number, id: `${number}`, rows: [[]], base: HEADING });
    const hosts = [...new Set(design.hosts)];
    for (const host of hosts) addHost(groups, design, number, host, hosts.length > 1);
    addSwitch(groups, design, number);
    for (const controller of design.controllers) addController(groups, design, number, controller);
    const counts = items(design, number, "count", () => true);
    addGroup(groups, { name: "counted by the design", kind: "count", design: number, base: LOW, isFlat: true }, counts);
  });
  return groups;
}

// A host's cores and its link.
function addHost(groups, design, number, host, isNamed) {
  const label = `host h${host}`;
  const group = isNamed ? { kind: "host", label, host, design: number, id: `${number} ${label}`, rows: [[]], base: UNIT } : null;
  if (group) groups.push(group);
  design.hosts.forEach((of, core) => of === host && addCore(groups, design, number, core, group));
  const { crossings } = design;
  const of = (back) => items(design, number, "crossing", (row) => crossings.host[row] === host && crossings.back[row] === back);
  const [out, back] = [of(0), of(1)];
  if (!out.length && !back.length) return;
  const unit = addUnit(groups, number, `link${isNamed ? ` of h${host}` : ""}`, group);
  addGroup(groups, { name: "to the device", kind: "crossing", design: number, base: LOW, unit }, out);
  addGroup(groups, { name: "from the device", kind: "crossing", design: number, base: LOW, unit }, back);
  unit.strip = [...out, ...back].sort((a, b) => a.begin - b.begin);
}

// What is in the switch between links and device.
function addSwitch(groups, design, number) {
  const found = items(design, number, "switched", (row) => design.crossings.enters[row] >= 0);
  if (!found.length) return;
  const unit = addUnit(groups, number, "switch");
  addGroup(groups, { name: "in the switch", kind: "switched", design: number, base: LOW, unit }, found);
  unit.strip = found;
}

function addUnit(groups, number, label, host = null) {
  const unit = { kind: "unit", label, host, design: number, id: `${number} ${label}`, rows: [[]], base: UNIT, strip: [] };
  groups.push(unit);
  return unit;
}

function addCore(groups, design, number, core, host) {
  const of = (kind, table, test = () => true) =>
    items(design, number, kind, (row) => table.core[row] === core && test(row));
  const span = (...kinds) => of("span", design.spans, (row) => kinds.includes(design.names[design.spans.what[row]]));
  const { line } = design.ops;
  const unit = addUnit(groups, number, `core ${core}`, host);
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
  const { crossings } = design;
  const unit = addUnit(groups, number, `${crossings.length ? "device, " : ""}controller ${controller}`);
  const isRead = (row) => crossings.controller[row] === controller && crossings.device[row] >= 0;
  addGroup(groups, { name: "reads", kind: "read", design: number, base: LOW, unit }, items(design, number, "read", isRead));
  const found = items(design, number, "write", (row) => design.writes.controller[row] === controller);
  addGroup(groups, { name: "writes", kind: "write", design: number, base: LOW, unit }, found);
  unit.strip = found;
}

const TABLES = {
  op: "ops", write: "writes", stall: "stalls", miss: "misses", wait: "waits", count: "counts", span: "spans", speculation: "speculations",
  crossing: "crossings", switched: "crossings", read: "crossings",
};
// Of a line on its way, when it crosses the link, is in the switch, and is read by the device.
const STRETCHES = { crossing: ["ready", "arrives"], switched: ["enters", "leaves"], read: ["device", "ready"] };

function beginOf(design, kind, row) {
  const table = design[TABLES[kind]];
  return table[STRETCHES[kind]?.[0] ?? "begin"][row];
}

function endOf(design, kind, row) {
  if (kind === "op") return endOfOp(design, row);
  if (kind === "write") return endOfWrite(design, row);
  if (kind === "count") return design.counts.begin[row];
  if (kind === "crossing") return Math.max(design.crossings.ends[row], design.crossings.arrives[row]);
  const end = design[TABLES[kind]][STRETCHES[kind]?.[1] ?? "end"][row];
  return end < 0 ? design.end : end;
}

function items(design, number, kind, test) {
  const table = design[TABLES[kind]];
  const found = [];
  for (let row = 0; row < table.length; row++) {
    if (!test(row)) continue;
    const item = itemOf(design, number, kind, row);
    if (item.begin <= item.end) found.push(item);
  }
  return found.sort((a, b) => a.begin - b.begin || a.index - b.index);
}

// What a core did ends where its host fails.
function itemOf(design, number, kind, row) {
  const core = kind === "write" ? -1 : design[TABLES[kind]].core?.[row] ?? -1;
  const end = endOf(design, kind, row);
  return { kind, design: number, index: row, begin: beginOf(design, kind, row), end: core < 0 ? end : Math.min(end, stopOf(design, core)) };
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
    top += group.tall + (["unit", "host", "heading"].includes(group.kind) ? 1 : 4);
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
