// The page: a form, and three views of which one is in front.
import { askKeys, describe, load } from "./choices.js";
import { addSetting, field, isFresh, keep, restore } from "./form.js";
import { View } from "./views.js";

const NAMES = ["table", "timeline", "crash"];
const views = new Map(NAMES.map((name) => [name, new View(name)]));
let front = "table";
let ran = false; // whether Run was pressed: then a view that is opened shows the choice, too

const TYPING = 250; // milliseconds without a key, after which what is typed is looked up
let typing = null;

function changed() {
  keep(front);
  describe();
  for (const view of views.values()) view.refresh();
  clearTimeout(typing);
  typing = setTimeout(askKeys, TYPING);
}

function show(name) {
  front = views.has(name) ? name : "table";
  for (const view of views.values()) {
    const inFront = view.name === front;
    view.panel.hidden = !inFront;
    view.tab.ariaSelected = String(inFront);
    view.tab.tabIndex = inFront ? 0 : -1;
  }
}

function open(name) {
  show(name);
  keep(front);
  if (ran && views.get(front).shown === null) views.get(front).run();
}

function step(event) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  open(NAMES[(NAMES.indexOf(front) + by + NAMES.length) % NAMES.length]);
  views.get(front).tab.focus();
}

function submit(event) {
  event.preventDefault();
  ran = true;
  // The others show another choice until they are opened.
  for (const view of views.values()) if (view.name !== front) view.clear();
  views.get(front).run();
}

for (const view of views.values()) {
  view.tab.addEventListener("click", () => open(view.name));
  view.tab.addEventListener("keydown", step);
}
field("form").addEventListener("submit", submit);
field("form").addEventListener("input", changed);
field("add").addEventListener("click", () => addSetting().focus());
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") views.get(front).cancel();
});
// Nobody would see, or cancel, what a closed page has started.
window.addEventListener("pagehide", () => {
  for (const view of views.values()) view.cancel();
});
window.addEventListener("hashchange", () => {
  show(restore());
  changed();
});

await load();
const begins = isFresh();
show(restore());
changed();
field("workload").focus();
// A page that nobody has chosen anything on begins with a finished example.
if (begins) views.get(front).run();
document.documentElement.dataset.ready = "yes";
