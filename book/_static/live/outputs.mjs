// What a cell has put out, as elements: nbformat's outputs, shown as the published page shows them.

import { admit } from "./gate.mjs";
import { SLIDER, slider } from "./slider.mjs";

const PREFERRED = [SLIDER, "text/html", "image/svg+xml", "image/png", "text/plain"];

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** HTML that Python made. It may come from code that somebody else wrote, so nothing in it runs or asks for files. */
function html(source) {
  const box = element("div", "output text_html");
  admit(source, box);
  return box;
}

function picture(address, alt) {
  const image = element("img");
  image.src = address;
  image.alt = alt;
  return image;
}

function shown(data, alt, ask) {
  const mime = PREFERRED.find((known) => data[known] !== undefined);
  if (mime === undefined) return element("pre", "", `(${Object.keys(data).join(", ")}: this page cannot show it)`);
  const value = data[mime];
  if (mime === SLIDER) return slider(value, ask);
  if (mime === "text/html") return html(value);
  if (mime === "image/png") return picture(`data:image/png;base64,${value}`, alt);
  if (mime === "image/svg+xml") return picture(`data:image/svg+xml;utf8,${encodeURIComponent(value)}`, alt);
  const box = element("div", "output text_plain highlight");
  box.append(element("pre", "", value));
  return box;
}

/**
 * Show one more output of a running cell.
 *
 * @param {HTMLElement} box where the cell's outputs stand
 * @param {object} output one of nbformat 4's outputs
 * @param {(picture: number) => string} alt words for the cell's nth picture
 * @param {(slider: string, places: number[]) => Promise<object>} ask what draws a position of a slider
 */
export function append(box, output, alt, ask) {
  if (output.output_type === "stream") {
    let last = box.lastElementChild;
    if (!last?.classList.contains(`vw-${output.name}`)) {
      last = element("div", `output stream highlight vw-${output.name}`);
      last.append(element("pre"));
      box.append(last);
    }
    last.firstChild.append(output.text);
  } else if (output.output_type === "error") {
    const error = element("div", "output traceback highlight vw-error");
    error.append(element("pre", "", (output.traceback ?? []).join("\n") || `${output.ename}: ${output.evalue}`));
    box.append(error);
  } else {
    box.append(shown(output.data ?? {}, alt(box.querySelectorAll("img").length), ask));
  }
}
