// The notice of a room above the page of a sandbox. Its websocket sends the notice when the teacher has done something.
import { isOver, leaveForRoom } from "./room_home.js";

const notice = () => document.getElementById("room")?.dataset ?? {};
const created = () => notice().created ?? "";

const loaded = created();
let lessons = notice().lessons;
let isNotice = false;

// What is done in a shared sandbox shows the others what follows: the page asks first whether all have answered the question.
const OWN_POSTS = /^\/s\/[^/]+\/((lesson|predict|guide|share|keep)\/|.*\/evicted\/$)/; // change nothing that others see

document.addEventListener("htmx:confirm", async (event) => {
  const { warning } = notice();
  const { verb, path, issueRequest, triggeringEvent } = event.detail;
  if (triggeringEvent?.type !== "submit") return; // what is typed in a form asks for its YAML
  if (!warning || verb !== "post" || !path.startsWith("/s/") || OWN_POSTS.test(path)) return;
  event.preventDefault();
  const answer = await fetch(warning).catch(() => null);
  const said = answer?.status === 200 ? await answer.text() : "";
  if (!said || confirm(said)) issueRequest(true);
});

document.addEventListener("htmx:wsBeforeMessage", ({ detail }) => {
  isNotice = detail.message.includes('id="room"');
});

document.addEventListener("htmx:wsAfterMessage", () => {
  if (!isNotice) return;
  isNotice = false;
  if (isOver() && leaveForRoom()) return;
  // The teacher has put another state into the sandbox: it was created again.
  if (created() && created() !== loaded) location.reload();
  else if (lessons !== notice().lessons) {
    lessons = notice().lessons;
    document.body.dispatchEvent(new Event("schedviz:room")); // a step that the teacher has set is shown at once
  }
});
