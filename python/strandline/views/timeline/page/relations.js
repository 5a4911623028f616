// What an item waited for, what waited for it, and what it became part of: from the recorded waits, and from what
// carries what.

// A relation: {text, item: {kind, design, index}, cycles}.
function relations(data, item) {
  const design = data.designs[item.design];
  const found = { before: [], behind: [], way: [] };
  if (item.kind === "op") ofOp(design, item, found);
  if (item.kind === "write") ofWrite(design, item, found);
  if (item.kind in STRETCHES) ofCrossing(design, item, found);
  ofWaits(design, item, found);
  ofStalls(design, item, found);
  return found;
}

const link = (item, kind, index) => ({ kind, design: item.design, index });

// What a stall waited for, and the stalls that waited for anything else.
function ofStalls(design, item, { before, behind }) {
  const { stalls, names } = design;
  const cycles = (stall) => stalls.end[stall] - stalls.begin[stall];
  if (item.kind === "stall") before.push(...reasonsOf(design, item, cycles(item.index)));
  if (item.kind === "span") before.push(...stallsIn(design, item));
  const column = { op: stalls.op, write: stalls.write, miss: stalls.miss }[item.kind];
  for (let stall = 0; column && stall < stalls.length; stall++) {
    if (column[stall] !== item.index) continue;
    behind.push({ text: `dispatch of core ${stalls.core[stall]}`, item: link(item, "stall", stall), cycles: cycles(stall) });
  }
}

// The stalls of a core while something lasted, the longest first.
function stallsIn({ stalls, spans, names }, item) {
  const { begin, end } = item, found = [];
  for (let stall = 0; stall < stalls.length; stall++) {
    const cycles = overlap([begin, end], [stalls.begin[stall], stalls.end[stall]]);
    if (!cycles || stalls.core[stall] !== spans.core[item.index]) continue;
    found.push({ text: names[stalls.why[stall]], item: link(item, "stall", stall), cycles });
  }
  return found.sort((a, b) => b.cycles - a.cycles);
}

// The head of a store queue may itself have retired late, behind a miss.
function reasonsOf({ stalls, names }, item, cycles) {
  const text = names[stalls.why[item.index]];
  const found = ["op", "write", "miss"].filter((kind) => stalls[kind][item.index] >= 0);
  if (!found.length) return [{ text, item: null, cycles }];
  const linked = found.map((kind) => link(item, kind, stalls[kind][item.index]));
  return linked.map((to, place) => ({ text: place ? "it retired behind" : text, item: to, cycles }));
}

const STEPS = 8;

// From an item to what it waited for, to what that waited for, and so on: each with the cycles of the first item during
// which it went on.
function chainOf(data, first) {
  const design = data.designs[first.design];
  const { begin, end } = itemOf(design, first.design, first.kind, first.index);
  const [reason, ...more] = relations(data, first).before;
  const chain = [reason], seen = [first];
  for (let item = reason.item; item && chain.length < STEPS; ) {
    seen.push(item);
    const { before, way } = relations(data, item);
    const steps = item.kind === "op" ? [...before, ...way] : before;
    const during = steps.map((step) => ({ ...step, cycles: overlap([begin, end], step.span ?? spanOf(design, first, step.item)) }));
    const next = during.find((step) => step.cycles && !seen.some((known) => same(known, step.item)));
    if (next) chain.push(next);
    item = next?.item;
  }
  return [...chain, ...more.map((step) => ({ ...step, cycles: overlap([begin, end], spanOf(design, first, step.item)) }))];
}

function spanOf(design, { design: number }, { kind, index }) {
  const { begin, end } = itemOf(design, number, kind, index);
  return [begin, end];
}

const overlap = ([begin, end], [from, to]) => Math.max(0, Math.min(end, to) - Math.max(begin, from));

function ofOp(design, item, { before, behind, way }) {
  const { ops } = design;
  const op = item.index;
  if (ops.line[op] < 0) return ofFence(design, item, before);
  if (ops.write[op] >= 0) {
    const text = isFlush(design.names[ops.kind[op]]) ? "acknowledged with" : "carried by";
    const write = ops.write[op], { begin, accepted } = design.writes;
    way.push({ text, item: link(item, "write", write), span: [begin[write], accepted[write] < 0 ? design.end : accepted[write]] });
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
  const last = lastWrite(design, fence), found = [];
  for (let op = fence - 1; op >= 0 && found.length < MOST; op--) {
    if (ops.core[op] !== ops.core[fence] || ops.line[op] < 0 || ops.void[op] || !sameContext(design, fence, op)) continue;
    // A store may have to be durable: it is over with the write that let the fence go.
    const over = last >= 0 && ops.write[op] === last ? ops.done[fence] : Math.max(ops.left[op], ops.visible[op], ops.done[op]);
    if (over > ops.begin[fence]) found.push({ op, over, isFlush: isFlush(design.names[ops.kind[op]]) });
    else if (ops.begin[op] < ops.begin[fence] - 20000) break;
  }
  found.sort((a, b) => b.over - a.over || b.isFlush - a.isFlush);
  for (const { op, over } of found) {
    before.push({ text: "waited for", item: link(item, "op", op), cycles: over - ops.begin[fence], span: [ops.begin[fence], over] });
  }
}

// The write that ended the wait of a fence, or -1.
function lastWrite({ waits }, fence) {
  for (let wait = 0; wait < waits.length; wait++) {
    if (waits.op[wait] === fence && waits.byWrite[wait] >= 0) return waits.byWrite[wait];
  }
  return -1;
}

// A line on its way, with its other stretches and its write.
function ofCrossing({ crossings }, item, { way }) {
  const row = item.index;
  if (crossings.write[row] >= 0) way.push({ text: "is of", item: link(item, "write", crossings.write[row]) });
  for (const kind of Object.keys(STRETCHES)) {
    if (kind === item.kind || crossings[STRETCHES[kind][0]][row] < 0 || (kind === "read" && crossings.device[row] < 0)) continue;
    way.push({ text: "the same line", item: link(item, kind, row) });
  }
}

function ofWrite(design, item, { way }) {
  const { writes, ops, crossings } = design;
  const write = item.index, crossing = crossings.write.indexOf(write);
  if (crossing >= 0) way.push({ text: "crossed", item: link(item, "crossing", crossing) });
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
    const span = [waits.begin[wait], waits.end[wait] < 0 ? design.end : waits.end[wait]], cycles = span[1] - span[0];
    if (own[wait] === item.index) before.push({ text: names[waits.why[wait]], item: ended(item, waits, wait), cycles, span });
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
