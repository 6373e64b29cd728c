/** Each collection × operation × caller of the table, against the rules themselves. */
import { assertFails, assertSucceeds } from '@firebase/rules-unit-testing';
import { callers, may, OWNER, weakest } from './callers.ts';
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

/**
 * Tries the operation as every caller. A denial proves nothing where the operation would fail for anybody, so
 * each is followed by the same operation, in the same situation, by somebody who may: the weakest role, or
 * the server.
 */
async function check({ environment, collection, path: template, operation }: Case): Promise<void> {
  const { database } = collection;
  const least = leastOf(collection, operation);
  const contents = contentsOf(collection);
  const permitted = weakest(least);
  const control = permitted === undefined ? environment.unbound : environment.as(permitted);
  await Promise.all(
    callers.map(async (caller) => {
      const path = fresh(template);
      if (operation.existing) await put(database, environment.unbound, path, contents);
      try {
        if (may(caller, least)) {
          await assertSucceeds(operation.run(environment.as(caller), path, contents));
        } else {
          await assertFails(operation.run(environment.as(caller), path, contents));
          await assertSucceeds(operation.run(control, path, contents));
        }
      } catch (cause) {
        throw new Error(`not as the table says for ${caller.name} at ${path}`, { cause });
      }
    }),
  );
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
