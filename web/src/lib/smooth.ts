// A curve for the eye: an exponential mean whose memory is a share of the whole axis. It weighs by distance on the
// axis, not by count, so that a curve of few kept points looks like the same curve with all of them.

// Points at one place count as this share of the reach apart.
const LEAST = 1e-3;

// `y` smoothed; `reach` is the distance on the axis after which a value counts for 1/e. Gaps stay gaps.
export function smooth(x: number[], y: (number | null)[], reach: number): (number | null)[] {
  if (!(reach > 0)) return y;
  let sum = 0;
  let weight = 0;
  let before = x.length > 1 ? 2 * x[0] - x[1] : 0;
  return y.map((value, i) => {
    if (value === null) return null;
    const keep = Math.exp(-Math.max(LEAST, (x[i] - before) / reach));
    // Without the second sum the first values would be pulled towards zero.
    sum = sum * keep + (1 - keep) * value;
    weight = weight * keep + (1 - keep);
    before = x[i];
    return sum / weight;
  });
}
