// The filter of the made-up daemon: terms between commas or "and". The real one (src/store/filter.c) knows more and is
// tested by tests/py/test_task_query.py and real_pages.test.mjs.
const TERM = /^\s*([\w.-]+)\s*(<=|>=|!=|=|<|>)\s*(.+?)\s*$/;

function test(left, op, right) {
  const number = Number(right);
  const numeric = typeof left === 'number' && right.trim() !== '' && !Number.isNaN(number);
  if (op === '=') return numeric ? left === number : String(left) === right;
  if (op === '!=') return numeric ? left !== number : String(left) !== right;
  if (!numeric) return false;
  return { '<': left < number, '<=': left <= number, '>': left > number, '>=': left >= number }[op];
}

function holds(task, metric, term) {
  const found = TERM.exec(term);
  if (!found) {
    const word = term.trim().toLowerCase();
    const parts = [`#${task.number}`, task.state, task.node, task.job, task.cause?.text];
    return [...parts, ...Object.values(task.parameters)].some((v) =>
      String(v ?? '')
        .toLowerCase()
        .includes(word),
    );
  }
  const [, name, op, right] = found;
  if (name === 'number') return test(task.number, op, right);
  if (name === 'state') return test(task.state, op, right);
  if (name === metric || name === 'best') return task.best !== null && test(task.best.value, op, right);
  const key = Object.keys(task.parameters).find((n) => n.startsWith(name));
  return key !== undefined && test(task.parameters[key], op, right);
}

export function passes(text, metric) {
  const any = text.split(/\bor\b/).map((part) => part.split(/,|\band\b/).filter((term) => term.trim()));
  return (task) => any.some((terms) => terms.every((term) => holds(task, metric, term)));
}
