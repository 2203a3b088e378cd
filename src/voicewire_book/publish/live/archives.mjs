// The archives that Python's files come in, packed by voicewire_book.publish.live.archives; read in a page and in Node.

const BLOCK = 512; // bytes of a tar archive's header, and what its files are filled up to a multiple of
const decoder = new TextDecoder();

/** What a compressed archive holds; a promise of its bytes. */
export async function inflated(stream) {
  const plain = stream.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/** Lay the files of an archive into Python's file system; they stay where they are in the archive, without a copy. */
export function lay(files, archive) {
  const text = (from, length) => {
    const field = archive.subarray(from, from + length);
    const end = field.indexOf(0);
    return decoder.decode(end < 0 ? field : field.subarray(0, end));
  };
  const made = new Set();
  for (let at = 0; archive[at]; ) {
    const [name, before, size] = [text(at, 100), text(at + 345, 155), parseInt(text(at + 124, 12), 8)];
    const path = `/${before}${before && "/"}${name}`;
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!made.has(folder)) files.mkdirTree(folder);
    made.add(folder);
    files.writeFile(path, archive.subarray(at + BLOCK, at + BLOCK + size), { canOwn: true });
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
}

/** Link the library that SciPy's modules share, as Pyodide does; without it each of them would look for it in vain. */
export async function linked(python) {
  const shared = "/usr/lib/libopenblas.so";
  if (python.FS.analyzePath(shared).exists) await python._api.loadDynlib(shared, true);
}
