/** Every argument that takes an id accepts exactly one id, and never a path or a reserved name. */
import assert from 'node:assert/strict';
import { MusterError } from '../../functions/src/kernel/errors.ts';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import type { Schema } from './agreement.ts';
import { entries } from './catalog.ts';

/** Matches the names of arguments that contain "id". */
const SAYS_ID = /(?:^|_)ids?$|Ids?$/;

/** Arguments that take an id, although their name does not contain "id". */
const ALSO_IDS: readonly string[] = ['dependencies', 'in_hand', 'workspace', 'delete_workflow.name'];

/** Arguments whose name contains "id", although they do not identify an item of Muster. */
const NO_IDS: readonly string[] = [
  'getWorkflowRuns.workflow_id', // An id at GitHub. An invalid id has its own error code.
  'execute_task.task.id', // A label that the caller chooses. Models read this label as text.
];

const HOSTILE: readonly string[] = [
  'a/b',
  '../x',
  'terminal-2/',
  '/terminal-2',
  '.',
  '..',
  '__x__',
  '',
  ' ',
  'x'.repeat(2000),
  'a\u0000b',
  'a\nb',
  'task-1\n',
  '%2f',
  'a%2Fb',
  'a#b',
  'a$b',
  'a[0]',
  '\u202ea',
  '\ud800',
  '{taskId}',
];

/** Placeholder in a path that stands for each entry of a list. */
const EACH = '*';

type Path = readonly string[];

function idsOf(schema: Schema, tool: string, path: Path = []): Path[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, of]) => {
    const own = [...path, name];
    const label = [tool, ...own].filter((part) => part !== EACH).join('.');
    if (isId(name, label) && (isText(of) || isText(itemsOf(of)))) return [isText(of) ? own : [...own, EACH]];
    return [...idsOf(of, tool, own), ...idsOf(itemsOf(of), tool, [...own, EACH])];
  });
}

function isId(name: string, label: string): boolean {
  if (NO_IDS.includes(label)) return false;
  return SAYS_ID.test(name) || ALSO_IDS.includes(name) || ALSO_IDS.includes(label);
}

function isText(schema: Schema): boolean {
  const { type, anyOf } = schema;
  return (
    type === 'string' ||
    (Array.isArray(type) && type.includes('string')) ||
    (Array.isArray(anyOf) && anyOf.some((one) => isText(one)))
  );
}

function propertiesOf(schema: Schema): Record<string, Schema> {
  return (schema['properties'] ?? {}) as Record<string, Schema>;
}

function itemsOf(schema: Schema): Schema {
  return (schema['items'] ?? {}) as Schema;
}

/** Returns a copy of the example in which the value at a path is replaced. */
function withValue(base: unknown, [name, ...rest]: Path, value: string): unknown {
  if (name === undefined) return value;
  if (name === EACH) {
    const [first] = Array.isArray(base) ? base : [];
    return [withValue(first, rest, value)];
  }
  const fields = typeof base === 'object' && base !== null ? base : {};
  return { ...fields, [name]: withValue(Reflect.get(fields, name), rest, value) };
}

function refusalOf(prepare: () => unknown): MusterError | undefined {
  try {
    prepare();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof MusterError, String(error));
    return error;
  }
}

describe('id arguments', () => {
  const named = entries.flatMap(({ name, tool, input }) =>
    idsOf(input, tool.name).map((path) => ({ name, tool, path })),
  );

  it('are exactly those of the expected list', () => {
    assert.ok(named.length > 40, `only ${named.length}`);
    for (const wanted of ['github.createPR task_id', 'coding.claim_task agentId', 'system.getTaskQueue agentId'])
      assert.ok(
        named.some(({ name, path }) => `${name} ${path.join('.')}` === wanted),
        wanted,
      );
  });

  for (const { name, tool, path } of named)
    it(`of ${name} at ${path.join('.')} accept a single name, but no path`, () => {
      for (const hostile of HOSTILE) {
        const error = refusalOf(() => tool.prepare(withValue(tool.example, path, hostile) as Record<string, unknown>));
        assert.ok(error !== undefined, `${JSON.stringify(hostile.slice(0, 20))} was accepted`);
        assert.ok(['VALIDATION_ERROR', 'INVALID_FORMAT', 'REQUIRED_FIELD'].includes(error.code), error.code);
        assert.ok(error.message.length < 500, error.message);
        assert.equal(error.details.field, path.join('.').replaceAll(EACH, '0'));
      }
    });

  for (const { uriTemplate, bind } of toolsets.flatMap(({ templates = [] }) => templates)) {
    const names = [...uriTemplate.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => (name ? [name] : []));
    for (const variable of names.filter((name) => SAYS_ID.test(name)))
      it(`in the resource template ${uriTemplate} accept a single name, but no path`, () => {
        const others = Object.fromEntries(names.map((name) => [name, 'coding']));
        for (const hostile of [...HOSTILE, ...HOSTILE.map((id) => `${id}.1`)])
          assert.equal(bind({ ...others, [variable]: hostile }), undefined, JSON.stringify(hostile));
      });
  }
});
