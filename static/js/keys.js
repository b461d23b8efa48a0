// The keys of links and buttons that need a click and nothing else. Other files register the keys of their own controls.
import { addShortcut } from "./registry.js";
import { isLive } from "./moment.js";

const CONTROLS = {
  Space: "#t-run",
  ".": "#t-next",
  ",": "#t-cycle",
  u: "#t-until > summary",
  g: "#t-predict",
  w: "#suppose-ask",
  "/": "#command-open",
  p: '.create a[href$="/pod/"]',
  c: '.create a[href$="/priorityclass/"]',
  n: '.create a[href$="/node/"]',
  b: '.create a[href$="/poddisruptionbudget/"]',
  y: '.create a[href$="/yaml/"]',
};

for (const [key, control] of Object.entries(CONTROLS)) addShortcut(key, { control, when: isLive });
