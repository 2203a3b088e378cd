// What a cell has put out, as elements: nbformat's outputs, shown as the published page shows them.

import { SLIDER, slider } from "./slider.mjs";

const PREFERRED = [SLIDER, "text/html", "image/svg+xml", "image/png", "text/plain"];

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

const TAGS = new Set(
  (
    "a abbr audio b blockquote br caption code col colgroup dd details div dl dt em figcaption figure h2 h3 h4 h5 h6 hr i " +
    "img kbd li mark ol p pre s samp small span strong sub summary sup table tbody td tfoot th thead time tr u ul var"
  ).split(" "),
);
const DROPPED = new Set(["script", "style", "template", "noscript", "title", "iframe", "object", "embed"]);
const ATTRIBUTES = /^(alt|class|colspan|controls|dir|height|lang|open|role|rowspan|scope|start|tabindex|title|width|aria-[a-z]+|data-[a-z-]+)$/;

function isSafe(name, value) {
  if (name === "src") return /^data:(image\/(png|jpeg|gif|webp)|audio\/[a-z0-9.-]+);base64,/.test(value);
  if (name === "href") return /^(https?:|#)/.test(value);
  if (name === "style") return !/url|expression|@|\\/i.test(value);
  return ATTRIBUTES.test(name);
}

/** Move what may stand in the page from a parsed document: elements and attributes of two lists, nothing that runs. */
function copied(from, to) {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) {
      to.append(node.data);
    } else if (node.nodeType === Node.ELEMENT_NODE && !DROPPED.has(node.localName)) {
      if (!TAGS.has(node.localName)) {
        copied(node, to);
        continue;
      }
      const made = document.createElement(node.localName);
      for (const { name, value } of node.attributes) if (isSafe(name, value)) made.setAttribute(name, value);
      copied(node, made);
      to.append(made);
    }
  }
}

/** HTML that Python made. It may come from code that somebody else wrote, so nothing in it runs or asks for files. */
function html(source) {
  const box = element("div", "output text_html");
  copied(new DOMParser().parseFromString(source, "text/html").body, box);
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
