// The bar of a page that runs: how far Python is, stop, all cells, and what the reader has done so far.

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

function button(text, act) {
  const made = element("button", "", text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);

export class Work {
  constructor(page) {
    this.page = page;
    this.status = element("span", "vw-status");
    this.status.setAttribute("role", "status");
    this.meter = element("progress");
    this.meter.setAttribute("aria-label", "fetched");
    this.meter.max = 1;
    this.all = button("Run all", () => page.all(page.cells));
    this.end = button("Stop", () => page.stop());
    this.end.title = "Ends what runs and starts Python anew; what you wrote stays.";
    this.end.disabled = true;
    this.own = this.details();
    page.bar.replaceChildren(this.all, this.end, this.meter, this.status, this.own);
    page.bar.classList.add("vw-started");
    page.bar.setAttribute("role", "region");
    page.bar.setAttribute("aria-label", "Python in this page");
    this.count();
  }

  details() {
    const box = element("details", "vw-work");
    this.summary = element("summary");
    const said = element("p", "", "What you write and what you have solved stays in this browser. Nothing is sent.");
    this.list = element("ul");
    this.note = element("p");
    this.note.setAttribute("role", "status");
    const file = element("input");
    file.type = "file";
    file.accept = "application/json,.json";
    file.hidden = true;
    file.addEventListener("change", () => this.take(file));
    const forget = button("Throw this chapter's away", () => this.forget());
    this.asked = element("div", "vw-asked");
    this.asked.setAttribute("role", "group");
    this.asked.setAttribute("aria-label", "What the file would bring");
    this.asked.hidden = true;
    const licences = element("a", "", "Licences of Python and its libraries in this page");
    licences.href = new URL("../../live/licences.txt", import.meta.url).href;
    box.append(this.summary, said, this.list);
    box.append(button("Export all as a file", () => this.give()), button("Import a file", () => file.click()), file, forget, this.note, this.asked, licences);
    return box;
  }

  checks(done) {
    return this.page.cells.filter((cell) => cell.told.tags.includes("check") && (!done || done[cell.told.id]));
  }

  /** Say how much is solved, here and in the other chapters, and tick the checks that have passed. */
  count() {
    const { done } = this.page.store.read(this.page.name);
    const solved = this.checks(done);
    for (const cell of this.checks()) cell.place.classList.toggle("vw-solved", Boolean(done[cell.told.id]));
    this.summary.textContent = `Your work: ${solved.length} of ${this.checks().length} checks passed`;
    this.list.replaceChildren(
      ...this.page.store.chapters().map((name) => {
        const kept = this.page.store.read(name);
        const passed = Object.keys(kept.done).length;
        const texts = Object.keys(kept.text).length;
        return element("li", "", `${name}: ${passed} passed, ${texts} ${texts === 1 ? "cell" : "cells"} of your own`);
      }),
    );
  }

  give() {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([this.page.store.exported()], { type: "application/json" }));
    link.download = "voice-to-wire-my-work.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    this.note.textContent = "Written to your downloads.";
  }

  async take(input) {
    const [file] = input.files;
    input.value = "";
    if (!file) return;
    this.asked.hidden = true;
    try {
      const chapters = this.page.store.opened(await file.text());
      const texts = this.page.store.fresh(chapters);
      if (texts.length) this.ask(chapters, texts);
      else this.taken(chapters, texts);
    } catch (error) {
      this.note.textContent = error.message;
    }
  }

  /** Show what a file would bring; none of it is kept, and so none can run, before the reader says so. */
  ask(chapters, texts) {
    const end = (act) => () => {
      this.asked.hidden = true;
      this.asked.replaceChildren();
      act();
    };
    const shown = texts.map(({ chapter, cell, source }) => {
      const box = element("details");
      box.open = true;
      const code = element("pre", "", source);
      code.tabIndex = 0;
      box.append(element("summary", "", `${chapter}, cell ${cell}`), code);
      return box;
    });
    const take = button("Take them", end(() => this.taken(chapters, texts)));
    const leave = button("Leave them", end(() => {
      this.note.textContent = "Nothing was taken.";
    }));
    this.asked.replaceChildren(...shown, take, leave);
    this.asked.hidden = false;
    const many = texts.length === 1 ? "one text of a cell" : `${texts.length} texts of cells`;
    this.note.textContent = `The file has ${many}, which would run in place of the book's. Read them here, then take or leave them.`;
    this.asked.querySelector("summary").focus();
  }

  taken(chapters, texts) {
    try {
      const { taken, kept } = this.page.store.take(chapters, texts);
      const left = kept ? ` ${kept} of your own here stayed as they are.` : "";
      this.note.textContent = `${taken} taken.${left} Load the page again to see them.`;
    } catch (error) {
      this.note.textContent = error.message;
    }
    this.count();
  }

  forget() {
    if (!window.confirm("Throw away what you wrote and solved in this chapter? It cannot be had back.")) return;
    this.page.store.forget(this.page.name);
    this.page.cells.filter((cell) => cell.tools).forEach((cell) => cell.reset());
    this.count();
    this.note.textContent = "Thrown away.";
  }

  step(text) {
    this.status.textContent = `Python: ${text}`;
  }

  bytes(done, total) {
    this.meter.hidden = false;
    this.meter.value = done / total;
    this.status.textContent = `Python: ${megabytes(done)} of ${megabytes(total)} MB`;
  }

  ready() {
    this.meter.hidden = true;
    this.status.textContent = "Python is ready";
    this.end.disabled = false;
  }

  failed(text) {
    this.meter.hidden = true;
    this.status.textContent = `Python could not be started: ${text}. Load the page again, or run the chapter on Binder.`;
    this.status.classList.add("vw-error");
  }

  busy(is) {
    this.page.bar.dataset.busy = is;
    if (!is && this.end.disabled === false) this.status.textContent = "Python is ready";
    else if (is && this.end.disabled === false) this.status.textContent = "Python runs …";
  }
}
