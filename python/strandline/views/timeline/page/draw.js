// Draws what is visible of the groups, with the time above.

const RULER = 22;
let GUTTER = 150;

const SPAN_COLOURS = {
  task: "task", operation: "task", region: "region", aborted: "void", commit: "commit", runs: "lane", library: "library",
};

// The parts of an item: [begin, end, colour]; a part that never came ends nothing.
function partsOf(design, item) {
  const row = item.index;
  if (item.kind === "span") return [[item.begin, item.end, SPAN_COLOURS[design.names[design.spans.what[row]]]]];
  if (item.kind === "stall") return [[item.begin, item.end, design.names[design.stalls.cause[row]]]];
  if (item.kind === "miss") return [[item.begin, item.end, design.names[design.misses.source[row]]]];
  if (item.kind === "speculation") return [[item.begin, item.end, design.speculations.rolledBack[row] ? "void" : "spec"]];
  if (item.kind === "count") return [[item.begin, item.begin + 1, "text"]];
  if (item.kind === "crossing") {
    const { begins, ends } = design.crossings;
    return stages(item, [[item.begin, "held"], [begins[row], "link"], [ends[row], "way"]]);
  }
  if (item.kind === "switched" || item.kind === "read") return [[item.begin, item.end, item.kind]];
  if (item.kind === "write") {
    const { begin, arrived, accepted, issued, media } = design.writes;
    return stages(item, [[begin[row], "travel"], [arrived[row], "held"], [accepted[row], "wpq"], [issued[row], "media"], [media[row], ""]]);
  }
  const { line, begin, ready, left, "void": isVoid } = design.ops;
  if (isVoid[row]) return [[item.begin, item.end, "void"]];
  const last = line[row] < 0 ? "waits" : "flight";
  if (line[row] < 0 && left[row] < 0) return stages(item, [[begin[row], "execute"], [ready[row], last]]);
  return stages(item, [[begin[row], "execute"], [ready[row], "queue"], [left[row], last]]);
}

function stages(item, marks) {
  const come = marks.filter(([at]) => at >= 0);
  const end = (place) => Math.min(come[place + 1]?.[0] ?? item.end, item.end);
  return come.map(([at, colour], place) => [at, end(place), colour]).filter(([, , colour]) => colour);
}

function labelOf(design, item) {
  const row = item.index;
  if (item.kind === "span") {
    const what = design.names[design.spans.what[row]];
    return what === "runs" ? `lane ${design.spans.lane[row]}` : `${what} ${design.spans.number[row]}`;
  }
  if (item.kind === "stall") return `stall: ${STALLS[design.names[design.stalls.cause[row]]]}`;
  if (item.kind === "write") return `write w${row} of ${address(design, design.writes.line[row], 0)}`;
  if (item.kind === "miss") return missLabel(design, row);
  if (item.kind === "count") return design.names[design.counts.name[row]];
  if (item.kind in STRETCHES) return crossingLabel(design, item);
  if (item.kind === "speculation") return design.speculations.rolledBack[row] ? "rolled back" : "speculates";
  const { kind, line, offset } = design.ops;
  return design.names[kind[row]] + (line[row] < 0 ? "" : ` ${address(design, line[row], offset[row])}`);
}

const WHERE = { crossing: "on the link", switched: "in the switch", read: "at the device" };

function crossingLabel(design, { kind, index: row }) {
  const { write, line } = design.crossings;
  return `${write[row] < 0 ? "read" : `write w${write[row]}`} of ${address(design, line[row], 0)}, ${WHERE[kind]}`;
}

function missLabel({ misses, names, locations }, row) {
  const where = address({ locations }, 0, misses.addr[row]);
  if (names[misses.source[row]] === "tables") return `page walk for ${where}`;
  return `miss of ${where} to ${misses.owns[row] > 0 ? "write" : "read"}, from ${COLOURS[names[misses.source[row]]]}`;
}

const STALLS = {
  fence: "fence", buffer: "store queue or buffer full", window: "window full", redirect: "branch, fault or another core",
};

// What became of a host.
function fate({ failures, end }, host) {
  const failure = failures.find((one) => one.host === host);
  if (failure) return `fails at cycle ${at(failure.at)}`;
  const told = failures.filter((one) => one.told !== null && one.told <= end);
  return told.map((one) => `is told at cycle ${at(one.told)} that h${one.host} has failed`).join("; ");
}

class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
  }

  colour(name) {
    return (this.colours[name] ??= getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }

  // The colour that is read best upon another.
  ink(name) {
    const [red, green, blue] = [1, 3, 5].map((place) => parseInt(this.colour(name).slice(place, place + 2), 16));
    return 0.3 * red + 0.59 * green + 0.11 * blue > 130 ? "onLight" : "onDark";
  }

  paint(state) {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.colours = {};
    this.pen.font = "11px system-ui, sans-serif";
    this.pen.textBaseline = "middle";
    this.fill("back", 0, 0, width, height);
    for (const group of state.groups) this.group(state, group, width, height);
    this.failures(state, width, height);
    this.crashes(state, width, height);
    this.relations(state);
    this.ruler(state, width);
    if (state.dragged) this.band(...state.dragged, height);
  }

  // Where a host failed: a line through its rows, behind which it does nothing; and where the others were told, through theirs.
  failures(state, width, height) {
    state.data.designs.forEach((design, number) => {
      const hosts = state.groups.filter((group) => group.kind === "host" && group.design === number);
      for (const { host, at, told } of design.failures) {
        for (const group of hosts) {
          const time = group.host === host ? at : told;
          const own = state.groups.filter((other) => other === group || hostOf(other) === group);
          if (time !== null) this.cut(state, own, number, time, group.host === host, width, height);
        }
      }
    });
  }

  cut(state, groups, design, time, isEnd, width, height) {
    const [top, bottom] = [groups[0].top, groups.at(-1).top + groups.at(-1).tall].map((y) => RULER + y - state.view.scroll);
    const [from, to] = [Math.max(top, RULER), Math.min(bottom, height)], x = state.view.x(design, time);
    if (to <= from || x > width) return;
    if (isEnd) {
      this.pen.globalAlpha = 0.72;
      this.fill("back", Math.max(x, GUTTER), from, width - Math.max(x, GUTTER), to - from);
      this.pen.globalAlpha = 1;
    }
    if (x >= GUTTER) this.fill(isEnd ? "void" : "match", x - 1, from, isEnd ? 2 : 1, to - from);
  }

  // Where power failed: a line through the design's rows; what is behind it never was.
  crashes(state, width, height) {
    state.data.designs.forEach((design, number) => {
      if (!design.crash) return;
      const own = state.groups.filter((group) => group.design === number);
      const top = Math.max(RULER, RULER + own[0].top + own[0].tall - state.view.scroll);
      const bottom = Math.min(height, RULER + own.at(-1).top + own.at(-1).tall - state.view.scroll);
      const x = state.view.x(number, design.crash.at);
      if (bottom <= top || x > width) return;
      this.pen.globalAlpha = 0.72;
      this.fill("back", Math.max(x, GUTTER), top, width - Math.max(x, GUTTER), bottom - top);
      this.pen.globalAlpha = 1;
      if (x >= GUTTER) this.fill("void", x - 1, top, 2, bottom - top);
      if (!state.selected) this.order(state, design, number);
    });
  }

  // The order between stores: thick where it was broken or lacked.
  order(state, design, number) {
    for (const { kind, pair } of orderItems(design, number)) {
      const [one, other] = pair.map((item) => state.placeOf(item));
      if (one && other) this.arrow(state, one, other, kind === "kept" ? "dim" : "void", kind === "kept" ? 1 : 2.5);
    }
  }

  arrow(state, one, other, colour, width) {
    const x = (place) => state.view.x(place.item.design, place.item.end);
    const y = (place) => RULER + place.y - state.view.scroll;
    this.clipped(() => {
      const { pen } = this, head = 2 + 2 * width;
      pen.strokeStyle = pen.fillStyle = this.colour(colour);
      pen.lineWidth = width;
      pen.beginPath();
      pen.moveTo(x(one), y(one));
      pen.quadraticCurveTo(Math.min(x(one), x(other)) - 14, (y(one) + y(other)) / 2, x(other) - head, y(other));
      pen.stroke();
      pen.beginPath();
      pen.moveTo(x(other), y(other));
      pen.lineTo(x(other) - head, y(other) - head / 2);
      pen.lineTo(x(other) - head, y(other) + head / 2);
      pen.fill();
    });
  }

  // Draws nothing left of the rows, and nothing above them.
  clipped(draw) {
    this.pen.save();
    this.pen.beginPath();
    this.pen.rect(GUTTER, RULER, 1e5, 1e5);
    this.pen.clip();
    draw();
    this.pen.restore();
  }

  fill(colour, x, y, width, height) {
    this.pen.fillStyle = this.colour(colour);
    this.pen.fillRect(x, y, width, height);
  }

  group(state, group, width, height) {
    const top = RULER + group.top - state.view.scroll;
    if (!group.isShown || top > height || top + group.tall < RULER) return;
    if (group.kind === "heading") return this.heading(state, group, top, width);
    if (group.kind === "host") return this.text(fate(state.data.designs[group.design], group.host), GUTTER, top + group.tall / 2, "dim", width - GUTTER - 8);
    if (group.kind === "unit") return state.isClosed(group) && this.strip(state, group, top, width, height);
    this.fill("band", GUTTER, top, width - GUTTER, group.tall);
    this.pen.save();
    this.pen.beginPath();
    this.pen.rect(GUTTER, RULER, width - GUTTER, height);
    this.pen.clip();
    const times = state.view.times(group.design, width - GUTTER);
    if (group.kind === "level") this.level(state, group, top, times);
    group.used.forEach((row, place) => this.row(state, group, group.rows[row], top + place * group.height, group.height, times));
    this.pen.restore();
    this.text(group.label, 22, Math.max(top, RULER) + Math.min(group.tall, 15) / 2, "dim", GUTTER - 26);
  }

  // A closed core is a row with its stalls, a closed controller one with its writes.
  strip(state, group, top, width, height) {
    this.fill("band", GUTTER, top, width - GUTTER, group.tall);
    this.pen.save();
    this.pen.beginPath();
    this.pen.rect(GUTTER, RULER, width - GUTTER, height);
    this.pen.clip();
    this.row(state, group, group.strip, top, group.tall, state.view.times(group.design, width - GUTTER));
    this.pen.restore();
  }

  heading(state, group, top, width) {
    const design = state.data.designs[group.design];
    this.fill("rule", 0, top + 1, width, 1);
    const shown = Object.entries(design.shown).filter(([, value]) => value != null);
    const counts = shown.map(([key, value]) => `${key.replaceAll("_", " ")} ${value.toLocaleString("en")}`);
    const why = design.why ? [`cycles: ${design.why}`] : [];
    this.text([...why, ...counts].join(" · "), GUTTER, top + 13, "dim", width - GUTTER - 8);
  }

  text(text, x, y, colour, most) {
    this.pen.fillStyle = this.colour(colour);
    let shown = text;
    while (shown.length > 3 && this.pen.measureText(shown).width > most) shown = shown.slice(0, -4) + "…";
    this.pen.fillText(shown, x, y);
  }

  row(state, group, row, top, tall, [from, last]) {
    const design = state.data.designs[group.design];
    const x = (time) => state.view.x(group.design, time);
    let painted = -1;
    for (let index = firstBehind(row, from); index < row.length && row[index].begin < last; index++) {
      const item = row[index];
      const right = Math.max(x(item.end), x(item.begin) + 1);
      if (right <= painted) {
        // Nothing shows of those, either, that end where something is painted.
        index = Math.max(index, firstBehind(row, from + (painted - GUTTER) / state.view.scale) - 1);
        continue;
      }
      this.item(design, item, x, right, top, tall);
      painted = Math.floor(right);
    }
    this.frames(state, group, row, x, top, tall, [from, last]);
  }

  item(design, item, x, right, top, tall) {
    const parts = partsOf(design, item);
    for (const [begin, end, colour] of parts) {
      const left = Math.max(x(begin), GUTTER - 2);
      if (end > begin || item.kind === "count") this.fill(colour, left, top + 1, Math.max(x(end) - left, 1), tall - (tall > 5 ? 2 : 1));
    }
    if (tall === TALL && right - x(item.begin) > 46) {
      const left = Math.max(x(item.begin), GUTTER) + 3;
      this.text(labelOf(design, item), left, top + tall / 2, this.ink(parts.at(-1)[2]), right - left - 4);
    }
  }

  // Frames around what was found, what is at the pointer, and what is selected.
  frames(state, group, row, x, top, tall, [from, last]) {
    const frame = (item, colour) => this.frame(colour, x(item.begin), top, Math.max(x(item.end), x(item.begin) + 1), tall);
    for (let index = firstBehind(row, from); state.search.matched.size && index < row.length && row[index].begin < last; index++) {
      if (state.search.matched.has(row[index])) frame(row[index], "match");
    }
    for (const [item, colour] of [[state.hovered, "text"], [state.selected, "select"]]) {
      const place = item && state.placeOf(item);
      if (place?.group === group && group.rows[place.row] === row) frame(item, colour);
    }
  }

  // A number over time, as steps below the most that it was.
  level(state, group, top, [from, last]) {
    const x = (time) => state.view.x(group.design, time);
    const { steps, most } = group;
    let low = 0;
    while (low + 1 < steps.length && steps[low + 1].at < from) low++;
    let painted = -1, highest = 0;
    for (let index = low; index < steps.length && steps[index].at < last; index++) {
      const right = x(steps[index + 1]?.at ?? last);
      highest = Math.max(highest, steps[index].level);
      if (right < painted + 1) continue;
      const tall = (group.height - 2) * highest / most;
      // Whole pixels, so that no seam shows between steps.
      const left = Math.floor(Math.max(x(steps[index].at), painted, GUTTER));
      this.fill("durable", left, top + group.height - 1 - tall, Math.max(Math.ceil(right) - left, 1), tall);
      [painted, highest] = [right, 0];
    }
    this.text(`at most ${most}`, 22, top + 22, "dim", GUTTER - 26);
  }

  frame(colour, left, top, right, tall) {
    this.pen.strokeStyle = this.colour(colour);
    this.pen.lineWidth = 2;
    this.pen.strokeRect(left - 1, top, Math.max(right - left, 2) + 2, tall);
  }

  // Lines from the selected item to what it waited for, and from what waited for it.
  relations(state) {
    // A task has too many.
    if (!state.selected || state.selected.kind === "span") return;
    const at = state.placeOf(state.selected);
    if (!at) return;
    const { before, behind, way } = state.related;
    for (const [list, colour] of [[way, "dim"], [before, "fence"], [behind, "match"]]) {
      for (const { item } of list.slice(0, MOST)) {
        const other = item && state.placeOf(item);
        if (other) this.line(state, at, other, colour);
      }
    }
  }

  line(state, one, other, colour) {
    const x = (place, time) => state.view.x(place.item.design, time);
    const y = (place) => RULER + place.y - state.view.scroll;
    const met = Math.min(one.item.end, other.item.end);
    const [a, b] = [one, other].map((place) => x(place, Math.max(met, place.item.begin)));
    this.clipped(() => {
      this.pen.strokeStyle = this.colour(colour);
      this.pen.lineWidth = 1.2;
      this.pen.beginPath();
      this.pen.moveTo(a, y(one));
      this.pen.bezierCurveTo(a + 24, y(one), b + 24, y(other), b, y(other));
      this.pen.stroke();
    });
  }

  // Times that the pointer passes over on the ruler.
  band(one, other, height) {
    this.pen.globalAlpha = 0.2;
    this.fill("match", Math.min(one, other), 0, Math.abs(other - one), height);
    this.pen.globalAlpha = 1;
  }

  ruler(state, width) {
    const { from, scale, aligned } = state.view;
    const last = from + (width - GUTTER) / scale;
    this.fill("panel", 0, 0, width, RULER);
    const rough = 110 / scale;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, power * [1, 2, 5, 10].find((times) => times * power >= rough));
    this.text(aligned ? `cycle of ${aligned}` : "cycle", 8, RULER / 2, "dim", GUTTER - 8);
    for (let time = Math.ceil(from / step) * step; time <= last; time += step) {
      const x = GUTTER + (time - from) * scale;
      this.fill("rule", x, 0, 1, RULER);
      this.text((Math.round(time) || 0).toLocaleString("en"), x + 4, RULER / 2, "dim", 100);
    }
  }
}

function same(one, other) {
  return other && one.kind === other.kind && one.index === other.index && one.design === other.design;
}
