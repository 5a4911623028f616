// What part of the time is shown: zoom, the way back, and designs side by side. A design's times are shifted by `shifts`,
// so that a task begins at one place in all of them.

class View {
  constructor(data) {
    this.designs = data.designs;
    Object.assign(this, { from: 0, scale: 1, scroll: 0, shifts: data.designs.map(() => 0), aligned: null });
    this.past = [];
    this.future = [];
  }

  get begin() {
    return Math.min(...this.designs.map((design, number) => design.part[0] - this.shifts[number]));
  }

  get end() {
    return Math.max(this.begin + 1, ...this.designs.map((design, number) => design.part[1] - this.shifts[number]));
  }

  // Where a time of a design is on the canvas.
  x(design, time) {
    return GUTTER + (time - this.shifts[design] - this.from) * this.scale;
  }

  // The times of a design that are shown.
  times(design, width) {
    const from = this.from + this.shifts[design];
    return [from, from + width / this.scale];
  }

  // Times of a design fill the width, but for the margins.
  show(design, begin, end, width, margin = 0.02) {
    const long = Math.max(end - begin, 4);
    this.scale = Math.min((width * (1 - 2 * margin)) / long, MOST_SCALE);
    this.from = begin - this.shifts[design] - (width / this.scale - (end - begin)) / 2;
  }

  kept() {
    const { from, scale, scroll, shifts, aligned } = this;
    return { from, scale, scroll, shifts, aligned };
  }
}

const MOST_SCALE = 40;

// The row of the same task in each design that has it: of the same core, with the same number.
function sameTask(data, item) {
  const task = item && taskRow(data.designs[item.design], item);
  if (task == null) return [];
  const { core, number, what } = data.designs[item.design].spans;
  const wanted = data.designs[item.design].names[what[task]];
  const found = [];
  data.designs.forEach((design, index) => {
    const { spans, names } = design;
    for (let row = 0; row < spans.length; row++) {
      if (spans.core[row] !== core[task] || spans.number[row] !== number[task] || names[spans.what[row]] !== wanted) continue;
      found.push(itemOf(design, index, "span", row));
      return;
    }
  });
  return found;
}

// The row of the task that an item is, or in which it began.
function taskRow(design, item) {
  const { spans, names } = design;
  const isTask = (row) => ["task", "operation"].includes(names[spans.what[row]]);
  if (item.kind === "span") return isTask(item.index) ? item.index : null;
  const core = design[TABLES[item.kind]].core?.[item.index] ?? -1;
  return core < 0 ? null : taskAt(design, core, itemOf(design, item.design, item.kind, item.index).begin);
}

// The task that a core was in.
function taskAt({ spans, names }, core, time) {
  let runs = null, first = null;
  const inside = [];
  for (let row = 0; row < spans.length; row++) {
    if (spans.core[row] !== core || spans.begin[row] > time || (spans.end[row] >= 0 && spans.end[row] < time)) continue;
    const what = names[spans.what[row]];
    if (what === "runs") runs ??= row;
    else if (what === "task" || what === "operation") inside.push(row);
  }
  first = inside.find((row) => runs === null || spans.lane[row] === spans.lane[runs]);
  return first ?? null;
}
