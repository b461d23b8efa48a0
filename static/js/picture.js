// Saves the picture of the nodes as PNG: draws the server's SVG on a canvas.
import { addClick } from "./registry.js";

const SCALE = 2; // for a sharp picture on a slide
const MAX_SIDE = 8192; // pixels; every browser supports a canvas of this size

addClick("[data-picture]", async (button) => {
  button.disabled = true;
  try {
    const image = new Image();
    image.src = `${button.dataset.picture}?${Date.now()}`;
    await image.decode();
    const scale = Math.min(SCALE, MAX_SIDE / image.width, MAX_SIDE / image.height);
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(image.width * scale);
    canvas.height = Math.round(image.height * scale);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = button.dataset.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  } finally {
    button.disabled = false;
  }
});
