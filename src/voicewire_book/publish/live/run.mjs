// Runs cells in Node as a page does, for the proof: node run.mjs LIVE SECONDS CHAPTER[,CHAPTER…] [ALSO]
// Chapters of one call share the engine and the libraries, each has its own names. Prints one JSON line for each cell.
// A cell that takes more than SECONDS of the processor's time is interrupted. With ALSO, cells that stay as published
// are tried too.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { pathToFileURL } from "node:url";

const [folder, seconds, names, also] = process.argv.slice(2);
const engine = join(resolve(folder), "engine") + "/";
const { loadPyodide } = await import(pathToFileURL(join(engine, "pyodide.mjs")));
const { inflated, lay, linked } = await import(new URL("archives.mjs", import.meta.url));
const used = () => process.cpuUsage().user / 1e6;
let outputs = [];

// An interrupt may arrive when a cell has just ended, between Python and here: then it ends what is awaited.
let stop = () => {};
process.on("uncaughtException", (error) => { stop(String(error).slice(-2000)); });
process.on("unhandledRejection", (error) => { stop(String(error).slice(-2000)); });
const stopped = () => new Promise((settle) => { stop = settle; });

const laid = new Set();

/** Lay out what a chapter needs and none before it needed. */
async function unpack(python, archives) {
  for (const name of Object.keys(archives).filter((each) => !laid.has(each))) {
    lay(python.FS, await inflated(new Blob([readFileSync(join(engine, name))]).stream()));
    laid.add(name);
  }
  await linked(python);
  python.pyimport("importlib").invalidate_caches();
}

function start() {
  return loadPyodide({
    indexURL: engine,
    lockFileURL: join(engine, "pyodide-lock.json"),
    env: { VOICEWIRE_ROOT: "/book", MPLBACKEND: "agg", MPLCONFIGDIR: "/book/.matplotlib", HOME: "/home/pyodide" },
  });
}

/** What goes wrong at a position of a slider between the published ones, or nothing. */
function misdrawn(session, told) {
  const places = told.knobs.map((knob) => (knob.between ? knob.last - 0.5 : knob.last));
  return JSON.parse(session.draw(told.name, JSON.stringify(places))).error;
}

async function run(python, session, chapter, cell, shared, limit) {
  outputs = [];
  const from = used();
  Atomics.store(shared, 0, 0);
  Atomics.store(shared, 1, Math.ceil(from) + limit);
  let how;
  try { how = await Promise.race([session.run(cell.source), stopped()]); } catch (error) { how = String(error).slice(-2000); }
  Atomics.store(shared, 1, 0);
  const sliders = outputs.flatMap((output) => output.data?.["application/vnd.voicewire.slider+json"] ?? []);
  how = sliders.map((told) => misdrawn(session, told)).find(Boolean) ?? how;
  console.log(JSON.stringify({ chapter, id: cell.id, how, took: used() - from, outputs }));
}

async function main() {
  const python = await start();
  // The other thread interrupts a cell that takes too long: this one is busy then.
  const shared = new Int32Array(new SharedArrayBuffer(8));
  python.setInterruptBuffer(new Uint8Array(shared.buffer, 0, 1));
  const watch = new Worker(
    `const { workerData: w } = require("node:worker_threads");
     setInterval(() => { if (w[1] && process.cpuUsage().user / 1e6 > w[1]) { Atomics.store(w, 0, 2); } }, 200);`,
    { eval: true, workerData: shared },
  );
  for (const name of names.split(",")) {
    const chapter = JSON.parse(readFileSync(join(folder, "chapters", `${name}.json`), "utf-8"));
    await unpack(python, chapter.archives);
    const page = python.pyimport("voicewire_book.publish.live.cell_runner");
    const session = page.Session(name, (text) => { outputs.push(JSON.parse(text)); });
    for (const [place, cell] of chapter.cells.filter((each) => each.runs || also).entries()) {
      // the first one imports what all need
      await run(python, session, name, cell, shared, Number(seconds) * (place === 0 ? 3 : 1));
    }
  }
  await watch.terminate();
  await new Promise((done) => { process.stdout.write("", done); }); // a long last line may still be on its way
  process.exit(0);
}

try {
  await main();
} catch (error) {  // Node would print the engine's one long line with it
  console.error(String(error).slice(-2000));
  process.exit(1);
}
