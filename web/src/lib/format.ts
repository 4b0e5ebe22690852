// Numbers, durations and times as people read them. Unknown is a word, never 0 or −1.
import type { Cost, Figure, Limits, Metric, Value } from '../data/types';

export const DASH = '–';

// A metric as a number for sorting and drawing; NaN and the infinities have no place on an axis.
export function finite(value: Metric | null | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function exponent(value: number, digits: number): string {
  const [mantissa, power] = value.toExponential(digits).split('e');
  const short = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  return `${short}e${Number(power)}`;
}

/** Digits after the point that make three significant ones. */
export function decimals(value: number): number {
  return value === 0 ? 0 : Math.min(8, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))));
}

/** Three significant digits with an exponent. */
export const power = (value: number) => value.toExponential(2).replace('e+', 'e');
const extreme = (value: number) => value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3);

// Three significant digits, the same number of them while a value moves. The value in full belongs into the title.
export function metric(value: Metric | null | undefined): string {
  if (value === null || value === undefined) return DASH;
  if (typeof value !== 'number') return value.replace('Infinity', '∞');
  if (extreme(value)) return power(value);
  // A count has all its digits.
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return count(Math.round(value));
  return value.toFixed(decimals(value));
}

// The title of what `metric` writes.
export function inFull(value: Metric | null | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}

// What is read off a chart: as many digits as tell neighbours apart.
export function reading(value: Metric | null | undefined): string {
  if (value === null || value === undefined || typeof value !== 'number') return metric(value);
  return extreme(value) ? exponent(value, 4) : String(Number(value.toPrecision(5)));
}

// Three significant digits within a sentence: without zeros at the end.
export function threeDigits(value: number): string {
  if (extreme(value)) return exponent(value, 2);
  return Math.abs(value) >= 1000 ? count(Math.round(value)) : String(Number(value.toPrecision(3)));
}

// A number on an axis: no more digits than it needs.
export function tick(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return exponent(value, 3);
  return String(Number(value.toPrecision(6)));
}

// More digits than these were not typed: a search drew them.
const TYPED = 4;
const significantDigits = (value: number) =>
  value
    .toString()
    .replace(/e.*/, '')
    .replace(/^-?0?\.?0*|\./g, '').length;

// A parameter's value: what was typed, but 0.0001 reads better as 1e-4; of what a search drew three significant digits,
// as in the table.
export function param(value: Value | undefined): string {
  if (value === undefined || value === null) return DASH;
  if (typeof value !== 'number') return String(value);
  const size = Math.abs(value);
  if (!Number.isInteger(value) && significantDigits(value) > TYPED) return metric(value);
  if (size !== 0 && (size < 0.01 || size >= 1e6)) return exponent(value, TYPED - 1);
  return String(value);
}

// Values beside each other: those that differ also read differently.
export function params(values: (Value | undefined)[]): string[] {
  const kinds = new Set(values).size;
  const short = values.map(param);
  if (new Set(short).size === kinds) return short;
  const five = values.map((v, i) => (typeof v === 'number' ? reading(v) : short[i]));
  return new Set(five).size === kinds ? five : values.map((v, i) => (typeof v === 'number' ? String(v) : short[i]));
}

// A sentence begins with a capital, unless it begins with the name of something: train.py, batch_size, e12.
export function capitalize(text: string): string {
  const word = /^\S*[^\s.,:;!?)]/.exec(text)?.[0] ?? '';
  return /^\p{L}+(-\p{L}+)*$/u.test(word) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

const thousands = new Intl.NumberFormat('en-US');

export function count(value: number): string {
  return thousands.format(value);
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return DASH;
  if (seconds > 0 && seconds < 0.05) return seconds < 0.001 ? 'below 1 ms' : `${Math.round(seconds * 1000)} ms`;
  const s = Math.round(seconds);
  const two = (n: number) => String(n).padStart(2, '0');
  if (s < 60) return seconds >= 0.05 && seconds < 9.95 && seconds !== s ? `${seconds.toFixed(1)} s` : `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} m ${two(s % 60)} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${two(Math.floor((s % 3600) / 60))} m`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

// GPU hours, and less in minutes and seconds.
export function gpuTime(seconds: number): string {
  return seconds < 360 ? `${duration(seconds)} GPU` : `${threeDigits(seconds / 3600)} GPU-h`;
}

/** Powers of 1024, as the memory that tasks ask for and as the command line prints it. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return DASH;
  if (Math.round(value) < 1024) return `${Math.round(value)} B`;
  const units = ['kB', 'MB', 'GB', 'TB', 'PB'];
  let size = value;
  let unit = -1;
  // 1023.9 MB is 1.0 GB, not 1024 MB.
  while (Math.round(size) >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

export function energy(joules: number | null | undefined): string {
  if (joules === null || joules === undefined) return 'not measured';
  const wh = joules / 3600;
  if (wh >= 1000) return `${(wh / 1000).toFixed(2)} kWh`;
  if (wh >= 1) return `${wh < 10 ? wh.toFixed(1) : Math.round(wh)} Wh`;
  return `${Math.round(joules)} J`;
}

// The value of a figure, which the page may never have heard of; null where it was not measured.
export function figureValue(cost: Cost, key: string): number | null {
  const value = (cost as unknown as Record<string, unknown>)[key];
  return typeof value === 'number' ? value : null;
}

export function figureText(cost: Cost, { key, unit }: Figure): string {
  const value = figureValue(cost, key);
  if (value === null) return 'not measured';
  if (unit === 's') return duration(value);
  if (unit === 'B') return bytes(value);
  if (unit === 'J') return energy(value);
  return `${metric(value)} ${unit}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (n: number) => String(n).padStart(2, '0');

export function clock(time: string | number | null, seconds = false): string {
  if (time === null) return DASH;
  const at = new Date(time);
  return `${two(at.getHours())}:${two(at.getMinutes())}${seconds ? `:${two(at.getSeconds())}` : ''}`;
}

function dayOf(at: Date): string {
  const year = at.getFullYear() === new Date().getFullYear() ? '' : ` ${at.getFullYear()}`;
  return `${at.getDate()} ${MONTHS[at.getMonth()]}${year}`;
}

// "Today 08:52", "Yesterday 19:04", "12 Nov 16:20".
export function when(time: string | null): string {
  if (!time) return DASH;
  const at = new Date(time);
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const days = Math.floor((at.getTime() - midnight.getTime()) / 86400000);
  const day = days === 0 ? 'Today' : days === -1 ? 'Yesterday' : days === 1 ? 'Tomorrow' : dayOf(at);
  return `${day} ${clock(time)}`;
}

export function stamp(time: string | null): string {
  return time ? `${dayOf(new Date(time))} ${clock(time, true)}` : DASH;
}

export function seconds(from: string | null, to: string | null | number): number | null {
  if (!from || to === null) return null;
  return Math.max(0, (new Date(to).getTime() - new Date(from).getTime()) / 1000);
}

export function paramLine(values: Record<string, Value>, names: string[]): string {
  return names
    .filter((name) => Object.hasOwn(values, name))
    .map((name) => `${name} ${param(values[name])}`)
    .join(' · ');
}

// "latency at most 20". Limits on time are in seconds, on energy in joules.
export function limitText(limit: NonNullable<Limits>[number]): string {
  const value = (v: number) =>
    limit.metric === 'time' ? duration(v) : limit.metric === 'energy' ? energy(v) : param(v);
  const parts = [
    limit.at_least !== undefined && `at least ${value(limit.at_least)}`,
    limit.at_most !== undefined && `at most ${value(limit.at_most)}`,
  ];
  return `${limit.metric} ${parts.filter(Boolean).join(' and ')}`;
}
