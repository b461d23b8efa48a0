// Swaps the parts of a frame into the page by their ids, or as their attribute hx-swap-oob says: that of schedviz/web/parts/parts.py.
// htmx itself sends events for each element that goes and for each pair of swaps, some thousand for a frame.

const SENDS = "[hx-get], [hx-post]"; // what htmx has to know

const WAYS = {
  outerHTML: (target, content) => target.replaceWith(content),
  delete: (target) => target.remove(),
  afterbegin: (target, content) => target.prepend(content),
  beforeend: (target, content) => target.append(content),
  afterend: (target, content) => target.after(content),
};

export function swapParts(html) {
  const parsed = document.createElement("template");
  parsed.innerHTML = html;
  for (const part of [...parsed.content.children]) swapPart(part);
}

function swapPart(part) {
  const [, way = "outerHTML", selector = `#${CSS.escape(part.id)}`] =
    /^(\w+):(.*)$/s.exec(part.getAttribute("hx-swap-oob")) ?? [];
  part.removeAttribute("hx-swap-oob");
  const content = part instanceof HTMLTemplateElement ? part.content : part;
  const fresh = content === part ? [part] : [...content.children];
  for (const target of document.querySelectorAll(selector)) WAYS[way](target, content);
  for (const each of fresh) if (each.matches(SENDS) || each.querySelector(SENDS)) htmx.process(each);
}
