// The picture of the nodes as a PNG: the server's SVG, drawn on a canvas.
const SCALE = 2; // sharp on a slide
const MOST = 8192; // pixels a side that every browser's canvas has

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-picture]");
  if (!button) return;
  button.disabled = true;
  try {
    const image = new Image();
    image.src = `${button.dataset.picture}?${Date.now()}`;
    await image.decode();
    const scale = Math.min(SCALE, MOST / image.width, MOST / image.height);
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
