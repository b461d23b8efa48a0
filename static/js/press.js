// Whether a pointer is pressed on the page. The browser makes a click of a press only if the element is still there when the pointer
// is released. So nothing takes its place meanwhile: frames and the refresh of the panel wait for the event "released".
const LONGEST_MS = 1000; // for which they wait: who presses longer drags or selects
const CLICK_MS = 50; // after a touch ends, within which its click comes

let ending = 0; // the timer that ends the press; 0: nothing is pressed

export const isPressed = () => ending !== 0;

function endAfter(time) {
  clearTimeout(ending);
  ending = setTimeout(() => {
    ending = 0;
    document.body.dispatchEvent(new CustomEvent("released"));
  }, time);
}

const onPage = { capture: true, passive: true };
document.addEventListener("pointerdown", () => endAfter(LONGEST_MS), onPage);
for (const end of ["pointerup", "pointercancel"])
  document.addEventListener(end, () => isPressed() && endAfter(CLICK_MS), onPage);
