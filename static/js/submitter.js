// A form sends the button that submitted it. htmx sends the one that had the focus last, and knows only those that stand within their form:
// a request that waits for another one would send the button to which a frame has given the focus back meanwhile.
document.addEventListener("htmx:configRequest", ({ detail: { parameters, triggeringEvent } }) => {
  const button = triggeringEvent?.submitter;
  if (button?.name) parameters[button.name] = button.value;
});
