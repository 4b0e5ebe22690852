// Charts on a canvas, as files need them: what a chart shows, by the element that holds it.
import type { Plot } from './plot';

export type Picture = ReturnType<Plot['picture']>;

export const pictures = new WeakMap<Element, () => Picture>();
