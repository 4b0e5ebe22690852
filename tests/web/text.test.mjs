// Texts that people and scripts write, as the page reads them: Markdown of notes, and colours of terminals.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const web = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../web/');
let md;
let ansi;
let shell;

async function load(file) {
  const { build } = createRequire(web)('esbuild');
  const entryPoints = [path.join(web, 'src', file)];
  const out = await build({ entryPoints, bundle: true, write: false, format: 'esm', logLevel: 'silent' });
  return import(`data:text/javascript;base64,${Buffer.from(out.outputFiles[0].contents).toString('base64')}`);
}

before(async () => {
  md = await load('lib/markdown.ts');
  ansi = await load('lib/ansi.ts');
  shell = await load('lib/shell.ts');
});

// The tree as markup that is easy to compare.
const words = (items) =>
  items
    .map((item) =>
      item.kind === 'text'
        ? item.text
        : item.kind === 'code'
          ? `{${item.text}}`
          : `<${item.kind}${item.href ? ` ${item.href}` : ''}>${words(item.items)}</>`,
    )
    .join('');
const shown = (blocks) =>
  blocks
    .map((block) => {
      if (block.kind === 'rule') return '---';
      if (block.kind === 'code') return `[${block.text}]`;
      if (block.kind === 'quote') return `> ${shown(block.blocks)}`;
      if (block.kind === 'heading') return `h${block.level} ${words(block.items)}`;
      if (block.kind === 'paragraph') return words(block.items);
      return `${block.ordered ? `ol${block.start}` : 'ul'}(${block.items.map(shown).join('; ')})`;
    })
    .join(' | ');

const TABLE = [
  ['plain text', 'plain text'],
  ['# One\n## Two #\ntext', 'h1 One | h2 Two | text'],
  ['a\nb\n\nc', 'a\nb | c'],
  ['**b** *i* ~~d~~ __b__ _i_ `c*d*`', '<strong>b</> <em>i</> <del>d</> <strong>b</> <em>i</> {c*d*}'],
  ['**a *b* c**', '<strong>a <em>b</> c</>'],
  ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
  ['*open and **open', '*open and **open'],
  ['- a\n- b\n  - c\n\n1. x\n2. y', 'ul(a; b | ul(c)) | ol1(x; y)'],
  ['3) x', 'ol3(x)'],
  ['> a\n> b\n\nc', '> a\nb | c'],
  ['```py\n<b>*x*</b>\n```\nafter', '[<b>*x*</b>] | after'],
  ['```\nnever closed', '[never closed]'],
  ['---\n***', '--- | ---'],
  ['[t](https://a.b/c) https://x.y/z.', '<link https://a.b/c>t</> <link https://x.y/z>https://x.y/z</>.'],
  ['e12 and e12/7, but the12 and e12.py', '<link /e/e12>e12</> and <link /e/e12/7>e12/7</>, but the12 and e12.py'],
  ['see e12/7.', 'see <link /e/e12/7>e12/7</>.'],
  ['# C#', 'h1 C#'],
  ['## ##', 'h2 '],
  ['[x](e3/4)', '<link /e/e3/4>x</>'],
  ['\\*not\\*', '*not*'],
];

test('Markdown of notes', () => {
  for (const [text, expected] of TABLE) assert.equal(shown(md.markdown(text)), expected, text);
});

test('no link leads where a script could run', () => {
  for (const to of [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    '//evil',
    '/api/v1/logout',
    'file:///etc/passwd',
    'https://a"onclick=x',
    'https://a b',
  ])
    assert.equal(md.linkTarget(to), null, to);
  const links = (text) => JSON.stringify(md.markdown(text)).match(/"href":"[^"]*"/g) ?? [];
  assert.deepEqual(links('[x](javascript:alert(1)) [y](data:text/html;base64,xx) <a href="javascript:x">z</a>'), []);
});

test('texts that are made to be slow or deep end soon', () => {
  for (const piece of ['*', '_', '[', '`', '> ', '- ', '**a ', '[a](', '(', '#', '~~'])
    assert.ok(md.markdown(piece.repeat(Math.floor(65536 / piece.length))).length);
  assert.ok(md.markdown('>'.repeat(5000)).length);
  const begun = performance.now();
  for (const mark of ['*a ', '_a ', '~~a ', '__a '])
    assert.ok(md.markdown(mark.repeat(Math.floor(65536 / mark.length))).length);
  for (const inside of [' ', '#', ' #']) assert.ok(md.markdown(`# a${inside.repeat(20000)}b`).length);
  // Squares of these lengths are seconds: 8 s for the first.
  assert.ok(performance.now() - begun < 2500, `${performance.now() - begun} ms`);
});

const spans = (list) => list.map((span) => (span.class ? `[${span.class}]${span.text}` : span.text)).join('|');

test('colours of terminals', () => {
  const lines = new ansi.Ansi();
  assert.equal(spans(lines.line('a \x1b[31mred\x1b[0m b')), 'a |[ansi-1]red| b');
  assert.equal(spans(lines.line('\x1b[1;92mbold green')), '[ansi-2 ansi-bold]bold green');
  assert.equal(spans(lines.line('holds\x1b[39m not\x1b[22m plain')), '[ansi-2 ansi-bold]holds|[ansi-bold] not| plain');
  assert.equal(
    spans(lines.line('\x1b[38;5;196mr\x1b[38;2;0;0;250mb\x1b[38;5;244mgrey\x1b[m')),
    '[ansi-1]r|[ansi-4]b|grey',
  );
  assert.equal(spans(lines.line('\x1b[48;5;196mback\x1b[m')), 'back');
  assert.equal(spans(lines.line('1%\r\x1b[32m50%\r100%')), '[ansi-2]100%');
  assert.equal(spans(lines.line('\x1b[0m\x1b]0;title\x07x\x1b[2K\x1b[?25ly\x00')), 'xy');
  assert.equal(lines.line('z'.repeat(5000)).reduce((n, s) => n + s.text.length, 0) < 2100, true);
});

test('what was searched for is marked across colours', () => {
  const list = [
    { text: 'ab', class: 'x' },
    { text: 'cdab', class: '' },
  ];
  const shown = ansi.marked(list, 'bc').map((s) => `${s.hit ? '*' : ''}${s.text}`);
  assert.deepEqual(shown, ['a', '*b', '*c', 'dab']);
  assert.deepEqual(
    ansi.marked(list, '').map((s) => s.text),
    ['ab', 'cdab'],
  );
});

test('a command is written as a shell reads it', () => {
  assert.equal(
    shell.shellLine(['python3', 'a b.py', '--x=1', "it's", '$HOME', '']),
    "python3 'a b.py' --x=1 'it'\\''s' '$HOME' ''",
  );
});
