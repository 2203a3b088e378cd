// "What if" of a claim: another tolerance or reading, tried on the numbers of its row. Fetched when one is first opened.
(function () {
  "use strict";
  var WORDS = { relative: "the share allowed were ", absolute: "the distance allowed were ",
                at_least: "at least ", at_most: "at most ", between: "between " };

  // As `voicewire_book.ledger.rules.band`, in the same order of operations: the same ends to the last bit.
  function band(kind, size, printed) {
    if (kind === "between") { return size; }
    if (kind === "at_least") { return [size[0], Infinity]; }
    if (kind === "at_most") { return [-Infinity, size[0]]; }
    var half = kind === "relative" ? size[0] * Math.abs(printed) : size[0];
    var slack = 1e-12 * Math.max(1, Math.abs(printed));
    return [printed - half - slack, printed + half + slack];
  }

  // As `voicewire_book.ledger.rules.value` decides on one number, or on an interval where the pair holds its two ends.
  function holds(kind, size, pair) {
    var ends = band(kind, size, pair[0]);
    var low = pair.length > 2 ? pair[2] : pair[1];
    var high = pair.length > 2 ? pair[3] : pair[1];
    if (ends[0] <= low && high <= ends[1]) { return "yes"; }
    return pair.length > 2 && high >= ends[0] && low <= ends[1] ? "undecided" : "no";
  }

  function told(pairs, found) {
    function count(which) { return found.filter(function (one) { return one === which; }).length; }
    var thing = pairs[0].length > 2 ? "interval" : "number";
    var text = count("yes") + " of " + pairs.length + " " + thing + (pairs.length === 1 ? " keeps" : "s keep") + " to it";
    return text + (count("undecided") ? ", " + count("undecided") + " astride its edge: undecided" : "") + ". ";
  }

  function add(parent, tag, text, className) {
    var made = document.createElement(tag);
    if (text) { made.textContent = text; }
    if (className) { made.className = className; }
    return parent.appendChild(made);
  }

  function number(label, value, change) {
    var input = document.createElement("input");
    input.type = "number";
    input.step = "any";
    input.value = value;
    input.addEventListener("input", change);
    label.appendChild(input);
    return input;
  }

  function trial(parent, data) {
    var box = add(parent, "fieldset", "", "vw-whatif");
    var legend = add(box, "legend", "What if");
    var choice = document.createElement("select");
    data.readings.forEach(function (reading, place) { choice.add(new Option(reading[0], place)); });
    if (data.readings.length > 1) { add(box, "label", "reading ").appendChild(choice); }
    var fields = add(box, "span");
    var said = add(box, "output");
    var sizes;
    said.setAttribute("aria-live", "polite");

    function read() {  // the chosen reading, with its own tolerance
      var reading = data.readings[+choice.value];
      fields.textContent = "";
      sizes = reading[1] ? [].concat(reading[2]).map(function (value, place) {
        return number(add(fields, "label", place ? "and " : WORDS[reading[1]]), value, tell);
      }) : [];
      if (data.unit && sizes.length && reading[1] !== "relative") { add(fields, "span", data.unit + " "); }
      tell();
    }

    function tell() {
      var reading = data.readings[+choice.value], pairs = reading[3];
      var values = sizes.map(function (input) { return parseFloat(input.value); });
      var own = values.join() === [].concat(reading[1] ? reading[2] : []).join();
      box.classList.toggle("vw-is-yours", !own);
      legend.textContent = own ? "What if" : "What if: yours";
      if (values.some(isNaN) || values.some(function (value) { return value < 0 && /ive$|ute$/.test(reading[1]); })) {
        said.textContent = values.some(isNaN) ? "Give a number." : "A tolerance is not below zero.";
        return;
      }
      if (values.length === 2 && values[0] > values[1]) {
        said.textContent = "The first number is to be the lower one.";
        return;
      }
      var found = pairs.map(function (pair) { return holds(reading[1], values, pair); });
      var ledger = "This is the ledger's own" +
        (data.readings.length > 1 ? " under this reading: " + reading[4] + "." : ".");
      said.textContent = (pairs.length ? told(pairs, found) : "") + (own ? ledger : "This is yours, not the ledger's.");
    }

    choice.addEventListener("change", read);
    read();
  }

  // Start Python if it has not been, and run what judged the claim, as the reader has changed it.
  function rerun(fold, card) {
    var bar = document.querySelector(".vw-live");
    var line = add(fold, "p", "", "vw-rerun");
    if (!bar || location.protocol === "file:") {
      line.textContent = "Where the book is served with Python in its pages, the code that judged this can be changed and run here.";
      return;
    }
    var button = add(line, "button", "Run the code that judged it");
    button.type = "button";
    var room = add(line, "span", " Python starts in the page first: see its bar at the head of the page.");
    room.setAttribute("role", "status");
    if (bar.vwPage) { room.textContent = ""; }
    button.addEventListener("click", function () {
      if (!bar.vwPage) { bar.querySelector("button").click(); }
      button.disabled = true;
      bar.vwPage.then(function (page) { return page.rerun(card, room); }).catch(function (error) {
        room.textContent = " Python could not be started: " + error.message;
      }).then(function () { button.disabled = false; });
    });
  }

  window.vwWhatIf = {
    holds: holds,
    /** Fill what has been opened: a row of the scorecard, or the fold of a card. */
    open: function (box) {
      var card = box.closest(".vw-card");
      if (box.dataset.numbers && !box.querySelector(".vw-whatif")) { trial(box, JSON.parse(box.dataset.numbers)); }
      if (card && !box.querySelector(".vw-rerun")) { rerun(box, card); }
    }
  };
})();
