// The form: what is chosen, and the same in the address behind `#`, so that it can be kept and shared.
export const TEXTS = ["workload", "designs", "machine", "runtime", "threads", "tasks", "window", "coroutines", "bmo", "seed",
  "points", "verify"];
// All designs, in a run that takes a few seconds.
const FIRST = { workload: "sps", designs: "all", tasks: "100" };
const MORE = ["runtime", "window", "coroutines", "bmo", "seed", "points", "verify"];

export const field = (name) => document.getElementById(name);

const rows = () => [...document.querySelectorAll(".setting")];

function settings() {
  return rows().map((row) => [...row.querySelectorAll("input")].map((input) => input.value.trim()))
    .filter(([key, value]) => key || value).map(([key, value]) => `${key}=${value}`);
}

// What is chosen, as the server reads it.
export function chosen(view) {
  const texts = TEXTS.map((name) => [name, field(name).value.trim()]).filter(([, value]) => value);
  return { view, ...Object.fromEntries(texts), settings: settings() };
}

export function addSetting(key = "", value = "") {
  const row = document.createElement("div");
  row.className = "setting";
  const inputs = [["setting", key, "machine.core.rob_entries"], ["value", value, ""]].map(([label, text, hint]) => {
    const input = document.createElement("input");
    Object.assign(input, { value: text, placeholder: hint, ariaLabel: label });
    return input;
  });
  inputs[0].setAttribute("list", "keys");
  const remove = document.createElement("button");
  Object.assign(remove, { type: "button", textContent: "×", ariaLabel: "Remove this setting" });
  remove.addEventListener("click", () => {
    row.remove();
    field("add").focus();
    field("form").dispatchEvent(new Event("input"));
  });
  const help = document.createElement("p");
  help.className = "help";
  row.append(...inputs, remove, help);
  field("settings").append(row);
  return inputs[0];
}

// Writes the choice into the address, without a step for the browser's way back.
export function keep(view) {
  const words = new URLSearchParams(TEXTS.map((name) => [name, field(name).value.trim()]).filter(([, value]) => value));
  for (const setting of settings()) words.append("set", setting);
  words.append("view", view);
  history.replaceState(null, "", `#${words}`);
}

// Whether the address names no choice.
export const isFresh = () => location.hash.length < 2;

// Fills the form from the address; returns the view that it names.
export function restore() {
  const given = new URLSearchParams(location.hash.slice(1));
  const fresh = isFresh();
  for (const name of TEXTS) fill(field(name), fresh ? FIRST[name] ?? "" : given.get(name) ?? "");
  for (const row of rows()) row.remove();
  for (const setting of given.getAll("set")) {
    const at = setting.indexOf("=");
    addSetting(setting.slice(0, Math.max(at, 0)), setting.slice(at + 1));
  }
  field("more").open = rows().length > 0 || MORE.some((name) => field(name).value);
  return given.get("view");
}

function fill(input, text) {
  // A list without the name still shows it: the command says what is wrong with it.
  if (input.tagName === "SELECT" && ![...input.options].some((option) => option.value === text)) {
    input.add(new Option(text, text));
  }
  input.value = text;
}

// Shows an error at its field, or returns false if it has none.
export function complain(error) {
  const place = error.field && document.querySelector(`[data-field="${error.field}"]`);
  if (!place) return false;
  const input = place.querySelector("input, select, button");
  field("more").open ||= field("more").contains(place);
  const told = document.createElement("p");
  Object.assign(told, { className: "error", id: `${error.field}-error`, textContent: error.text });
  told.role = "alert";
  input.ariaInvalid = "true";
  input.setAttribute("aria-describedby", told.id);
  place.append(told);
  input.focus();
  return true;
}

export function calm() {
  for (const told of document.querySelectorAll("form .error")) told.remove();
  for (const input of document.querySelectorAll("[aria-invalid]")) {
    input.removeAttribute("aria-invalid");
    input.removeAttribute("aria-describedby");
  }
}
