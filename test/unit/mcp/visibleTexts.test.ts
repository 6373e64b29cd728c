import assert from 'node:assert/strict';
import { z } from 'zod';
import { unwrapped } from '../../../functions/src/mcp/jsonSchema.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';

const INVISIBLE = ['\u200b', '\u3164', '\u2060', '\u2800', ' \ufeff ', '\u{e0041}\u{e007f}', '\u00a0\u200d'];

/** Texts that may be blank, and texts that the tool checks after the schema so that it can list the valid values. */
const LATER = [
  'onboarding.getWelcome agentName',
  'access.remove_member uid',
  'access.update_workspace approvals.tool',
  'firebase.read path',
  'firebase.write path',
  'firebase.subscribe path',
  'github.readFile path',
  'github.searchCode query',
  'github.createPR head',
  'github.createPR base',
  'github.createBranch branch',
  'github.commitFiles branch',
  'github.commitFiles files.path',
  ...['readFile', 'createIssue', 'createPR', 'getWorkflowRuns', 'getJobLogs', 'createBranch', 'commitFiles'].flatMap(
    (tool) => [`github.${tool} owner`, `github.${tool} repo`],
  ),
  'todo.add_task_tags tags',
  'todo.search_tasks query',
  'todo.create_recurring_task frequency',
  'coding.create_task tool',
  'coding.append_logs entries.message',
];

interface Text {
  readonly path: string;
  readonly schema: z.core.$ZodType;
}

/** Yields the required text arguments of an object, including those of nested objects. */
function* textsOf(holder: z.ZodObject, before = ''): Generator<Text> {
  for (const [name, schema] of Object.entries(holder.shape)) {
    const path = `${before}${name}`;
    const isRequired = !z.safeParse(schema, undefined).success;
    yield* textsIn(unwrapped(schema), schema, path, isRequired);
  }
}

function* textsIn(
  inner: z.core.$ZodType | undefined,
  schema: z.core.$ZodType,
  path: string,
  isRequired: boolean,
): Generator<Text> {
  if (inner instanceof z.ZodObject) yield* textsOf(inner, `${path}.`);
  if (inner instanceof z.ZodString && isRequired) yield { path, schema };
  if (!(inner instanceof z.ZodArray)) return;
  const element = unwrapped(inner.element);
  if (element instanceof z.ZodObject) yield* textsOf(element, `${path}.`);
  if (element instanceof z.ZodString && isRequired) yield { path, schema: inner.element };
}

describe('required text argument', () => {
  const texts = toolsets.flatMap(({ name, tools }) =>
    tools.flatMap((tool) =>
      [...textsOf(tool.input)].map(({ path, schema }) => ({ name: `${name}.${tool.name} ${path}`, schema })),
    ),
  );

  it('is rejected if the text has no visible character', () => {
    assert.ok(texts.length > 50);
    const taken = texts.filter(({ schema }) => INVISIBLE.some((text) => z.safeParse(schema, text).success));
    assert.deepEqual(taken.map(({ name }) => name).toSorted(), LATER.toSorted());
  });
});
