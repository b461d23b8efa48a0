// The scale of the time axis, which the marks of the attempts and the slider have in common. A moment is the number of a trace
// event, but the scale is not linear in it: every attempt has the same width, and the events between two attempts share the
// space between their marks. So a burst stays readable, and a long wait takes no room. The left end is the oldest moment that is
// kept; the right end is live, which comes after the newest event.
const EVENTS_OF_ATTEMPT = 8; // about; by it the space before the first mark and after the last one is measured
const LEAST = 0.5; // of the width of an attempt: the space before the first mark and after the last one
const SHARE_AT_MOST = 1 / 8; // of all attempts
const LAST_MARK_FROM_LIVE = 1 / 60; // of all attempts, so that the newest mark is distinct from live

// The space beyond the outermost mark, in widths of an attempt.
function outerSpace(events, attempts, least = LEAST) {
  return Math.max(least, Math.min(events / EVENTS_OF_ATTEMPT, attempts * SHARE_AT_MOST)) - LEAST;
}

// first, newest: the oldest and the newest moment. ends: the moments at which the attempts with a mark ended, oldest first.
export function axisScale(first, newest, ends) {
  const live = newest + 1;
  const before = outerSpace((ends[0] ?? first) - first, ends.length);
  const after = outerSpace(
    live - (ends.at(-1) ?? live),
    ends.length,
    LEAST + ends.length * LAST_MARK_FROM_LIVE,
  );
  const width = before + (ends.length || 1) + after;
  const knots = []; // pairs of a moment and its place, both increasing
  if (!(ends[0] <= first)) knots.push([first, 0]);
  for (const [index, seq] of ends.entries())
    if (seq > (knots.at(-1)?.[0] ?? 0)) knots.push([seq, (before + index + 0.5) / width]);
  if (live > knots.at(-1)[0]) knots.push([live, 1]);
  return {
    before: before / width,
    after: after / width,
    // The place of a moment: 0 is the left end, 1 the right end.
    placeOf: (seq) => (seq >= live ? 1 : interpolate(knots, seq)),
    // The moment at a place; Infinity: live.
    momentAt(place) {
      const seq = Math.round(
        interpolate(
          knots.map(([each, where]) => [where, each]),
          place,
        ),
      );
      return seq >= live ? Infinity : seq;
    },
  };
}

function interpolate(knots, x) {
  const next = knots.findIndex(([each]) => each >= x);
  if (next < 0) return knots.at(-1)[1];
  if (next === 0) return knots[0][1];
  const [[x0, y0], [x1, y1]] = [knots[next - 1], knots[next]];
  return y0 + ((x - x0) / (x1 - x0)) * (y1 - y0);
}
