// Several names in one part of the address, with commas between them. A comma inside a name is encoded, so that
// `mAP[0.5,0.95]` stays one name; other characters stay as they are, and so do addresses without any encoding.

export const joinNames = (names: string[]) => names.map((name) => name.replace(/[%,]/g, encodeURIComponent)).join();

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // typed by hand: top5%
  }
}

export const splitNames = (text: string | null) => (text ?? '').split(',').filter(Boolean).map(decoded);

// As lists of the daemon's addresses take a name.
const quoted = (name: string) => (/^["*]|,/.test(name) ? `"${name}"` : name);

export const columnList = (names: string[]) => names.map(quoted).join();

/** The further objectives and these metrics, as `metrics=` of a list of tasks takes them. */
export const nameList = (names: string[]) => ['*', ...names.map(quoted)].join();
