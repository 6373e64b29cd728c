/** Tests the rules with combinations of a permission table row, an operation, a workspace and a caller. */
import { assertFails, assertSucceeds } from '@firebase/rules-unit-testing';
import type { AccessQuestion } from '../../functions/src/access/rules/decision.ts';
import { IS_NIGHTLY } from '../support/nightly.ts';
import { type Caller, callers, may, owners, someOf } from './callers.ts';
import { type Environment, useEnvironment } from './environment.ts';
import { type Operation, operations, parentOf, put } from './operations.ts';
import { contentsOf, freshPath, type Situation, situationsOf, subjectOf } from './situations.ts';

/** The default run tests these with more callers. The rules treat all other operations like one of these. */
const THOROUGH: readonly string[] = ['get', 'list', 'create'];

/** The rules treat each of these like another operation. If no caller has access, only the nightly run tests them. */
const SAME_VERB: readonly string[] = ['query', 'count', 'replace', 'merge'];

for (const database of ['firestore', 'realtime'] as const)
  describe(`minimum roles in the rules of ${database}`, () => {
    const environment = useEnvironment();
    for (const situation of situationsOf(database)) {
      const { permission, template, workspace } = situation;
      const where = workspace === undefined ? '' : ` in ${workspace}`;
      for (const operation of operations[database]) {
        const min = permission[operation.needs];
        if (min === 'no one' && SAME_VERB.includes(operation.name) && !IS_NIGHTLY) continue;
        it(`${template}${where}: ${operation.name} by ${min}`, () => check({ environment, situation, operation }));
      }
    }
  });

interface Case {
  readonly environment: Environment;
  readonly situation: Situation;
  readonly operation: Operation;
}

/** Number of the case. Each case tests different callers, so that the default run covers every caller. */
let turn = 0;

async function check(tried: Case): Promise<void> {
  const isClosed = tried.situation.permission[tried.operation.needs] === 'no one';
  const isThorough = THOROUGH.includes(tried.operation.name) && !isClosed;
  const some = someOf(callers, isThorough ? 3 : isClosed ? 12 : 6, turn++);
  // The rules for owned documents distinguish the owner and the owner's agents from all other callers.
  const { ownerField } = tried.situation.permission;
  const asking = [...new Set([...(ownerField === undefined ? [] : owners), ...some])];
  const allowed = asking.filter((caller) => mayTry(tried, caller));
  const denied = asking.filter((caller) => !allowed.includes(caller));
  // All readers can read the same document. Each writer needs a document that no other writer has changed.
  const read = tried.operation.needs === 'reads' ? await prepare(tried) : undefined;
  await Promise.all([
    ...allowed.map(async (caller) => named(tried, caller, read ?? (await prepare(tried)), assertSucceeds)),
    checkDenied(tried, read, denied, allowed.at(-1)),
  ]);
}

/** Returns whether the permission table allows the caller to do the operation. */
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
 * Asserts that the rules deny the operation to the callers. Then a permitted caller or the server repeats the
 * operation on the same document, which shows that it did not fail for another reason.
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
    throw new Error(`the rules differ from the table for ${caller.name} at ${path}`, { cause });
  }
}

/** Returns an unused path. If the operation requires an existing document, stores one at the path. */
async function prepare({ environment, situation, operation }: Case): Promise<string> {
  const path = freshPath(situation);
  if (operation.existing) await put(situation.permission.database, environment.unbound, path, contentsOf(situation));
  return path;
}
