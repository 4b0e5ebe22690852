// Writes src/data/types.ts from ../src/http/schemas.json, the one description of what crosses the wire. Run by the
// build and by `npm run types`; the result is not kept in git.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(fileURLToPath(import.meta.url));
const SCHEMAS = path.join(root, '../src/http/schemas.json');
const TYPES = path.join(root, 'src/data/types.ts');
const NAMES = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' };

const nameOf = (ref) => ref.replace('#/components/schemas/', '');
const literal = (value) => `'${value}'`;
const union = (parts) => [...new Set(parts)].join(' | ');
const inList = (type) => (/[|&]/.test(type) ? `(${type})` : type);

function members(schema, indent) {
  const inner = `${indent}  `;
  const required = new Set(schema.required ?? []);
  const lines = Object.entries(schema.properties).map(([name, part]) => {
    const note = part.description ? `${inner}// ${part.description}\n` : '';
    return `${note}${inner}${name}${required.has(name) ? '' : '?'}: ${type(part, inner)};\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}

function object(schema, indent) {
  if (schema.properties) return members(schema, indent);
  if (schema.additionalProperties === false) return 'Record<string, never>';
  const other = schema.additionalProperties;
  return `Record<string, ${other && other !== true ? type(other, indent) : 'unknown'}>`;
}

function single(kind, schema, indent) {
  if (kind === 'object') return object(schema, indent);
  if (kind === 'array') return `${inList(schema.items ? type(schema.items, indent) : 'unknown')}[]`;
  return NAMES[kind];
}

function type(schema, indent = '') {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.oneOf) return union(schema.oneOf.map((part) => type(part, indent)));
  if (schema.allOf) return schema.allOf.map((part) => type(part, indent)).join(' & ');
  if (schema.enum) return union(schema.enum.map(literal));
  if (schema.const !== undefined) return literal(schema.const);
  return union([schema.type].flat().map((kind) => single(kind, schema, indent)));
}

function declare(name, schema) {
  const note = schema.description ? `// ${schema.description}\n` : '';
  const text = type(schema);
  const whole = text.startsWith('{') && text.endsWith('}');
  return `${note}${whole ? `export interface ${name} ${text}` : `export type ${name} = ${text};`}\n`;
}

export async function makeTypes() {
  const { schemas } = JSON.parse(await readFile(SCHEMAS, 'utf8'));
  const names = Object.keys(schemas.Events.properties).map(literal).join(', ');
  const parts = [
    '// Made by make-types.mjs from src/http/schemas.json: change that file, then run `npm run types`.\n',
    ...Object.entries(schemas).map(([name, schema]) => declare(name, schema)),
    `export const EVENT_NAMES: (keyof Events)[] = [${names}];\n`,
    'export type StreamEvent = { [K in keyof Events]-?: { type: K; data: NonNullable<Events[K]> } }[keyof Events];\n',
  ];
  await writeFile(TYPES, parts.join('\n'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await makeTypes();
