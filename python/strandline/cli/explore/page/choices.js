// What there is to choose, and what each choice is.
import { field } from "./form.js";

let known = { workloads: [], designs: [], machines: [], runtimes: [], coroutines: [] };
let keys = [];

const option = (entry) => new Option(entry.summary, entry.name);
const named = (kind, name) => known[kind].find((entry) => entry.name === name);
const designs = () => field("designs").value.split(",").map((name) => name.trim()).filter(Boolean);

export async function load() {
  known = await (await fetch("choices")).json();
  field("workloads").replaceChildren(...known.workloads.map(option));
  field("machines").replaceChildren(...known.machines.map(option));
  field("runtime").replaceChildren(new Option("the workload's", ""), ...known.runtimes.map(({ name }) => new Option(name, name)));
  field("coroutines").replaceChildren(new Option("paper (default)", ""), ...known.coroutines.map((name) => new Option(name, name)));
  field("known-designs").replaceChildren(...known.designs.map(design));
  field("all-designs").addEventListener("click", () => {
    field("designs").value = "all";
    field("form").dispatchEvent(new Event("input"));
  });
  for (const name of ["workload", "machine", "runtime"]) help(field(name).parentElement);
}

function design({ name, summary, paper }) {
  const label = document.createElement("label");
  const box = document.createElement("input");
  Object.assign(box, { type: "checkbox", value: name });
  // Before the form's own listener, which ticks what the text names.
  box.addEventListener("input", () => {
    const others = designs().filter((each) => each !== name && each !== "all");
    field("designs").value = (box.checked ? [...others, name] : others).join(",");
  });
  label.append(box, ` ${name}`);
  label.title = `${summary} (${paper})`;
  for (const event of ["focusin", "mouseenter"]) {
    label.addEventListener(event, () => { field("told-design").textContent = `${name}: ${label.title}`; });
  }
  return label;
}

// The tasks of a known workload, if none are chosen.
export const length = (workload) => named("workloads", workload)?.tasks ?? 0;

function help(place) {
  const told = document.createElement("p");
  told.className = "help";
  place.append(told);
}

function tell(name, text) {
  field(name).parentElement.querySelector(".help").textContent = text;
}

// Says what is chosen.
export function describe() {
  const workload = named("workloads", field("workload").value.trim());
  tell("workload", workload ? `${workload.summary} (${workload.paper})` : "");
  const machine = named("machines", field("machine").value.trim() || workload?.machine);
  tell("machine", machine ? `${machine.name}: ${machine.summary}` : "");
  const runtime = named("runtimes", field("runtime").value || workload?.runtime);
  tell("runtime", runtime ? `${runtime.name}: ${runtime.summary}` : "");
  field("threads").placeholder = workload ? "1" : "";
  field("tasks").placeholder = workload ? `table: ${workload.tasks.toLocaleString("en")}` : "";
  const all = designs();
  for (const box of field("known-designs").querySelectorAll("input")) {
    box.checked = all.includes(box.value) || all.includes("all");
  }
  describeSettings();
}

function describeSettings() {
  for (const row of document.querySelectorAll(".setting")) {
    const [key, value] = row.querySelectorAll("input");
    const its = keys.find((each) => each.key === key.value.trim());
    value.placeholder = its?.value ?? "";
    row.querySelector(".help").textContent = its ? `${its.help}${its.unit ? ` (${its.unit})` : ""}` : "";
  }
}

// Asks which keys can be set for what is chosen.
let asked = null;
export async function askKeys() {
  const given = ["workload", "machine", "designs", "runtime"].map((name) => [name, field(name).value.trim()]);
  const question = `parameters?${new URLSearchParams(given)}`;
  if (question === asked) return;
  asked = question;
  let found;
  try {
    found = (await (await fetch(question)).json()).parameters;
  } catch {
    // Run says that the server does not answer.
    asked = null;
    return;
  }
  if (question !== asked) return;
  keys = found;
  field("keys").replaceChildren(...keys.map((each) => new Option(each.help, each.key)));
  describeSettings();
}
