// Pointer, wheel and keys.

class Input {
  constructor(page) {
    Object.assign(this, { page, canvas: page.canvas, pointers: new Map(), over: null });
    const on = (name, act, options) => this.canvas.addEventListener(name, act, options);
    on("wheel", (event) => this.wheel(event), { passive: false });
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.moved(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", (event) => this.pointers.delete(event.pointerId));
    on("pointerleave", () => this.leaves());
    on("dblclick", (event) => this.page.zoomTo(this.page.itemAt(event.offsetX, event.offsetY)));
    document.addEventListener("keydown", (event) => this.press(event));
  }

  wheel(event) {
    const { page } = this;
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) page.zoom(Math.exp(-event.deltaY / 300), event.offsetX);
    else if (event.shiftKey) page.move((event.deltaY || event.deltaX) / page.view.scale, 0);
    else page.move(event.deltaX / page.view.scale, event.deltaY);
    this.hover(event);
  }

  down(event) {
    const { offsetX: x, offsetY: y } = event;
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x, y });
    this.page.tip(null);
    this.drag = { x, y, moved: this.pointers.size > 1, onRuler: y < RULER && x >= GUTTER };
  }

  moved(event) {
    const before = this.pointers.get(event.pointerId);
    this.over = event.offsetX;
    if (!before) return this.hover(event);
    const here = { x: event.offsetX, y: event.offsetY };
    this.drag.moved ||= Math.abs(here.x - this.drag.x) + Math.abs(here.y - this.drag.y) > 4;
    if (this.pointers.size > 1) this.pinch(event.pointerId, before, here);
    else if (this.drag.moved) this.drags(before, here);
    this.pointers.set(event.pointerId, here);
  }

  drags(before, here) {
    const { page } = this;
    if (!this.drag.onRuler) return page.move((before.x - here.x) / page.view.scale, before.y - here.y);
    page.dragged = [this.drag.x, Math.max(here.x, GUTTER)];
    page.redraw();
  }

  // Two fingers move what is between them, and zoom by their distance.
  pinch(id, before, here) {
    const { page } = this;
    const other = [...this.pointers].find(([known]) => known !== id)[1];
    const far = (one) => Math.hypot(one.x - other.x, one.y - other.y) || 1;
    page.zoom(far(here) / far(before), (here.x + other.x) / 2);
    page.move((before.x - here.x) / 2 / page.view.scale, (before.y - here.y) / 2);
  }

  up(event) {
    const { page, drag } = this;
    if (!this.pointers.delete(event.pointerId) || this.pointers.size) return;
    if (page.dragged) page.zoomBetween(...page.dragged);
    page.dragged = null;
    if (!drag.moved) page.select(page.itemAt(drag.x, drag.y), false);
  }

  leaves() {
    this.over = null;
    this.page.tip(null);
  }

  hover(event) {
    if (event.pointerType !== "touch") this.page.tip(this.page.itemAt(event.offsetX, event.offsetY), event.offsetX, event.offsetY);
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || document.getElementById("keys").open) return;
    const { page } = this;
    if (event.target === page.search.box) {
      if (event.key === "Enter") page.search.find(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") page.canvas.focus();
      return;
    }
    const isPressed = event.target.matches?.("button, a, [role=button]") && (event.key === "Enter" || event.key === " ");
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const act = !isPressed && (event.altKey ? this.ways()[name] : this.keys(event.shiftKey)[name]);
    if (!act) return;
    event.preventDefault();
    act();
  }

  ways() {
    return { ArrowLeft: () => this.page.back(), ArrowRight: () => this.page.forward() };
  }

  keys(shift) {
    const { page, canvas } = this;
    const step = page.width / page.view.scale / 5, tall = canvas.clientHeight;
    const zoom = (factor) => page.zoom(factor, this.over ?? undefined);
    return {
      w: () => zoom(1.5), "+": () => zoom(1.5), "=": () => zoom(1.5), s: () => zoom(1 / 1.5), "-": () => zoom(1 / 1.5),
      a: () => page.move(-step, 0), ArrowLeft: () => page.move(-step, 0),
      d: () => page.move(step, 0), ArrowRight: () => page.move(step, 0),
      ArrowUp: () => page.move(0, -60), ArrowDown: () => page.move(0, 60),
      PageUp: () => page.move(0, -tall * 0.8), PageDown: () => page.move(0, tall * 0.8),
      Home: () => page.move(-Infinity, 0), End: () => page.move(Infinity, 0),
      0: () => page.fit(), f: () => page.zoomTo(page.selected), j: () => page.align(), c: () => page.close(shift),
      Backspace: () => (shift ? page.forward() : page.back()),
      ",": () => page.neighbour(-1), ".": () => page.neighbour(1),
      "[": () => page.follow([...page.related.before, ...page.related.way]), "]": () => page.follow(page.related.behind),
      "/": () => page.search.box.focus(), t: () => page.theme(), "?": () => page.help(), Escape: () => page.select(null),
    };
  }
}
