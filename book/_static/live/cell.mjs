// One code cell of the page: its buttons, its editor, the reader's own output beside the published one.

import { append } from "./outputs.mjs";
import { fingerprint } from "./store.mjs";

let editors; // the editor's bundle, fetched when the first editor opens

function button(text, label, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}

export class Cell {
  /**
   * @param {HTMLElement} place the cell on the page
   * @param {object} told what the chapter's list says of it: id, number, tags, source, runs, why, differs, needs
   * @param {object} page what runs cells: run, runAbove, keep, kept
   */
  constructor(place, told, page) {
    this.place = place;
    this.told = told;
    this.page = page;
    this.input = place.querySelector(".cell_input");
    this.code = this.input?.querySelector("div[class*='highlight-']");
    this.published = place.querySelector(".cell_output:not(.vw-yours)");
    this.state = "fresh"; // then: waiting, running, ran, failed, stale
    if (!this.code) return;
    if (told.runs) this.furnish();
    else this.excuse();
  }

  get source() {
    return this.editor ? this.editor.text() : this.own ?? this.told.source;
  }

  get changed() {
    return this.source !== this.told.source;
  }

  furnish() {
    const name = `code cell ${this.told.number}`;
    this.tools = document.createElement("div");
    this.tools.className = "vw-tools";
    this.tools.setAttribute("role", "group");
    this.tools.setAttribute("aria-label", name);
    this.buttons = {
      run: button("Run", `Run ${name}`, () => this.page.run(this)),
      above: button("Run all above", `Run all cells above ${name}, then it`, () => this.page.runAbove(this)),
      edit: button("Edit", `Edit ${name}`, () => this.edit(true)),
      reset: button("Reset", `Reset ${name} to what was published`, () => this.reset()),
    };
    this.status = document.createElement("span");
    this.status.setAttribute("role", "status");
    this.tools.append(...Object.values(this.buttons), this.status);
    this.code.after(this.tools);
    const kept = this.page.kept(this.told.id);
    if (kept) {
      this.own = kept.source;
      if (kept.imported) this.imported();
      if (kept.of !== fingerprint(this.told.source)) this.say("The book's cell has changed since you wrote this.");
    }
    if (kept || this.isAnswer()) this.edit(false);
    this.refresh();
  }

  /** A text that came from a file is marked until the reader edits or resets it. */
  imported() {
    this.origin = document.createElement("p");
    this.origin.className = "vw-imported";
    this.origin.textContent = "From a file: read it before you run it.";
    this.tools.before(this.origin);
  }

  written() {
    this.origin?.remove();
    this.origin = undefined;
  }

  isAnswer() {
    return /^\w[\w, ]* = None\s*# your\b/m.test(this.told.source) && !this.told.tags.includes("check");
  }

  excuse() {
    const line = document.createElement("p");
    line.className = "vw-cannot";
    line.textContent = `Not in the browser: ${this.told.why} `;
    const launch = document.querySelector("a[href*='mybinder.org']");
    if (launch) {
      const link = document.createElement("a");
      link.href = launch.href;
      link.textContent = "Run the chapter on Binder";
      line.append(link);
    }
    this.code.after(line);
  }

  async edit(focus) {
    if (!this.editor) {
      editors ??= import("./editing.mjs");
      const { open } = await editors;
      if (this.editor) return;
      this.editor = open(this.source, {
        label: `Your text of code cell ${this.told.number}`,
        run: () => this.page.run(this),
        typed: () => this.typed(),
      });
      this.code.after(this.editor.element);
      this.code.hidden = true;
    }
    this.refresh();
    if (focus) this.editor.focus();
  }

  typed() {
    const failed = this.page.keep(this.told.id, this.source, this.told.source);
    if (failed) this.say(failed);
    this.written();
    this.refresh();
  }

  reset() {
    this.written();
    this.editor?.element.remove();
    this.editor = undefined;
    this.own = undefined;
    this.code.hidden = false;
    this.yours?.remove();
    this.yours = undefined;
    this.label?.remove();
    this.label = undefined;
    this.published?.classList.remove("vw-published");
    this.page.keep(this.told.id, this.told.source, this.told.source);
    this.say("as published");
    if (this.state !== "fresh") this.mark("stale");
    if (this.isAnswer()) this.edit(false);
    this.refresh();
    this.buttons.run.focus();
  }

  refresh() {
    this.buttons.edit.hidden = this.editor !== undefined;
    this.buttons.reset.hidden = !this.changed && !this.yours;
    this.place.classList.toggle("vw-changed", this.changed);
  }

  say(text) {
    this.status.textContent = text;
  }

  mark(state) {
    this.state = state;
    this.place.dataset.vwState = state;
    if (state === "waiting") this.say("waits");
    if (state === "running") this.say("runs …");
    if (state === "stale") this.say("a cell above has changed since: run again");
  }

  /** Make room for the reader's output; what was published stays, and is marked. */
  clear() {
    this.text = "";
    this.yours ??= this.room();
    this.yours.replaceChildren();
  }

  room() {
    const box = document.createElement("div");
    box.className = "cell_output vw-yours";
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", `Your output of code cell ${this.told.number}`);
    box.hidden = true;
    if (this.published) {
      this.published.before(box);
      this.label = document.createElement("p");
      this.label.className = "vw-label";
      this.label.textContent = "As published";
      this.label.hidden = true;
      this.published.before(this.label);
    } else {
      this.place.append(box);
    }
    return box;
  }

  put(output) {
    if (this.yours.hidden) {
      this.yours.hidden = false;
      if (this.label) this.label.hidden = false;
      this.published?.classList.add("vw-published");
    }
    this.text += output.text ?? output.data?.["text/plain"] ?? "";
    const pictures = this.published ? this.published.querySelectorAll("img") : [];
    const alt = (n) => `${this.changed ? "Drawn by your code. Published: " : ""}${pictures[n]?.alt ?? "Figure"}`;
    append(this.yours, output, alt, (slider, places) => this.page.draw(slider, places));
  }

  ended(how, seconds) {
    this.mark(how === "ok" ? "ran" : "failed");
    const note = how === "ok" && this.told.differs && !this.changed ? `; differs from the published text: ${this.told.differs}` : "";
    this.say(how === "ok" ? `ran in ${seconds < 0.1 ? "under 0.1" : seconds.toFixed(1)} s${note}` : "stopped at an error");
    this.refresh();
  }
}
