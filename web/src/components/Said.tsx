// A text of the daemon: what stands in backticks in it is code. Every part is a text node.
import type { VNode } from 'preact';

export function Said({ text }: { text: string }): VNode {
  return <>{text.split(/`([^`\n]+)`/).map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part))}</>;
}
