// The icon of a tab: a ring that fills as the tasks of its experiment end. Red says that tasks failed, amber that the
// experiment is paused or was stopped. Other pages have the ordinary icon.
import type { ExperimentSummary, Task } from './types';

const SIZE = 32;
const RING = { radius: 12, width: 6, dot: 5 };

export interface IconLook {
  share: number;
  // Names of colours in tokens.css.
  ring: string;
  dot: string | null;
}

// What the icon of an experiment looks like.
export function iconOf(e: Pick<ExperimentSummary, 'state' | 'paused' | 'tasks'>): IconLook {
  const { total, finished, error, stopped, pruned } = e.tasks;
  const over = ['finished', 'error', 'stopped'].includes(e.state);
  const ring =
    e.state === 'error'
      ? '--bar-err'
      : e.state === 'finished'
        ? '--bar-fin'
        : e.state === 'stopped' || e.paused
          ? '--bar-stop'
          : '--bar-run';
  const share = over ? 1 : total ? Math.min(1, (finished + error + stopped + pruned) / total) : 0;
  return { share, ring, dot: error ? '--bar-err' : null };
}

// The same of a task: the ring is its progress.
export function iconOfTask(task: Pick<Task, 'state' | 'progress'>): IconLook {
  const rings: Partial<Record<Task['state'], string>> = {
    finished: '--bar-fin',
    pruned: '--bar-fin',
    error: '--bar-err',
    stopped: '--bar-stop',
  };
  const ring = rings[task.state];
  return { share: ring ? 1 : (task.progress ?? 0), ring: ring ?? '--bar-run', dot: null };
}

function draw(look: IconLook): string | null {
  const canvas = document.createElement('canvas');
  canvas.width = SIZE;
  canvas.height = SIZE;
  const pen = canvas.getContext('2d');
  if (!pen) return null;
  const style = getComputedStyle(document.documentElement);
  const arc = (share: number, colour: string) => {
    pen.beginPath();
    pen.arc(SIZE / 2, SIZE / 2, RING.radius, -Math.PI / 2, (share * 2 - 0.5) * Math.PI);
    pen.strokeStyle = style.getPropertyValue(colour);
    pen.stroke();
  };
  pen.lineWidth = RING.width;
  arc(1, '--bar-sub');
  if (look.share) arc(look.share, look.ring);
  if (look.dot) {
    pen.beginPath();
    pen.arc(SIZE / 2, SIZE / 2, RING.dot, 0, 2 * Math.PI);
    pen.fillStyle = style.getPropertyValue(look.dot);
    pen.fill();
  }
  return canvas.toDataURL('image/png');
}

let ordinary: { href: string; type: string } | null = null;
let shown = '';

// null: the ordinary icon again.
export function showIcon(look: IconLook | null) {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  // A ring of a thousand tasks has no thousand different pictures.
  const key = look ? `${Math.round(look.share * 60)} ${look.ring} ${look.dot}` : '';
  if (!link || key === shown) return;
  ordinary ??= { href: link.href, type: link.type };
  const picture = look ? draw(look) : null;
  link.type = picture ? 'image/png' : ordinary.type;
  link.href = picture ?? ordinary.href;
  shown = key;
}
