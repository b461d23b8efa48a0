// Shows that a request failed, in the server's words if it sent some.
export function showError(text) {
  document.getElementById("trouble").textContent = text;
}

export function noAnswerText() {
  return document.getElementById("words").dataset.failed;
}

function reportFailure({ detail: { xhr } }) {
  const message = xhr.getResponseHeader?.("X-Trouble");
  showError(message ? decodeURIComponent(message) : noAnswerText());
}

document.body.addEventListener("htmx:responseError", reportFailure);
document.body.addEventListener("htmx:sendError", reportFailure);
