// Fills the form from what was found in a script.
import { fromObjective } from './document';
import { type Draft, type DraftParam, type Kind, newParam, positionalParams } from './draft';
import { write, writeAll } from './typed';
import type { Argument, Scan, Value } from './types';

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

// What the sample rows of an empty form hold, to see whether someone has changed them.
const shape = (all: DraftParam[]) => all.map(({ name, kind, values }) => [name, kind, values]);

// Values to begin with where a script by position says none.
const USUAL: [RegExp, string, Kind][] = [
  [/batch/i, '64,32,16', 'list'],
  [/rate|^lr$/i, '0.001', 'list'],
  [/epoch/i, '100', 'fixed'],
  [/stop|patience/i, '50', 'fixed'],
];

function fromArgument(arg: Argument): DraftParam | null {
  const help = arg.help ?? '';
  const list = Array.isArray(arg.default) ? arg.default.join(' ') : arg.default;
  const none = list === null || list === undefined || list === '';
  if (arg.choices?.length && !arg.several) {
    const rest = arg.choices.filter((one) => one !== list);
    const all = none || rest.length === arg.choices.length ? arg.choices : [list as Value, ...rest];
    return { ...newParam(arg.name, 'list', writeAll(all)), help };
  }
  if (!none) return { ...newParam(arg.name, 'fixed', write(list)), help };
  if (!arg.required) return null; // without a value the script has its own way
  const usual = arg.place ? USUAL.find(([name]) => name.test(arg.name)) : undefined;
  return { ...newParam(arg.name, usual?.[2] ?? 'fixed', usual?.[1] ?? ''), help };
}

// Fills the form from what was found in a script that has just been chosen. What was typed for a name stays.
export function fillFrom(d: Draft, found: Scan): Draft {
  const typed = same(shape(d.parameters), shape(positionalParams())) ? [] : d.parameters;
  const before = new Map(typed.map((p) => [p.name.trim(), p]));
  const places = found.arguments.filter((arg) => arg.place > 0).sort((a, b) => a.place - b.place);
  // S-TFManager's order: the experiment, the task, then the values.
  const ids = places.length > 2 && /exp|run|id/i.test(places[0].name) && /task|id|num/i.test(places[1].name);
  const positional = found.pass === 'positional' && (ids || !places.length || places[0].place > 1);
  const args = found.pass === 'positional' ? places.filter((arg) => !positional || arg.place > 2) : found.arguments;
  const rows = args
    .filter((arg) => arg.name !== 'help' && arg.name !== 'version')
    .map((arg) => {
      const kept = before.get(arg.name);
      return kept ? { ...kept, help: arg.help ?? '' } : fromArgument(arg);
    })
    .filter((p) => p !== null);
  const { arguments: _old, ...extra } = d.extra;
  return {
    ...d,
    extra,
    pass: positional ? 'positional' : found.pass === 'env' ? 'env' : '',
    style: '',
    separator: '',
    parameters: rows.length ? rows : positional && !args.length ? d.parameters : typed,
    ...(found.metric ? { metric: found.metric } : {}),
    ...(found.metric ? { goal: goalOf(found) } : {}),
  };
}

function goalOf(found: Scan): 'min' | 'max' {
  return found.goal === 'max' || found.goal === 'min' ? found.goal : fromObjective(found.metric).goal;
}
