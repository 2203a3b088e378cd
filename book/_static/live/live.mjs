// Run the code of a page in the page: entered after the reader's click, nothing of it is loaded before.

import { Box } from "./box.mjs";
import { Cell } from "./cell.mjs";
import { Store } from "./store.mjs";
import { Work } from "./work.mjs";

const BASE = new URL("../../live/", import.meta.url).href;

/** Keep what is fetched from here on, for a second visit and for one offline; the book works without it too. */
async function keepFiles() {
  try {
    const claimed = new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done, { once: true }));
    const keeper = await navigator.serviceWorker.register(new URL("../../live-cache.js", import.meta.url), { updateViaCache: "none" });
    if (navigator.serviceWorker.controller || (keeper.active && !keeper.installing)) return; // it takes no page that was forced past it
    await Promise.race([claimed, new Promise((done) => setTimeout(done, 10_000))]);
  } catch {
    // a private window, or a server without https: everything is fetched anew each time
  }
}

/** The page itself came before there was anything to keep it: it is kept now, mostly out of the browser's own cache. */
async function keepPage() {
  if (!navigator.serviceWorker?.controller) return;
  const site = new URL("../../", import.meta.url).href;
  const shown = [...document.images].map((image) => image.src);
  const parts = new Set([location.href.split("#")[0], ...performance.getEntriesByType("resource").map(({ name }) => name), ...shown]);
  const ours = [...parts].filter((url) => url.startsWith(site) && !url.includes("/live/engine/"));
  await Promise.allSettled(ours.map((url) => fetch(url, { cache: "force-cache" })));
}

/** What was kept of another edition of the book is thrown away. The edition is the site's, whichever page is open. */
async function refresh(edition) {
  const kept = await self.caches?.open("voicewire-live-1");
  const key = new URL("edition", BASE).href;
  const answer = await kept?.match(key);
  if (!kept || (answer && (await answer.text()) === edition)) return;
  const engine = new URL("engine/", BASE).href;
  for (const request of await kept.keys()) if (request.url.startsWith(engine)) await kept.delete(request);
  await kept.put(key, new Response(edition));
}

async function read(name, integrity = "") {
  const answer = await fetch(new URL(name, BASE), { cache: "no-cache", integrity }).catch(() => {
    throw new Error(`live/${name} does not come, or is of another edition than this page: load the page again`);
  });
  if (!answer.ok) throw new Error(`the server answers ${answer.status} for live/${name}`);
  return answer.json();
}

class Page {
  constructor(bar, chapter) {
    this.bar = bar;
    this.chapter = chapter;
    this.name = chapter.chapter;
    this.store = new Store(window.localStorage);
    this.runs = new Map(); // number of a run -> the cell, and what waits for its end
    this.asked = new Map(); // number of a question for a slider's position -> what takes the answer
    this.count = 0;
    this.queue = Promise.resolve();
    this.era = 0; // grows with each stop: what was queued before it does not run
    const places = document.querySelectorAll("div.cell");
    this.cells = chapter.cells.flatMap((told) => (places[told.number - 1] ? [new Cell(places[told.number - 1], told, this)] : []));
    this.byId = new Map(this.cells.map((cell) => [cell.told.id, cell]));
    this.work = new Work(this);
    document.body.classList.add("vw-is-live");
  }

  kept(id) {
    return this.store.read(this.name).text[id];
  }

  keep(id, source, published) {
    return this.store.write(this.name, id, source, published);
  }

  /** Start Python; the promise ends when it can run cells. */
  launch() {
    const narrow = matchMedia("screen and (max-width: 576px)").matches; // where the published pictures are narrow
    this.ready = new Promise((done, fail) => {
      this.box = new Box(BASE, this.chapter, narrow, (told) => this.heard(told, done, fail), fail);
    });
    this.ready.catch((error) => this.work.failed(String(error.message ?? error)));
    return this.ready;
  }

  heard(data, done, fail) {
    const run = this.runs.get(data.run);
    const answer = this.asked.get(data.ask);
    if (answer) {
      this.asked.delete(data.ask);
      answer(data.drawn ?? { error: data.text });
      return;
    }
    if (data.kind === "step") this.work.step(data.text);
    else if (data.kind === "bytes") this.work.bytes(data.done, data.total);
    else if (data.kind === "ready") {
      this.whole.then(() => { // from here on no network is needed
        this.work.ready();
        done();
      });
    } else if (data.kind === "output") run?.cell.put(data.output);
    else if (data.kind === "judged") this.judged(JSON.parse(data.rows), run?.cell);
    else if (data.kind === "ran") run?.ended(data.how, Number(data.seconds));
    else if (run) run.failed(data.text);
    else fail(new Error(data.text));
  }

  /** A cell has judged claims: what came out stands beside what was published. */
  async judged(rows, cell) {
    const { show } = await import("./judged.mjs");
    show(this, rows, cell);
  }

  /** Run what judged the claim on a card. */
  async rerun(card, room) {
    const { rerun } = await import("./judged.mjs");
    return rerun(this, card, room);
  }

  /** The cells above that a cell builds on: the book's list of them, or, for a reader's text, whatever makes its words. */
  below(cell) {
    if (!cell.changed) return cell.told.needs.map((id) => this.byId.get(id));
    const makers = new Map();
    for (const other of this.cells.slice(0, this.cells.indexOf(cell))) {
      for (const name of other.told.makes) makers.set(name, other);
    }
    const words = cell.source.match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? [];
    return new Set(words.flatMap((word) => makers.get(word) ?? []));
  }

  /** The cells that define what a cell uses, those that have not run as they stand now, and the cell itself. */
  needed(cell, found = new Set()) {
    if (found.has(cell)) return found;
    for (const other of this.below(cell)) {
      if (other.told.runs && other.state !== "ran") this.needed(other, found);
    }
    found.add(cell);
    return found;
  }

  async run(cell) {
    const list = this.needed(cell);
    const check = this.cells[this.cells.indexOf(cell) + 1];
    if (cell.isAnswer() && check?.told.tags.includes("check")) this.needed(check, list);
    return this.all([...list]);
  }

  runAbove(cell) {
    return this.all(this.cells.slice(0, this.cells.indexOf(cell) + 1));
  }

  /** Run cells one after the other, in the page's order, up to the first that fails. */
  all(cells) {
    const era = this.era;
    const list = cells.filter((cell) => cell.told.runs).sort((a, b) => a.told.number - b.told.number);
    list.forEach((cell) => cell.mark("waiting"));
    this.work.busy(true);
    this.queue = this.queue.then(async () => {
      for (const [position, cell] of list.entries()) {
        if (era !== this.era) return;
        if ((await this.one(cell)) === "ok") continue;
        if (era === this.era) list.slice(position + 1).forEach((left) => left.mark("fresh") ?? left.say("not run: a cell above failed"));
        break;
      }
      if (era === this.era) this.work.busy(false);
    });
    return this.queue;
  }

  /** Run what is no cell's, on values that the page hands over, when all that waits has run; tell how it ended. */
  aside(source, names, put) {
    const before = this.queue;
    const ended = before.then(() => this.ready).then(() => new Promise((done) => {
      this.count += 1;
      this.ending = () => done("stopped");
      this.runs.set(this.count, {
        cell: { put },
        ended: done,
        failed: (text) => {
          put({ output_type: "error", traceback: [text] });
          done("error");
        },
      });
      this.box.post({ kind: "run", run: this.count, source, names });
    }));
    this.queue = ended.catch(() => {});
    return ended;
  }

  async one(cell) {
    try {
      await this.ready;
    } catch {
      cell.mark("fresh");
      cell.say("Python could not be started");
      return "error";
    }
    cell.clear();
    cell.mark("running");
    const source = cell.source;
    const before = cell.ranSource;
    const how = await new Promise((done) => {
      this.count += 1;
      this.runs.set(this.count, {
        cell,
        ended: (end, seconds) => {
          cell.ended(end, seconds);
          done(end);
        },
        failed: (text) => {
          cell.put({ output_type: "error", traceback: [text] });
          cell.ended("error", 0);
          done("error");
        },
      });
      this.ending = () => done("stopped");
      this.box.post({ kind: "run", run: this.count, source });
    });
    this.runs.delete(this.count);
    cell.ranSource = source;
    if (how === "ok" && before !== undefined && before !== source) this.age(cell);
    if (how === "ok") this.tick(cell);
    return how;
  }

  /** One position of a slider, drawn by the function that drew the published ones. */
  draw(slider, places) {
    return new Promise((done) => {
      this.count += 1;
      this.asked.set(this.count, done);
      this.box.post({ kind: "draw", ask: this.count, slider, places });
    });
  }

  /** What was computed from a cell that has changed is marked, all the way down. */
  age(cell) {
    for (const other of this.cells) {
      if (other.state === "ran" && other.told.needs.includes(cell.told.id)) {
        other.mark("stale");
        this.age(other);
      }
    }
  }

  /** An exercise's check that says "Right" ticks it off, in this browser. */
  tick(cell) {
    if (!cell.told.tags.includes("check") || !/^Right: /.test(cell.text)) return;
    const failed = this.store.done(this.name, cell.told.id, new Date().toISOString().slice(0, 10));
    if (failed) cell.say(failed);
    this.work.count();
  }

  /** End Python, whatever it does, and start it anew: what was typed and shown stays, variables are gone. */
  stop() {
    this.era += 1;
    this.box.close();
    this.ending?.();
    this.runs.clear();
    for (const answer of this.asked.values()) answer({ error: "Python was stopped: run this cell again." });
    this.asked.clear();
    for (const cell of this.cells) {
      if (cell.state === "running" || cell.state === "waiting") cell.say("stopped");
      if (cell.told.runs) cell.mark("fresh");
      cell.ranSource = undefined;
    }
    this.queue = Promise.resolve();
    this.work.busy(false);
    this.work.step("starts anew");
    return this.launch();
  }
}

/** Furnish the page and start Python. */
export async function begin(bar) {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL("./live.css", import.meta.url).href;
  document.head.append(style);
  await keepFiles();
  const [chapter, edition] = await Promise.all([read(`chapters/${bar.dataset.chapter}.json`, bar.dataset.integrity), read("live.json")]);
  await refresh(JSON.stringify(edition));
  const page = new Page(bar, chapter);
  page.whole = Promise.race([keepPage(), new Promise((done) => setTimeout(done, 10_000))]);
  page.launch();
  for (const [place, name] of [[".vw-record", "recorder"], [".vw-exchange", "exchange"]]) {
    const box = document.querySelector(place);
    if (box) (await import(`./${name}.mjs`)).furnish(page, box);
  }
  return page;
}
