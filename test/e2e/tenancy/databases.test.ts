/**
 * Exactly the callers that the permission table permits can read and write a path, directly and with the tools of
 * firebase. access.explain agrees with this. test/rules/rules.test.ts tests every row of the table.
 */
import assert from 'node:assert/strict';
import { getFirestore } from 'firebase-admin/firestore';
import { isDecidedByContent, type Permission, permissions } from '../../../functions/src/access/rules/permissions.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { firebaseApp, realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { IS_NIGHTLY } from '../../support/nightly.ts';
import { mayRead, mayWrite } from './direct.ts';
import { CALLERS, type CallerName, type Outcome, TenancyFixture } from './fixture.ts';
import { type Ids, makeThings, namesOfNothing } from './things.ts';

const STRANGERS: readonly CallerName[] = ['bea the leader', 'bea herself', 'nobody'];
const PERSONS: readonly CallerName[] = ['ann herself', 'bea herself', 'cas himself', 'nobody'];

/** For paths that no caller may access, the default run tests only these callers. */
const SOME: readonly CallerName[] = ['ann the leader', 'bea herself', 'nobody'];

/** Values of `writes` for documents that owners write in a certain form. test/rules covers these writes. */
const OWNERS_OWN = ['owner', 'owner and agents'];

/** Reasons in errors of firebase.read and firebase.write for callers without access. */
const REFUSED = ['PERMISSION_DENIED', 'NO_ROLE', 'ROLE_TOO_WEAK'];

/** If a document's content decides who may read it, other callers get the error for a missing document. */
const NOT_TOLD = [...REFUSED, 'NOT_FOUND'];

const isLet = ({ error }: Outcome, refused = REFUSED) => error === undefined || !refused.includes(error.reason);

const callersOf = (min: Permission['reads']): readonly CallerName[] =>
  min === 'no one' && !IS_NIGHTLY ? SOME : CALLERS;

const inLists = (path: string) => path.split('/').slice(0, -1).join('/');

/** The default run tests one row of each kind. Rows of one kind have the same scope and permitted callers. */
const ROWS = IS_NIGHTLY
  ? permissions
  : [...new Map(permissions.toReversed().map((row) => [kindOf(row), row])).values()].toReversed();

describe('database access', function () {
  this.timeout('3m');
  const fixture = new TenancyFixture();
  let ids: Ids;
  let absent: Ids;

  before(async () => {
    await fixture.begin();
    ids = await makeThings(fixture);
    absent = namesOfNothing(ids, fixture);
    // Only its writer may read a commit marker. Without this marker, every caller would get NOT_FOUND.
    await (await realtimeDatabase()).ref(`commits/${fixture.thing}`).set({ uid: 'somebody', expires_at: 1 });
  });
  after(() => fixture.end());

  /** Returns the workspace in which the caller works. */
  const homeOf = (caller: CallerName) => (caller.startsWith('bea') ? fixture.beta : fixture.alpha);

  const explained = async (caller: CallerName, question: JsonObject) => {
    const { result, error } = await fixture.call(caller, homeOf(caller), 'access.explain', question);
    assert.ok(result, error?.message);
    return result['allowed'];
  };

  /** Returns the path of an item of Ann or her workspace. If none exists, returns the path of a missing item. */
  async function pathOf(permission: Permission): Promise<string> {
    const template = filled(permission.path, ids);
    const found = permission.database === 'firestore' && (await one(permission, template));
    return ended(template, found || fixture.thing);
  }

  async function one(permission: Permission, template: string): Promise<string | undefined> {
    const { where, ownerField, reads } = permission;
    if (reads === 'no one' || !template.endsWith('}')) return undefined;
    const collection = getFirestore(firebaseApp()).collection(inLists(template));
    const field = typeof where === 'object' && 'field' in where ? where.field : ownerField;
    const whose = field === ownerField ? fixture.ann : fixture.alpha;
    const found = field === undefined ? collection : collection.where(field, '==', whose);
    return (await found.limit(1).get()).docs[0]?.id;
  }

  /** Returns an error's text with placeholders in place of the path and workspace names. */
  const plain = (text: string, path: string) =>
    [fixture.alpha, absent.workspace, absent.place].reduce(
      (rest, workspace) => rest.replaceAll(`"${workspace}`, '"<workspace>'),
      text.replaceAll(path, '<path>'),
    );

  for (const permission of ROWS) {
    const { database, path: row, reads, writes } = permission;

    it(`${row} in ${database} is readable by exactly the callers for whom access.explain allows it`, async () => {
      const path = await pathOf(permission);
      const check = async (caller: CallerName) => {
        const output = `${caller} at ${path}`;
        const outcome = await fixture.call(caller, homeOf(caller), 'firebase.read', { database, path });
        const does = isLet(outcome, isDecidedByContent(permission) ? NOT_TOLD : REFUSED);
        assert.equal(does, await explained(caller, { database, path }), output);
        if (PERSONS.includes(caller))
          assert.equal(await mayRead(fixture.credential(caller), database, path), does, output);
        if (STRANGERS.includes(caller) && isOfAnns(permission)) assert.equal(does, false, output);
      };
      await Promise.all(callersOf(reads).map(check));
    });

    if (isOfAnns(permission) || reads === 'no one')
      it(`${row} in ${database} looks like a missing item to callers without access`, async () => {
        const path = await pathOf(permission);
        const missing = ended(filled(row, absent), fixture.thing);
        const check = async (caller: CallerName, workspace: string, tool: string) => {
          const ask = (asked: string) => fixture.call(caller, workspace, tool, { database, path: asked });
          const reported = JSON.stringify(await ask(path));
          assert.ok(!reported.includes(fixture.secret), `${caller} gets ${reported}`);
          const nothing = JSON.stringify(await ask(missing));
          assert.equal(plain(reported, path), plain(nothing, missing));
        };
        for (const caller of STRANGERS)
          for (const tool of ['firebase.read', 'access.explain']) await check(caller, homeOf(caller), tool);
      });

    if (OWNERS_OWN.includes(writes)) continue;
    it(`${row} in ${database} is writable by exactly the callers for whom access.explain allows it`, async () => {
      const path = ended(filled(row, ids), `new-${fixture.thing}`);
      for (const caller of callersOf(writes)) {
        const may = await explained(caller, { database, path, operation: 'write' });
        const writing = { database, path, operation: 'set', data: { text: 'hello' } };
        const output = `${caller} at ${path}`;
        assert.equal(isLet(await fixture.call(caller, homeOf(caller), 'firebase.write', writing)), may, output);
        if (PERSONS.includes(caller))
          assert.equal(await mayWrite(fixture.credential(caller), database, path), may, output);
      }
    });
  }
});

function kindOf({ database, where, reads, writes, ownerField, ownerNeeds, unlisted, spansWorkspaces }: Permission) {
  const place = typeof where === 'object' ? Object.keys(where) : where;
  return JSON.stringify([database, place, reads, writes, ownerField, ownerNeeds, unlisted, spansWorkspaces]);
}

function ended(template: string, name: string): string {
  return template.replace(/\{[^}]+\}$/, name);
}

/** Returns whether the row's documents belong to Ann or her workspace, and are hidden from strangers. */
function isOfAnns({ where, reads }: Permission): boolean {
  return reads !== 'no one' && where !== 'anywhere' && where !== 'default';
}

/** Replaces the variables in the path by names of items. Variables for which there is no name stay in braces. */
function filled(path: string, ids: Ids): string {
  const names: Readonly<Record<string, string>> = {
    '{uid}': ids.owner,
    '{workspace}': ids.workspace,
    '{first}': ids.place,
    '{collection}': 'talk',
    '{rest=**}': 'talk/{rest}',
    'presence/{agentId}': `presence/${ids.agent}`,
    '{session}/counters': `${ids.session}/counters`,
    '{session}/gates': `${ids.session}/gates`,
    '{taskId}/': `${ids.coding}/`,
    '{runId}/': `${ids.run}/`,
    '{key}/': `run-${ids.run}/`,
    '{path=**}': 'elsewhere/{id}',
  };
  return Object.entries(names).reduce((rest, [variable, name]) => rest.replace(variable, name), path);
}
