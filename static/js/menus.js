// Menus are popovers: the browser places them, and closes them at a click outside and with Escape. They close here when what was
// chosen in them is done.

// Closes the menu that an element is in, because its link or button was used.
export function closeMenuOf(element) {
  element?.closest("[popover]")?.hidePopover();
}

// The element itself, or the button of the closed menu that it is in.
export function reachableOf(element) {
  const closed = element?.closest("[popover]:not(:popover-open)");
  return closed ? document.querySelector(`[popovertarget="${closed.id}"]`) : element;
}

document.body.addEventListener("schedviz:clock", ({ target }) => closeMenuOf(target));
