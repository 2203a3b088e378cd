// Where Python runs: a worker in a frame that has no origin, so that what it runs can't store, cache or connect.

const POLICY = "default-src 'none'; script-src 'nonce-python' 'wasm-unsafe-eval'; worker-src blob:";
// The page's own policy holds in the frame, too, and names this script by its checksum (voicewire_book.publish.live.offer).
const FRAME = `
let held; // Firefox collects a worker that nothing refers to, whatever it is at
onmessage = ({ data, ports }) => {
  held = new Worker(URL.createObjectURL(new Blob(data, { type: "text/javascript" })));
  held.onerror = (event) => parent.postMessage(event.message || "Python could not be started", "*");
  held.postMessage("begin", ports);
};
`;

/** Fetches the engine's files, hands each in with its checksum compared, and carries what is said in both directions. */
export class Box {
  /**
   * @param {string} base where the engine is: the address of `live/`
   * @param {object} chapter what the chapter's list says: `files` and `archives` with their checksums, `bytes`
   * @param {boolean} narrow whether figures have the shape for a telephone
   * @param {(told: object) => void} heard takes what is said within; anything may come, as readers' code may say it
   * @param {(why: Error) => void} failed takes why Python can't start or has ended
   */
  constructor(base, chapter, narrow, heard, failed) {
    this.failed = failed;
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    this.port.onmessage = ({ data }) => heard(Object(data));
    this.frame = document.createElement("iframe");
    this.frame.setAttribute("sandbox", "allow-scripts");
    this.frame.title = "Where Python runs";
    this.frame.hidden = true;
    this.frame.srcdoc = `<meta http-equiv="Content-Security-Policy" content="${POLICY}"><script nonce="python">${FRAME}</script>`;
    this.complaint = ({ source, data }) => {
      if (source === this.frame.contentWindow) failed(new Error(String(data)));
    };
    window.addEventListener("message", this.complaint);
    const there = new Promise((done) => this.frame.addEventListener("load", done, { once: true }));
    document.body.append(this.frame);
    const { files, archives } = chapter;
    this.port.postMessage({ kind: "start", chapter: chapter.chapter, archives: Object.keys(archives), narrow });
    const scripts = { "pyodide.asm.js": undefined, "worker.js": undefined };
    let fetched = 0;
    this.fetcher = new Worker(new URL("./fetcher.mjs", import.meta.url), { type: "module" });
    this.fetcher.addEventListener("error", (event) => failed(new Error(event.message || "Python could not be fetched")));
    this.fetcher.addEventListener("message", async ({ data: { bytes, name, file, whole, why } }) => {
      if (why) failed(new Error(why));
      else if (whole) this.fetcher.terminate();
      else if (bytes) {
        fetched += bytes;
        heard({ kind: "bytes", done: Math.min(fetched, chapter.bytes), total: chapter.bytes });
      } else if (name in scripts) {
        scripts[name] = file;
        const code = Object.values(scripts);
        if (code.some((each) => each === undefined)) return;
        await there;
        this.frame.contentWindow?.postMessage(code, "*", [port2, ...code]);
      } else this.port.postMessage({ kind: "file", name, file }, [file]);
    });
    this.fetcher.postMessage({ engine: new URL("engine/", base).href, files, archives });
  }

  post(message) {
    this.port.postMessage(message);
  }

  /** End Python, whatever it does. */
  close() {
    window.removeEventListener("message", this.complaint);
    this.fetcher.terminate();
    this.port.close();
    this.frame.remove();
  }
}
