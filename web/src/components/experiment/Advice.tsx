// How much longer an experiment takes, and what its tasks should ask for next time, with the evidence. Nothing is shown
// where nothing is known.
import { useOutlook } from '../../data/left';
import type { Advice as Answer, Experiment, Left } from '../../data/types';
import { duration, energy } from '../../lib/format';
import { unticked } from '../../lib/text';
import { Card } from '../Card';
import { Said } from '../Said';
import { useAbout } from './Insight';

// "3m 20s (2m 50s to 4m), 12 kJ"
export function leftText(left: Left): string {
  const between = `${duration(left.time_low_s)} to ${duration(left.time_high_s)}`;
  const joules = left.energy_j === null ? '' : `, ${energy(left.energy_j)}`;
  return `about ${duration(left.time_s)} (${between})${joules}`;
}

export function Advice({ e }: { e: Experiment }) {
  const answer = useAbout<Answer>(e, 'advice').value;
  const { left, slow } = useOutlook(e.tasks.running > 0 ? `/experiments/${e.id}` : null);
  const items = answer?.items ?? [];
  if (!items.length && !left && !slow?.length) return null;
  return (
    <Card title="Outlook" id="advice">
      <div class="body">
        {left && (
          <p title={unticked(left.basis)}>
            <b>Left:</b> {leftText(left)}
          </p>
        )}
        {slow?.map((task) => (
          <p key={task.number}>
            <b>Slow:</b> <a href={`/e/${e.id}/${task.number}`}>task {task.number}</a>, <Said text={task.text} />
          </p>
        ))}
        {items.length > 0 && (
          <>
            <ul>
              {items.map((item) => (
                <li key={item.text}>
                  <Said text={item.text} />
                  {item.key && (
                    <>
                      {' '}
                      <code>
                        {item.key}: {item.value}
                      </code>
                    </>
                  )}
                </li>
              ))}
            </ul>
            <p class="dim small">
              <code>sluice tune-resources {e.id} -o next.yaml</code> writes this into the next file.
            </p>
          </>
        )}
      </div>
    </Card>
  );
}
