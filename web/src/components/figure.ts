// Charts as SVG files that need nothing of the page: every colour and size is in the elements themselves. Loaded when
// someone saves a chart.
import { tick } from '../lib/format';
import { dotBox, labelPlace } from '../lib/label';
import { token } from '../lib/theme';
import { type Picture, pictures } from './picture';

export interface Figure {
  text: string;
  width: number;
  height: number;
}

const FONT = 'Helvetica, Arial, sans-serif';
const PNG_SCALE = 3;
const MARGIN = 6;
// What a file cannot take from a style sheet, with the value that needs no mention.
const STYLES: [string, string][] = [
  ['fill', 'rgb(0, 0, 0)'],
  ['fill-opacity', '1'],
  ['stroke', 'none'],
  ['stroke-width', '1px'],
  ['stroke-dasharray', 'none'],
  ['stroke-linecap', 'butt'],
  ['stroke-linejoin', 'miter'],
  ['stroke-opacity', '1'],
  ['opacity', '1'],
  ['paint-order', 'normal'],
  ['text-anchor', 'start'],
  ['font-size', ''],
  ['font-weight', '400'],
];

const escaped = (text: string) =>
  text.replace(/[<>&"]/g, (c) => ({ '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' })[c]!);
const fixed = (v: number) => String(Number(v.toFixed(2)));

// Everything that is a chart or belongs to one inside an element, where it stands on the screen.
export function figure(root: HTMLElement): Figure {
  const box = root.getBoundingClientRect();
  const parts: string[] = [];
  let [right, bottom] = [0, 0];
  const put = (element: Element, markup: string) => {
    const at = element.getBoundingClientRect();
    if (!at.width || !at.height) return;
    const [x, y] = [at.left - box.left + MARGIN, at.top - box.top + MARGIN];
    right = Math.max(right, x + at.width);
    bottom = Math.max(bottom, y + at.height);
    parts.push(`<g transform="translate(${fixed(x)} ${fixed(y)})">${markup}</g>`);
  };
  for (const element of root.querySelectorAll('svg[role=img], .plot, .legend, .panel-title')) {
    const picture = pictures.get(element)?.();
    if (picture) put(element, plotMarkup(picture, parts.length));
    else if (element instanceof SVGSVGElement) put(element, svgMarkup(element));
    else put(element, wordsMarkup(element as HTMLElement));
  }
  const width = Math.ceil(right + MARGIN);
  const height = Math.ceil(bottom + MARGIN);
  const text =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="${FONT}"><rect width="100%" height="100%" fill="#fff"/>${parts.join('')}</svg>\n`;
  return { text, width, height };
}

export async function toPng({ text, width, height }: Figure): Promise<Blob> {
  const image = new Image();
  // The page may load pictures from data: only.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = width * PNG_SCALE;
  canvas.height = height * PNG_SCALE;
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => {
    canvas.toBlob(done, 'image/png');
  });
  if (!blob) throw new Error('the browser gave no picture');
  return blob;
}

// A chart that is SVG already: a copy with the styles of the page inside.
function svgMarkup(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const from = [...svg.querySelectorAll('*')];
  [...copy.querySelectorAll('*')].forEach((element, i) => {
    const style = getComputedStyle(from[i]);
    if (style.display === 'none' || element.classList.contains('grab')) {
      element.remove();
      return;
    }
    const words = element.tagName === 'text' || element.tagName === 'tspan';
    for (const [name, plain] of STYLES) {
      if (!words && /^(font|text)/.test(name)) continue;
      const value = style.getPropertyValue(name);
      if (value === plain) element.removeAttribute(name);
      else element.setAttribute(name, /^rgba\(.*, 0\)$/.test(value) ? 'none' : value);
    }
    for (const { name } of [...element.attributes])
      if (/^(class|style|tabindex|role)$|^(data|aria)-/.test(name)) element.removeAttribute(name);
  });
  // innerHTML would write &nbsp;, which a file of XML does not know.
  const writer = new XMLSerializer();
  return [...copy.childNodes].map((node) => writer.serializeToString(node)).join('');
}

// Words of the page with their swatches, each where it stands.
function wordsMarkup(root: HTMLElement): string {
  const box = root.getBoundingClientRect();
  const out: string[] = [];
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode as Text;
    if (!node.data.trim()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const at = range.getBoundingClientRect();
    const style = getComputedStyle(node.parentElement!);
    const size = Number.parseFloat(style.fontSize);
    out.push(
      `<text x="${fixed(at.left - box.left)}" y="${fixed(at.top - box.top + at.height / 2 + size * 0.35)}" ` +
        `font-size="${size}" font-weight="${style.fontWeight}" fill="${style.color}">${escaped(node.data.trim())}</text>`,
    );
  }
  for (const swatch of root.querySelectorAll<HTMLElement>('.swatch')) {
    const at = swatch.getBoundingClientRect();
    const place = `x="${fixed(at.left - box.left)}" y="${fixed(at.top - box.top)}" width="${at.width}" height="${at.height}"`;
    if (!swatch.classList.contains('ramp')) {
      out.push(`<rect ${place} rx="2" fill="${getComputedStyle(swatch).backgroundColor}"/>`);
      continue;
    }
    const stops = [1, 2, 3, 4, 5].map((i) => `<stop offset="${(i - 1) / 4}" stop-color="${token(`--r${i}`)}"/>`);
    out.push(`<linearGradient id="ramp">${stops.join('')}</linearGradient><rect ${place} rx="2" fill="url(#ramp)"/>`);
  }
  for (const svg of root.querySelectorAll('svg')) {
    const at = svg.getBoundingClientRect();
    out.push(`<g transform="translate(${fixed(at.left - box.left)} ${fixed(at.top - box.top)})">${svgMarkup(svg)}</g>`);
  }
  return out.join('');
}

// A chart on a canvas, drawn again as paths.
function plotMarkup(picture: Picture, number: number): string {
  const { at, colours, inner, left, top, rows, columns, lines } = picture;
  const right = left + inner[0];
  const bottom = top + inner[1];
  const small = `font-size="11" fill="${colours.axis}"`;
  const out: string[] = [];
  for (const v of rows) {
    const y = fixed(at.y(v));
    out.push(`<path d="M${left} ${y}H${fixed(right)}" stroke="${colours.grid}"/>`);
    out.push(`<text x="${left - 6}" y="${fixed(at.y(v) + 4)}" text-anchor="end" ${small}>${tick(v)}</text>`);
  }
  out.push(`<path d="M${left} ${fixed(bottom)}H${fixed(right)}" stroke="${colours.border}"/>`);
  for (const column of columns)
    out.push(
      `<text x="${fixed(at.x(column.at))}" y="${fixed(bottom + 16)}" text-anchor="middle" ${small}>${escaped(column.text)}</text>`,
    );
  out.push(
    `<text x="${fixed(right)}" y="${fixed(bottom + 33)}" text-anchor="end" ${small}>${escaped(picture.xLabel)}</text>`,
  );
  const room = picture.zoomed ? 0 : 5;
  out.push(
    `<clipPath id="area${number}"><rect x="${left - (room && 1)}" y="${top - room}" width="${fixed(inner[0] + room + (room && 1))}" ` +
      `height="${fixed(inner[1] + room)}"/></clipPath><g clip-path="url(#area${number})" fill="none" stroke-linejoin="round">`,
  );
  for (const line of lines) out.push(lineMarkup(line, picture));
  out.push('</g>');
  const marked = lines.filter(({ mark }) => mark && picture.drawable(mark.y));
  const taken = marked.map(({ mark }) => dotBox([at.x(mark!.x), at.y(mark!.y)], 1));
  for (const { mark, css, x: xs, y: ys } of marked) {
    if (!mark) continue;
    const [x, y] = [at.x(mark.x), at.y(mark.y)];
    if (x < left - 1 || x > right + 1) continue;
    const half = mark.text.length * 3.2;
    const own = xs.flatMap((v, i) => (picture.drawable(ys[i]) ? [[at.x(v), at.y(ys[i])] as [number, number]] : []));
    const [tx, ty] = labelPlace([x, y], half, 1, { left, top, right, bottom }, own, taken);
    out.push(
      `<circle cx="${fixed(x)}" cy="${fixed(y)}" r="4" fill="${css}" stroke="#fff"/>` +
        `<text x="${fixed(tx)}" y="${fixed(ty)}" text-anchor="middle" font-size="11.5" font-weight="600" ` +
        `fill="${colours.text}" stroke="#fff" stroke-width="4" paint-order="stroke">${escaped(mark.text)}</text>`,
    );
  }
  if (picture.yLabel)
    out.push(
      `<text x="${left + 6}" y="${top + 10}" ${small} stroke="#fff" stroke-width="4" paint-order="stroke">${escaped(picture.yLabel)}</text>`,
    );
  return out.join('');
}

function lineMarkup(line: Picture['lines'][number], picture: Picture): string {
  const { at } = picture;
  const out: string[] = [];
  const stroke = (d: string, colour: string, width: number, opacity: number, dash = '') =>
    out.push(`<path d="${d}" stroke="${colour}" stroke-width="${width}" opacity="${opacity}"${dash}/>`);
  const path = (ys: (number | null)[]) => {
    let d = '';
    let pen = false;
    ys.forEach((y, i) => {
      if (picture.drawable(y)) d += `${pen ? 'L' : 'M'}${fixed(at.x(line.x[i]))} ${fixed(at.y(y))}`;
      pen = picture.drawable(y);
    });
    return d;
  };
  const dash = line.dash ? ' stroke-dasharray="4 3"' : '';
  const colour = line.off ? picture.colours.axis : line.css;
  const opacity = line.off ? 0.15 : line.strong || line.end === 'dot' ? 1 : picture.crowd;
  if (line.raw && !line.off) stroke(path(line.raw), colour, 0.8, 0.22);
  stroke(path(line.y), colour, line.strong ? 2.4 : line.dash ? 1.3 : picture.thin, opacity, dash);
  const bottom = picture.top + picture.inner[1];
  if (line.nan?.length && !line.off)
    stroke(line.nan.map((x) => `M${fixed(at.x(x))} ${fixed(bottom)}v${-picture.nanPx}`).join(''), colour, 2, 1);
  const end = line.off ? null : (line.end ?? (line.x.length === 1 ? 'dot' : null));
  let last = line.y.length - 1;
  while (last >= 0 && !picture.drawable(line.y[last])) last--;
  if (!end || last < 0) return out.join('');
  const [x, y] = [at.x(line.x[last]), at.y(line.y[last]!)];
  out.push(
    end === 'dot'
      ? `<circle cx="${fixed(x)}" cy="${fixed(y)}" ${line.lone && !line.strong ? 'r="2.4" opacity="0.75"' : 'r="3.2" stroke="#fff"'} fill="${line.css}"/>`
      : `<path d="M${fixed(x - 3.5)} ${fixed(y - 3.5)}l7 7m0 -7l-7 7" stroke="${picture.colours.error}" stroke-width="2"/>`,
  );
  return out.join('');
}
