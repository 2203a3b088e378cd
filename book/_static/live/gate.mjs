// What may stand in the page of a text that is not the book's: elements, attributes, classes and properties of lists.

const ELEMENTS = new Set(
  (
    "a abbr audio b blockquote br caption code col colgroup dd details div dl dt em figcaption figure h2 h3 h4 h5 h6 hr i " +
    "img kbd li mark ol p pre s samp small span strong sub summary sup table tbody td tfoot th thead time tr u ul var"
  ).split(" "),
);
/** Elements that go with all that is in them; of any other, what is in it stays. */
const DROPPED = new Set(["script", "style", "template", "noscript", "title", "iframe", "object", "embed"]);

const text = () => true;
const among = (...words) => (value) => words.includes(value);
const number = (value) => /^\d{1,4}$/.test(value);
const ATTRIBUTES = {
  alt: text, title: text, "aria-label": text,
  controls: text, open: text,
  colspan: number, rowspan: number, start: number, width: number, height: number,
  dir: among("ltr", "rtl", "auto"),
  lang: (value) => /^[a-z]{2,3}(-[A-Za-z\d]{1,8})*$/.test(value),
  role: among("group", "img", "note", "region"),
  scope: among("row", "col", "rowgroup", "colgroup"),
  tabindex: among("0"),
  href: (value) => /^#[\w.-]*$/.test(value), // a link elsewhere would carry away what a program puts into its address
  src: (value) => /^data:(image\/(png|jpeg|gif|webp)|audio\/[a-z\d.-]+);base64,[A-Za-z\d+/=\s]*$/.test(value),
};
/** The book's own; the theme has others, with which an element covers the window. */
const CLASSES = /^(dataframe|vw-(audio(-label)?|claims|compare(-label|-note)?|knob|slider|verdict(-\d|-none)?))$/;

const SIDES = ["top", "right", "bottom", "left"];
const PROPERTIES = [
  ..."color background-color font-size font-style font-weight text-align text-decoration-line vertical-align".split(" "),
  ..."white-space width min-width max-width height border-collapse".split(" "),
  ...SIDES.flatMap((side) => [`padding-${side}`, `margin-${side}`]),
  ...SIDES.flatMap((side) => ["width", "style", "color"].map((what) => `border-${side}-${what}`)),
];
/** Words, numbers and colours: no function that fetches, and nothing below zero, which would leave its place. */
const VALUE = /^(?:[\w\s#%.,]|(?<=[\w])-|rgba?\([\d.,%\s/]*\)|hsla?\([\w.,%\s/]*\))+$/;

function dress(from, to) {
  for (const { name, value } of from.attributes) {
    if (Object.hasOwn(ATTRIBUTES, name) && ATTRIBUTES[name](value)) to.setAttribute(name, value);
  }
  for (const name of from.classList) if (CLASSES.test(name)) to.classList.add(name);
  for (const name of PROPERTIES) {
    const value = from.style.getPropertyValue(name);
    if (VALUE.test(value)) to.style.setProperty(name, value);
  }
}

function copy(from, to) {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) {
      to.append(node.data);
    } else if (node.nodeType === Node.ELEMENT_NODE && !DROPPED.has(node.localName)) {
      const plain = node instanceof HTMLElement && ELEMENTS.has(node.localName);
      const made = plain ? document.createElement(node.localName) : to;
      if (plain) dress(node, made);
      copy(node, made);
      if (plain) to.append(made);
    }
  }
}

/** Put into `box` what may stand there of an HTML text. The text is parsed apart, where nothing runs or is fetched. */
export function admit(source, box) {
  copy(new DOMParser().parseFromString(source, "text/html").body, box);
}
