// A chart as a file: vectors and pixels for a paper, numbers for another program.
import { message, saveBlob } from '../data/api';
import { toast } from '../data/toast';
import { inLight } from '../lib/theme';
import { Menu } from './Menu';

interface Props {
  // Of the file, without its ending.
  name: string;
  // What holds the chart or charts with their legend.
  of: { current: HTMLElement | null };
  csv: () => string | Promise<string>;
}

export function Export({ name, of, csv }: Props) {
  const make = (kind: 'svg' | 'png') => async () => {
    try {
      // Drawn on white whatever the theme: that is what paper is.
      const { figure, toPng } = await import('./experiment/charts');
      const svg = await inLight(() => figure(of.current!));
      const blob = kind === 'svg' ? new Blob([svg.text], { type: 'image/svg+xml' }) : await toPng(svg);
      saveBlob(blob, `${name}.${kind}`);
    } catch (error) {
      toast(`The picture could not be made: ${message(error)}`, { level: 'error' });
    }
  };
  const save = async () => {
    try {
      saveBlob(new Blob([await csv()], { type: 'text/csv' }), `${name}.csv`);
    } catch (error) {
      toast(`The values could not be fetched: ${message(error)}`, { level: 'error' });
    }
  };
  return (
    <Menu
      label={`Save the chart ${name.replace(/^e\d+-/, '')}`}
      icon="down"
      class="compact ghost"
      items={[
        { label: 'SVG', icon: 'file', run: () => void make('svg')() },
        { label: 'PNG, 3 times the size', icon: 'file', run: () => void make('png')() },
        {
          label: 'CSV of what is drawn',
          icon: 'file',
          run: () => void save(),
        },
      ]}
    />
  );
}
