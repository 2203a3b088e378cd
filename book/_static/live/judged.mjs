// The code that judges a claim, run by the reader: its verdict stands beside the published one, and is marked.

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

/** The cells that a cell builds on, all the way up, in the page's order; those of its own box are not among them. */
function sources(page, cell, found = new Set()) {
  for (const other of page.below(cell)) {
    if (found.has(other)) continue;
    found.add(other);
    sources(page, other, found);
  }
  return found;
}

function reveal(cell) {
  for (let fold = cell.code; fold; fold = fold.parentElement) if (fold.tagName === "DETAILS") fold.open = true;
}

/** Show what a reader's run made of claims; `cell` is the one that runs. */
export function show(page, rows, cell) {
  const changed = page.cells.filter((each) => (each === cell ? each.changed : each.ranSource !== undefined && each.ranSource !== each.told.source));
  const numbers = changed.map((each) => each.told.number);
  const whose = numbers.length ? `With your text of code cell ${numbers.join(", ")}.` : "With the book's own code.";
  for (const row of rows) {
    const claim = document.getElementById(`claim-${row.id}`);
    if (!claim) continue;
    let box = claim.querySelector(".vw-judged");
    if (!box) {
      box = element("div", "vw-yours vw-judged");
      box.setAttribute("role", "status");
      if (claim.tagName === "TR") claim.cells[claim.cells.length - 1].append(box);
      else claim.querySelector("dl").after(box);
    }
    box.textContent = `${row.verdict}${row.here ? `: ${row.here}` : ""}. ${whose} What was published stays beside it.`;
  }
}

/** Run what judged the claim of a card, its code open to be changed; `room` is told how it goes. */
export async function rerun(page, card, room) {
  const cell = page.cells.find((each) => each.place.contains(card));
  const say = (text) => room.replaceChildren(element("span", "", text));
  if (!cell?.told.runs) {
    say(`Its code can't run in the browser: ${cell?.told.why ?? "it is not on this page."}`);
    return;
  }
  const above = [...sources(page, cell)].sort((a, b) => a.told.number - b.told.number);
  for (const each of above) {
    // what was edited and not run since, and the other boxes of the cell that judges, run again
    const edited = each.ranSource !== undefined && each.source !== each.ranSource;
    if (each.state === "ran" && (edited || each.told.of === cell.told.of)) {
      each.mark("stale");
      page.age(each);
    }
  }
  reveal(cell);
  await cell.edit(false);
  say("Its code runs …");
  await page.run(cell);
  const line = element("span", "", cell.state === "ran" ? "Judged anew. " : "Its code did not run to its end: see the cell. ");
  line.append(`Change code cell ${cell.told.number}, or one that it builds on, and press again: `);
  for (const each of [...above.filter((other) => other.tools), cell]) {
    const go = element("button", "", `${each.told.number}`);
    go.type = "button";
    go.setAttribute("aria-label", `Change code cell ${each.told.number}`);
    go.addEventListener("click", async () => {
      reveal(each);
      await each.edit(true);
      each.place.scrollIntoView({ block: "center" });
    });
    line.append(go, " ");
  }
  room.replaceChildren(line);
}
