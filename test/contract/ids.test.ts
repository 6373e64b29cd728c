/** Every id argument accepts one id, but never a path or a reserved name. */
import assert from 'node:assert/strict';
import { MusterError } from '../../functions/src/kernel/errors.ts';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import type { Schema } from './agreement.ts';
import { entries } from './catalog.ts';

/** Argument names that contain "id". */
const SAYS_ID = /(?:^|_)ids?$|Ids?$/;

/** Id arguments with other names. */
const ALSO_IDS: readonly string[] = ['dependencies', 'in_hand', 'workspace', 'delete_workflow.name'];

/** Names with "id" that do not identify one of our items. */
const NO_IDS: readonly string[] = [
  'getWorkflowRuns.workflow_id', // GitHub's id, which has its own error code.
  'execute_task.task.id', // The caller's own label: text for the models.
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

/** Placeholder for each entry of a list in a path. */
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

/** Returns the example with another value at a path. */
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

describe('ids', () => {
  const named = entries.flatMap(({ name, tool, input }) =>
    idsOf(input, tool.name).map((path) => ({ name, tool, path })),
  );

  it('exist for the expected arguments', () => {
    assert.ok(named.length > 40, `only ${named.length}`);
    for (const wanted of ['github.createPR task_id', 'coding.claim_task agentId', 'system.getTaskQueue agentId'])
      assert.ok(
        named.some(({ name, path }) => `${name} ${path.join('.')}` === wanted),
        wanted,
      );
  });

  for (const { name, tool, path } of named) {
    it(`of ${name} at ${path.join('.')} accept only one name`, () => {
      for (const hostile of HOSTILE) {
        const error = refusalOf(() => tool.prepare(withValue(tool.example, path, hostile) as Record<string, unknown>));
        assert.ok(error !== undefined, `${JSON.stringify(hostile.slice(0, 20))} was accepted`);
        assert.ok(['VALIDATION_ERROR', 'INVALID_FORMAT', 'REQUIRED_FIELD'].includes(error.code), error.code);
        assert.ok(error.message.length < 500, error.message);
        assert.equal(error.details.field, path.join('.').replaceAll(EACH, '0'));
      }
    });
  }

  for (const { uriTemplate, bind } of toolsets.flatMap(({ templates = [] }) => templates)) {
    const names = [...uriTemplate.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => (name ? [name] : []));
    for (const variable of names.filter((name) => SAYS_ID.test(name)))
      it(`in ${uriTemplate} accept only one name`, () => {
        const others = Object.fromEntries(names.map((name) => [name, 'coding']));
        for (const hostile of [...HOSTILE, ...HOSTILE.map((id) => `${id}.1`)])
          assert.equal(bind({ ...others, [variable]: hostile }), undefined, JSON.stringify(hostile));
      });
  }
});
