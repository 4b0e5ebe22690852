// The contract of REST and events: src/http/schemas.json and the route table of the daemon, read as they stand there.
// The fixture server checks with it all that it sends and is sent, so that the tests do not rest on shapes that the
// daemon does not have.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HTTP = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../src/http/');
const { schemas } = JSON.parse(readFileSync(`${HTTP}schemas.json`, 'utf8'));
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

// Rows of routes.c: method, path, handler, operation, summary, body, answer, status.
const TEXT = '"(?:[^"\\\\]|\\\\.)*"';
const ROW = new RegExp(
  `\\{METHOD_(\\w+),\\s*(${TEXT}),\\s*\\w+,\\s*${TEXT},\\s*${TEXT},\\s*(NULL|${TEXT}),\\s*(NULL|${TEXT}),\\s*(\\d+),`,
  'g',
);
const word = (text) => (text === 'NULL' ? null : JSON.parse(text));
const ROUTES = [...readFileSync(`${HTTP}routes.c`, 'utf8').matchAll(ROW)].map(
  ([, method, at, body, answer, status]) => ({
    method,
    pattern: new RegExp(`^${word(at).replace(/\{\w+\}/g, '[^/]+')}$`),
    body: word(body),
    answer: word(answer),
    status: Number(status),
  }),
);
if (ROUTES.length < 30) throw new Error(`routes.c has ${ROUTES.length} rows that can be read; was its layout changed?`);

const resolve = (schema) => (schema.$ref ? resolve(schemas[schema.$ref.replace('#/components/schemas/', '')]) : schema);

const FITS = {
  string: (v) => typeof v === 'string',
  integer: (v) => Number.isInteger(v),
  number: (v) => typeof v === 'number',
  boolean: (v) => typeof v === 'boolean',
  object: (v) => typeof v === 'object' && v !== null && !Array.isArray(v),
  array: (v) => Array.isArray(v),
  null: (v) => v === null,
};

function members(schema) {
  const all = { properties: { ...schema.properties }, required: [...(schema.required ?? [])] };
  for (const part of (schema.allOf ?? []).map(resolve)) {
    const more = members(part);
    Object.assign(all.properties, more.properties);
    all.required.push(...more.required);
  }
  return all;
}

function* inObject(schema, value, where) {
  const { properties, required } = members(schema);
  for (const name of required) if (!(name in value)) yield `${where}: ${name} is missing`;
  const other = schema.additionalProperties ?? Object.keys(properties).length === 0;
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue; // JSON leaves it out
    if (name in properties) yield* wrong(properties[name], item, `${where}/${name}`);
    else if (other === false) yield `${where}: the schema has no member ${name}`;
    else if (other !== true) yield* wrong(other, item, `${where}/${name}`);
  }
}

// What does not fit, a line each. A member that the schema does not have is wrong too.
export function* wrong(given, value, where) {
  const schema = resolve(given);
  if (schema.oneOf) {
    if (!schema.oneOf.some((part) => wrong(part, value, where).next().done)) {
      yield `${where}: ${JSON.stringify(value)} is none of what it may be`;
    }
    return;
  }
  const kinds = [schema.type ?? []].flat();
  if (
    (kinds.length && !kinds.some((kind) => FITS[kind](value))) ||
    (schema.enum && !schema.enum.includes(value)) ||
    (schema.const !== undefined && value !== schema.const) ||
    (schema.format === 'date-time' && !TIME.test(value)) ||
    (schema.minimum !== undefined && value < schema.minimum) ||
    (schema.minItems !== undefined && value.length < schema.minItems)
  ) {
    yield `${where}: ${JSON.stringify(value)} is not ${JSON.stringify(schema)}`;
  } else if (FITS.array(value)) {
    for (const [i, item] of value.entries()) yield* wrong(schema.items ?? {}, item, `${where}/${i}`);
  } else if (FITS.object(value)) yield* inObject(schema, value, where);
}

// Only the first few: a list of five hundred tasks has the same mistake five hundred times.
const few = (lines) => [...lines].slice(0, 3);
const named = (name) => schemas[name] ?? { enum: [`a schema named ${name}`] };
const rowOf = (method, at) => ROUTES.find((row) => row.method === method && row.pattern.test(at));

export function wrongRequest(method, at, text) {
  const row = rowOf(method, at);
  if (!row) return [`${method} ${at}: the daemon has no such route`];
  if (!row.body || row.body.includes('/')) return [];
  return few(wrong(named(row.body), JSON.parse(text || '{}'), `${method} ${at}: request`));
}

export function wrongAnswer(method, at, status, body) {
  const row = rowOf(method, at);
  if (!row) return [];
  if (status >= 400) return few(wrong(named('Problem'), body, `${method} ${at}: ${status}`));
  // An experiment that was made already is answered with 200 instead of 201.
  const usual = status === row.status || (status === 200 && row.status === 201);
  if (!usual) return [`${method} ${at}: the daemon answers with ${row.status}, not with ${status}`];
  return row.answer ? few(wrong(named(row.answer), body, `${method} ${at}: answer`)) : [];
}

export function wrongEvent(name, data) {
  const schema = schemas.Events.properties[name];
  return schema ? few(wrong(schema, data, `event ${name}`)) : [`event ${name}: the daemon sends no such event`];
}
