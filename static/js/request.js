// Requests for a part of the page. What went wrong is shown.
import { showError, showFailure } from "./announce.js";

// The response, or null after an error or when it is not wanted any more.
export async function requestPart(address, { signal, quiet = false } = {}) {
  const answer = await fetch(address, { headers: { "HX-Request": "true" }, signal }).catch(() => null);
  if (signal?.aborted) return null;
  if (answer?.ok) return answer;
  if (quiet) return null;
  if (answer?.status === 410) showError(document.getElementById("travel").dataset.old);
  else showFailure(answer?.headers.get("X-Trouble"));
  return null;
}
