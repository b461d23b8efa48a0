// Whether the page shows a past moment. A past moment cannot be changed.
export function isPast() {
  return document.body.classList.contains("past");
}

export function isLive() {
  return !isPast();
}
