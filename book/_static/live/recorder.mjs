// Two seconds from the microphone to Python in this page: asked for at each click, sent nowhere, kept nowhere.

import { append } from "./outputs.mjs";

const SECONDS = 2;
const TAP = new URL("./tap.js", import.meta.url);

/** Why this browser gives no microphone here; "" where it may. */
function missing() {
  if (!window.isSecureContext) {
    return "A browser gives a microphone only to pages that come over https, or from this computer's own address (127.0.0.1).";
  }
  return navigator.mediaDevices?.getUserMedia && window.AudioWorkletNode ? "" : "This browser has no way to record in a page.";
}

function said(error) {
  if (error.name === "NotAllowedError") return "The microphone was not allowed: nothing was recorded.";
  if (error.name === "NotFoundError") return "The browser finds no microphone.";
  return `Nothing was recorded: ${error.message}`;
}

/** Record; returns the samples and their rate. The microphone is off again afterwards, whatever happens. */
async function record(tell) {
  const plain = { echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1 };
  const stream = await navigator.mediaDevices.getUserMedia({ audio: plain });
  const context = new AudioContext();
  try {
    await context.audioWorklet.addModule(TAP);
    const tap = new AudioWorkletNode(context, "tap", { numberOfOutputs: 0, channelCount: 1, channelCountMode: "explicit" });
    const samples = new Float32Array(SECONDS * context.sampleRate);
    let filled = 0;
    tell("Records: hold one vowel …");
    await new Promise((done, fail) => {
      const late = setTimeout(() => fail(new Error("no sound comes from the microphone")), 10_000);
      tap.port.onmessage = ({ data }) => {
        samples.set(data.subarray(0, samples.length - filled), filled);
        filled = Math.min(samples.length, filled + data.length);
        if (filled < samples.length) return;
        clearTimeout(late);
        tap.port.onmessage = null;
        done();
      };
      context.createMediaStreamSource(stream).connect(tap);
    });
    return { samples, rate: context.sampleRate };
  } finally {
    stream.getTracks().forEach((track) => track.stop());
    await context.close();
  }
}

/** Furnish the place where a vowel is recorded. */
export function furnish(page, box) {
  const line = document.createElement("p");
  const status = document.createElement("span");
  status.setAttribute("role", "status");
  const why = missing();
  box.replaceChildren(line);
  if (why) {
    status.textContent = why;
    line.append(status);
    return;
  }
  fetch(TAP).catch(() => {}); // kept, so that a reader who is offline later can record, too
  const label = document.createElement("label");
  const talker = document.createElement("select");
  for (const name of ["man", "woman"]) talker.add(new Option(name));
  label.append("beside the vowels of a ", talker);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Record two seconds of a vowel";
  const yours = document.createElement("div");
  yours.className = "cell_output vw-yours";
  yours.setAttribute("role", "region");
  yours.setAttribute("aria-label", "Your vowel");
  yours.hidden = true;
  line.append(button, " ", label, " ", status);
  box.append(yours);
  const tell = (text) => {
    status.textContent = text;
  };
  button.addEventListener("click", async () => {
    button.disabled = true;
    tell("Asks for the microphone …");
    try {
      const { samples, rate } = await record(tell);
      tell("Measures …");
      yours.replaceChildren();
      yours.hidden = false;
      const source = `import numpy as _np\nfrom voicewire.pharyngeal import own_vowel as _own\n_own.show(_np.asarray(_samples.to_py()), _rate, "${talker.value}")`;
      const how = await page.aside(source, { _samples: samples, _rate: rate }, (output) => append(yours, output, () => "Your vowel on the chart of F1 against F2"));
      tell(how === "ok" ? "Measured in this page; nothing was sent or kept." : "It was not measured.");
    } catch (error) {
      tell(said(error));
    }
    button.disabled = false;
  });
}
