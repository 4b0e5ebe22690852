// Work that can follow what the user waits for.

// A hidden tab paints nothing; then the work is done after this time.
const HIDDEN_MS = 300;

// Calls `run` once the browser has painted what was changed before.
export function afterPaint(run: () => void) {
  let done = false;
  const once = () => {
    if (!done) run();
    done = true;
  };
  requestAnimationFrame(() => setTimeout(once));
  setTimeout(once, HIDDEN_MS);
}
