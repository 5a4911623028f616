// Reads the page's data: compressed JSON whose columns hold differences.

async function readData() {
  const packed = document.getElementById("data").textContent;
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const document_ = JSON.parse(await new Response(stream).text());
  document_.designs.forEach(decodeDesign);
  return document_;
}

const SUMMED = ["begin", "line", "epoch", "strand"];

function summed(column) {
  let sum = 0;
  return column.map((step) => (sum += step));
}

// Times of a row count from its beginning; -1 stands for never.
function absolute(table, ...names) {
  for (const name of names) {
    table[name] = table[name].map((time, row) => (time < 0 ? -1 : table.begin[row] + time));
  }
}

function decodeDesign(design) {
  for (const name of ["ops", "writes", "crossings", "stalls", "misses", "waits", "counts", "spans", "speculations"]) {
    const table = design[name];
    for (const column of SUMMED) if (table[column]) table[column] = summed(table[column]);
    table.length = table.begin.length;
  }
  absolute(design.ops, "ready", "left", "visible", "done", "durable");
  absolute(design.writes, "arrived", "accepted", "issued", "media");
  absolute(design.crossings, "device", "ready", "begins", "ends", "enters", "leaves", "arrives");
  for (const name of ["stalls", "misses", "waits", "spans", "speculations"]) absolute(design[name], "end");
}

// When a core stopped: its host failed, or the run was over.
function stopOf(design, core) {
  return design.failures.find(({ host }) => host === design.hosts[core])?.at ?? design.end;
}

// When an operation was over for its core; what never was lasts to the end.
function endOfOp(design, op) {
  const { ready, left, visible, done, line, kind, "void": isVoid } = design.ops;
  const name = design.names[kind[op]];
  if (isVoid[op]) return Math.max(ready[op], left[op]);
  if (line[op] >= 0 && isFlush(name)) return done[op] < 0 ? design.end : done[op];
  if (line[op] >= 0) return visible[op] < 0 ? design.end : visible[op];
  return Math.max(ready[op], left[op], done[op]);
}

function endOfWrite(design, write) {
  const { begin, arrived, accepted, media, into, refused } = design.writes;
  if (media[write] >= 0) return media[write];
  const last = Math.max(begin[write], arrived[write], accepted[write]);
  return into[write] >= 0 || refused[write] ? last : design.end;
}

function isFlush(kind) {
  return kind === "clwb" || kind === "clflushopt" || kind === "clflush";
}

// Whether a line's number is one of persistent memory.
const isPersistent = (line) => line >= 2 ** 34;

function address(design, line, offset) {
  const at = line * 64 + offset;
  const known = at < 2 ** 40 ? "dram+0x" + at.toString(16) : "pm+0x" + (at - 2 ** 40).toString(16);
  return design.locations[known] ?? known;
}
