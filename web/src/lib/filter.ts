// The table's filter: "learning_rate = 1e-3, dropout > 0"; a word without an operator matches any value.
import type { TaskSummary, Value } from '../data/types';

const TERM = /^\s*([\w.-]+)\s*(<=|>=|!=|=|<|>)\s*(.+?)\s*$/;

function test(left: Value, op: string, right: string): boolean {
  const number = Number(right);
  const numeric = typeof left === 'number' && right.trim() !== '' && !Number.isNaN(number);
  if (op === '=') return numeric ? left === number : String(left) === right;
  if (op === '!=') return numeric ? left !== number : String(left) !== right;
  if (!numeric) return false;
  if (op === '<') return left < number;
  if (op === '<=') return left <= number;
  if (op === '>') return left > number;
  return left >= number;
}

// A short form is enough when it names one parameter: "batch" for batch_size.
function resolve(name: string, names: string[]): string {
  if (names.includes(name)) return name;
  const near = names.filter((n) => n.startsWith(name));
  return near.length === 1 ? near[0] : name;
}

export function taskFilter(text: string, metric: string | null): (task: TaskSummary) => boolean {
  const terms = text.split(',').filter((term) => term.trim());
  return (task) =>
    terms.every((term) => {
      const found = TERM.exec(term);
      if (!found) {
        const word = term.trim().toLowerCase();
        return [`#${task.number}`, task.node, task.job, task.cause?.text, ...Object.values(task.parameters)].some(
          (value) => value !== null && value !== undefined && String(value).toLowerCase().includes(word),
        );
      }
      const [, name, op, right] = found;
      if (name === metric || name === 'best') return task.best !== null && test(task.best.value, op, right);
      if (name === 'epoch') return task.epoch !== null && test(task.epoch, op, right);
      const key = resolve(name, Object.keys(task.parameters));
      return key in task.parameters && test(task.parameters[key], op, right);
    });
}
