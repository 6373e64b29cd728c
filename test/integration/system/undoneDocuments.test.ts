/** Audit entries and undo of writes to free-form data in both databases, under the security rules. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject, JsonValue } from '../../../functions/src/kernel/json.ts';
import { AccessFixture } from '../access/fixture.ts';
import { answer, call } from '../coordination/calls.ts';

const EVERYTHING = { text: 'one', number: 1.5, none: null, nested: { list: [1, { deep: ['a'] }], 'odd-name': true } };

const OF_FIRESTORE = {
  when: { __timestamp__: '2026-11-22T01:02:03.123456Z' },
  place: { __geopoint__: { latitude: 48.2, longitude: 16.4 } },
  bytes: { __bytes__: 'aGVsbG8=' },
  large: { __integer__: '9007199254740993' },
  'odd.name': { 'a.b': 1 },
};

const LARGE = 'x'.repeat(250_000);

for (const database of ['firestore', 'realtime'] as const)
  describe(`undo of writes to ${database === 'firestore' ? 'Firestore' : 'the Realtime Database'}`, () => {
    let fixture: AccessFixture;
    let hers: Principal;
    let his: Principal;
    let leading: Principal;
    let list: string;
    let path: string;

    beforeEach(async () => {
      fixture = new AccessFixture();
      // The security rules of the Realtime Database use the server's clock.
      fixture.now = new Date();
      await fixture.closeTo({ ada: 'leader', ben: 'worker' });
      [hers, leading, his] = [
        await fixture.agentOf('ada', 'worker'),
        await fixture.agentOf('ada', 'leader'),
        await fixture.agentOf('ben', 'worker'),
      ];
      list = `shared/${fixture.workspace}/notes`;
      path = `${list}/first`;
    });

    const ask = (tool: string, args: JsonObject, principal = hers): Promise<JsonObject> => {
      fixture.pass(1);
      return answer(fixture, tool, args, principal);
    };

    const write = (data: JsonValue, more: JsonObject = {}, principal = hers) =>
      ask('firebase_write', { database, path, data, ...more }, principal);

    const data = async (at = path): Promise<JsonValue | undefined> => {
      const { structuredContent, isError } = await call(fixture, 'firebase_read', { database, path: at }, hers);
      if (!isError) return structuredContent['data'];
      assert.equal(Object(structuredContent['error']).data.reason, 'NOT_FOUND');
      return undefined;
    };

    const latest = async (principal = hers) => {
      const { events } = Object(await ask('system_getAudit', { limit: 1 }, principal));
      return events[0];
    };

    const undoLatest = async (principal = hers) =>
      ask('system_undo', { event_id: (await latest(principal)).event_id }, principal);

    async function refusal(event_id: string, principal = hers): Promise<string> {
      const { structuredContent, isError } = await call(fixture, 'system_undo', { event_id }, principal);
      assert.ok(isError, JSON.stringify(structuredContent));
      return Object(structuredContent['error']).message;
    }

    it('uses audit entries that contain the caller and the changed fields', async () => {
      await write({ title: 'Plan', step: 1 });
      const made = await latest();
      await write({ step: 2 }, { operation: 'update' }, his);
      const changed = await latest(his);
      const thing = { kind: 'document', id: `${database}:${path}` };
      assert.deepEqual(
        [made.by, made.on_behalf_of, made.tool, made.changes],
        [hers.agent_id, hers.owner_uid, 'firebase.write', [{ ...thing, after: { title: 'Plan', step: 1 } }]],
      );
      assert.deepEqual(
        [changed.by, changed.on_behalf_of, changed.changes],
        [his.agent_id, his.owner_uid, [{ ...thing, before: { step: 1 }, after: { step: 2 } }]],
      );
      const { events } = Object(await ask('system_getAudit', { thing: `document:${thing.id}` }));
      const eventIds = events.map(({ event_id }: { event_id: string }) => event_id);
      assert.deepEqual(eventIds, [made.event_id], 'each owner sees the changes on their behalf');
      await write({ step: 2 }, { operation: 'update' });
      assert.equal((await latest()).event_id, made.event_id, 'a write without effect leaves no entry');
    });

    it('restores every type of value, and can be undone itself', async () => {
      const first = database === 'firestore' ? { ...EVERYTHING, ...OF_FIRESTORE } : EVERYTHING;
      await write(first);
      const stored = await data();
      await undoLatest();
      assert.equal(await data(), undefined);
      await undoLatest();
      assert.deepEqual(await data(), stored);
      await write({ other: true });
      await undoLatest();
      assert.deepEqual(await data(), stored);
      await write(null, { operation: 'delete' });
      await undoLatest();
      assert.deepEqual(await data(), stored);
      await write({ text: 'two', added: ['x'] }, { operation: 'update' });
      assert.notDeepEqual(await data(), stored);
      await undoLatest();
      assert.deepEqual(await data(), stored);
    });

    it('deletes a pushed child', async () => {
      const { key } = await ask('firebase_write', { database, path: list, data: { a: 1 }, operation: 'push' });
      assert.deepEqual((await latest()).changes[0].id, `${database}:${list}/${key}`);
      await undoLatest();
      assert.equal(await data(`${list}/${key}`), undefined);
    });

    it('keeps later changes of other fields, and is rejected if its own fields have changed since', async () => {
      await write({ title: 'Plan', step: 1 });
      await write({ title: 'Better plan' }, { operation: 'update' });
      const { event_id } = await latest();
      await write({ step: 2 }, { operation: 'update' }, his);
      await ask('system_undo', { event_id });
      assert.deepEqual(await data(), { title: 'Plan', step: 2 });
      const taken = await latest();
      await write({ title: 'Mine' }, { operation: 'update' }, his);
      assert.match(await refusal(taken.event_id, leading), /title.*firebase_write/);
      assert.deepEqual(await data(), { title: 'Mine', step: 2 });
    });

    it('is allowed to a leader, but not to other workers', async () => {
      await write({ a: 1 }, {}, his);
      const { event_id } = await latest(his);
      assert.match(await refusal(event_id), /Event ".*" not found/);
      await ask('system_undo', { event_id }, leading);
      assert.equal(await data(), undefined);
    });

    it('changes nothing if the caller may no longer write the path', async () => {
      await write({ a: 1 }, {}, his);
      const { event_id } = await latest(his);
      await fixture.letIn(fixture.workspace, 'ben', 'viewer');
      const viewing = await fixture.agentOf('ben', 'worker');
      await call(fixture, 'system_undo', { event_id }, viewing);
      assert.deepEqual(await data(), { a: 1 });
    });

    it('is rejected if the audit entry could not store the whole value', async () => {
      await write({ large: LARGE });
      await write({ small: 1 });
      const { event_id, changes } = await latest();
      assert.equal(changes[0].shortened, true);
      assert.match(changes[0].before['.not_kept'], /200000 bytes/);
      assert.match(await refusal(event_id), /did not store all/);
      assert.deepEqual(await data(), { small: 1 });
      await write(null, { operation: 'delete' });
      await undoLatest();
      assert.deepEqual(await data(), { small: 1 });
    });

    /** Lets another agent write to the path immediately after the next read or write. */
    const meddleAfter = (step: 'read' | 'write') => {
      const access = fixture.app.firebase.ports.databases[database];
      const original: (...args: never[]) => Promise<unknown> = access[step];
      const meddled = async (...args: never[]) => {
        Object.assign(access, { [step]: original });
        const outcome = await original.apply(access, args);
        await write({ his: true }, {}, his);
        return outcome;
      };
      Object.assign(access, { [step]: meddled });
    };

    it('is rejected if the write overlapped with another write', async () => {
      meddleAfter('write');
      await write({ mine: true });
      const [change] = (await latest()).changes;
      assert.deepEqual([change.before, change.shortened], [undefined, true]);
      assert.match(change.after['.not_kept'], /Another write changed the data/);
    });

    it('does not overwrite a write that arrives during its check', async () => {
      await write({ mine: true });
      const { event_id } = await latest();
      meddleAfter('read');
      await refusal(event_id);
      assert.deepEqual(await data(), { his: true });
    });

    it('is completed by a repeated call if the instance crashed before storing the audit entry', async () => {
      await write({ title: 'Plan' });
      await write({ title: 'Worse' });
      const { event_id } = await latest();
      const { by, ...rest } = await latest();
      assert.equal(by, hers.agent_id, JSON.stringify(rest));
      const { store } = fixture.app.kernel;
      const commit = store.commit;
      Object.assign(store, { commit: () => Promise.reject(new Error('The instance has crashed.')) });
      await call(fixture, 'system_undo', { event_id }, hers).catch(() => undefined);
      Object.assign(store, { commit });
      assert.deepEqual(await data(), { title: 'Plan' });
      await ask('system_undo', { event_id });
      const taken = await latest();
      assert.deepEqual(
        [taken.undoes, taken.changes[0].before, taken.changes[0].after],
        [event_id, { title: 'Worse' }, { title: 'Plan' }],
      );
    });

    it('is rejected if the audit entry of the write was created only by a later, repeated call', async () => {
      await write({ title: 'Plan' });
      const args = { idempotency_key: 'the-same' };
      const { store } = fixture.app.kernel;
      const commit = store.commit;
      Object.assign(store, { commit: () => Promise.reject(new Error('The instance has crashed.')) });
      await call(fixture, 'firebase_write', { database, path, data: { title: 'New' }, ...args }, hers).catch(
        () => undefined,
      );
      Object.assign(store, { commit });
      assert.deepEqual(await data(), { title: 'New' });
      await write({ title: 'New' }, args);
      const { event_id, changes } = await latest();
      assert.deepEqual([changes[0].after, changes[0].shortened], [{ title: 'New' }, true]);
      assert.match(await refusal(event_id), /did not store all/);
    });
  });

describe('undo of a write to a Realtime Database value that is not an object', () => {
  it('restores the previous value', async () => {
    const fixture = new AccessFixture();
    await fixture.arrive('ada', 'leader');
    const hers = await fixture.agentOf('ada', 'worker');
    const path = `shared/${fixture.workspace}-value`;
    const write = (data: JsonValue) => {
      fixture.pass(1);
      return answer(fixture, 'firebase_write', { database: 'realtime', path, data }, hers);
    };
    await write('one');
    await write('two');
    const { events } = Object(await answer(fixture, 'system_getAudit', { limit: 1 }, hers));
    assert.deepEqual(
      [events[0].changes[0].before, events[0].changes[0].after],
      [{ '.value': 'one' }, { '.value': 'two' }],
    );
    await answer(fixture, 'system_undo', { event_id: events[0].event_id }, hers);
    const read = await answer(fixture, 'firebase_read', { database: 'realtime', path }, hers);
    assert.deepEqual(read['data'], { '.value': 'one' });
  });
});
