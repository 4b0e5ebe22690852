// What an attempt ran: asked for when it is opened, since few people look at it.
import { useEffect, useState } from 'preact/hooks';
import { get } from '../../data/api';
import type { Ran, Task, WhatRan as What } from '../../data/types';
import { plural } from '../../lib/format';
import { Card } from '../Card';
import { KeyValues } from '../KeyValues';

function Pairs({ title, values, join }: { title: string; values: Record<string, string>; join: string }) {
  const entries = Object.entries(values);
  if (!entries.length) return null;
  return (
    <details>
      <summary>
        {title} ({entries.length})
      </summary>
      <pre class="tail">{entries.map(([name, value]) => `${name}${join}${value}`).join('\n')}</pre>
    </details>
  );
}

function Known({ answer, ran }: { answer: Ran; ran: What }) {
  const rows: [string, preact.ComponentChildren][] = [];
  if (ran.script)
    rows.push([
      'Script',
      <span key="s">
        <bdi>{ran.script.path}</bdi>{' '}
        <span class="mono mute" title={`SHA-256 ${ran.script.sha256}`}>
          {ran.script.sha256.slice(0, 12)}
        </span>
      </span>,
    ]);
  if (ran.git?.commit)
    rows.push([
      'Git commit',
      <span key="g">
        <span class="mono" title={ran.git.commit}>
          {ran.git.commit.slice(0, 12)}
        </span>
        {ran.git.dirty && <span class="warn"> with changes that were not committed</span>}
      </span>,
    ]);
  if (ran.python)
    rows.push([
      'Python',
      <span key="p" title={ran.python.program}>
        {ran.python.version ?? 'version not known'} <bdi class="mute">{ran.python.prefix}</bdi>
      </span>,
    ]);
  if (ran.modules.length) rows.push(['Modules', ran.modules.join(', ')]);
  rows.push(['System', [ran.system.os, ran.system.kernel, ran.system.cpu].filter(Boolean).join(', ')]);
  if (ran.gpu) rows.push(['GPU and driver', [...new Set(ran.gpu.models), ran.gpu.driver].filter(Boolean).join(', ')]);
  rows.push(['Seed', answer.seed]);
  return (
    <>
      <KeyValues rows={rows} />
      <Pairs title="Packages" values={ran.packages} join=" " />
      {ran.packages_left_out > 0 && <p class="mute small">and {plural(ran.packages_left_out, 'more package')}</p>}
      <Pairs title="Environment" values={ran.environment} join="=" />
    </>
  );
}

export function WhatRan({ task }: { task: Task }) {
  const [answer, setAnswer] = useState<Ran | null>(null);
  const digest = task.attempts[task.attempts.length - 1]?.ran ?? null;
  useEffect(() => {
    let wanted = true;
    if (digest)
      void get<Ran>(`/experiments/${task.experiment}/tasks/${task.number}/ran`).then(
        (got) => wanted && setAnswer(got),
        () => wanted && setAnswer(null),
      );
    return () => {
      wanted = false;
    };
  }, [task.experiment, task.number, digest]);
  if (!digest) return null;
  return (
    <Card title="What ran" id="ran">
      <div class="body">
        {answer?.ran ? <Known answer={answer} ran={answer.ran} /> : <p class="mute small">Not known.</p>}
      </div>
    </Card>
  );
}
