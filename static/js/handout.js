// The button that prints a handout. The browser's own command does the same.
const button = document.querySelector("[data-print]");
button.hidden = false;
button.addEventListener("click", () => print());
