// Sounds to compare: makes one player of each list of audio elements in a `.vw-compare` (voicewire_book.kit.audio.compare).
// All versions run together; the switch changes which of them is heard, so the instant stays. Without this script, or
// where the sounds cannot be decoded, the list stays as it is.
(function () {
  "use strict";
  var FRAMES = 600, BINS = 128, RANGE = 60, FADE = 0.005, count = 0, context = null;

  function fetched(address) {
    if (address.indexOf("data:") !== 0) {
      return fetch(address).then(function (answer) { return answer.arrayBuffer(); });
    }
    var plain = atob(address.slice(address.indexOf(",") + 1)), bytes = new Uint8Array(plain.length);
    for (var k = 0; k < plain.length; k += 1) { bytes[k] = plain.charCodeAt(k); }
    return Promise.resolve(bytes.buffer);
  }

  // A WAV file says its rate in bytes 24 to 27: decoded at that rate, nothing is resampled before it is drawn.
  function decoded(buffer) {
    var rate = new DataView(buffer).getUint32(24, true);
    return new OfflineAudioContext(1, 1, rate).decodeAudioData(buffer);
  }

  // Radix 2, in place; a few hundred frames of 256 samples take some milliseconds.
  function transform(re, im) {
    var n = re.length, i, j, k, size, half;
    for (i = 1, j = 0; i < n; i += 1) {
      for (k = n >> 1; j & k; k >>= 1) { j ^= k; }
      j ^= k;
      if (i < j) { var kept = re[i]; re[i] = re[j]; re[j] = kept; }
    }
    for (size = 2; size <= n; size <<= 1) {
      half = size >> 1;
      for (i = 0; i < n; i += size) {
        for (k = 0; k < half; k += 1) {
          var angle = -2 * Math.PI * k / size, c = Math.cos(angle), s = Math.sin(angle), a = i + k, b = a + half;
          var x = re[b] * c - im[b] * s, y = re[b] * s + im[b] * c;
          re[b] = re[a] - x; im[b] = im[a] - y; re[a] += x; im[a] += y;
        }
      }
    }
  }

  function levels(buffer) { // decibels, frame after frame, from 0 Hz upwards
    var n = 2 * BINS, found = new Float32Array(FRAMES * BINS), channels = buffer.numberOfChannels;
    var data = [];
    for (var c = 0; c < channels; c += 1) { data.push(buffer.getChannelData(c)); }
    for (var frame = 0; frame < FRAMES; frame += 1) {
      var first = Math.round(frame / FRAMES * buffer.length) - BINS, re = new Float32Array(n), im = new Float32Array(n);
      for (var k = 0; k < n; k += 1) {
        for (c = 0; c < channels; c += 1) { re[k] += (data[c][first + k] || 0) / channels; }
        re[k] *= 0.5 - 0.5 * Math.cos(2 * Math.PI * k / n);
      }
      transform(re, im);
      for (k = 0; k < BINS; k += 1) {
        found[frame * BINS + k] = 10 * Math.log10(re[k] * re[k] + im[k] * im[k] + 1e-12);
      }
    }
    return found;
  }

  function element(name, attributes, inside) {
    var made = document.createElement(name);
    Object.keys(attributes || {}).forEach(function (key) { made.setAttribute(key, attributes[key]); });
    (inside || []).forEach(function (each) { made.append(each); });
    return made;
  }

  function Player(root) {
    var self = this, list = root.querySelector("ul"), items = Array.from(list.children);
    var label = root.querySelector(".vw-compare-label").textContent;
    this.gains = items.map(function (item) { return Number(item.dataset.gain); });
    this.stored = root.dataset.equal === "yes"; // whether the files are equally loud already
    this.equal = this.stored;
    this.now = 0;
    this.at = 0;
    this.sources = null;
    this.names = items.map(function (item) { return item.querySelector("audio").getAttribute("aria-label"); });
    this.ready = Promise.all(items.map(function (item) {
      return fetched(item.querySelector("audio").src).then(decoded);
    })).then(function (buffers) {
      self.buffers = buffers;
      self.seconds = buffers[0].duration;
      self.levels = buffers.map(levels);
      self.build(root, list, label);
    });
    // Where it cannot be, the plain list is what there is.
    this.ready.catch(function () { root.dataset.ready = "plain"; });
  }

  Player.prototype.build = function (root, list, label) {
    var self = this, name = "vw-compare-" + (count += 1);
    this.button = element("button", { type: "button", "class": "vw-play" }, ["Play"]);
    this.loop = element("input", { type: "checkbox" });
    this.level = element("input", { type: "checkbox" });
    this.level.checked = this.equal;
    this.canvas = element("canvas", { width: FRAMES, height: BINS, "aria-hidden": "true" });
    this.place = element("input", {
      type: "range", min: 0, max: this.seconds, step: "any", value: 0, autocomplete: "off", "aria-label": "Position",
    });
    this.time = element("span", { "class": "vw-time" });
    this.radios = this.names.map(function (words, k) {
      var radio = element("input", { type: "radio", name: name, autocomplete: "off" });
      radio.checked = k === 0;
      radio.addEventListener("change", function () { self.choose(k); });
      return radio;
    });
    var choices = this.radios.map(function (radio, k) { return element("label", {}, [radio, self.names[k]]); });
    var top = (this.buffers[0].sampleRate / 2000).toFixed(this.buffers[0].sampleRate % 2000 ? 1 : 0);
    list.hidden = true;
    list.before(
      element("fieldset", {}, [element("legend", {}, ["Listen to"])].concat(choices)),
      element("div", { "class": "vw-spectrum" }, [this.canvas, this.place]),
      element("p", { "class": "vw-axes" }, ["Spectrogram, 0 to " + top + " kHz upwards; click, or use the arrow keys, to move."]),
      element("div", { "class": "vw-controls" }, [
        this.button, this.time, element("label", {}, [this.loop, "Loop"]), element("label", {}, [this.level, "Equally loud"]),
      ])
    );
    this.note = root.querySelector(".vw-compare-note");
    this.told = this.note.textContent;
    this.button.addEventListener("click", function () { if (self.sources) { self.stop(); } else { self.start(); } });
    this.loop.addEventListener("change", function () {
      self.at = self.position(); // before the rule by which it is found changes
      if (self.sources) { self.start(); }
    });
    this.level.addEventListener("change", function () { self.equal = self.level.checked; self.mix(); self.draw(); });
    this.place.addEventListener("input", function () { self.seek(Number(self.place.value)); });
    this.place.addEventListener("keydown", function (event) {
      var by = { ArrowRight: 0.1, ArrowUp: 0.1, ArrowLeft: -0.1, ArrowDown: -0.1, PageUp: 0.5, PageDown: -0.5 }[event.key];
      if (by === undefined) { return; }
      event.preventDefault();
      self.seek(self.position() + by);
    });
    document.addEventListener("vw-play", function (event) { if (event.detail !== self) { self.stop(); } });
    document.addEventListener("play", function (event) { if (event.target.tagName === "AUDIO") { self.stop(); } }, true);
    root.dataset.ready = "yes";
    this.draw();
    this.show(true);
  };

  Player.prototype.change = function (k) { // decibels between the file and what is asked for
    return this.equal === this.stored ? 0 : (this.equal ? 1 : -1) * this.gains[k];
  };

  Player.prototype.position = function () {
    if (!this.sources) { return this.at; }
    var now = this.at + Math.max(0, context.currentTime - this.since);
    return this.loop.checked && this.since !== null ? now % this.seconds : Math.min(now, this.seconds);
  };

  Player.prototype.mix = function () {
    if (!this.sources) { return; }
    var self = this;
    this.mixers.forEach(function (mixer, k) {
      var loud = k === self.now ? Math.pow(10, self.change(k) / 20) : 0;
      mixer.gain.setTargetAtTime(loud, context.currentTime, FADE); // at once would click
    });
  };

  Player.prototype.choose = function (k) {
    this.now = k;
    this.mix();
    this.draw();
  };

  Player.prototype.silence = function () {
    (this.sources || []).forEach(function (source) { source.onended = null; source.stop(); });
    this.sources = null;
  };

  Player.prototype.start = function () {
    var self = this, at = this.position();
    document.dispatchEvent(new CustomEvent("vw-play", { detail: this }));
    document.querySelectorAll("audio").forEach(function (sound) { sound.pause(); });
    context = context || new AudioContext();
    context.resume();
    this.silence();
    this.at = at >= this.seconds - 0.01 ? 0 : at;
    this.since = context.currentTime + 0.02;
    this.mixers = this.buffers.map(function (_, k) {
      var mixer = context.createGain();
      mixer.gain.value = k === self.now ? Math.pow(10, self.change(k) / 20) : 0;
      mixer.connect(context.destination);
      return mixer;
    });
    this.sources = this.buffers.map(function (buffer, k) {
      var source = context.createBufferSource();
      source.buffer = buffer;
      source.loop = self.loop.checked;
      source.connect(self.mixers[k]);
      source.start(self.since, self.at);
      return source;
    });
    this.sources[0].onended = function () { self.stop(); self.seek(0); };
    this.button.textContent = "Pause";
    this.tick();
  };

  Player.prototype.stop = function () {
    if (!this.sources) { return; }
    this.at = this.position();
    this.silence();
    this.button.textContent = "Play";
    this.show(true);
  };

  Player.prototype.seek = function (seconds) {
    var playing = Boolean(this.sources);
    this.silence();
    this.at = Math.max(0, Math.min(this.seconds, seconds));
    if (playing) { this.start(); }
    this.show(true);
  };

  Player.prototype.tick = function () {
    var self = this;
    if (!this.sources) { return; }
    this.show(false);
    requestAnimationFrame(function () { self.tick(); });
  };

  Player.prototype.show = function (tell) { // a screen reader is told of a place when it was chosen, not 60 times a second
    var at = this.position();
    this.place.value = at;
    this.time.textContent = at.toFixed(1) + " of " + this.seconds.toFixed(1) + "\u202fs";
    if (tell) { this.place.setAttribute("aria-valuetext", at.toFixed(1) + " of " + this.seconds.toFixed(1) + " seconds"); }
  };

  Player.prototype.draw = function () {
    var self = this, pen = this.canvas.getContext("2d"), image = pen.createImageData(FRAMES, BINS), loudest = -Infinity;
    this.levels.forEach(function (each, k) { // one scale for all versions
      var change = self.change(k);
      each.forEach(function (level) { loudest = Math.max(loudest, level + change); });
    });
    var shown = this.levels[this.now], change = this.change(this.now);
    for (var frame = 0; frame < FRAMES; frame += 1) {
      for (var k = 0; k < BINS; k += 1) {
        var dark = 1 + (shown[frame * BINS + k] + change - loudest) / RANGE;
        image.data[4 * ((BINS - 1 - k) * FRAMES + frame) + 3] = 255 * Math.max(0, Math.min(1, dark));
      }
    }
    pen.putImageData(image, 0, 0);
    this.note.textContent = this.equal === this.stored ? this.told : this.equal
      ? "Made equally loud by ITU-R BS.1770." : "Each as loud as it came.";
  };

  function make(root) {
    if (!root.dataset.ready) {
      root.dataset.ready = "soon";
      root.vwPlayer = new Player(root);
    }
  }

  // Each is made when it comes near, so that no page waits for sounds far below.
  var near = new IntersectionObserver(function (seen) {
    seen.forEach(function (one) { if (one.isIntersecting) { near.unobserve(one.target); make(one.target); } });
  }, { rootMargin: "600px" });
  function find() {
    document.querySelectorAll(".vw-compare:not([data-ready]):not([data-seen])").forEach(function (root) {
      root.dataset.seen = "";
      near.observe(root);
    });
  }
  function begin() {
    find();
    new MutationObserver(find).observe(document.body, { childList: true, subtree: true }); // cells that a reader runs anew
  }
  if (document.readyState === "loading") { document.addEventListener("DOMContentLoaded", begin); } else { begin(); }
})();
