// A component that is rendered again only when one of its properties is another one. Signals that it reads still render
// it again by themselves.
import { Component, type ComponentType, h } from 'preact';

export function memo<P extends object>(of: ComponentType<P>): ComponentType<P> {
  return class extends Component<P> {
    shouldComponentUpdate(next: Readonly<P>) {
      const before = this.props as Record<string, unknown>;
      const after = next as Record<string, unknown>;
      return Object.keys({ ...before, ...after }).some((key) => before[key] !== after[key]);
    }
    render(props: P) {
      return h(of, props as never);
    }
  };
}
