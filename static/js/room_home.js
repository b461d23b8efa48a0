// A learner's page in a room: it says that the teacher has ended the room, or has deleted the sandbox, and has the results.
const room = () => document.getElementById("room")?.dataset ?? {};

// Go there from a sandbox that no longer exists. Whether the sandbox is one of a room.
export function leaveForRoom() {
  const { home } = room();
  if (home) location.replace(home);
  return Boolean(home);
}

export const isOver = () => "over" in room();

// Whether a failed request was that of a lesson's panel for a sandbox which is created again: its websocket says what became of it.
export const isOfRecreated = ({ xhr, requestConfig }) =>
  xhr.status === 404 &&
  requestConfig.verb === "get" &&
  requestConfig.path.endsWith("/lesson/") &&
  "created" in room();
