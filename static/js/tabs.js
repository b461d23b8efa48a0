// The tabs of a narrow page: of lesson, queue, nodes, cycle and log one is shown at a time. On a wide page all are shown.
import { addClick, addElementKeys } from "./registry.js";

const NARROW = matchMedia("(max-width: 900px)");
const main = document.getElementById("main");
const tabs = [...document.querySelectorAll(".tabs [role=tab]")];
const sections = new Map(
  tabs.map((tab) => [tab, document.getElementById(tab.getAttribute("aria-controls"))]),
);
const labels = new Map(
  [...sections.values()].map((section) => [section, section.getAttribute("aria-labelledby")]),
);
const places = new Map(); // how far each tab was scrolled

export const isNarrow = () => NARROW.matches;

const selectedTab = () => tabs.find((tab) => tab.ariaSelected === "true");

function select(tab) {
  const before = selectedTab();
  if (before === tab) return;
  places.set(before, scrollY);
  for (const each of tabs) {
    each.setAttribute("aria-selected", String(each === tab));
    each.tabIndex = each === tab ? 0 : -1;
  }
  main.dataset.tab = tab.id.replace("tab-", "");
  if (isNarrow()) scrollTo(0, places.get(tab) ?? 0);
  document.body.dispatchEvent(new CustomEvent("schedviz:tab"));
}

// Shows the tab that an element is in.
export function showTabOf(element) {
  const found = tabs.find((tab) => sections.get(tab).contains(element));
  if (found && isNarrow()) select(found);
}

// The element of the selected tab, to come back to it with showTabOf.
export const shownSection = () => sections.get(selectedTab());

// Sections are panels of tabs on a narrow page, and named regions on a wide one.
function setRoles() {
  for (const [tab, section] of sections) {
    const label = isNarrow() ? tab.id : labels.get(section);
    if (isNarrow()) section.setAttribute("role", "tabpanel");
    else section.removeAttribute("role");
    if (label) section.setAttribute("aria-labelledby", label);
    else section.removeAttribute("aria-labelledby");
  }
}

function countPending() {
  const count = document.querySelector("#pending b")?.textContent.trim() ?? "";
  const badge = document.getElementById("tab-pending");
  const shown = count === "0" ? "" : count;
  if (badge.textContent !== shown) badge.textContent = shown;
}

addClick(".tabs [role=tab]", select);
addElementKeys(".tabs [role=tab]", ["ArrowLeft", "ArrowRight", "Home", "End"], (tab, { key }) => {
  const seen = tabs.filter((each) => each.checkVisibility()); // a lesson shows some of them
  const last = seen.length - 1;
  const at = seen.indexOf(tab.closest("[role=tab]"));
  const next = {
    ArrowLeft: at === 0 ? last : at - 1,
    ArrowRight: at === last ? 0 : at + 1,
    Home: 0,
    End: last,
  }[key];
  select(seen[next]);
  seen[next].focus();
});
NARROW.addEventListener("change", setRoles);
document.body.addEventListener("frame", countPending);
setRoles();
countPending();

// The controls at the lower edge cover the end of the page: as much space is left below it. Each past moment has a new bar.
let lower = [];

function measureLower() {
  const height = Math.max(...lower.map((each) => each.offsetHeight));
  document.body.style.setProperty("--lower", `${height + 8}px`);
}

const lowerSizes = new ResizeObserver(measureLower);

function observeLower() {
  const found = [...document.querySelectorAll(".bar .transport, #past")];
  if (found.every((each, index) => each === lower[index])) return;
  lower = found;
  lowerSizes.disconnect();
  for (const each of lower) lowerSizes.observe(each);
}

document.body.addEventListener("frame", observeLower);
observeLower();
