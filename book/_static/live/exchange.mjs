// A publisher, a broker and subscribers in the page: Python has the protocol, this shows it and asks for the next step.

const SVG = "http://www.w3.org/2000/svg";
const ROW = 34; // CSS pixels
const LETTER = 6.5; // CSS pixels, of a label's text
const PACE = 240; // milliseconds from one packet to the next
const KINDS = { publish: "message", answer: "answer", session: "connection" };
const SOURCE = "from voicewire_book.chapters.emqtt import panel as _panel\nprint(_panel.play(_asked))";

let count = 0;

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

function button(text, name) {
  const made = element("button", "", text);
  made.type = "button";
  if (name) made.setAttribute("aria-label", name);
  return made;
}

function choice(label, options) {
  const box = element("label", "", `${label} `);
  const select = element("select");
  for (const [value, text] of options) select.add(new Option(text, value));
  box.append(select);
  return { box, select };
}

function tick(label) {
  const box = element("label");
  const input = element("input");
  input.type = "checkbox";
  box.append(input, ` ${label}`);
  return { box, input };
}

function group(title, ...inside) {
  const box = element("fieldset");
  box.append(element("legend", "", title), ...inside);
  return box;
}

function drawn(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  return made;
}

/** The chart: a head that stays in sight, and a row for each packet. */
class Chart {
  constructor() {
    this.box = element("div", "vw-chart");
    this.box.tabIndex = 0;
    this.box.setAttribute("role", "region");
    this.box.setAttribute("aria-label", "Chart of the packets; they stand below in words, too");
    this.head = element("div", "vw-chart-head");
    this.head.setAttribute("aria-hidden", "true");
    this.picture = drawn("svg", { width: "100%", "aria-hidden": "true" });
    const ends = drawn("defs", {});
    count += 1;
    this.end = `vw-end-${count}`;
    for (const kind of Object.keys(KINDS)) {
      const marker = drawn("marker", { id: `${this.end}-${kind}`, markerWidth: 9, markerHeight: 8, refX: 9, refY: 4, orient: "auto", markerUnits: "userSpaceOnUse" });
      marker.append(drawn("path", { d: "M0,0 L9,4 L0,8 z", class: `vw-${kind}` }));
      ends.append(marker);
    }
    this.picture.append(ends);
    this.box.append(this.head, this.picture);
    this.words = element("ol");
    this.shown = [];
    this.waiting = [];
    this.clear();
    new ResizeObserver(() => { // what a label has room for may be another
      if (this.box.clientWidth === this.width) return;
      const rows = [...this.shown, ...this.waiting];
      this.clear();
      rows.forEach((row) => this.draw(row, false));
    }).observe(this.box);
  }

  clear() {
    clearTimeout(this.timer);
    this.shown = [];
    this.waiting = [];
    this.width = this.box.clientWidth;
    this.picture.replaceChildren(this.picture.firstChild);
    this.picture.setAttribute("height", 12);
  }

  /** The names of the columns, and a word on each. */
  title(columns, states) {
    this.columns = columns.length;
    this.head.style.gridTemplateColumns = `repeat(${columns.length}, minmax(0, 1fr))`;
    this.head.replaceChildren(...columns.map((name, k) => {
      const cell = element("span", "", name);
      cell.append(element("small", "", states[k]));
      return cell;
    }));
  }

  share(column) {
    return (column + 0.5) / this.columns;
  }

  at(column) {
    return `${100 * this.share(column)}%`;
  }

  /** Draw what has happened, one after the other. */
  add(rows) {
    this.flush();
    for (const row of rows) this.words.append(element("li", "", row.words));
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      rows.forEach((row) => this.draw(row, false));
      return;
    }
    this.waiting = [...rows];
    const next = () => {
      const row = this.waiting.shift();
      if (row) this.draw(row, true);
      this.timer = this.waiting.length ? setTimeout(next, PACE) : undefined;
    };
    next();
  }

  /** What still waits to be drawn is drawn at once. */
  flush() {
    clearTimeout(this.timer);
    const rows = this.waiting;
    this.waiting = [];
    rows.forEach((row) => this.draw(row, false));
  }

  draw(row, moves) {
    const top = ROW * this.shown.length;
    this.shown.push(row);
    const part = drawn("g", {});
    for (let column = 0; column < this.columns; column += 1) {
      const life = { x1: this.at(column), x2: this.at(column), y1: top, y2: top + ROW, class: row.off.includes(column) ? "vw-life vw-away" : "vw-life" };
      part.append(drawn("line", life));
    }
    if (row.from === undefined) this.event(part, row, top);
    else this.packet(part, row, top, moves);
    this.picture.append(part);
    this.picture.setAttribute("height", ROW * this.shown.length + 12);
    this.box.scrollTop = this.box.scrollHeight;
  }

  /** A text above the middle of its arrow, or at the edge if it would go beyond. */
  label(part, text, middle, y, className) {
    const place = this.share(middle);
    const half = (LETTER * text.length) / 2 / (this.width || 1);
    let side = [`${100 * place}%`, "middle"];
    if (place < half) side = ["1%", "start"];
    else if (place > 1 - half) side = ["99%", "end"];
    part.append(drawn("text", { x: side[0], y, "text-anchor": side[1], class: className }, text));
  }

  packet(part, row, top, moves) {
    const y = top + 25;
    const ends = { x1: this.at(row.from), x2: this.at(row.to), y1: y, y2: y };
    const line = drawn("line", { ...ends, class: `vw-${row.kind}`, "marker-end": `url(#${this.end}-${row.kind})` });
    part.append(line);
    this.label(part, row.label, (row.from + row.to) / 2, top + 17, `vw-${row.kind}`);
    if (!moves) return;
    const dot = drawn("circle", { cx: ends.x1, cy: y, r: 5, class: `vw-${row.kind}` });
    part.append(dot);
    dot.animate([{ cx: ends.x1 }, { cx: ends.x2 }], { duration: PACE }).onfinish = () => dot.remove();
    line.animate([{ opacity: 0.2 }, { opacity: 1 }], { duration: PACE });
  }

  event(part, row, top) {
    const y = top + 23;
    if (row.at === null) {
      part.append(drawn("line", { x1: "0%", x2: "100%", y1: y, y2: y, class: "vw-time" }));
      part.append(drawn("text", { x: "50%", y: y - 5, "text-anchor": "middle", class: "vw-event" }, row.label));
      return;
    }
    part.append(drawn("text", { x: this.at(row.at), y: y + 5, "text-anchor": "middle", class: "vw-event vw-cross" }, "✕"));
    this.label(part, row.label, row.at - 0.5, y + 4, "vw-event");
  }
}

/** The picture of a line of each kind, with its name. */
function key() {
  const box = element("p", "vw-key");
  for (const [kind, text] of Object.entries(KINDS)) {
    const sample = drawn("svg", { width: 30, height: 8, "aria-hidden": "true" });
    sample.append(drawn("line", { x1: 0, x2: 30, y1: 4, y2: 4, class: `vw-${kind}` }));
    const part = element("span");
    part.append(sample, ` ${text}`);
    box.append(part, " ");
  }
  return box;
}

class Panel {
  constructor(page, box) {
    this.page = page;
    this.number = Number(box.dataset.subscribers);
    this.done = [];
    this.line = Promise.resolve();
    this.chart = new Chart();
    this.status = element("p", "vw-said");
    this.status.setAttribute("role", "status");
    const folded = element("details");
    folded.append(element("summary", "", "The packets in words"), this.chart.words);
    this.parties = Array.from({ length: this.number }, (_, k) => this.subscriber(k + 1));
    this.more = element("p");
    this.later = button("Let 30 seconds pass");
    this.later.addEventListener("click", () => this.act({ do: "time" }));
    const anew = button("Start anew");
    anew.addEventListener("click", () => this.anew());
    this.more.append(this.later, " ", anew);
    const parties = element("div", "vw-parties");
    parties.append(this.publisher(), ...this.parties.map(({ box: place }) => place));
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `A publisher, a broker and ${this.number} subscribers`);
    box.replaceChildren(parties, this.more, this.status, key(), this.chart.box, folded);
    this.tell("Waits for Python …");
    this.anew();
  }

  tell(text) {
    this.status.textContent = text;
  }

  publisher() {
    const qos = choice("QoS", [0, 1, 2, 3].map((n) => [n, n === 3 ? "3 (E-MQTT)" : n]));
    qos.select.value = 1;
    const each = Array.from({ length: this.number }, (_, k) => [k + 1, k + 1]);
    const wait = choice("waits for", [[0, "all"], ...each]);
    const retain = tick("retained");
    const send = button("Publish");
    const fits = () => {
      wait.select.disabled = qos.select.value !== "3";
    };
    qos.select.addEventListener("change", fits);
    fits();
    send.addEventListener("click", () => {
      const level = Number(qos.select.value);
      this.act({ do: "publish", qos: level, wait: level === 3 ? Number(wait.select.value) : 0, retain: retain.input.checked });
    });
    return group("publisher", qos.box, wait.box, retain.box, send);
  }

  subscriber(who) {
    const name = `subscriber ${who}`;
    const state = element("p");
    const turn = button("Switch off", `Switch off ${name}`);
    const cut = button("Break link at next message", `Break link at next message of ${name}`);
    const kept = tick("session kept");
    kept.input.checked = true;
    turn.addEventListener("click", () => this.act({ do: this.now[who - 1].on ? "off" : "on", who }));
    cut.addEventListener("click", () => {
      if (cut.getAttribute("aria-disabled") !== "true") this.act({ do: "break", who });
    });
    kept.input.addEventListener("change", () => this.act({ do: "session", who, kept: kept.input.checked }));
    return { box: group(name, state, turn, cut, kept.box), name, state, turn, cut, kept: kept.input };
  }

  /** Throw away what was done. */
  anew() {
    this.line = this.line.then(async () => {
      this.chart.clear();
      this.chart.words.replaceChildren();
      this.done = [];
      const told = await this.ask([]);
      if (told) this.show(told, "All are connected; each subscriber has subscribed to the topic T.");
    });
  }

  act(action) {
    this.line = this.line.then(async () => {
      const told = await this.ask([...this.done, action]);
      if (told) {
        this.done.push(action);
        this.chart.add(told.rows);
        this.show(told, told.said);
      } else if (this.now) this.set();
    });
  }

  /** Have Python do all of it; nothing, once the reader has been told why, where it cannot be done. */
  async ask(actions) {
    let text = "";
    let failed = "";
    const put = (output) => {
      if (output.output_type === "stream") text += output.text;
      else failed = output.traceback?.at(-1) ?? "no answer";
    };
    const asked = JSON.stringify({ subscribers: this.number, actions });
    let how;
    try {
      how = await this.page.aside(SOURCE, { _asked: asked }, put);
    } catch (error) {
      failed = String(error.message ?? error);
    }
    if (how !== "ok") {
      this.tell(how === "stopped" ? "Python was stopped before it answered: press again." : failed);
      return undefined;
    }
    const told = JSON.parse(text);
    if (told.refused) {
      this.tell(`${told.refused}.`);
      return undefined;
    }
    return told;
  }

  show(told, said) {
    this.now = told.subscribers;
    const waiting = told.subscribers.reduce((sum, { waiting: number }) => sum + number, 0);
    const states = [
      told.open.length ? `waits: ${told.open.join(", ")}` : "",
      `${waiting} waiting`,
      ...told.subscribers.map(({ on }) => (on ? "on" : "off")),
    ];
    this.chart.title(told.columns, states);
    this.set();
    this.tell(said);
  }

  /** The controls as things stand. */
  set() {
    this.now.forEach((client, k) => {
      const { state, turn, cut, kept, name } = this.parties[k];
      state.textContent = `${client.on ? "On" : "Off"}. At the broker: ${client.waiting}. Has: ${client.has.join(", ") || "nothing"}.`;
      turn.textContent = client.on ? "Switch off" : "Switch on";
      turn.setAttribute("aria-label", `${turn.textContent} ${name}`);
      cut.setAttribute("aria-disabled", String(!client.on || client.breaks));
      kept.checked = client.kept;
    });
  }
}

/** Furnish the place where packets are watched. */
export function furnish(page, box) {
  return new Panel(page, box);
}
