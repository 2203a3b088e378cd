// The scorecard's filters, order and addresses. Without this file everything is there and folds.
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
    return ["verdict", "basis", "class", "whose", "chosen"].every(function (name) {
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
    ["q", "study", "verdict", "basis", "class", "whose", "chosen", "order"].forEach(function (name) {
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

  form.addEventListener("input", function () { remember(apply()); });
  form.addEventListener("reset", function () { setTimeout(function () { remember(apply()); }, 0); });
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  window.addEventListener("hashchange", reveal);
  form.hidden = false;
  recall();
  apply();
  reveal();
})();
