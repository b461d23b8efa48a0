// Sets the properties of static/css/numbers.css in browsers whose styles cannot read numbers from attributes: Safari, as of 2026.
const NAMES = ["share", "end", "at", "letters"];
const NUMBERED = "[data-share]";

function setNumbers(element) {
  for (const name of NAMES) {
    const number = element.dataset[name] ?? "";
    if (element.style.getPropertyValue(`--${name}`) !== number)
      element.style.setProperty(`--${name}`, number);
  }
}

function setAllIn(node) {
  if (!(node instanceof Element)) return;
  if (node.matches(NUMBERED)) setNumbers(node);
  for (const each of node.querySelectorAll(NUMBERED)) setNumbers(each);
}

if (!CSS.supports("width", "calc(attr(data-share type(<number>), 0) * 1%)")) {
  setAllIn(document.body);
  // Frames replace elements and attributes; morph.js also removes what is set here.
  new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes) {
      if (type === "childList") addedNodes.forEach(setAllIn);
      else if (target.matches(NUMBERED)) setNumbers(target);
    }
  }).observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: ["style", ...NAMES.map((name) => `data-${name}`)],
  });
}
