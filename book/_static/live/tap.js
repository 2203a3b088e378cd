// Hands on what the microphone hears (recorder.mjs).
registerProcessor("tap", class extends AudioWorkletProcessor {
  process([input]) {
    if (input[0]) this.port.postMessage(input[0].slice());
    return true;
  }
});
