// What a reader wrote and answered: kept in this browser's own storage, under one key a chapter, sent nowhere.

const PREFIX = "voicewire:";
const FORMAT = "voicewire-reader-1";
export const MAX_BYTES = 5_000_000; // browsers keep about five megabytes for a site

const empty = () => ({ text: {}, done: {} });

/** A short fingerprint of a cell's published source: tells whether the book has changed since the reader wrote. */
export function fingerprint(source) {
  let hash = 5381;
  for (const character of source) hash = ((hash * 33) ^ character.codePointAt(0)) >>> 0;
  return hash.toString(36);
}

function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const CHAPTER = /^[a-z\d]\w*\/[a-z\d]\w*$/;
const CELL = /^[A-Za-z\d][\w-]{0,63}$/;

function isChapter(value) {
  return (
    isRecord(value) &&
    isRecord(value.text) &&
    isRecord(value.done) &&
    Object.keys({ ...value.text, ...value.done }).every((cell) => CELL.test(cell)) &&
    Object.values(value.text).every((own) => isRecord(own) && typeof own.source === "string" && typeof own.of === "string") &&
    Object.values(value.done).every((day) => /^\d{4}-\d\d-\d\d$/.test(day))
  );
}

export class Store {
  /** @param {Storage} storage what the browser keeps; a test hands in its own */
  constructor(storage) {
    this.storage = storage;
  }

  /** The chapters of which something is kept. */
  chapters() {
    const names = [];
    for (let index = 0; index < this.storage.length; index += 1) {
      const key = this.storage.key(index);
      if (key.startsWith(PREFIX)) names.push(key.slice(PREFIX.length));
    }
    return names.sort();
  }

  read(chapter) {
    try {
      const kept = JSON.parse(this.storage.getItem(PREFIX + chapter) ?? "null");
      return isChapter(kept) ? kept : empty();
    } catch {
      return empty();
    }
  }

  /** Change what is kept of a chapter; returns "" or why it could not be kept. */
  change(chapter, edit) {
    const kept = this.read(chapter);
    edit(kept);
    const nothing = Object.keys(kept.text).length + Object.keys(kept.done).length === 0;
    try {
      if (nothing) this.storage.removeItem(PREFIX + chapter);
      else this.storage.setItem(PREFIX + chapter, JSON.stringify(kept));
      return "";
    } catch {
      return "The browser has no room left to keep this: export your work, then throw old answers away.";
    }
  }

  write(chapter, cell, source, published) {
    return this.change(chapter, (kept) => {
      if (source === published) delete kept.text[cell];
      else kept.text[cell] = { source, of: fingerprint(published) };
    });
  }

  /** A check has passed: it stays so until the reader throws it away. */
  done(chapter, cell, day) {
    return this.change(chapter, (kept) => {
      kept.done[cell] ??= day;
    });
  }

  forget(chapter) {
    this.storage.removeItem(PREFIX + chapter);
  }

  /** All that is kept, as the text of a file. */
  exported() {
    const chapters = Object.fromEntries(this.chapters().map((name) => [name, this.read(name)]));
    return JSON.stringify({ format: FORMAT, chapters }, null, 1);
  }

  /**
   * Read such a file; nothing is kept of it before `take`.
   *
   * @returns {object} what the file keeps, by chapter
   * @throws {Error} with a sentence for the reader
   */
  opened(text) {
    if (text.length > MAX_BYTES) throw new Error("This file is larger than anything that this book exports.");
    let file;
    try {
      file = JSON.parse(text);
    } catch {
      throw new Error("This file is not JSON: choose the one that “Export” wrote.");
    }
    if (!isRecord(file) || file.format !== FORMAT || !isRecord(file.chapters)) {
      throw new Error("This file was not exported by this book.");
    }
    const whole = Object.entries(file.chapters).every(([name, kept]) => CHAPTER.test(name) && isChapter(kept));
    if (!whole) throw new Error("This file is damaged: nothing was taken from it.");
    return file.chapters;
  }

  /** The texts of such a file that are not here yet: `chapter`, `cell` and `source` of each. */
  fresh(chapters) {
    return Object.entries(chapters).flatMap(([chapter, { text }]) => {
      const mine = this.read(chapter).text;
      return Object.entries(text).flatMap(([cell, { source }]) => (mine[cell] ? [] : [{ chapter, cell, source }]));
    });
  }

  /**
   * Take what such a file keeps, of its texts those that were shown. They are marked until the reader edits or resets
   * them; what the reader has here and the file has otherwise is kept here and counted.
   *
   * @param {object} chapters as `opened` read them
   * @param {{chapter: string, cell: string}[]} shown texts of `fresh`, which the reader has seen
   * @returns {{taken: number, kept: number}} cells and ticks taken, texts that stayed as they are here
   * @throws {Error} with a sentence for the reader
   */
  take(chapters, shown) {
    const count = { taken: 0, kept: 0 };
    const seen = new Set(shown.map(({ chapter, cell }) => `${chapter} ${cell}`));
    for (const [name, theirs] of Object.entries(chapters)) {
      const failed = this.change(name, (mine) => {
        for (const [cell, own] of Object.entries(theirs.text)) {
          if (mine.text[cell] === undefined && seen.has(`${name} ${cell}`)) {
            mine.text[cell] = { source: own.source, of: own.of, imported: true };
            count.taken += 1;
          } else if (mine.text[cell] !== undefined && mine.text[cell].source !== own.source) count.kept += 1;
        }
        for (const [cell, day] of Object.entries(theirs.done)) {
          if (mine.done[cell] === undefined) {
            mine.done[cell] = day;
            count.taken += 1;
          }
        }
      });
      if (failed) throw new Error(failed);
    }
    return count;
  }
}
