// What a screen reader announces: the sentence of the shown cycle, at most one in five seconds, and failed requests, which are
// also shown. The log and the lanes change many times a second, so they are not announced.
import { paced } from "./pace.js";
import { addEveryClick } from "./registry.js";
import { isOfRecreated } from "./room_home.js";

const EVERY_MS = 5000; // it takes about this long to speak a sentence
const region = document.getElementById("spoken");

let announced = readSentence(); // the first sentence is read with the page

function readSentence() {
  return document.querySelector("#cycle .headline")?.textContent ?? "";
}

function announce() {
  // An open panel is read without interruption.
  if (document.getElementById("detail").childElementCount || readSentence() === announced) return;
  announced = region.textContent = readSentence();
}

const announceSoon = paced(announce, EVERY_MS);

document.body.addEventListener("frame", () => {
  if (readSentence() !== announced) announceSoon();
});

let shown = ""; // the text that showError has shown
let notice = ""; // the server's own notice, in whose place it is

export function showError(text) {
  if (!text && !shown) return;
  const trouble = document.getElementById("trouble");
  if (!shown || trouble.textContent !== shown) notice = trouble.textContent;
  trouble.textContent = text || notice;
  shown = text;
}

// It is above the page, so it goes at the next click.
addEveryClick(() => {
  if (shown && document.getElementById("trouble").textContent === shown) showError("");
});

function noAnswerText() {
  return document.getElementById("words").dataset.failed;
}

// message: of the server, from the header X-Trouble. Without one, the notice of what does not respond says more.
export function showFailure(message) {
  if (message) showError(decodeURIComponent(message));
  else if (!document.getElementById("trouble").dataset.away) showError(noAnswerText());
}

for (const failure of ["htmx:responseError", "htmx:sendError"])
  document.body.addEventListener(failure, ({ detail }) => {
    if (!isOfRecreated(detail)) showFailure(detail.xhr.getResponseHeader?.("X-Trouble"));
  });
