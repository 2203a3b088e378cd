// Python in its box: it starts once, from files that are handed in, and runs one cell after the other. Laid out with
// Pyodide's loader and archives.mjs before it, as one script that needs no other (voicewire_book.publish.live.boxed).

const ENGINE = "engine:/"; // no address: what Pyodide asks for below it comes from the files

let port;
let session;
let running = 0;
const files = new Map(); // name -> a promise of its bytes, with what fulfils it

function file(name) {
  if (!files.has(name)) {
    let give;
    const bytes = new Promise((done) => { give = done; });
    files.set(name, { bytes, give });
  }
  return files.get(name);
}

self.fetch = async (address) => {
  const name = String(address).slice(ENGINE.length);
  const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
  return new Response(await file(name).bytes, { headers: { "content-type": type } });
};

async function start({ chapter, archives, narrow }) {
  const say = (text) => port.postMessage({ kind: "step", text });
  say("fetching Python");
  const python = await loadPyodide({
    indexURL: ENGINE,
    lockFileURL: `${ENGINE}pyodide-lock.json`,
    env: {
      VOICEWIRE_ROOT: "/book",
      MPLBACKEND: "agg",
      MPLCONFIGDIR: "/book/.matplotlib",
      HOME: "/home/pyodide",
    },
  });
  say("fetching what this chapter imports");
  for (const name of archives) lay(python.FS, new Uint8Array(await file(name).bytes));
  files.clear();
  await linked(python);
  say("importing");
  const page = python.pyimport("voicewire_book.publish.live.cell_runner");
  session = page.Session(
    chapter,
    (text) => port.postMessage({ kind: "output", run: running, output: JSON.parse(text) }),
    (rows) => port.postMessage({ kind: "judged", run: running, rows }),
    narrow,
  );
}

async function heard({ data }) {
  try {
    if (data.kind === "file") {
      file(data.name).give(data.file);
    } else if (data.kind === "start") {
      await start(data);
      port.postMessage({ kind: "ready" });
    } else if (data.kind === "run") {
      running = data.run;
      const began = performance.now();
      for (const [name, value] of Object.entries(data.names ?? {})) session.names.set(name, value);
      const how = await session.run(data.source);
      for (const name of Object.keys(data.names ?? {})) session.names.delete(name);
      port.postMessage({ kind: "ran", run: data.run, how, seconds: (performance.now() - began) / 1000 });
    } else if (data.kind === "draw") {
      const drawn = JSON.parse(session.draw(data.slider, JSON.stringify(data.places)));
      port.postMessage({ kind: "drawn", ask: data.ask, drawn });
    }
  } catch (error) {
    port.postMessage({ kind: "failed", ask: data.ask, run: data.run, text: String(error?.message ?? error) });
  }
}

self.addEventListener("message", ({ ports }) => {
  [port] = ports;
  port.onmessage = heard;
}, { once: true });
