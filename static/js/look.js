// The filter and the grouping. They are kept in the page's address and sent to the server by the socket. The server searches,
// because it also knows the objects that are not drawn; elements that do not match are faded.
const form = document.getElementById("look");
const filter = document.getElementById("q");
const asTable = form.querySelector("a[aria-keyshortcuts]");
const strip = document.getElementById("informer-strip");
const AFTER_MS = 150; // without a key press
const FADED = "faded";

let waiting = 0;
let sent = query(); // first: the query with which the page and its socket were opened

function query() {
  const fields = new FormData(form);
  return new URLSearchParams([["q", fields.get("q").trim()], ["group", fields.get("group")]].filter(([, value]) => value)).toString();
}

function send() {
  clearTimeout(waiting);
  const now = query();
  if (now === sent) return;
  sent = now;
  history.replaceState(history.state, "", location.pathname + (now ? `?${now}` : ""));
  asTable.search = filter.value.trim() ? `?${new URLSearchParams({ q: filter.value.trim() })}` : "";
  htmx.trigger(form, "look");
}

form.addEventListener("input", (event) => {
  clearTimeout(waiting);
  if (event.target === filter) waiting = setTimeout(send, AFTER_MS);
});
form.addEventListener("change", send);
form.addEventListener("submit", (event) => { event.preventDefault(); send(); });
filter.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  filter.value = "";
  send();
  filter.blur();
});

// A new connection has only the query in its address, so a later query must be sent again.
const opened = sent;
document.addEventListener("htmx:wsOpen", () => { if (sent !== opened || strip.open) htmx.trigger(form, "look"); });

// The informer changes with every object, so it is sent only to viewers who have it unfolded.
strip.addEventListener("toggle", () => {
  form.elements.informer.value = strip.open ? "1" : "";
  htmx.trigger(form, "look");
});

function fade() {
  const bright = document.getElementById("found")?.dataset.bright;
  if (!bright) {
    for (const element of document.querySelectorAll(`.${FADED}`)) element.classList.remove(FADED);
    return;
  }
  const found = JSON.parse(bright);
  const pods = new Set(found.pods);
  const nodes = new Set(found.nodes);
  const lines = new Set(found.lines);
  for (const pod of document.querySelectorAll("[data-uid]")) pod.classList.toggle(FADED, !pods.has(pod.dataset.uid));
  for (const node of document.querySelectorAll(".node")) node.classList.toggle(FADED, !nodes.has(node.dataset.node));
  for (const line of document.querySelectorAll("#log > [data-seq]")) line.classList.toggle(FADED, !lines.has(Number(line.dataset.seq)));
}

document.body.addEventListener("frame", fade);
fade();
