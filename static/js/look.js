// The filter and the grouping. They are kept in the page's address and sent to the server by the socket. The server searches,
// because it also knows the objects that are not drawn; elements that do not match are faded.
import { showFields } from "./address.js";
import { addElementKeys, addShortcut } from "./registry.js";
import { showTabOf } from "./tabs.js";

const form = document.getElementById("look");
const filter = document.getElementById("q");
const asTable = document.getElementById("as-table");
const strip = document.getElementById("informer-strip");
const AFTER_MS = 150; // without a key press
const FADED = "faded";

// The query with which the page and its socket were opened. A new connection has it in its address again.
const opened = toQuery(
  new Map([
    ["q", filter.defaultValue],
    ["group", servedGroup()],
  ]),
);

let waiting = 0;
let sent = opened;

function servedGroup() {
  const options = [...document.getElementById("grouping").options];
  return (options.find((each) => each.defaultSelected) ?? options[0])?.value;
}

function toQuery(fields) {
  const entries = [
    ["q", fields.get("q")?.trim()],
    ["group", fields.get("group")],
  ];
  return new URLSearchParams(entries.filter(([, value]) => value)).toString();
}

function sendLook() {
  clearTimeout(waiting);
  const query = toQuery(new FormData(form));
  if (query === sent) return;
  sent = query;
  showShown();
  const written = filter.value.trim();
  asTable.search = written ? `?${new URLSearchParams({ q: written, filter: written })}` : "";
  htmx.trigger(form, "look");
}

// The filter and the grouping are of all places of the page: its address has them as they are now, also after Back.
function showShown() {
  const shown = new URLSearchParams(sent);
  showFields({ q: shown.get("q"), group: shown.get("group") });
}

function clearFilter() {
  filter.value = "";
  sendLook();
  filter.blur();
}

form.addEventListener("input", (event) => {
  clearTimeout(waiting);
  if (event.target === filter) waiting = setTimeout(sendLook, AFTER_MS);
});
form.addEventListener("change", sendLook);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  sendLook();
});
addElementKeys("#q", ["Escape"], clearFilter);
addShortcut("f", {
  control: "#q",
  run: () => {
    showTabOf(filter);
    filter.select();
  },
});
addShortcut("t", { control: "#as-table" });

// What was typed or chosen before this script was loaded.
document.addEventListener("DOMContentLoaded", sendLook);

// The informer changes with every object, so it is sent only to viewers who have it open.
function setInformer() {
  form.elements.informer.value = strip.open ? "1" : "";
}

strip.addEventListener("toggle", () => {
  setInformer();
  htmx.trigger(form, "look");
});
document.addEventListener("htmx:wsOpen", () => {
  setInformer();
  if (sent !== opened || strip.open) htmx.trigger(form, "look");
});

function fadeOthers() {
  const bright = document.getElementById("found")?.dataset.bright;
  if (!bright) {
    for (const element of document.querySelectorAll(`.${FADED}`)) element.classList.remove(FADED);
    return;
  }
  const found = JSON.parse(bright);
  const pods = new Set(found.pods);
  const nodes = new Set(found.nodes);
  const lines = new Set(found.lines);
  for (const pod of document.querySelectorAll("[data-uid]"))
    pod.classList.toggle(FADED, !pods.has(pod.dataset.uid));
  for (const node of document.querySelectorAll(".node"))
    node.classList.toggle(FADED, !nodes.has(node.dataset.node));
  for (const line of document.querySelectorAll("#log > [data-seq]"))
    line.classList.toggle(FADED, !lines.has(Number(line.dataset.seq)));
}

document.body.addEventListener("frame", fadeOthers);
addEventListener("popstate", () => {
  if (sent !== opened) showShown();
});
fadeOthers();
