// Pictures for the documentation: a screenshot as a PNG with a palette, a third of the size of the browser's.
import { deflateSync } from 'node:zlib';

const COLOURS = 256;

// Runs in an empty page: a palette, and for every pixel the nearest colour of it.
async function indexed([picture, colours]) {
  const image = new Image();
  image.src = picture;
  await image.decode();
  const { width, height } = image;
  const paper = new OffscreenCanvas(width, height).getContext('2d');
  paper.drawImage(image, 0, 0);
  const pixels = new Uint32Array(paper.getImageData(0, 0, width, height).data.buffer);
  // The most frequent colour of every kind first, so that rare hues are there, too; then the most frequent ones.
  const count = new Map();
  for (const pixel of pixels) count.set(pixel, (count.get(pixel) ?? 0) + 1);
  const frequent = [...count].sort((a, b) => b[1] - a[1]).map(([pixel]) => pixel);
  const kinds = new Map();
  for (const pixel of frequent) {
    const kind = pixel & 0xe0e0e0;
    if (!kinds.has(kind)) kinds.set(kind, pixel);
  }
  const palette = [...new Set([...kinds.values(), ...frequent])].slice(0, colours);
  const parts = (pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
  const table = palette.map(parts);
  const known = new Map(palette.map((pixel, i) => [pixel, i]));
  const nearest = (pixel) => {
    const [r, g, b] = parts(pixel);
    let [at, least] = [0, Infinity];
    table.forEach(([x, y, z], i) => {
      const far = (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2;
      if (far < least) [at, least] = [i, far];
    });
    known.set(pixel, at);
    return at;
  };
  const bytes = Uint8Array.from(pixels, (pixel) => known.get(pixel) ?? nearest(pixel));
  let text = '';
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return { width, height, table, data: btoa(text) };
}

const CRC = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  let crc = 0xffffffff;
  for (const byte of body) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE((crc ^ 0xffffffff) >>> 0, body.length + 4);
  return out;
}

// `blank` is an empty page that computes; returns the bytes of the file.
export async function withPalette(png, blank) {
  const made = await blank.evaluate(indexed, [`data:image/png;base64,${png.toString('base64')}`, COLOURS]);
  const { width, height } = made;
  const pixels = Buffer.from(made.data, 'base64');
  const lines = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) pixels.copy(lines, y * (width + 1) + 1, y * width, (y + 1) * width);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(made.table.flat())),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
