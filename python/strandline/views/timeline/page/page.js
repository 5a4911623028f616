// The page: what is shown and selected, and how keys, mouse and search change it.

const LEGEND = {
  task: "task", region: "region", commit: "commit", fence: "stall or wait at a fence", buffer: "stall: buffer full", window: "stall: window full",
  redirect: "stall: branch, fault, other core", durable: "stores visible, not durable", execute: "executes", queue: "in the store queue", flight: "flush or kept store on its way",
  travel: "write to its controller", held: "write waits there", wpq: "in the write queue", media: "at the media", spec: "speculates", "void": "rolled back",
};

const NOTHING = { before: [], behind: [], way: [] };

class Page {
  constructor(data) {
    this.data = data;
    this.layout = layOut(data);
    this.canvas = document.getElementById("canvas");
    this.painter = new Painter(this.canvas);
    this.panel = document.getElementById("details");
    this.search = document.getElementById("search");
    this.begin = Math.min(...data.designs.map((design) => design.part[0]));
    this.end = Math.max(this.begin + 1, ...data.designs.map((design) => design.part[1]));
    Object.assign(this, { from: 0, scale: 1, scroll: 0, selected: null, matches: [], match: -1, matched: new Set(), related: NOTHING });
    this.places = new Map();
    for (const group of this.layout.groups) {
      group.rows.forEach((row, place) => row.forEach((item) => {
        this.places.set(key(item), { item, group, row, y: group.top + (place + 0.5) * group.height, begin: item.begin, end: item.end });
      }));
    }
    this.listen();
    this.fit();
    this.select(null);
  }

  placeOf(item) {
    return this.places.get(key(item));
  }

  get width() {
    return Math.max(this.canvas.clientWidth - GUTTER, 50);
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.painter.paint(this);
    });
  }

  fit() {
    this.scale = this.width / (this.end - this.begin);
    this.move(this.begin - this.from, 0);
  }

  move(time, down) {
    const visible = this.width / this.scale;
    this.from = Math.min(Math.max(this.from + time, this.begin - 0.1 * visible), Math.max(this.end - 0.5 * visible, this.begin));
    const most = Math.max(0, this.layout.height + RULER + 20 - this.canvas.clientHeight);
    this.scroll = Math.min(Math.max(this.scroll + down, 0), most);
    this.redraw();
  }

  zoom(factor, x = GUTTER + this.width / 2) {
    const time = this.from + (x - GUTTER) / this.scale;
    this.scale = Math.min(Math.max(this.scale * factor, 0.5 * this.width / (this.end - this.begin)), 40);
    this.move(time - (x - GUTTER) / this.scale - this.from, 0);
  }

  select(item, show = true) {
    const place = item && this.placeOf(item);
    this.selected = place ? place.item : null;
    this.related = this.selected ? relations(this.data, this.selected) : NOTHING;
    describe(this.panel, this, (other) => this.select(other));
    if (this.selected && show) this.show(place);
    this.redraw();
  }

  // Brings a place into view, as wide as it is readable.
  show(place, closely = false) {
    const long = Math.max(place.end - place.begin, 40);
    const pixels = (place.end - place.begin) * this.scale;
    if (closely || pixels < 6 || pixels > 2 * this.width) this.scale = Math.min(this.width / (long * 6), 40);
    const left = (place.begin - this.from) * this.scale, right = (place.end - this.from) * this.scale;
    if (closely || left < 0 || right > this.width) this.from = place.begin - (this.width / this.scale - long) / 2;
    const y = RULER + place.y - this.scroll;
    if (y < RULER + 20 || y > this.canvas.clientHeight - 20) this.scroll = place.y - this.canvas.clientHeight / 2;
    this.move(0, 0);
  }

  neighbour(step) {
    if (!this.selected) {
      const first = this.layout.groups.find((group) => group.kind === "op" && group.label.includes("persists"));
      const any = first ?? this.layout.groups.find((group) => group.all);
      return any && this.select(any.all.find((item) => item.end >= this.from) ?? any.all[0]);
    }
    const { all } = this.placeOf(this.selected).group;
    const next = all[all.indexOf(this.selected) + step];
    if (next) this.select(next);
  }

  follow(list) {
    const next = list.find(({ item }) => item && this.placeOf(item));
    if (next) this.select(next.item);
  }

  itemAt(x, y) {
    const time = this.from + (x - GUTTER) / this.scale, down = y - RULER + this.scroll;
    const near = 4 / this.scale;
    const group = this.layout.groups.find((one) => one.all && one.top <= down && down < one.top + one.rows.length * one.height);
    if (!group || x < GUTTER || y < RULER) return null;
    const row = group.rows[Math.floor((down - group.top) / group.height)];
    const item = row[firstBehind(row, time - near)];
    return item && item.begin <= time + near ? item : null;
  }

  find(step) {
    const text = this.search.value.trim().toLowerCase();
    if (text !== this.sought) {
      this.sought = text;
      this.matches = text ? [...this.places.values()].map(({ item }) => item).filter((item) => this.says(item, text)) : [];
      this.matches.sort((a, b) => a.begin - b.begin);
      this.matched = new Set(this.matches);
      this.match = -1;
    }
    const count = this.matches.length;
    if (count && step) {
      this.match = this.match < 0 ? (step > 0 ? 0 : count - 1) : (this.match + step + count) % count;
      this.select(this.matches[this.match]);
    }
    document.getElementById("found").textContent = !text ? "" : this.match >= 0 ? `${this.match + 1} of ${count}` : count ? `${count} found` : "no match";
    this.redraw();
  }

  // Whether an item's label has the text; `w12` and `op 12` are one write and one operation.
  says(item, text) {
    if (/^w\d+$/.test(text)) return item.kind === "write" && `w${item.index}` === text;
    if (/^op \d+$/.test(text)) return item.kind === "op" && `op ${item.index}` === text;
    const label = labelOf(this.data.designs[item.design], item).toLowerCase();
    return /^[a-z]+ \d+$/.test(text) ? label === text : label.includes(text);
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.drag(event));
    document.addEventListener("keydown", (event) => this.press(event));
    this.search.addEventListener("input", () => this.find(0));
    new ResizeObserver(() => this.move(0, 0)).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.theme(null));
    const click = (id, act) => document.getElementById(id).addEventListener("click", act);
    click("in", () => this.zoom(1.5));
    click("out", () => this.zoom(1 / 1.5));
    click("fit", () => this.fit());
    click("theme", () => this.theme());
    click("help", () => this.help());
    const legend = document.getElementById("legend");
    for (const [colour, text] of Object.entries(LEGEND)) {
      const entry = element("span", null, legend);
      element("i", null, entry).style.background = `var(--${colour})`;
      entry.append(text);
    }
  }

  theme(wanted = document.documentElement.dataset.theme === "dark" ? "light" : "dark") {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    document.documentElement.dataset.theme = wanted ?? system;
    this.redraw();
  }

  help() {
    const keys = document.getElementById("keys");
    if (keys.open) keys.close();
    else keys.showModal();
  }

  wheel(event) {
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(-event.deltaY / 300), event.offsetX);
    else if (event.shiftKey) this.move((event.deltaY || event.deltaX) / this.scale, 0);
    else this.move(event.deltaX / this.scale, event.deltaY);
  }

  drag(event) {
    const begin = { x: event.offsetX, y: event.offsetY };
    let last = begin, moved = false;
    this.canvas.setPointerCapture(event.pointerId);
    const onMove = (next) => {
      moved ||= Math.abs(next.offsetX - begin.x) + Math.abs(next.offsetY - begin.y) > 4;
      if (moved) this.move((last.x - next.offsetX) / this.scale, last.y - next.offsetY);
      last = { x: next.offsetX, y: next.offsetY };
    };
    const onUp = () => {
      this.canvas.removeEventListener("pointermove", onMove);
      if (!moved) this.select(this.itemAt(begin.x, begin.y), false);
    };
    this.canvas.addEventListener("pointermove", onMove);
    this.canvas.addEventListener("pointerup", onUp, { once: true });
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById("keys").open) return;
    if (event.target === this.search) {
      if (event.key === "Enter") this.find(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") this.canvas.focus();
      return;
    }
    const act = this.keys()[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  keys() {
    const step = this.width / this.scale / 5, tall = this.canvas.clientHeight;
    return {
      w: () => this.zoom(1.5), "+": () => this.zoom(1.5), "=": () => this.zoom(1.5),
      s: () => this.zoom(1 / 1.5), "-": () => this.zoom(1 / 1.5),
      a: () => this.move(-step, 0), ArrowLeft: () => this.move(-step, 0),
      d: () => this.move(step, 0), ArrowRight: () => this.move(step, 0),
      ArrowUp: () => this.move(0, -60), ArrowDown: () => this.move(0, 60),
      PageUp: () => this.move(0, -tall * 0.8), PageDown: () => this.move(0, tall * 0.8),
      Home: () => this.move(this.begin - this.from, 0), End: () => this.move(this.end, 0),
      0: () => this.fit(), f: () => this.selected && this.show(this.placeOf(this.selected), true),
      ",": () => this.neighbour(-1), ".": () => this.neighbour(1),
      "[": () => this.follow([...this.related.before, ...this.related.way]), "]": () => this.follow(this.related.behind),
      "/": () => this.search.focus(), t: () => this.theme(), "?": () => this.help(), Escape: () => this.select(null),
    };
  }
}

const key = (item) => `${item.design} ${item.kind} ${item.index}`;

readData().then((data) => {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme ??= system;
  window.timeline = new Page(data);
  document.documentElement.dataset.ready = "yes";
});
