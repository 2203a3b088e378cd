// A click on a figure, or Enter or Space on its button, shows it as large as the window, where it can be made larger
// still and moved. Loaded only where there are figures; without it they are as they are.
(function () {
  "use strict";
  var FIGURES =
    ".bd-article :is(.cell_output img, figure > img, p > img, .vw-slider > img, .vw-drawing > svg)" +
    ":not(.vw-keep, .only-dark, .only-light)";
  var STEP = 1.5;

  var dialog = document.createElement("dialog");
  dialog.className = "vw-large";
  dialog.setAttribute("aria-label", "Figure, enlarged");
  dialog.innerHTML =
    '<div class="vw-large-tools"><button type="button" data-do="smaller">Smaller</button>' +
    '<button type="button" data-do="larger">Larger</button><button type="button" data-do="whole">Whole</button>' +
    '<button type="button" data-do="close">Close</button></div>' +
    '<div class="vw-large-pane" tabindex="0" role="region" aria-label="The figure; arrow keys move it"></div>';
  var pane = dialog.querySelector(".vw-large-pane");
  var shown = null;
  var width = 0;

  // How wide the figure is when all of it is seen, and how wide it would be on a page that has room for it.
  function whole() {
    return Math.min(pane.clientWidth, pane.clientHeight / shown.ratio);
  }

  function resize(wanted) {
    var across = (pane.scrollLeft + pane.clientWidth / 2) / Math.max(width, 1);
    var down = (pane.scrollTop + pane.clientHeight / 2) / Math.max(width * shown.ratio, 1);
    width = Math.max(Math.min(wanted, 6 * Math.max(whole(), shown.natural)), Math.min(whole(), 120));
    shown.copy.style.width = width + "px";
    shown.copy.style.height = width * shown.ratio + "px";
    pane.scrollLeft = across * width - pane.clientWidth / 2;
    pane.scrollTop = down * width * shown.ratio - pane.clientHeight / 2;
  }

  var deeds = {
    smaller: function () { resize(width / STEP); },
    larger: function () { resize(width * STEP); },
    whole: function () { resize(whole()); },
    close: function () { dialog.close(); }
  };

  // The wide picture, whichever the page shows: here there is room to move.
  function copyOf(figure) {
    var copy = figure.cloneNode(true);
    copy.removeAttribute("style");
    copy.removeAttribute("loading");
    [copy].concat(Array.from(copy.querySelectorAll("[id]"))).forEach(function (one) { one.removeAttribute("id"); });
    return copy;
  }

  function measure() {
    var copy = shown.copy;
    var box = copy.viewBox && copy.viewBox.baseVal;
    shown.ratio = box ? box.height / box.width : copy.naturalHeight / copy.naturalWidth;
    shown.natural = box ? box.width : parseFloat(shown.figure.style.width) || copy.naturalWidth;
    resize(Math.max(whole(), Math.min(shown.natural, 4 * pane.clientWidth)));
    pane.scrollLeft = 0;
    pane.scrollTop = 0;
  }

  function enlarge(figure, button) {
    button.focus({ preventScroll: true }); // the focus comes back to where it was
    shown = { figure: figure, copy: copyOf(figure), ratio: 1, natural: 1 };
    width = 0;
    var holder = document.createElement("div");
    holder.className = figure.closest(".vw-drawing") ? "vw-drawing" : "";
    holder.append(shown.copy);
    pane.replaceChildren(holder);
    if (!dialog.isConnected) { document.body.append(dialog); }
    dialog.showModal();
    pane.focus();
    if (shown.copy.decode) { shown.copy.decode().then(measure, measure); } else { measure(); }
  }

  dialog.addEventListener("click", function (event) {
    var deed = event.target.closest("button");
    if (deed) { deeds[deed.getAttribute("data-do")](); }
  });
  // The event comes a frame later, when the next figure may be open already.
  dialog.addEventListener("close", function () { if (!dialog.open) { pane.replaceChildren(); } });
  dialog.addEventListener("keydown", function (event) {
    var deed = { "+": "larger", "=": "larger", "-": "smaller", "0": "whole", "Escape": "close" }[event.key];
    if (deed && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      deeds[deed]();
    }
  });
  pane.addEventListener("wheel", function (event) {
    if (!event.ctrlKey) { return; } // pinching on a touchpad
    event.preventDefault();
    resize(width * Math.exp(-event.deltaY / 200));
  }, { passive: false });
  pane.addEventListener("dblclick", deeds.larger);
  // A mouse drags; fingers and keys move the pane by themselves.
  pane.addEventListener("pointerdown", function (event) {
    if (event.pointerType !== "mouse" || event.button !== 0) { return; }
    pane.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  pane.addEventListener("pointermove", function (event) {
    if (pane.hasPointerCapture(event.pointerId)) { pane.scrollBy(-event.movementX, -event.movementY); }
  });
  window.addEventListener("resize", function () { if (dialog.open) { resize(width); } });

  function prepare(figure, number) {
    var box = figure.closest("picture") || figure;
    if (figure.closest("a, button, dialog") || box.parentNode.classList.contains("vw-figure")) { return; }
    var frame = document.createElement("span");
    frame.className = "vw-figure";
    box.before(frame);
    var button = document.createElement("button");
    button.type = "button";
    button.className = "vw-enlarge";
    var around = figure.closest("figure");
    var caption = around && around.querySelector(".caption-number");
    var name = caption ? caption.textContent.trim() : "figure " + (number + 1) + " of this page";
    button.setAttribute("aria-label", "Enlarge " + name);
    button.setAttribute("aria-haspopup", "dialog");
    frame.append(box, button);
    button.addEventListener("click", function () { enlarge(figure, button); });
    figure.addEventListener("click", function () { enlarge(figure, button); });
  }

  function start() { document.querySelectorAll(FIGURES).forEach(prepare); }
  if (document.readyState === "loading") { document.addEventListener("DOMContentLoaded", start); } else { start(); }
})();
