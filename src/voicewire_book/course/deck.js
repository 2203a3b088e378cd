// Slides: arrows, space, Home and End turn the pages, n shows the notes; what is too large for its slide is made smaller.
(function () {
  var slides = Array.from(document.querySelectorAll(".slide"));
  var body = document.body, now = 0;
  function fit(slide) {
    var inside = slide.querySelector(".body"), size = 27;
    inside.querySelectorAll('mjx-container[display="true"]').forEach(function (formula) { // a long line alone is made smaller
      var part = 100;
      while (inside.scrollWidth > inside.clientWidth + 1 && part > 55) formula.style.fontSize = (part -= 5) + "%";
    });
    while ((inside.scrollHeight > inside.clientHeight + 1 || inside.scrollWidth > inside.clientWidth + 1) && size > 11) {
      size -= 1;
      inside.style.fontSize = size + "px";
      inside.querySelectorAll("img").forEach(function (image) { image.style.setProperty("height", Math.round(18 * size) + "px", "important"); });
    }
    slide.dataset.size = size;
  }
  function scale() {
    var by = Math.min(window.innerWidth / 1280, window.innerHeight / 720), slide = slides[now];
    slide.style.transform = "scale(" + by + ")";
    slide.style.marginLeft = Math.max(0, (window.innerWidth - 1280 * by) / 2) + "px";
  }
  function show(number) {
    slides[now].classList.remove("now");
    document.querySelectorAll("audio").forEach(function (sound) { sound.pause(); });
    now = Math.max(0, Math.min(slides.length - 1, number));
    slides[now].classList.add("now");
    history.replaceState(null, "", "#" + (now + 1));
    window.scrollTo(0, 0);
    scale();
  }
  function ready() {
    slides.forEach(fit); // while all are laid out
    body.classList.add("live");
    body.dataset.ready = "yes";
    show((parseInt(location.hash.slice(1), 10) || 1) - 1);
  }
  document.addEventListener("keydown", function (event) {
    if (/^(INPUT|AUDIO|BUTTON)$/.test(event.target.tagName) || event.ctrlKey || event.altKey || event.metaKey) return;
    var to = { ArrowRight: now + 1, PageDown: now + 1, " ": now + 1, ArrowLeft: now - 1, PageUp: now - 1, Home: 0, End: slides.length - 1 }[event.key];
    if (event.key === "n") body.classList.toggle("with-notes");
    if (to !== undefined) { event.preventDefault(); show(to); }
  });
  window.addEventListener("resize", scale);
  window.addEventListener("hashchange", function () { show((parseInt(location.hash.slice(1), 10) || 1) - 1); });
  window.addEventListener("load", function () {
    (window.MathJax && MathJax.startup ? MathJax.startup.promise : Promise.resolve()).then(ready, ready);
  });
})();
