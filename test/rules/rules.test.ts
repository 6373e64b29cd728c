/** Every combination of table row, operation, caller and workspace, tested with the rules. */
import { assertFails, assertSucceeds } from '@firebase/rules-unit-testing';
import type { AccessQuestion } from '../../functions/src/access/rules/decision.ts';
import { IS_NIGHTLY } from '../support/nightly.ts';
import { type Caller, callers, may, owners, someOf } from './callers.ts';
import { type Environment, useEnvironment } from './environment.ts';
import { type Operation, operations, parentOf, put } from './operations.ts';
import { contentsOf, freshPath, type Situation, situationsOf, subjectOf } from './situations.ts';

/** Operations that the default run tests with more callers. The rules treat the others like one of these. */
const THOROUGH: readonly string[] = ['get', 'list', 'create'];

/** Operations that share a rules verb with another one. The default run skips them if no one has access. */
const SAME_VERB: readonly string[] = ['query', 'count', 'replace', 'merge'];

for (const database of ['firestore', 'realtime'] as const) {
  describe(`rules of ${database}`, () => {
    const environment = useEnvironment();
    for (const situation of situationsOf(database)) {
      const { permission, template, workspace } = situation;
      const where = workspace === undefined ? '' : ` in ${workspace}`;
      for (const operation of operations[database]) {
        const least = permission[operation.needs];
        if (least === 'no one' && SAME_VERB.includes(operation.name) && !IS_NIGHTLY) continue;
        it(`${template}${where}: ${operation.name} by ${least}`, () => check({ environment, situation, operation }));
      }
    }
  });
}

interface Case {
  readonly environment: Environment;
  readonly situation: Situation;
  readonly operation: Operation;
}

/** Selects other callers for each case, so that the default run covers all of them too. */
let turn = 0;

async function check(tried: Case): Promise<void> {
  const isClosed = tried.situation.permission[tried.operation.needs] === 'no one';
  const isThorough = THOROUGH.includes(tried.operation.name) && !isClosed;
  const some = someOf(callers, isThorough ? 3 : isClosed ? 12 : 6, turn++);
  // For owned documents, only the owner and their agents are treated differently.
  const { ownerField } = tried.situation.permission;
  const asking = [...new Set([...(ownerField === undefined ? [] : owners), ...some])];
  const allowed = asking.filter((caller) => mayTry(tried, caller));
  const denied = asking.filter((caller) => !allowed.includes(caller));
  // Readers can share one document; each writer needs its own.
  const read = tried.operation.needs === 'reads' ? await prepare(tried) : undefined;
  await Promise.all([
    ...allowed.map(async (caller) => named(tried, caller, read ?? (await prepare(tried)), assertSucceeds)),
    checkDenied(tried, read, denied, allowed.at(-1)),
  ]);
}

/** Returns the decision of the table. */
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
 * A denial proves nothing if the operation would fail for every caller. Therefore a permitted caller or the server
 * repeats the operation on the unchanged document.
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

/** Returns a fresh path, with an existing document if the operation requires one. */
async function prepare({ environment, situation, operation }: Case): Promise<string> {
  const path = freshPath(situation);
  if (operation.existing) await put(situation.permission.database, environment.unbound, path, contentsOf(situation));
  return path;
}
