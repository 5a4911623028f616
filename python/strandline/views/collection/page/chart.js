// Draws the charts by Vega-Lite. Its expressions are interpreted (`ast`), because the page allows no `eval`.
const AXIS = 90; // Pixels beside a panel: the y axis, and the space between panels.

// A panel's width in pixels, and how many stand side by side.
function arrange(spec, room) {
  const most = spec.concat.length;
  const fitting = Math.floor(room / (spec.concat[0].width + AXIS));
  const columns = Math.ceil(most / Math.ceil(most / Math.max(1, Math.min(most, fitting))));
  for (const panel of spec.concat) panel.width = Math.max(panel.width, Math.floor(room / columns) - AXIS);
  return { ...spec, columns };
}

function legend(box, view) {
  const buttons = [...box.querySelectorAll(".legend button")];
  const isHidden = (button) => button.ariaPressed === "false";
  for (const button of buttons) {
    button.title = `Hide or show ${button.value}`;
    button.addEventListener("click", () => {
      button.ariaPressed = String(isHidden(button));
      view.signal("hidden", buttons.filter(isHidden).map((each) => each.value)).runAsync();
    });
  }
}

// Arrow keys go from value to value, which the line below the chart tells.
function keyboard(box, place) {
  const line = box.querySelector("output");
  const marks = () => [...place.querySelectorAll("path[role=graphics-symbol]")];
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const leave = () => {
    for (const mark of marks()) mark.classList.remove("pointed");
    line.textContent = "";
  };
  place.addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    const every = marks();
    const before = every.findIndex((mark) => mark.classList.contains("pointed"));
    const first = steps[event.key] === 1 ? 0 : every.length - 1;
    const mark = every[before < 0 ? first : (before + steps[event.key] + every.length) % every.length];
    leave();
    if (!mark) return;
    mark.classList.add("pointed");
    mark.scrollIntoView({ block: "nearest", inline: "nearest" });
    line.textContent = mark.ariaLabel;
  });
  place.addEventListener("blur", leave);
}

async function draw(box) {
  const place = box.querySelector(".view");
  const spec = arrange(JSON.parse(box.querySelector("script").textContent), place.clientWidth);
  const options = { actions: false, ast: true, defaultStyle: false, renderer: "svg" };
  const { view } = await vegaEmbed(place, spec, { ...options, tooltip: { disableDefaultStyle: true } });
  view.logLevel(1); // Errors: that an axis has no value left once all series are hidden is none.
  legend(box, view);
  keyboard(box, place);
}

const drawn = [...document.querySelectorAll(".chart")].map(draw);
