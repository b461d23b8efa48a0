// Paints one node as a cell of the dense grid. A small cell has the requested share as its shade, and marks exceptions only; a
// large one has the visual codes of the cards.
const BLOCKS = 40; // minimum width at which pods are drawn as blocks; narrower cells have a shade
const NAMED = 64; // minimum width at which the name is drawn
const FRAMED = 10; // minimum width at which a feasible node has a frame; narrower ones have only the bar of the score
const FIELDS = [
  "name",
  "short",
  "full",
  "fullest",
  "cpu",
  "memory",
  "pods",
  "rank",
  "marks",
  "words",
  "blocks",
];
const STATES = ["running", "starting", "victim", "terminating", "nominated"];
const RANKS = 7;
const SHADES = "abcdefghi";
const DARKEST = 0.75; // opacity of the shade of a full node: marks stay visible on it
const FULL = 95; // percent requested, from which a node is marked as full
const FEW = 0.25; // share of the nodes, up to which a verdict is an exception
const TOKENS = ["panel", "sunk", "ink", "quiet", "line", "accent", "good", "bad", "warn"];

export function readCells(text) {
  return JSON.parse(text).map((values) =>
    Object.fromEntries(FIELDS.map((field, index) => [field, values[index]])),
  );
}

// "2.3A" -> "..AAA"
export function expandRuns(codes) {
  return codes.replace(/(\d+)(\D)/g, (_, length, code) => code.repeat(Number(length)));
}

// Whether a cell of this width shows pods, and every verdict.
export const isDetailed = (width) => width >= BLOCKS;

// The codes that small cells mark: of "fits" and "filtered out" the rarer, if few nodes have it.
export function markedCodes(codes) {
  const out = codes.match(/[A-Z]/g)?.length ?? 0;
  const fits = codes.match(/[a-i]/g)?.length ?? 0;
  const few = codes.length * FEW;
  const markOut = out <= fits && out <= few;
  const markFits = fits < out && fits <= few;
  return codes.replace(/[A-Za-i]/g, (code) => ((code <= "Z" ? markOut : markFits) ? code : "."));
}

// The current colours of tokens.css, and the patterns made from them.
export function makePalette(context) {
  const { canvas } = context;
  const style = getComputedStyle(canvas);
  // The value of a property has both themes; only that of an element's colour is the current one.
  const colourOf = (name) => {
    canvas.style.color = `var(--${name})`;
    return style.color;
  };
  const ranks = Array.from({ length: RANKS }, (_, rank) => rank);
  const colours = Object.fromEntries(TOKENS.map((name) => [name, colourOf(name)]));
  colours.mono = style.getPropertyValue("--mono");
  colours.fills = ranks.map((rank) => colourOf(`r${rank}`));
  colours.inks = ranks.map((rank) => colourOf(`i${rank}`));
  canvas.style.color = "";
  colours.victim = hatch(context, colours.bad, colours.panel);
  colours.terminating = hatch(context, colours.quiet, colours.panel);
  colours.cordoned = hatch(context, colours.quiet, "transparent");
  colours.starting = colours.fills.map((fill) => stripes(context, fill, colours.panel));
  return colours;
}

function tile(context, size, draw) {
  const canvas = document.createElement("canvas");
  canvas.width = size;
  canvas.height = size;
  draw(canvas.getContext("2d"), size);
  return context.createPattern(canvas, "repeat");
}

function hatch(context, colour, ground) {
  return tile(context, 6, (brush, size) => {
    if (ground !== "transparent") {
      brush.fillStyle = ground;
      brush.fillRect(0, 0, size, size);
    }
    brush.strokeStyle = colour;
    brush.lineWidth = 1.6;
    for (const from of [-size, 0, size]) {
      brush.beginPath();
      brush.moveTo(from, size);
      brush.lineTo(from + size, 0);
      brush.stroke();
    }
  });
}

function stripes(context, fill, ground) {
  return tile(context, 6, (brush, size) => {
    brush.fillStyle = fill;
    brush.fillRect(0, 0, size, size);
    brush.globalAlpha = 0.45;
    brush.fillStyle = ground;
    brush.fillRect(0, 4, size, 2);
  });
}

// code: the verdict of the cycle on the node, as schedviz/web/nodes/grid.py encodes it; bright: the node matches the filter.
export function paintCell(context, cell, { x, y, width, height }, colours, code, bright) {
  context.globalAlpha = bright ? 1 : 0.16;
  context.fillStyle = colours.sunk;
  context.fillRect(x, y, width, height);
  if (width >= BLOCKS) detailed(context, cell, { x, y, width, height }, colours);
  else shaded(context, cell, { x, y, width, height }, colours);
  faults(context, cell, { x, y, width, height }, colours);
  verdict(context, { x, y, width, height }, colours, code);
  context.globalAlpha = 1;
}

// Shade: the requested share of the fullest resource. Marked is only what is an exception: a full node, one that takes no pods,
// and one to which a pod is nominated.
function shaded(context, cell, { x, y, width, height }, colours) {
  const alpha = context.globalAlpha;
  context.globalAlpha = (alpha * DARKEST * Math.min(100, cell.full)) / 100;
  context.fillStyle = colours.quiet;
  context.fillRect(x, y, width, height);
  context.globalAlpha = alpha;
  if (cell.full >= FULL) {
    context.fillStyle = colours.warn;
    context.fillRect(x, y, width, Math.max(2, Math.min(4, height * 0.15)));
  }
  if (cell.marks.includes("g"))
    dashed(context, { x: x + 1.5, y: y + 1.5, width: width - 3, height: height - 3 }, colours.accent, 2);
}

// Draws as many ticks as the rank. Those within the fill, which is `filled` pixels high, have the colour for text on it.
function ticks(context, rank, x, bottom, filled, colours) {
  for (let tick = 0; tick < rank; tick += 1) {
    context.fillStyle = tick * 3 + 2 <= filled ? colours.inks[rank] : colours.quiet;
    context.fillRect(x, bottom - 2 - tick * 3, 4, 2);
  }
}

function detailed(context, cell, { x, y, width, height }, colours) {
  const named = width >= NAMED;
  const top = named ? 14 : 2;
  const foot = height >= 44 ? 10 : 2;
  context.fillStyle = colours.panel;
  context.fillRect(x, y, width, height);
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  if (named) {
    context.save();
    context.beginPath();
    context.rect(x, y, width - 14, 14);
    context.clip();
    context.fillStyle = colours.ink;
    context.font = `600 10.5px ${colours.mono}`;
    context.fillText(cell.short || cell.name, x + 7, y + 11);
    context.restore();
  }
  const area = { x: x + 6, y: y + top, width: width - 9, height: height - top - foot };
  context.fillStyle = colours.sunk;
  context.fillRect(area.x, area.y, area.width, area.height);
  blocks(context, cell.blocks, area, colours);
  if (foot > 2) {
    meter(context, cell.cpu, x + 6, y + height - 8, width - 9, colours);
    meter(context, cell.memory, x + 6, y + height - 4, width - 9, colours);
  }
}

function meter(context, percent, x, y, width, colours) {
  context.fillStyle = colours.sunk;
  context.fillRect(x, y, width, 3);
  context.fillStyle = colours.quiet;
  context.fillRect(x, y, (width * Math.min(100, percent)) / 100, 3);
}

function blocks(context, codes, area, colours) {
  let at = area.x;
  for (let place = 0; place < codes.length; place += 3) {
    const look = Number.parseInt(codes[place], 36);
    const rank = look % RANKS;
    const state = STATES[Math.floor(look / RANKS)];
    const share = Number.parseInt(codes.slice(place + 1, place + 3), 36) / 1000;
    const width = Math.max(3, share * area.width);
    if (state === "nominated") {
      const x = Math.max(area.x, Math.min(at, area.x + area.width - width));
      dashed(
        context,
        { x: x + 1, y: area.y + 1, width: width - 2, height: area.height - 2 },
        colours.accent,
        2,
      );
      at += width;
      continue;
    }
    const room = Math.min(width, area.x + area.width - at);
    if (room <= 0) continue;
    context.fillStyle =
      state === "running"
        ? colours.fills[rank]
        : state === "starting"
          ? colours.starting[rank]
          : colours[state];
    context.fillRect(at, area.y, room - 1, area.height);
    if (room >= 8)
      ticks(
        context,
        rank,
        at + 1.5,
        area.y + area.height - 1,
        state === "running" || state === "starting" ? area.height : 0,
        colours,
      );
    at += width;
  }
}

function dashed(context, { x, y, width, height }, colour, line) {
  context.strokeStyle = colour;
  context.lineWidth = line;
  context.setLineDash([3, 2]);
  context.strokeRect(x, y, Math.max(1, width), Math.max(1, height));
  context.setLineDash([]);
}

// Tainted: a double line at the bottom. Cordoned: hatched. Not ready or under pressure: a horizontal bar.
function faults(context, cell, { x, y, width, height }, colours) {
  if (cell.marks.includes("c")) {
    context.fillStyle = colours.cordoned;
    context.fillRect(x, y, width, height);
  }
  if (cell.marks.includes("t") && isDetailed(width)) {
    context.fillStyle = colours.warn;
    context.fillRect(x, y + height - 1, width, 1);
    context.fillRect(x, y + height - 3, width, 1);
  }
  if (cell.marks.includes("n")) {
    context.fillStyle = colours.bad;
    context.fillRect(x, y + height / 2 - 1.5, width, 3);
  }
}

// Not looked at: a short line on a faded cell. Filtered out: a cross on a faded cell. Feasible: a frame, and on its left a bar as high as the score. Candidate: a dashed
// frame. Chosen: a thick frame.
function verdict(context, { x, y, width, height }, colours, code) {
  const score = SHADES.indexOf(code);
  if (code === "!") frame(context, x - 1, y - 1, width + 2, height + 2, 3, colours.accent);
  else if (code === "?")
    dashed(context, { x: x + 1, y: y + 1, width: width - 2, height: height - 2 }, colours.warn, 2);
  else if (score >= 0) {
    if (width >= FRAMED) frame(context, x, y, width, height, 1.5, colours.good);
    const bars = (height * (score + 1)) / SHADES.length;
    context.fillStyle = colours.good;
    context.fillRect(x, y + height - bars, Math.max(2, Math.min(4, width * 0.2)), bars);
  } else if (code === "-") {
    fade(context, { x, y, width, height }, colours);
    const arm = Math.max(1.5, Math.min(5, width * 0.22));
    const middle = middleOfSign({ x, y, width, height });
    context.fillStyle = colours.quiet;
    context.fillRect(middle.x - arm, middle.y - 0.75, 2 * arm, 1.5);
  } else if (code >= "A" && code <= "Z") {
    fade(context, { x, y, width, height }, colours);
    const arm = Math.max(1.5, Math.min(5, width * 0.22));
    const middle = middleOfSign({ x, y, width, height });
    context.strokeStyle = colours.bad;
    context.lineWidth = width < 12 ? 1 : 1.6;
    context.beginPath();
    context.moveTo(middle.x - arm, middle.y - arm);
    context.lineTo(middle.x + arm, middle.y + arm);
    context.moveTo(middle.x + arm, middle.y - arm);
    context.lineTo(middle.x - arm, middle.y + arm);
    context.stroke();
  }
}

function fade(context, { x, y, width, height }, colours) {
  const alpha = context.globalAlpha;
  context.globalAlpha = alpha * 0.55;
  context.fillStyle = colours.panel;
  context.fillRect(x, y, width, height);
  context.globalAlpha = alpha;
}

const middleOfSign = ({ x, y, width, height }) =>
  width >= BLOCKS ? { x: x + width - 8, y: y + 8 } : { x: x + width / 2, y: y + height / 2 };

function frame(context, x, y, width, height, line, colour) {
  // Four fills: without a GPU a stroke takes several times as long.
  context.fillStyle = colour;
  context.fillRect(x, y, width, line);
  context.fillRect(x, y + height - line, width, line);
  context.fillRect(x, y, line, height);
  context.fillRect(x + width - line, y, line, height);
}
