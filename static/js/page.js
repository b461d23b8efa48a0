// A page of a room: the buttons that copy, and the controls that need scripts.
import "./copy.js";

document.documentElement.classList.add("scripted");
