// A slider whose positions Python draws in the page, between the published ones too where its values allow it.

export const SLIDER = "application/vnd.voicewire.slider+json";
const STEPS = 20; // positions from one listed value to the next

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

function row(knob) {
  const box = element("div", "vw-knob");
  const label = element("label", "", `${knob.label} `);
  const input = element("input");
  input.type = "range";
  input.min = 0;
  input.max = knob.last;
  input.step = knob.between ? 1 / STEPS : 1;
  input.value = knob.start;
  input.autocomplete = "off";
  const shown = element("output");
  label.append(input);
  box.append(label, " ", shown);
  return { box, input, shown };
}

/**
 * The slider, with the picture of its first position.
 *
 * @param {object} told its name, its knobs and what the first position shows
 * @param {(slider: string, places: number[]) => Promise<object>} ask what draws a position
 */
export function slider(told, ask) {
  const root = element("div", "vw-slider vw-computed");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", `Picture with sliders, drawn by Python in this page: ${told.knobs.map((knob) => knob.label).join(", ")}`);
  const rows = told.knobs.map(row);
  const image = element("img");
  const said = element("p", "vw-drawn");
  said.setAttribute("aria-live", "polite");
  root.append(...rows.map(({ box }) => box), image);
  let sound;
  if (told.first.sound) {
    const heard = element("div", "vw-audio");
    sound = element("audio");
    sound.controls = true;
    sound.setAttribute("aria-label", "How this position sounds");
    heard.append(element("span", "vw-audio-label", "How this position sounds"), " ", sound);
    root.append(heard);
  }
  root.append(said);

  function show(drawn, words) {
    said.classList.toggle("vw-error", Boolean(drawn.error));
    if (drawn.error) {
      said.textContent = drawn.error;
      return;
    }
    rows.forEach(({ input, shown }, k) => {
      input.setAttribute("aria-valuetext", drawn.texts[k]);
      shown.textContent = drawn.texts[k];
    });
    image.src = `data:image/png;base64,${drawn.picture}`;
    image.alt = drawn.alt;
    image.style.width = `${drawn.width}px`;
    if (sound) sound.src = `data:audio/wav;base64,${drawn.sound}`;
    said.textContent = words ? `Drawn here. ${drawn.alt}` : "Each position is drawn here, by the cell's own function.";
  }

  let busy = false;
  let wanted;
  async function move() {
    wanted = rows.map(({ input }) => Number(input.value));
    if (busy) return; // the last position asked for is drawn next, those between are left out
    busy = true;
    root.setAttribute("aria-busy", "true");
    while (wanted) {
      const places = wanted;
      wanted = undefined;
      const drawn = await ask(told.name, places);
      if (!wanted) show(drawn, true);
    }
    busy = false;
    root.removeAttribute("aria-busy");
  }
  rows.forEach(({ input }) => input.addEventListener("input", move));
  show(told.first, false);
  return root;
}
