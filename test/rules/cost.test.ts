/** Documents that the rules read to decide on one request. Each read is billed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { assertFails, assertSucceeds } from '@firebase/rules-unit-testing';
import { doc, getDoc, setDoc } from 'firebase/firestore/lite';
import { z } from 'zod';
import { callerNamed } from './callers.ts';
import { PROJECT, useEnvironment } from './environment.ts';

/** How often an expression had this value. If it was never evaluated, `value` is `{}` and `count` is missing. */
interface Evaluated {
  readonly value?: Readonly<Record<string, unknown>> | undefined;
  readonly count?: number | undefined;
}

interface Expression {
  readonly sourcePosition?: { readonly line?: number | undefined } | undefined;
  readonly values?: readonly Evaluated[] | undefined;
  readonly children?: readonly Expression[] | undefined;
}

const expression: z.ZodType<Expression> = z.looseObject({
  sourcePosition: z.looseObject({ line: z.number().optional() }).optional(),
  values: z
    .array(z.looseObject({ value: z.record(z.string(), z.unknown()).optional(), count: z.number().optional() }))
    .optional(),
  get children() {
    return z.array(expression).optional();
  },
});

const coverage = z.looseObject({ report: z.array(expression).default([]) });

/** Returns the number of the line in firestore.rules that contains the text. */
function lineOf(text: string): number {
  const lines = readFileSync(new URL('../../firestore.rules', import.meta.url), 'utf8').split('\n');
  return lines.findIndex((line) => line.includes(text)) + 1;
}

const ACCESS = lineOf("get(path).data.get('access'");
const PERSON = lineOf('get(path).data : {}');

/** Returns how often a line of the rules was evaluated since the rules were loaded. */
async function evaluations(line: number): Promise<number> {
  const url = `http://${process.env['FIRESTORE_EMULATOR_HOST']}/emulator/v1/projects/${PROJECT}:ruleCoverage`;
  const { report } = coverage.parse(await (await fetch(url)).json());
  return sum(report, line);
}

function sum(expressions: readonly Expression[], line: number): number {
  return expressions.reduce((all, { sourcePosition, values = [], children = [] }) => {
    const own = sourcePosition?.line === line ? values.filter(hasValue) : [];
    return all + own.reduce((some, { count = 0 }) => some + count, 0) + sum(children, line);
  }, 0);
}

function hasValue({ value = {} }: Evaluated): boolean {
  return Object.keys(value).some((kind) => kind !== 'undefined');
}

describe('a decision of the Firestore rules on one read', () => {
  const environment = useEnvironment();

  before(async () => {
    for (const workspace of ['alpha', 'beta', 'default'])
      await setDoc(doc(environment.unbound.firestore, `tasks/in-${workspace}`), { workspace });
  });

  const cases = [
    ['a worker of alpha', 'alpha', true, 'only the person'],
    ['a worker of the deployment', 'default', true, 'only the person'],
    ['a worker of alpha', 'default', false, 'only the person'],
    ['a worker of the deployment', 'beta', true, 'the person and the open workspaces'],
    ['a worker of the deployment', 'alpha', false, 'the person and the open workspaces'],
  ] as const;

  for (const [name, workspace, isAllowed, looks] of cases)
    it(`of a task in ${workspace} by ${name} requires reading ${looks}`, async () => {
      const [person, access] = [await evaluations(PERSON), await evaluations(ACCESS)];
      const reading = getDoc(doc(environment.as(callerNamed(name)).firestore, `tasks/in-${workspace}`));
      await (isAllowed ? assertSucceeds(reading) : assertFails(reading));
      assert.ok((await evaluations(PERSON)) > person);
      assert.equal((await evaluations(ACCESS)) > access, looks === 'the person and the open workspaces');
    });
});
