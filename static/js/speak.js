// What a screen reader hears of the live page: the sentence of the cycle on show, and not too often.
// The log and the lanes change many times a second; they are there to be read, not to be announced.
const EVERY_MS = 5000; // a sentence takes about so long to be spoken
const region = document.getElementById("spoken");
let said = sentence(); // what stood there when the page came was read with the page
let last = 0;
let timer = 0;

function sentence() {
  return document.querySelector("#cycle .headline")?.textContent ?? "";
}

function speak() {
  timer = 0;
  // Whoever reads a receipt or a pod's panel is not interrupted.
  if (document.getElementById("detail").childElementCount || sentence() === said) return;
  said = region.textContent = sentence();
  last = Date.now();
}

document.body.addEventListener("frame", () => {
  if (!timer && sentence() !== said) timer = setTimeout(speak, Math.max(0, last + EVERY_MS - Date.now()));
});
