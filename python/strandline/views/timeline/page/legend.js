// The legend: a button for each kind of rows that occurs, which hides them and shows them, with the colours that occur there.

const COLOURS = {
  task: "task", region: "region", commit: "commit", lane: "lane runs", library: "coroutine library",
  fence: "fence", buffer: "buffer full", window: "window full", redirect: "branch, fault, other core",
  cache: "shared cache", core: "another core", memory: "memory", tables: "page tables",
  execute: "executes", queue: "in the store queue", flight: "on its way", travel: "to its controller", held: "waits there",
  link: "takes the link", way: "on the way", switched: "in the switch", read: "read by the device",
  wpq: "in the write queue", media: "at the media", spec: "speculates", "void": "rolled back", waits: "waits",
};

class Legend {
  // `toggled` is called with the name of rows that are to be hidden, or shown again.
  constructor(box, page, toggled) {
    const kinds = new Map();
    for (const group of page.groups) {
      if (!group.name) continue;
      const colours = kinds.get(group.name) ?? kinds.set(group.name, new Set()).get(group.name);
      for (const item of group.all ?? []) {
        for (const [, , colour] of partsOf(page.data.designs[group.design], item)) colours.add(colour);
      }
      if (group.kind === "level") colours.add("durable");
    }
    this.buttons = new Map();
    for (const [name, colours] of kinds) {
      const button = element("button", null, box);
      button.title = `Hide or show: ${name}`;
      button.addEventListener("click", () => toggled(name));
      const several = colours.size > 1;
      if (several) element("b", name, button);
      for (const colour of colours) {
        const entry = element("span", null, button);
        element("i", null, entry).style.background = `var(--${colour})`;
        entry.append(several ? COLOURS[colour] ?? colour : name);
      }
      this.buttons.set(name, button);
    }
  }

  show(hidden) {
    for (const [name, button] of this.buttons) button.setAttribute("aria-pressed", String(!hidden.has(name)));
  }
}
