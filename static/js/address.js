// The address of the page says what it shows: the moment, the open panel, and the fields of the whole page.
// /s/NAME/ [at/SEQ/] [the panel's path] ? [the panel's fields] & [the fields of the page]
const { base } = document.getElementById("main").dataset;
const OF_PAGE = ["q", "group", "embed"];

// What an address names. seq: of the moment; 0: live. panel: its path with its fields; "": no panel.
export function placeAt(href) {
  const { pathname, searchParams } = new URL(href, location.href);
  const [, seq, path] = /^(?:at\/(\d+)\/)?(.*)$/.exec(pathname.slice(base.length));
  for (const name of OF_PAGE) searchParams.delete(name);
  const fields = searchParams.toString();
  return { seq: Number(seq ?? 0), panel: path + (fields && `?${fields}`) };
}

// The moment that the page shows or goes to; 0: live.
export function shownSeq() {
  return placeAt(location.href).seq;
}

export function momentAddress(seq) {
  return seq ? `${base}at/${seq}/` : base;
}

// The address of a place, with the fields of the page as they are now.
export function addressOf({ seq, panel }) {
  const url = new URL(momentAddress(seq) + panel, location.href);
  const now = new URLSearchParams(location.search);
  for (const name of OF_PAGE) if (now.has(name)) url.searchParams.set(name, now.get(name));
  return url;
}

// Puts a place into the browser's address and, with push, into its history.
export function showAddress(place, push = true) {
  const url = addressOf(place);
  if (url.href !== location.href) history[push ? "pushState" : "replaceState"](null, "", url);
}

// Puts fields of the page into the address. Empty ones are left out.
export function showFields(fields) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(fields)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  if (url.href !== location.href) history.replaceState(null, "", url);
}
