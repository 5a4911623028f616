// Three views of what is chosen: each runs a command, follows it, and shows what it found.
import { length } from "./choices.js";
import { calm, chosen, complain, field } from "./form.js";

const STEP = 200; // milliseconds from one question to the next
const SHORT = 100; // tasks of what is shown first where the whole takes long
const LONG = 10 * SHORT;
const GONE = "strandline explore does not answer: start it again, and open the address that it prints";
const FRAMES = { timeline: "timeline.html", crash: "crash.html" };
const LINKS = { "timeline.html": "The page alone", "timeline.pftrace": "Trace for ui.perfetto.dev", "crash.html": "The page alone" };
const EMPTY = {
  table: "Press Run: a row a design, the first of which is the baseline.",
  timeline: "Press Run: what happens between store and media, 100 tasks unless Tasks says otherwise.",
  crash: "Press Run: the power is cut at many states, memory recovered and judged; the smallest failing case is drawn. "
    + "A recording has its checker among the parameters.",
};

const pause = (time) => new Promise((done) => setTimeout(done, time));
const whole = (number) => number.toLocaleString("en");

async function ask(path, method = "GET", body) {
  const headers = body && { "Content-Type": "application/json" };
  // A command is cancelled also by a page that is closed.
  const keepalive = method === "DELETE";
  const answer = await fetch(path, { method, headers, keepalive, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

function standing({ label, done, total, share, tasks, all_tasks: all, seconds_left: left }) {
  if (!label) return "starting";
  const parts = [`${label}: ${whole(done)} of ${whole(total)}${all ? " runs" : ""}`];
  if (all) parts.push(`${whole(tasks)} of ${whole(all)} tasks`);
  if (share) parts.push(`${Math.floor(100 * share)} %`);
  if (left !== undefined && left !== null) parts.push(`${Math.ceil(left)} s to go`);
  return parts.join(", ");
}

const drop = (job) => ask(`jobs/${job}`, "DELETE").catch(() => {});

export class View {
  constructor(name) {
    this.name = name;
    this.panel = field(name);
    this.tab = field(`tab-${name}`);
    this.panel.append(field("panel").content.cloneNode(true));
    this.part(".empty").textContent = EMPTY[name];
    this.part(".cancel").addEventListener("click", () => this.cancel());
    this.part(".copy").addEventListener("click", () => this.copy());
    this.shown = null; // the choice that was run, as text
    this.job = null; // the name of the command under way
  }

  part(selector) { return this.panel.querySelector(selector); }

  async copy() {
    const button = this.part(".copy");
    await navigator.clipboard.writeText(this.part("code").textContent);
    button.textContent = "Copied";
    await pause(1500);
    button.textContent = "Copy";
  }

  async cancel() {
    if (this.job) await drop(this.job);
  }

  // Whether the choice is another one than that of the result.
  refresh() {
    this.part(".stale").hidden = this.shown === null || this.shown === JSON.stringify(chosen(this.name));
  }

  // Runs the command of the choice; one that is under way for another choice is of no use any more.
  async run() {
    await this.cancel();
    const wanted = chosen(this.name);
    const turn = this.turn = Symbol(this.name);
    this.shown = JSON.stringify(wanted);
    this.begin();
    try {
      if (!this.isLong(wanted) || await this.ran({ ...wanted, tasks: String(SHORT) }, turn, true)) await this.ran(wanted, turn);
    } catch {
      if (this.turn === turn) this.end(null, { state: "failed", error: { text: GONE } });
    }
  }

  // Whether a short run of it is shown before the whole.
  isLong({ workload, tasks }) { return this.name === "table" && !tasks && length(workload) >= LONG; }

  // Whether a command has come to its end, and is the first of two.
  async ran(wanted, turn, isFirst = false) {
    let state = await ask("jobs", "POST", wanted);
    const job = this.job = state.name;
    this.part("code").textContent = state.command;
    this.part(".command").hidden = false;
    while (state.state === "running" && this.turn === turn) {
      this.follow(state.progress);
      await pause(STEP);
      state = await ask(`jobs/${job}`);
    }
    if (this.turn !== turn) {
      await drop(job);
      return false;
    }
    const goesOn = isFirst && state.state === "done";
    this.end(job, state, goesOn);
    return goesOn;
  }

  // Forgets a result of another choice.
  clear() {
    if (this.shown === JSON.stringify(chosen(this.name))) return;
    this.cancel();
    this.turn = this.shown = this.job = null;
    this.wipe();
    this.part(".empty").textContent = EMPTY[this.name];
    this.refresh();
  }

  wipe() {
    for (const name of [".result", ".links", ".frame", ".empty", ".error"]) this.part(name).replaceChildren();
    for (const name of [".command", ".result", ".progress"]) this.part(name).hidden = true;
  }

  begin() {
    calm();
    this.refresh();
    this.wipe();
    this.part(".progress").hidden = false;
    this.follow({});
    this.panel.ariaBusy = "true";
  }

  follow(progress) {
    const bar = this.part("progress");
    if (progress.share) bar.value = progress.share;
    else bar.removeAttribute("value");
    this.part(".progress span").textContent = standing(progress);
  }

  // Shows what a command has come to; where the whole `goesOn`, behind a short run of it.
  end(job, { state, html = "", files = [], error }, goesOn = false) {
    this.job = null;
    this.panel.ariaBusy = String(goesOn);
    this.part(".progress").hidden = !goesOn;
    this.part(".empty").textContent = goesOn ? `${SHORT} tasks, to begin with: the whole run is under way.` : "";
    if (state === "cancelled" && !html && !this.part(".result").hidden) {
      this.part(".empty").textContent = `Cancelled: the result is that of ${SHORT} tasks.`;
      return;
    }
    this.part(".result").innerHTML = html; // the server has escaped it
    this.part(".result").hidden = !html;
    this.part(".links").replaceChildren(...files.flatMap((file) => [link(job, file), " "]));
    if (files.includes(FRAMES[this.name])) this.part(".frame").replaceChildren(frame(job, FRAMES[this.name]));
    else if (this.name === "crash" && html) this.part(".empty").textContent = "No crash state is drawn.";
    if (state === "cancelled" && !html) this.part(".empty").textContent = "Cancelled: nothing was found.";
    else if (error && !(state === "failed" && !this.panel.hidden && complain(error))) {
      this.part(".error").textContent = error.text;
    }
  }
}

function link(job, file) {
  const made = document.createElement("a");
  Object.assign(made, { href: `jobs/${job}/${file}`, textContent: LINKS[file] });
  if (file.endsWith(".html")) made.target = "_blank";
  else made.download = file;
  return made;
}

function frame(job, file) {
  const made = document.createElement("iframe");
  Object.assign(made, { src: `jobs/${job}/${file}`, title: file });
  return made;
}
