// Python beside the page: it starts once, runs one cell after the other, and is ended from outside to stop it.

let session;
let running = 0;
let beside; // what fetches; held here, as Firefox collects a worker that nothing refers to, whatever it is at

/** Tell the reader how far it is; `more` counts bytes that have arrived. */
function meter(total) {
  let done = 0;
  return (more) => {
    done += more;
    self.postMessage({ kind: "bytes", done: Math.min(done, total), total });
  };
}

/** Count what this worker itself fetches. The engine's compiled code is left as it comes: a browser keeps it compiled. */
function count(more) {
  const plain = self.fetch.bind(self);
  self.fetch = async (...request) => {
    const answer = await plain(...request);
    if (!answer.body || !answer.ok) return answer;
    if (answer.url.endsWith(".wasm")) {
      more(Number(answer.headers.get("content-length") ?? 0));
      return answer;
    }
    const counted = answer.body.pipeThrough(
      new TransformStream({
        transform(piece, controller) {
          more(piece.byteLength);
          controller.enqueue(piece);
        },
      }),
    );
    return new Response(counted, { status: answer.status, headers: answer.headers });
  };
}

/** Have the archives fetched and inflated beside Python; a promise of them all. */
function fetched(engine, archives, more) {
  beside = new Worker(new URL("./fetcher.mjs", import.meta.url), { type: "module" });
  return new Promise((done, fail) => {
    const found = [];
    beside.addEventListener("error", (event) => fail(new Error(event.message || "the libraries could not be fetched")));
    beside.addEventListener("message", ({ data }) => {
      if (data.bytes) more(data.bytes);
      else if (data.archive) found.push(data.archive);
      else if (data.whole) done(found);
      else fail(new Error(data.failed));
    });
    beside.postMessage({ engine, archives });
  }).finally(() => beside.terminate());
}

async function start({ base, chapter, narrow }) {
  const more = meter(chapter.bytes);
  const engine = new URL("engine/", base).href;
  const archives = fetched(engine, chapter.archives, more);
  archives.catch(() => {}); // it is told where they are awaited
  count(more);
  const say = (text) => self.postMessage({ kind: "step", text });
  say("fetching Python");
  const [{ loadPyodide }, { lay, linked }] = await Promise.all(["pyodide.mjs", "archives.mjs"].map((name) => import(engine + name)));
  const python = await loadPyodide({
    indexURL: engine,
    lockFileURL: `${engine}pyodide-lock.json`,
    env: {
      VOICEWIRE_ROOT: "/book",
      MPLBACKEND: "agg",
      MPLCONFIGDIR: "/book/.matplotlib",
      HOME: "/home/pyodide",
    },
  });
  say("fetching what this chapter imports");
  for (const archive of await archives) lay(python.FS, archive);
  await linked(python);
  say("importing");
  const page = python.pyimport("voicewire.publish.live.page");
  session = page.Session(
    chapter.chapter,
    (text) => self.postMessage({ kind: "output", run: running, output: JSON.parse(text) }),
    (rows) => self.postMessage({ kind: "judged", run: running, rows }),
    narrow,
  );
}

self.addEventListener("message", async ({ data }) => {
  try {
    if (data.kind === "start") {
      await start(data);
      self.postMessage({ kind: "ready" });
    } else if (data.kind === "run") {
      running = data.run;
      const began = performance.now();
      for (const [name, value] of Object.entries(data.names ?? {})) session.names.set(name, value);
      const how = await session.run(data.source);
      for (const name of Object.keys(data.names ?? {})) session.names.delete(name);
      self.postMessage({ kind: "ran", run: data.run, how, seconds: (performance.now() - began) / 1000 });
    } else if (data.kind === "draw") {
      const drawn = JSON.parse(session.draw(data.slider, JSON.stringify(data.places)));
      self.postMessage({ kind: "drawn", ask: data.ask, drawn });
    }
  } catch (error) {
    self.postMessage({ kind: "failed", ask: data.ask, run: data.run, text: String(error?.message ?? error) });
  }
});
