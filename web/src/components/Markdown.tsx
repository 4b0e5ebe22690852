// Notes as people wrote them: a tree of markdown.ts as elements. Every text is a text node.
import type { VNode } from 'preact';
import { type Block, type Inline, markdown } from '../lib/markdown';
import { plain } from '../lib/text';

function Words({ items }: { items: Inline[] }): VNode {
  return (
    <>
      {items.map((item) => {
        if (item.kind === 'text') return plain(item.text);
        if (item.kind === 'code') return <code>{plain(item.text)}</code>;
        const inner = <Words items={item.items} />;
        if (item.kind === 'strong') return <strong>{inner}</strong>;
        if (item.kind === 'em') return <em>{inner}</em>;
        if (item.kind === 'del') return <del>{inner}</del>;
        const away = !item.href.startsWith('/');
        return (
          <a href={item.href} target={away ? '_blank' : undefined} rel={away ? 'noopener noreferrer' : undefined}>
            {inner}
          </a>
        );
      })}
    </>
  );
}

// Headings of notes stand below those of the page.
const HEADINGS = ['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const;

function Blocks({ blocks }: { blocks: Block[] }): VNode {
  return (
    <>
      {blocks.map((block) => {
        if (block.kind === 'rule') return <hr />;
        if (block.kind === 'code') return <pre>{plain(block.text)}</pre>;
        if (block.kind === 'quote')
          return (
            <blockquote>
              <Blocks blocks={block.blocks} />
            </blockquote>
          );
        if (block.kind === 'heading') {
          const Heading = HEADINGS[block.level - 1];
          return (
            <Heading>
              <Words items={block.items} />
            </Heading>
          );
        }
        if (block.kind === 'paragraph')
          return (
            <p>
              <Words items={block.items} />
            </p>
          );
        const items = block.items.map((item) => (
          <li>
            {item.length === 1 && item[0].kind === 'paragraph' ? (
              <Words items={item[0].items} />
            ) : (
              <Blocks blocks={item} />
            )}
          </li>
        ));
        return block.ordered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
      })}
    </>
  );
}

export function Markdown({ text }: { text: string }) {
  return (
    <div class="markdown" dir="auto">
      <Blocks blocks={markdown(text)} />
    </div>
  );
}
