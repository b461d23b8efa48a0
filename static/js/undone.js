// Says which act was not carried out in an outage. The notice stays until the next act, also when all answers again.
const notice = document.getElementById("undone");
const words = notice.parentElement.dataset;
const SERVER_ERROR = 500;

const isAct = ({ verb }) => verb !== "get";

// The words on the button that was pressed.
function nameOf({ elt, triggeringEvent }) {
  const control = triggeringEvent?.submitter ?? elt;
  if (!control.matches("button")) return words.any;
  const shown = control.cloneNode(true);
  for (const sign of shown.querySelectorAll("[aria-hidden]")) sign.remove();
  return control.ariaLabel || shown.textContent.trim().replace(/\s+/g, " ");
}

function tell(requestConfig, text) {
  if (isAct(requestConfig)) notice.textContent = text.replace("#", nameOf(requestConfig));
}

document.body.addEventListener("htmx:beforeRequest", ({ detail: { requestConfig } }) => {
  if (isAct(requestConfig)) notice.textContent = "";
});
document.body.addEventListener("htmx:responseError", ({ detail: { requestConfig, xhr } }) => {
  if (xhr.status >= SERVER_ERROR) tell(requestConfig, words.undone);
});
// The server may have carried it out, and the answer was lost.
for (const failure of ["htmx:sendError", "htmx:timeout"])
  document.body.addEventListener(failure, ({ detail: { requestConfig } }) =>
    tell(requestConfig, words.unanswered),
  );
