// Asks for a part of the page again, by its trigger "ask". An act in the part comes first: the request is given up for it (hx-sync), and
// made again after it, as it is if something happened while another one was under way.
export function askAgain(part) {
  let missed = false;
  function ask() {
    missed = part.matches(".htmx-request, :has(.htmx-request)");
    if (!missed) htmx.trigger(part, "ask");
  }
  part.addEventListener("htmx:sendAbort", () => (missed = true));
  part.addEventListener("htmx:afterRequest", () => {
    if (missed) setTimeout(ask); // htmx has not finished the request yet
  });
  return ask;
}
