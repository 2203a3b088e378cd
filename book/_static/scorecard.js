// The scorecard's filters, order, addresses and "what if". Without this file everything is there and folds.
(function () {
  "use strict";
  var form = document.querySelector(".vw-filters");
  if (!form) { return; }
  var rows = Array.prototype.slice.call(document.querySelectorAll(".vw-row"));
  var folds = Array.prototype.slice.call(document.querySelectorAll(".vw-study, .vw-cause")).reverse();  // inner first
  var names = Array.prototype.map.call(form.elements.verdict.options, function (option) { return option.value; });
  rows.forEach(function (row, place) {
    row.vw = { place: place, words: row.textContent.toLowerCase(), study: row.id.slice("score-".length).split(".")[0] };
  });

  function fits(row, wanted) {
    return ["verdict", "basis", "whose", "chosen"].every(function (name) {
      return !wanted[name] || row.dataset[name] === wanted[name];
    }) && (!wanted.study || row.vw.study === wanted.study) &&
      wanted.q.toLowerCase().split(/\s+/).every(function (word) { return row.vw.words.indexOf(word) >= 0; });
  }

  function compare(order) {
    return function (first, second) {
      var a = first.vw ? first : first.querySelector(".vw-row");
      var b = second.vw ? second : second.querySelector(".vw-row");
      if (order === "verdict") {
        var by = names.indexOf(a.dataset.verdict) - names.indexOf(b.dataset.verdict);
        if (by) { return by; }
      }
      if (order === "id" && a.id !== b.id) { return a.id < b.id ? -1 : 1; }
      return a.vw.place - b.vw.place;
    };
  }

  function asked() {
    var wanted = {};
    ["q", "study", "verdict", "basis", "whose", "chosen", "order"].forEach(function (name) {
      wanted[name] = form.elements[name].value.trim();
    });
    return wanted;
  }

  function apply() {
    var wanted = asked();
    var narrowed = Object.keys(wanted).some(function (name) { return name !== "order" && wanted[name]; });
    var shown = 0;
    rows.forEach(function (row) {
      row.hidden = !fits(row, wanted);
      shown += row.hidden ? 0 : 1;
    });
    folds.forEach(function (fold) {
      Array.prototype.filter.call(fold.children, function (child) { return child.tagName === "DETAILS"; })
        .sort(compare(wanted.order)).forEach(function (child) { fold.appendChild(child); });
      var left = fold.querySelectorAll(".vw-row:not([hidden])").length;
      fold.hidden = left === 0;
      if (narrowed) { fold.open = left > 0; }
    });
    form.querySelector("output").textContent =
      narrowed ? shown + " of " + rows.length + " claims" : rows.length + " claims";
    return wanted;
  }

  function remember(wanted) {
    var query = new URLSearchParams();
    Object.keys(wanted).forEach(function (name) { if (wanted[name]) { query.set(name, wanted[name]); } });
    var text = query.toString();
    try {
      history.replaceState(null, "", location.pathname + (text ? "?" + text : "") + location.hash);
    } catch (error) { /* a page that was opened as a file may have no address of its own */ }
  }

  function recall() {
    new URLSearchParams(location.search).forEach(function (value, name) {
      if (form.elements[name]) { form.elements[name].value = value; }
    });
  }

  function reveal() {
    var target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.classList.contains("vw-row")) { return; }
    target.hidden = false;
    for (var box = target; box; box = box.parentElement) {
      if (box.tagName === "DETAILS") { box.open = true; box.hidden = false; }
    }
    target.scrollIntoView();
  }

  function within(kind, size, pair) {
    if (kind === "at_least") { return pair[1] >= size; }
    if (kind === "at_most") { return pair[1] <= size; }
    var half = kind === "relative" ? size * Math.abs(pair[0]) : size;
    return Math.abs(pair[1] - pair[0]) <= half + 1e-12 * Math.max(1, Math.abs(pair[0]));
  }

  function field(label, input) {
    var box = document.createElement("label");
    box.textContent = label;
    box.appendChild(input);
    return box;
  }

  function number(value, change) {
    var input = document.createElement("input");
    input.type = "number";
    input.step = "any";
    input.value = value;
    input.addEventListener("input", change);
    return input;
  }

  function trial(row) {
    var data = JSON.parse(row.dataset.numbers);
    var box = document.createElement("fieldset");
    box.className = "vw-whatif";
    var legend = document.createElement("legend");
    legend.textContent = "What if";
    var said = document.createElement("output");
    said.setAttribute("aria-live", "polite");
    var choice = document.createElement("select");
    data.readings.forEach(function (reading, place) { choice.add(new Option(reading[0], place)); });
    var words = { relative: "the share allowed were ", absolute: "the distance allowed were ",
                  at_least: "at least ", at_most: "at most ", between: "between " };
    var sizes = [].concat(data.size).map(function (size) { return number(size, tell); });
    function tell() {
      var values = sizes.map(function (input) { return parseFloat(input.value); });
      if (values.some(isNaN)) { said.textContent = "Give a number."; return; }
      var pairs = data.readings[+choice.value][1];
      var kept = pairs.filter(function (pair) {
        return data.kind === "between" ? pair[1] >= values[0] && pair[1] <= values[1] : within(data.kind, values[0], pair);
      }).length;
      var own = values.join() === [].concat(data.size).join() && +choice.value === 0;
      said.textContent = kept + " of " + pairs.length + (pairs.length === 1 ? " number keeps" : " numbers keep") +
        " to it. " + (own ? "This is the ledger's own." : "This is yours, not the ledger's.");
    }
    box.appendChild(legend);
    sizes.forEach(function (input, place) {
      box.appendChild(field(place ? "and " : words[data.kind], input));
    });
    if (data.readings.length > 1) {
      choice.addEventListener("change", tell);
      box.appendChild(field("reading ", choice));
    }
    box.appendChild(said);
    row.appendChild(box);
    tell();
  }

  document.addEventListener("toggle", function (event) {
    var row = event.target;
    if (row.classList.contains("vw-row") && row.open && row.dataset.numbers && !row.querySelector(".vw-whatif")) {
      trial(row);
    }
  }, true);
  form.addEventListener("input", function () { remember(apply()); });
  form.addEventListener("reset", function () { setTimeout(function () { remember(apply()); }, 0); });
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  window.addEventListener("hashchange", reveal);
  form.hidden = false;
  recall();
  apply();
  reveal();
})();
