// A learner's page in a room: it says that the teacher has ended the room, or has deleted the sandbox, and has the results.
const room = () => document.getElementById("room")?.dataset ?? {};

let isLeaving = false;

// Go there from a sandbox that no longer exists. Whether the sandbox is one of a room. Both the notice of the end and the end of the
// websocket lead here: a second request would abort the first one.
export function leaveForRoom() {
  const { home } = room();
  if (home && !isLeaving) location.replace(home);
  isLeaving = Boolean(home);
  return isLeaving;
}

export const isOver = () => "over" in room();

// Whether a failed request was that of a lesson's panel for a sandbox which is created again: its websocket says what became of it.
export const isOfRecreated = ({ xhr, requestConfig }) =>
  xhr.status === 404 &&
  requestConfig.verb === "get" &&
  requestConfig.path.endsWith("/lesson/") &&
  "created" in room();
