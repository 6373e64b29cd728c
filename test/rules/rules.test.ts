/** Each collection × operation × caller of the table, against the rules themselves. */
import { assertFails, assertSucceeds } from '@firebase/rules-unit-testing';
import { type Caller, callers, may, OWNER, weakest } from './callers.ts';
import { type Collection, collections, type Least } from './collections.ts';
import { type Environment, useEnvironment } from './environment.ts';
import { contentsOf, type Operation, operations, put } from './operations.ts';

let documents = 0;

for (const database of ['firestore', 'realtime'] as const) {
  describe(`rules of ${database}`, () => {
    const environment = useEnvironment();
    for (const collection of collections.filter((row) => row.database === database)) {
      for (const path of [collection.path, ...(collection.also ?? [])]) {
        for (const operation of operations[database]) {
          const least = leastOf(collection, operation);
          it(`${path}: ${operation.name} by ${least}`, () =>
            check({ environment, collection, path, operation }));
        }
      }
    }
  });
}

interface Case {
  readonly environment: Environment;
  readonly collection: Collection;
  readonly path: string;
  readonly operation: Operation;
}

/** Tries the operation as every caller. */
async function check(tried: Case): Promise<void> {
  const least = leastOf(tried.collection, tried.operation);
  const allowed = callers.filter((caller) => may(caller, least));
  await Promise.all([
    ...allowed.map((caller) => checkAllowed(tried, caller)),
    checkDenied(
      tried,
      callers.filter((caller) => !may(caller, least)),
    ),
  ]);
}

async function checkAllowed(tried: Case, caller: Caller): Promise<void> {
  const path = await situation(tried);
  await named(tried, caller, path, assertSucceeds);
}

/**
 * A denial proves nothing where the operation would fail for anybody, so those are followed by the same operation, in
 * the same situation, which none of them may have changed, by somebody who may: the weakest role, or the server.
 */
async function checkDenied(tried: Case, denied: readonly Caller[]): Promise<void> {
  if (denied.length === 0) return;
  const { environment, collection, operation } = tried;
  const path = await situation(tried);
  await Promise.all(denied.map((caller) => named(tried, caller, path, assertFails)));
  const permitted = weakest(leastOf(collection, operation));
  const control = permitted === undefined ? environment.unbound : environment.as(permitted);
  await assertSucceeds(operation.run(control, path, contentsOf(collection)));
}

async function named(
  { environment, collection, operation }: Case,
  caller: Caller,
  path: string,
  assertion: (tried: Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  try {
    await assertion(operation.run(environment.as(caller), path, contentsOf(collection)));
  } catch (cause) {
    throw new Error(`not as the table says for ${caller.name} at ${path}`, { cause });
  }
}

/** The path of something of its own, which is there where the operation needs it. */
async function situation({ environment, collection, path: template, operation }: Case): Promise<string> {
  const path = fresh(template);
  if (operation.existing) await put(collection.database, environment.unbound, path, contentsOf(collection));
  return path;
}

/** What is kept under its owner's uid cannot be listed: each may see one of it. */
function leastOf({ path, ...least }: Collection, { lists, needs }: Operation): Least {
  return lists && path.endsWith('{uid}') ? 'nobody' : least[needs];
}

/** The path of something that no other check touches. */
function fresh(template: string): string {
  documents += 1;
  return template
    .replace('{uid}', String(OWNER.uid))
    .replace(/\{\w+\}$/, `document-${documents}`)
    .replaceAll(/\{(\w+)\}/g, '$1-1');
}
