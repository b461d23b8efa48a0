// The scripts of a sandbox's page. Each module registers its own handlers; the order does not matter.
import "./announce.js";
import "./command.js";
import "./connection.js";
import "./copy.js";
import "./dialog.js";
import "./guide.js";
import "./help.js";
import "./hint.js";
import "./keys.js";
import "./lesson.js";
import "./live.js";
import "./look.js";
import "./menus.js";
import "./numbers.js";
import "./panels.js";
import "./picture.js";
import "./play.js";
import "./pod_groups.js";
import "./predict.js";
import "./question.js";
import "./refused.js";
import "./projector.js";
import "./room_notice.js";
import "./shortcuts.js";
import "./submitter.js";
import "./tables.js";
import "./tabs.js";
import "./travel.js";
import "./undone.js";
import { Grid } from "./grid.js";

// What tests read of a running page.
export { listShortcuts } from "./registry.js";

new Grid(document.getElementById("grid"));

// htmx processes the page at this event too, and was asked to first. From now on every control has its handler: those that
// do nothing without scripts appear (static/css/accessibility.css).
document.addEventListener("DOMContentLoaded", () => document.documentElement.classList.add("scripted"));
