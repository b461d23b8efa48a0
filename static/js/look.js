// The filter and the grouping: kept in the page's address, told to the server over the socket, and what does not
// match fades. The server looks: it knows also what is not drawn.
const form = document.getElementById("look");
const filter = document.getElementById("q");
const asTable = form.querySelector("a[aria-keyshortcuts]");
const AFTER_MS = 150; // of no typing
const FADED = "faded";

let waiting = 0;
let told = said(); // as the page and its socket were opened

function said() {
  const fields = new FormData(form);
  return new URLSearchParams([["q", fields.get("q").trim()], ["group", fields.get("group")]].filter(([, value]) => value)).toString();
}

function tell() {
  clearTimeout(waiting);
  const now = said();
  if (now === told) return;
  told = now;
  history.replaceState(history.state, "", location.pathname + (now ? `?${now}` : ""));
  asTable.search = filter.value.trim() ? `?${new URLSearchParams({ q: filter.value.trim() })}` : "";
  htmx.trigger(form, "look");
}

form.addEventListener("input", (event) => {
  clearTimeout(waiting);
  if (event.target === filter) waiting = setTimeout(tell, AFTER_MS);
});
form.addEventListener("change", tell);
form.addEventListener("submit", (event) => { event.preventDefault(); tell(); });
filter.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  filter.value = "";
  tell();
  filter.blur();
});

// A new connection knows only what its address says.
const opened = told;
document.addEventListener("htmx:wsOpen", () => { if (told !== opened) htmx.trigger(form, "look"); });

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
