// The hint of what to do next. After it is closed, no hints are shown.
const KEY = "schedviz:hints";

if (localStorage.getItem(KEY) === "off") document.body.classList.add("no-hints");

document.addEventListener("click", (event) => {
  if (!event.target.closest("#hint-close")) return;
  localStorage.setItem(KEY, "off");
  document.body.classList.add("no-hints");
});
