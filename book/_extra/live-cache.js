// Registered after a reader has started Python in a page: keeps what the book has sent, for the next visit and offline.
const KEPT = "voicewire-live-1";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

/** What the book sends now, or, where nobody answers, what it sent last. */
async function newest(request) {
  const kept = await caches.open(KEPT);
  try {
    const answer = await fetch(request);
    if (answer.ok && answer.status === 200) await kept.put(request, answer.clone());
    return answer;
  } catch (error) {
    const last = await kept.match(request, { ignoreSearch: true });
    if (last) return last;
    throw error;
  }
}

/** The engine's files, megabytes that change only with the edition. */
async function once(request) {
  const kept = await caches.open(KEPT);
  return (await kept.match(request)) ?? newest(request);
}

self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method !== "GET" || !url.startsWith(self.registration.scope) || event.request.headers.has("range")) return;
  // the page throws these away when another edition of the book is there
  const engine = url.slice(self.registration.scope.length).startsWith("live/engine/");
  event.respondWith(engine ? once(event.request) : newest(event.request));
});
