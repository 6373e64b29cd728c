/** Each row of the table × operation × caller × workspace, against the rules themselves. */
import { assertFails, assertSucceeds } from '@firebase/rules-unit-testing';
import type { AccessQuestion } from '../../functions/src/access/rules/decision.ts';
import { IS_NIGHT } from '../support/night.ts';
import { type Caller, callers, may, owners, someOf } from './callers.ts';
import { type Environment, useEnvironment } from './environment.ts';
import { type Operation, operations, parentOf, put } from './operations.ts';
import { contentsOf, freshPath, type Situation, situationsOf, subjectOf } from './situations.ts';

/** By day the others, which rules treat like one of these, are tried by fewer; and so is what nobody may. */
const THOROUGH: readonly string[] = ['get', 'list', 'create'];

/** By day what nobody may is tried by one operation for each verb that rules know, of which these are others' too. */
const SAME_VERB: readonly string[] = ['query', 'count', 'replace', 'merge'];

for (const database of ['firestore', 'realtime'] as const) {
  describe(`rules of ${database}`, () => {
    const environment = useEnvironment();
    for (const situation of situationsOf(database)) {
      const { permission, template, workspace } = situation;
      const where = workspace === undefined ? '' : ` in ${workspace}`;
      for (const operation of operations[database]) {
        const least = permission[operation.needs];
        if (least === 'no one' && SAME_VERB.includes(operation.name) && !IS_NIGHT) continue;
        it(`${template}${where}: ${operation.name} by ${least}`, () =>
          check({ environment, situation, operation }));
      }
    }
  });
}

interface Case {
  readonly environment: Environment;
  readonly situation: Situation;
  readonly operation: Operation;
}

/** Others ask of each case, so that by day too everybody asks. */
let turn = 0;

/** Tries the operation as every caller. */
async function check(tried: Case): Promise<void> {
  const isClosed = tried.situation.permission[tried.operation.needs] === 'no one';
  const isThorough = THOROUGH.includes(tried.operation.name) && !isClosed;
  const some = someOf(callers, isThorough ? 3 : isClosed ? 12 : 6, turn++);
  // Of what belongs to somebody they alone differ.
  const { ownerField } = tried.situation.permission;
  const asking = [...new Set([...(ownerField === undefined ? [] : owners), ...some])];
  const allowed = asking.filter((caller) => mayTry(tried, caller));
  const denied = asking.filter((caller) => !allowed.includes(caller));
  // Whoever reads leaves it as it is for the next; whoever writes needs one of their own.
  const read = tried.operation.needs === 'reads' ? await prepare(tried) : undefined;
  await Promise.all([
    ...allowed.map(async (caller) => named(tried, caller, read ?? (await prepare(tried)), assertSucceeds)),
    checkDenied(tried, read, denied, allowed.at(-1)),
  ]);
}

/** As the table decides. */
function mayTry({ situation, operation }: Case, caller: Caller): boolean {
  const path = freshPath(situation);
  const question: AccessQuestion = {
    database: situation.permission.database,
    path: operation.lists ? parentOf(path) : path,
    operation: operation.needs === 'reads' ? 'read' : 'write',
  };
  return may(caller, question, subjectOf(situation, operation.lists));
}

/**
 * A denial proves nothing where the operation would fail for anybody, so those are followed by the same operation, in
 * the same situation, which none of them may have changed, by somebody who may: a caller, or the server.
 */
async function checkDenied(
  tried: Case,
  read: string | undefined,
  denied: readonly Caller[],
  permitted: Caller | undefined,
): Promise<void> {
  if (denied.length === 0) return;
  const { environment, situation, operation } = tried;
  const path = read ?? (await prepare(tried));
  await Promise.all(denied.map((caller) => named(tried, caller, path, assertFails)));
  const control = permitted === undefined ? environment.unbound : environment.as(permitted);
  await assertSucceeds(operation.run(control, path, contentsOf(situation)));
}

async function named(
  { environment, situation, operation }: Case,
  caller: Caller,
  path: string,
  assertion: (tried: Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  try {
    await assertion(operation.run(environment.as(caller), path, contentsOf(situation)));
  } catch (cause) {
    throw new Error(`not as the table says for ${caller.name} at ${path}`, { cause });
  }
}

/** The path of something of its own, which is there where the operation needs it. */
async function prepare({ environment, situation, operation }: Case): Promise<string> {
  const path = freshPath(situation);
  if (operation.existing)
    await put(situation.permission.database, environment.unbound, path, contentsOf(situation));
  return path;
}
