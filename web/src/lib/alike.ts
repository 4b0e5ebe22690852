// Texts that differ in their numbers only: "loss diverged with lr=0.1" and "… lr=0.52" are one cause.

const NUMBER = /0x[\da-f]+|\d+(?:\.\d+)*(?:e[-+]?\d+)?/gi;

// The same for texts that are alike.
export const shapeOf = (text: string) => text.replace(NUMBER, '0');

// What texts of one shape have in common; a number in which they differ is "…".
export function inCommon(texts: string[]): string {
  const numbers = texts.map((text) => text.match(NUMBER) ?? []);
  let at = 0;
  return texts[0].replace(NUMBER, (number) => {
    const i = at++;
    return numbers.every((list) => list[i] === number) ? number : '…';
  });
}

// The longest piece that stands in all of them, to look for.
export function piece(common: string): string {
  return common
    .split(/…|"/)
    .map((part) => part.trim())
    .reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}
