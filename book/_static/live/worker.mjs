// Python beside the page: it starts once, runs one cell after the other, and is ended from outside to stop it.

let session;
let running = 0;

/** Count what arrives, so that the reader sees how far it is. */
function count(total) {
  const plain = self.fetch.bind(self);
  let done = 0;
  self.fetch = async (...request) => {
    const answer = await plain(...request);
    if (!answer.body || !answer.ok) return answer;
    const counted = answer.body.pipeThrough(
      new TransformStream({
        transform(piece, controller) {
          done += piece.byteLength;
          self.postMessage({ kind: "bytes", done: Math.min(done, total), total });
          controller.enqueue(piece);
        },
      }),
    );
    return new Response(counted, { status: answer.status, headers: answer.headers });
  };
}

async function start({ base, chapter }) {
  count(chapter.bytes);
  const say = (text) => self.postMessage({ kind: "step", text });
  say("fetching Python");
  const { loadPyodide } = await import(new URL("engine/pyodide.mjs", base).href);
  const engine = new URL("engine/", base).href;
  const book = Promise.all(
    ["book.zip", ...chapter.data].map(async (name) => {
      const answer = await fetch(new URL(name, engine));
      if (!answer.ok) throw new Error(`the server answers ${answer.status} for ${name}`);
      return answer.arrayBuffer();
    }),
  );
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
  const failed = [];
  await python.loadPackage(chapter.packages, { messageCallback: () => {}, errorCallback: (text) => failed.push(text) });
  if (failed.length) throw new Error(failed[0]);
  for (const archive of await book) python.unpackArchive(archive, "zip", { extractDir: "/book" });
  say("importing");
  const page = python.pyimport("voicewire.publish.live.page");
  session = page.Session(
    chapter.chapter,
    (text) => self.postMessage({ kind: "output", run: running, output: JSON.parse(text) }),
    (rows) => self.postMessage({ kind: "judged", run: running, rows }),
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
