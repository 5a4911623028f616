// The page: what is shown and selected.

const NOTHING = { before: [], behind: [], way: [] };

class Page {
  constructor(data) {
    this.data = data;
    this.groups = groupsOf(data);
    this.canvas = document.getElementById("canvas");
    this.painter = new Painter(this.canvas);
    this.panel = document.getElementById("details");
    this.view = new View(data);
    Object.assign(this, { selected: null, hovered: null, related: NOTHING, hidden: new Set(), closed: new Set() });
    this.places = new Map();
    for (const group of this.groups) {
      group.rows.forEach((row, place) => row.forEach((item) => this.places.set(key(item), { item, group, row: place })));
    }
    this.legend = new Legend(document.getElementById("legend"), this, (name) => this.hide(name));
    this.labels = new Labels(document.getElementById("labels"), this);
    this.search = new Search(this);
    this.input = new Input(this);
    this.listen();
    this.resized();
    this.fit();
    this.closeWhatIsTooMuch();
    this.select(null);
  }

  // The place of an item that is shown.
  placeOf(item) {
    const known = this.places.get(key(item));
    const place = known?.group.isShown ? known.group.used.indexOf(known.row) : -1;
    return place < 0 ? null : { ...known, y: known.group.top + (place + 0.5) * known.group.height };
  }

  get width() {
    return Math.max(this.canvas.clientWidth - GUTTER, 50);
  }

  get height() {
    return this.canvas.clientHeight - RULER;
  }

  isClosed(group) {
    return this.closed.has(group.id);
  }

  isShown(group) {
    if (group.kind === "heading") return true;
    if (this.closed.has(`${group.design}`)) return false;
    const host = hostOf(group);
    if (host && this.isClosed(host)) return false;
    return !this.hidden.has(group.name) && !(group.unit && this.isClosed(group.unit));
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.painter.paint(this);
      this.labels.show();
    });
  }

  // Gives rows their places; what is at the pointer's or the selection's height stays there.
  arrange(anchor = this.placeOf(this.hovered ?? this.selected ?? { kind: "none" })?.group) {
    const before = anchor && anchor.top - this.view.scroll;
    this.tall = arrange(this.groups, (group) => this.isShown(group), (design) => this.view.times(design, this.width));
    if (anchor) this.view.scroll = anchor.top - before;
    this.view.scroll = Math.min(Math.max(this.view.scroll, 0), Math.max(0, this.tall + 12 - this.height));
    this.redraw();
  }

  move(time, down) {
    const { view } = this;
    const visible = this.width / view.scale;
    view.from = Math.min(Math.max(view.from + time, view.begin - 0.1 * visible), Math.max(view.end - 0.5 * visible, view.begin));
    view.scroll += down;
    this.arrange(down ? null : undefined);
  }

  fit() {
    this.view.scale = this.width / (this.view.end - this.view.begin);
    this.view.from = this.view.begin;
    this.move(0, 0);
  }

  // Zooms at a place of the canvas: unless one is given, at the selection if that is in view, or else in the middle.
  zoom(factor, x = this.middle()) {
    const { view } = this;
    const time = view.from + (x - GUTTER) / view.scale;
    view.scale = Math.min(Math.max(view.scale * factor, (0.5 * this.width) / (view.end - view.begin)), MOST_SCALE);
    this.move(time - (x - GUTTER) / view.scale - view.from, 0);
  }

  middle() {
    const { selected } = this;
    const x = selected && this.view.x(selected.design, (selected.begin + selected.end) / 2);
    return x >= GUTTER && x <= this.canvas.clientWidth ? x : GUTTER + this.width / 2;
  }

  zoomTo(item) {
    if (!item) return;
    this.keep();
    this.view.show(item.design, item.begin, item.end, this.width, 0.2);
    this.move(0, 0);
  }

  zoomBetween(one, other) {
    if (Math.abs(other - one) < 5) return;
    this.keep();
    const [from, to] = [one, other].sort((a, b) => a - b).map((x) => this.view.from + (x - GUTTER) / this.view.scale);
    this.view.scale = Math.min(this.width / (to - from), MOST_SCALE);
    this.view.from = from;
    this.move(0, 0);
  }

  // What is shown and selected is kept, so that one can come back to it.
  kept() {
    return { ...this.view.kept(), selected: this.selected, closed: new Set(this.closed), hidden: new Set(this.hidden) };
  }

  keep() {
    this.view.past.push(this.kept());
    this.view.future = [];
  }

  back(from = this.view.past, to = this.view.future) {
    const { view } = this, before = from.pop();
    if (!before) return;
    to.push(this.kept());
    const { selected, closed, hidden, ...rest } = before;
    Object.assign(view, rest);
    Object.assign(this, { closed, hidden });
    this.legend.show(hidden);
    this.choose(selected);
    this.arrange(null);
  }

  forward() {
    this.back(this.view.future, this.view.past);
  }

  choose(item) {
    const place = item && this.places.get(key(item));
    this.selected = place ? place.item : null;
    this.related = this.selected ? relations(this.data, this.selected) : NOTHING;
    describe(this.panel, this, (other) => this.select(other));
  }

  select(item, show = true) {
    if (!same(item ?? {}, this.selected) && (item || this.selected)) this.keep();
    this.choose(item);
    if (this.selected && show) this.reveal(this.selected);
    this.redraw();
  }

  // Opens what an item is in, and brings it into view, as wide as it is readable.
  reveal(item) {
    const { view } = this, { group } = this.places.get(key(item));
    this.closed.delete(`${group.design}`);
    if (hostOf(group)) this.closed.delete(hostOf(group).id);
    if (group.unit) this.closed.delete(group.unit.id);
    if (this.hidden.delete(group.name)) this.legend.show(this.hidden);
    const pixels = (item.end - item.begin) * view.scale;
    if (pixels < 6 || pixels > 2 * this.width) view.scale = Math.min(this.width / (Math.max(item.end - item.begin, 40) * 6), MOST_SCALE);
    const [left, right] = [item.begin, item.end].map((time) => view.x(item.design, time));
    const isOut = left < GUTTER || right > GUTTER + this.width;
    if (isOut) view.from = (item.begin + item.end) / 2 - view.shifts[item.design] - this.width / view.scale / 2;
    this.move(0, 0);
    const place = this.placeOf(item);
    const y = place.y - view.scroll;
    if (y < 20 || y > this.height - 20) view.scroll = place.y - this.height / 2;
    this.arrange(null);
  }

  neighbour(step) {
    if (!this.selected) {
      const first = this.groups.find((group) => group.name === "persists") ?? this.groups.find((group) => group.all);
      const [from] = first ? this.view.times(first.design, this.width) : [];
      return first && this.select(first.all.find((item) => item.end >= from) ?? first.all[0]);
    }
    const { all } = this.places.get(key(this.selected)).group;
    const next = all[all.indexOf(this.selected) + step];
    if (next) this.select(next);
  }

  follow(list) {
    const next = list.find(({ item }) => item);
    if (next) this.select(next.item);
  }

  itemAt(x, y) {
    const down = y - RULER + this.view.scroll;
    if (x < GUTTER || y < RULER) return null;
    const group = this.groups.find((one) => one.isShown && one.top <= down && down < one.top + one.tall);
    const isStrip = group?.kind === "unit" && this.isClosed(group);
    const row = isStrip ? group.strip : group?.all && group.rows[group.used[Math.floor((down - group.top) / group.height)]];
    if (!row) return null;
    const [from] = this.view.times(group.design, this.width), near = 4 / this.view.scale;
    const time = from + (x - GUTTER) / this.view.scale;
    const item = row[firstBehind(row, time - near)];
    return item && item.begin <= time + near ? item : null;
  }

  // Hides the rows of a name, or shows them again.
  hide(name) {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    this.legend.show(this.hidden);
    this.arrange();
  }

  toggle(group) {
    if (!this.closed.delete(group.id)) this.closed.add(group.id);
    this.arrange(group);
  }

  // Closes or opens the core or controller of the selection, or else the first one that is in view; or its design.
  close(isDesign) {
    const place = this.selected && this.places.get(key(this.selected)).group;
    const inView = (group) => group.kind === "unit" && group.isShown && group.top + group.tall > this.view.scroll;
    const unit = place?.unit ?? this.groups.find(inView);
    const design = place?.design ?? unit?.design ?? 0;
    const found = isDesign || !unit ? this.groups.find((group) => group.id === `${design}`) : unit;
    this.toggle(found);
  }

  scrollTo(group) {
    const y = group.top - this.view.scroll;
    if (y < 0 || y > this.height - 30) this.move(0, y - this.height / 3);
  }

  // Where all rows are higher than the page, no controller is open, and only as many cores of each design as fit into it:
  // the first, if it does by scrolling once.
  closeWhatIsTooMuch() {
    this.arrange(null);
    if (this.tall <= this.height) return;
    const units = this.groups.filter((group) => group.kind === "unit");
    for (let open = Math.max(...this.data.designs.map((design) => design.cores)); ; open--) {
      for (const unit of units) if (!isCore(unit) || coreOf(unit) >= open) this.closed.add(unit.id);
      this.arrange(null);
      if (this.tall <= (open > 1 ? 1 : 2) * this.height || open === 0) return;
    }
  }

  // Puts the designs side by side at a task, so that it begins at one place in all of them; or as they were.
  align(item = this.selected) {
    const tasks = this.view.aligned ? [] : sameTask(this.data, item);
    if (!this.view.aligned && tasks.length < 2) return;
    this.keep();
    this.view.aligned = tasks.length ? labelOf(this.data.designs[tasks[0].design], tasks[0]) : null;
    const beginOf = (design) => (tasks.find((task) => task.design === design) ?? tasks[0] ?? { begin: 0 }).begin;
    this.view.shifts = this.data.designs.map((_, design) => beginOf(design));
    if (!tasks.length) this.fit();
    else this.showTasks(tasks);
    this.choose(this.selected);
  }

  showTasks(tasks) {
    const longest = tasks.reduce((long, task) => (task.end - task.begin > long.end - long.begin ? task : long));
    const core = `core ${this.data.designs[tasks[0].design].spans.core[tasks[0].index]}`;
    this.view.show(longest.design, longest.begin, longest.end, this.width, 0.05);
    this.arrange(null);
    if (this.tall <= this.height) return;
    for (const group of this.groups) {
      if (group.kind === "unit" && group.label === core) this.closed.delete(group.id);
      else if (group.kind === "unit") this.closed.add(group.id);
    }
    this.view.scroll = 0;
    this.arrange(null);
  }

  // Tells what is at the pointer.
  tip(item, x, y) {
    const box = document.getElementById("tip");
    if (!same(item ?? {}, this.hovered)) {
      this.hovered = item;
      this.redraw();
    }
    box.hidden = !item;
    if (!item) return;
    box.textContent = tipOf(this.data, item);
    const { clientWidth, clientHeight } = this.canvas;
    box.style.left = `${Math.min(x + 12, clientWidth - box.offsetWidth - 4)}px`;
    box.style.top = `${y + 18 + box.offsetHeight > clientHeight ? y - box.offsetHeight - 8 : y + 18}px`;
  }

  resized() {
    GUTTER = this.canvas.clientWidth < 560 ? 92 : 150;
    document.getElementById("labels").style.width = `${GUTTER}px`;
  }

  listen() {
    new ResizeObserver(() => {
      this.resized();
      this.move(0, 0);
    }).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.theme(null));
    const click = (id, act) => document.getElementById(id).addEventListener("click", act);
    click("in", () => this.zoom(1.5));
    click("out", () => this.zoom(1 / 1.5));
    click("fit", () => this.fit());
    click("back", () => this.back());
    click("forward", () => this.forward());
    click("theme", () => this.theme());
    click("help", () => this.help());
    this.legend.show(this.hidden);
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
}

const key = (item) => `${item.design} ${item.kind} ${item.index}`;

// The host that a group, or its unit, is of.
const hostOf = (group) => (group.unit ?? group).host?.id ? (group.unit ?? group).host : null;
const isCore = (unit) => unit.label.startsWith("core ");
const coreOf = (unit) => Number(unit.label.slice(5));

readData().then((data) => {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme ??= system;
  window.timeline = new Page(data);
  document.documentElement.dataset.ready = "yes";
});
