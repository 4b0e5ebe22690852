// Output of training scripts made safe and readable: terminal codes go, progress bars that overwrite
// their line keep its last state, and a line of a megabyte is cut with a word about it.

export const LINE_MOST = 2000;

// CSI, OSC and two-character escapes, then what is left of the C0 controls but tab and newline.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROLS = /[\x00-\x07\x0b\x0c\x0e-\x1f\x7f]/g;

export function plain(text: string): string {
  return text.replace(ESCAPES, '').replace(CONTROLS, '');
}

// What stands in backticks in a text of the daemon, for a tooltip or a name, where nothing can be shown as code.
export const unticked = (text: string) => text.replace(/`([^`\n]+)`/g, '$1');

export function overwrite(line: string): string {
  const kept =
    line
      .split('\r')
      .filter((part) => part !== '')
      .pop() ?? '';
  if (!kept.includes('\b')) return kept;
  const out: string[] = [];
  for (const ch of kept) {
    if (ch === '\b') out.pop();
    else out.push(ch);
  }
  return out.join('');
}

export function cleanLine(raw: string): string {
  const line = overwrite(plain(raw));
  if (line.length <= LINE_MOST) return line;
  return `${line.slice(0, LINE_MOST)} … [${line.length.toLocaleString('en-US')} characters in this line]`;
}

const WARNING = /\bwarn(?:ing)?\b/i;
const ERROR =
  /^(?:\w+(?:\.\w+)*(?:Error|Exception|Interrupt)\b|Traceback |Fatal|Segmentation fault|Killed|.*: error:)|\b(?:error|failed)\b:/i;

export function lineKind(line: string): '' | 'line-error' | 'line-warning' {
  if (ERROR.test(line)) return 'line-error';
  return WARNING.test(line) ? 'line-warning' : '';
}

// For narrow places: without the module path in front of the exception's name.
export function brief(tail: string | null): string | null {
  return quote(tail)?.replace(/^(?:\w+\.)+(?=[A-Z]\w*(?:\b|:))/, '') ?? null;
}

// The line worth quoting from the tail of a failed script's error output: the exception itself.
export function quote(tail: string | null): string | null {
  if (!tail) return null;
  const lines = plain(tail)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter(Boolean);
  for (let i = lines.length - 1; i >= 0; i--) {
    if (/^[\w.]+(?:Error|Exception|Interrupt|Exit)\b/.test(lines[i])) return cleanLine(lines[i]);
  }
  return lines.length ? cleanLine(lines[lines.length - 1]) : null;
}

// A name cut in its middle: names with the same beginning stay apart.
export function shortened(name: string, most: number): string {
  if (name.length <= most) return name;
  const end = Math.ceil((most - 1) / 2);
  return `${name.slice(0, most - 1 - end)}…${name.slice(-end)}`;
}
