// Fetches and inflates the archives beside Python, which starts meanwhile; each is taken only with its checksum.

async function fetched(address, integrity) {
  const answer = await fetch(address, { integrity });
  if (!answer.ok) throw new Error(`the server answers ${answer.status} for ${address}`);
  return answer.body;
}

self.addEventListener("message", async ({ data: { engine, archives } }) => {
  try {
    const { inflated } = await import(`${engine}archives.mjs`);
    await Promise.all(
      Object.entries(archives).map(async ([name, integrity]) => {
        const counted = new TransformStream({
          transform(piece, controller) {
            self.postMessage({ bytes: piece.byteLength });
            controller.enqueue(piece);
          },
        });
        const archive = await inflated((await fetched(new URL(name, engine), integrity)).pipeThrough(counted));
        self.postMessage({ archive }, [archive.buffer]);
      }),
    );
    self.postMessage({ whole: true });
  } catch (error) {
    self.postMessage({ failed: String(error?.message ?? error) });
  }
});
