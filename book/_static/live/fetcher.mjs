// Fetches the engine's files and inflates the archives beside Python, which starts meanwhile; each counts only with its
// checksum.

/** What came before, and is not what the page names, is thrown away and asked for once more. */
async function again(address, integrity) {
  const kept = await self.caches?.open("voicewire-live-1").catch(() => undefined); // a private window keeps nothing
  await kept?.delete(address);
  return fetch(address, { integrity, cache: "reload" });
}

async function fetched(address, integrity) {
  const answer = await fetch(address, { integrity }).catch(() => again(address, integrity)).catch(() => {
    throw new Error(`${address} does not come, or is of another edition than this page: load the page again`);
  });
  if (!answer.ok) throw new Error(`the server answers ${answer.status} for ${address}`);
  return answer.body;
}

const counted = () => new TransformStream({
  transform(piece, controller) {
    self.postMessage({ bytes: piece.byteLength });
    controller.enqueue(piece);
  },
});

self.addEventListener("message", async ({ data: { engine, files, archives } }) => {
  const bring = async (name, integrity, unpack) => {
    const body = (await fetched(new URL(name, engine), integrity)).pipeThrough(counted());
    const file = await new Response(unpack ? body.pipeThrough(unpack) : body).arrayBuffer();
    self.postMessage({ name, file }, [file]);
  };
  try {
    await Promise.all([
      ...Object.entries(files).map(([name, integrity]) => bring(name, integrity)),
      ...Object.entries(archives).map(([name, integrity]) => bring(name, integrity, new DecompressionStream("gzip"))),
    ]);
    self.postMessage({ whole: true });
  } catch (error) {
    self.postMessage({ why: String(error?.message ?? error) });
  }
});
