// The notice of a room above the page of a sandbox. Its websocket sends the notice when the teacher has done something.
import { isOver, leaveForRoom } from "./room_home.js";

const created = () => document.getElementById("room")?.dataset.created ?? "";

const loaded = created();
let isNotice = false;

document.addEventListener("htmx:wsBeforeMessage", ({ detail }) => {
  isNotice = detail.message.includes('id="room"');
});

document.addEventListener("htmx:wsAfterMessage", () => {
  if (!isNotice) return;
  isNotice = false;
  if (isOver() && leaveForRoom()) return;
  // The teacher has put another state into the sandbox: it was created again.
  if (created() && created() !== loaded) location.reload();
  else document.body.dispatchEvent(new Event("schedviz:room")); // a step that the teacher has set is shown at once
});
