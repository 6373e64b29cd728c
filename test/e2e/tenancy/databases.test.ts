/**
 * For a row of each kind of the table: who may read and write there is let, directly and by firebase.read, and explain
 * agrees. `test/rules/rules` has all rows, of which the rules themselves are asked.
 */
import assert from 'node:assert/strict';
import { getFirestore } from 'firebase-admin/firestore';
import {
  isDecidedByContent,
  type Permission,
  permissions,
} from '../../../functions/src/access/rules/permissions.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { firebaseApp } from '../../../functions/src/kernel/platform.ts';
import { realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { IS_NIGHT } from '../../support/night.ts';
import { mayRead, mayWrite } from './direct.ts';
import { type Ids, makeThings, namesOfNothing } from './things.ts';
import { CALLERS, type CallerName, type Outcome, World } from './world.ts';

const STRANGERS: readonly CallerName[] = ['bea the leader', 'bea herself', 'nobody'];

const PERSONS: readonly CallerName[] = ['ann herself', 'bea herself', 'cas himself', 'nobody'];

/** By day, what nobody may is tried by these alone. */
const SOME: readonly CallerName[] = ['ann the leader', 'bea herself', 'nobody'];

/** What their owners write has a form of its own each, which the rules' own tests try. */
const OWNERS_OWN = ['owner', 'owner and agents'];

/** Why firebase.read and firebase.write refuse something to whoever asks. */
const REFUSED = ['PERMISSION_DENIED', 'NO_ROLE', 'ROLE_TOO_WEAK'];

/** What exists and is not the caller's is refused as what is missing, where its own fields say whose it is. */
const NOT_TOLD = [...REFUSED, 'NOT_FOUND'];

const isLet = ({ error }: Outcome, refused = REFUSED) =>
  error === undefined || !refused.includes(error.reason);

const callersOf = (least: Permission['reads']): readonly CallerName[] =>
  least === 'no one' && !IS_NIGHT ? SOME : CALLERS;

const inLists = (path: string) => path.split('/').slice(0, -1).join('/');

/** By day one row of each kind: whose workspace decides, and who may. */
const ROWS = IS_NIGHT
  ? permissions
  : [...new Map(permissions.toReversed().map((row) => [kindOf(row), row])).values()].toReversed();

describe('tenancy in both databases', function () {
  this.timeout('3m');
  const world = new World();
  let ids: Ids;
  let absent: Ids;

  before(async () => {
    await world.begin();
    ids = await makeThings(world);
    absent = namesOfNothing(ids, world);
    // Whoever asks for a commit of the Realtime Database that is not there is told so: it is looked for by its writer.
    await (await realtimeDatabase()).ref(`commits/${world.thing}`).set({ uid: 'somebody', expires_at: 1 });
  });
  after(() => world.end());

  /** Where a caller may call at all. */
  const homeOf = (caller: CallerName) => (caller.startsWith('bea') ? world.beta : world.alpha);

  const explained = async (caller: CallerName, question: JsonObject) => {
    const { result, error } = await world.call(caller, homeOf(caller), 'access.explain', question);
    assert.ok(result, error?.message);
    return result['allowed'];
  };

  /** The path of something of Ann's or of her workspace's, where there is one. */
  async function pathOf(permission: Permission): Promise<string> {
    const template = filled(permission.path, ids);
    const found = permission.database === 'firestore' && (await one(permission, template));
    return ended(template, found || world.thing);
  }

  async function one(permission: Permission, template: string): Promise<string | undefined> {
    const { where, ownerField, reads } = permission;
    if (reads === 'no one' || !template.endsWith('}')) return undefined;
    const collection = getFirestore(firebaseApp()).collection(inLists(template));
    const field = typeof where === 'object' && 'field' in where ? where.field : ownerField;
    const whose = field === ownerField ? world.ann : world.alpha;
    const found = field === undefined ? collection : collection.where(field, '==', whose);
    return (await found.limit(1).get()).docs[0]?.id;
  }

  /** What is said of a path, without the names in it. */
  const plain = (text: string, path: string) =>
    [world.alpha, absent.workspace, absent.place].reduce(
      (rest, workspace) => rest.replaceAll(`"${workspace}`, '"<workspace>'),
      text.replaceAll(path, '<path>'),
    );

  for (const permission of ROWS) {
    const { database, path: row, reads, writes } = permission;

    it(`${row} of ${database} is read by those who may, and explained`, async () => {
      const path = await pathOf(permission);
      const check = async (caller: CallerName) => {
        const said = `${caller} at ${path}`;
        const outcome = await world.call(caller, homeOf(caller), 'firebase.read', { database, path });
        const does = isLet(outcome, isDecidedByContent(permission) ? NOT_TOLD : REFUSED);
        assert.equal(does, await explained(caller, { database, path }), said);
        if (PERSONS.includes(caller))
          assert.equal(await mayRead(world.credential(caller), database, path), does, said);
        if (STRANGERS.includes(caller) && isOfAnns(permission)) assert.equal(does, false, said);
      };
      await Promise.all(callersOf(reads).map(check));
    });

    if (isOfAnns(permission) || reads === 'no one')
      it(`${row} of ${database} is hidden from strangers like what is not there`, async () => {
        const path = await pathOf(permission);
        const missing = ended(filled(row, absent), world.thing);
        const check = async (caller: CallerName, workspace: string, tool: string) => {
          const ask = (asked: string) => world.call(caller, workspace, tool, { database, path: asked });
          const told = JSON.stringify(await ask(path));
          assert.ok(!told.includes(world.secret), `${caller} is told ${told}`);
          const nothing = JSON.stringify(await ask(missing));
          assert.equal(plain(told, path), plain(nothing, missing));
        };
        for (const caller of STRANGERS) {
          for (const tool of ['firebase.read', 'access.explain']) await check(caller, homeOf(caller), tool);
        }
      });

    if (OWNERS_OWN.includes(writes)) continue;
    it(`${row} of ${database} is written by those who may, and explained`, async () => {
      const path = ended(filled(row, ids), `new-${world.thing}`);
      for (const caller of callersOf(writes)) {
        const may = await explained(caller, { database, path, operation: 'write' });
        const writing = { database, path, operation: 'set', data: { text: 'hello' } };
        const said = `${caller} at ${path}`;
        assert.equal(isLet(await world.call(caller, homeOf(caller), 'firebase.write', writing)), may, said);
        if (PERSONS.includes(caller))
          assert.equal(await mayWrite(world.credential(caller), database, path), may, said);
      }
    });
  }
});

function kindOf({
  database,
  where,
  reads,
  writes,
  ownerField,
  ownerNeeds,
  unlisted,
  spansWorkspaces,
}: Permission) {
  const place = typeof where === 'object' ? Object.keys(where) : where;
  return JSON.stringify([database, place, reads, writes, ownerField, ownerNeeds, unlisted, spansWorkspaces]);
}

function ended(template: string, name: string): string {
  return template.replace(/\{[^}]+\}$/, name);
}

/** Whether it is Ann's or her workspace's, and not what everybody with a role may read. */
function isOfAnns({ where, reads }: Permission): boolean {
  return reads !== 'no one' && where !== 'anywhere' && where !== 'default';
}

/** The path with the names of things; what has no name stays in braces. */
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
