// What an item waited for, what waited for it, and what it became part of: from the recorded waits, and from what
// carries what.

// A relation: {text, item: {kind, design, index}, cycles}.
function relations(data, item) {
  const design = data.designs[item.design];
  const found = { before: [], behind: [], way: [] };
  if (item.kind === "op") ofOp(design, item, found);
  if (item.kind === "write") ofWrite(design, item, found);
  ofWaits(design, item, found);
  return found;
}

const link = (item, kind, index) => ({ kind, design: item.design, index });

function ofOp(design, item, { before, behind, way }) {
  const { ops } = design;
  const op = item.index;
  if (ops.line[op] < 0) return ofFence(design, item, before);
  if (ops.write[op] >= 0) {
    const text = isFlush(design.names[ops.kind[op]]) ? "acknowledged with" : "carried by";
    way.push({ text, item: link(item, "write", ops.write[op]) });
  }
  // Fences that found this flush, or this store, unfinished.
  const over = Math.max(ops.left[op], ops.visible[op], ops.done[op]);
  for (const fence of fencesBehind(design, op, over)) {
    behind.push({ text: "held", item: link(item, "op", fence), cycles: over - ops.begin[fence] });
  }
}

// The fences held in the core's window that were dispatched behind an operation, before it was over.
function fencesBehind(design, op, over) {
  const { ops } = design;
  const found = [];
  for (let next = op + 1; next < ops.length && ops.begin[next] <= over; next++) {
    const held = ops.line[next] < 0 && ops.done[next] > ops.begin[next];
    if (held && ops.core[next] === ops.core[op] && sameContext(design, next, op)) found.push(next);
  }
  return found;
}

function sameContext(design, fence, op) {
  const { ops, names } = design;
  return !names[ops.kind[fence]].startsWith("cfence") || ops.context[fence] === ops.context[op];
}

const MOST = 40;

function ofFence(design, item, before) {
  const { ops } = design;
  const fence = item.index;
  if (ops.done[fence] < 0) return;
  const found = [];
  for (let op = fence - 1; op >= 0 && found.length < MOST; op--) {
    if (ops.core[op] !== ops.core[fence] || ops.line[op] < 0 || ops.void[op] || !sameContext(design, fence, op)) continue;
    const over = Math.max(ops.left[op], ops.visible[op], ops.done[op]);
    if (over > ops.begin[fence]) found.push({ op, over });
    else if (ops.begin[op] < ops.begin[fence] - 20000) break;
  }
  found.sort((a, b) => b.over - a.over);
  for (const { op, over } of found) {
    before.push({ text: "waited for", item: link(item, "op", op), cycles: over - ops.begin[fence] });
  }
}

function ofWrite(design, item, { way }) {
  const { writes, ops } = design;
  const write = item.index;
  if (writes.into[write] >= 0) way.push({ text: "coalesced into", item: link(item, "write", writes.into[write]) });
  for (let other = write + 1; other < writes.length && other < write + 2000; other++) {
    if (writes.into[other] === write) way.push({ text: "took in", item: link(item, "write", other) });
  }
  for (let op = 0; op < ops.length; op++) {
    if (ops.write[op] === write) {
      const text = isFlush(design.names[ops.kind[op]]) ? "acknowledges" : "carries";
      way.push({ text, item: link(item, "op", op) });
    }
  }
}

function ofWaits(design, item, { before, behind }) {
  const { waits, names } = design;
  const own = item.kind === "op" ? waits.op : item.kind === "write" ? waits.write : null;
  const by = item.kind === "op" ? waits.byOp : item.kind === "write" ? waits.byWrite : null;
  if (!own) return;
  for (let wait = 0; wait < waits.length; wait++) {
    const cycles = (waits.end[wait] < 0 ? design.end : waits.end[wait]) - waits.begin[wait];
    if (own[wait] === item.index) before.push({ text: names[waits.why[wait]], item: ended(item, waits, wait), cycles });
    if (by[wait] === item.index) {
      behind.push({ text: whoWaits(design, wait), item: waiter(item, waits, wait), cycles });
    }
  }
}

function whoWaits({ waits, names }, wait) {
  const who = names[waits.who[wait]], core = waits.core[wait];
  if (who === "core") return `core ${core}`;
  return core < 0 ? who : `${who} of core ${core}`;
}

function ended(item, waits, wait) {
  if (waits.byOp[wait] >= 0) return link(item, "op", waits.byOp[wait]);
  return waits.byWrite[wait] >= 0 ? link(item, "write", waits.byWrite[wait]) : null;
}

function waiter(item, waits, wait) {
  if (waits.op[wait] >= 0) return link(item, "op", waits.op[wait]);
  return waits.write[wait] >= 0 ? link(item, "write", waits.write[wait]) : null;
}
