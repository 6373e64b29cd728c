import assert from 'node:assert/strict';
import { FieldValue, GeoPoint, Timestamp } from '@google-cloud/firestore';
import fc from 'fast-check';
import { firestore } from '../../../../functions/src/kernel/firestore/client.ts';
import { fieldsInJson } from '../../../unit/firebase/firestore/jsonForm.ts';
import { agentCaller } from '../callers.ts';
import { DataClient, refusedFor, unique } from '../dataClient.ts';

const data = new DataClient('firestore');
const worker = agentCaller('worker');

describe('Firestore values', () => {
  const path = `shared/${unique()}`;

  it('are returned with the type and content with which they were stored', async () => {
    const property = fc.asyncProperty(fieldsInJson, async (fields) => {
      await data.write(worker, path, fields);
      assert.deepEqual((await data.read(worker, path)).data, fields);
      if (Object.keys(fields).some((name) => name in Object.prototype)) return;
      await data.write(worker, path, fields, { transaction: true });
      assert.deepEqual((await data.read(worker, path)).data, fields);
    });
    await fc.assert(property, { numRuns: 60, endOnFailure: true });
  });

  it('with field names that the SDK cannot update are accepted by set and rejected by update', async () => {
    const fields = { toString: 'a name that every object has', constructor: { valueOf: 1 } };
    await data.write(worker, path, fields);
    assert.deepEqual((await data.read(worker, path)).data, fields);
    for (const change of [{ operation: 'update' }, { transaction: true }] as const) {
      const { details } = await refusedFor('INVALID_DATA_TYPE', data.write(worker, path, fields, change));
      assert.equal(details.field, 'data.toString');
    }
  });

  it('that other clients wrote are returned in an encoding that firebase.write accepts', async () => {
    await firestore()
      .doc(path)
      .set({
        at: new Timestamp(1795309323, 123456000),
        where: new GeoPoint(48.2, 16.4),
        who: firestore().doc('agents/agent-001'),
        what: Buffer.from('hello'),
        many: 9007199254740993n,
        much: Number.POSITIVE_INFINITY,
        meaning: FieldValue.vector([0.5, 1]),
      });
    const { data: fields } = await data.read(worker, path);
    assert.deepEqual(fields, {
      at: { __timestamp__: '2026-11-22T01:02:03.123456Z' },
      where: { __geopoint__: { latitude: 48.2, longitude: 16.4 } },
      who: { __reference__: 'agents/agent-001' },
      what: { __bytes__: 'aGVsbG8=' },
      many: { __integer__: '9007199254740993' },
      much: { __double__: 'Infinity' },
      meaning: { __vector__: [0.5, 1] },
    });
    const copy = `shared/${unique()}`;
    await data.write(worker, copy, fields);
    const [original, written] = await firestore().getAll(firestore().doc(path), firestore().doc(copy));
    assert.deepEqual(written?.data(), original?.data());
  });
});
