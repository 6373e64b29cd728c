import assert from 'node:assert/strict';
import { Timestamp } from '@google-cloud/firestore';
import { z as classic } from 'zod';
import { z } from 'zod/mini';
import { type DocumentCodec, documentCodec, jsonText, timestamp } from '../../../functions/src/kernel/documentCodec.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';

interface Visit {
  readonly guest_name: string;
  readonly at: Date;
  readonly note?: string;
  readonly left_at?: Date;
  readonly visit_count: number;
  readonly rooms: readonly { readonly room_id: string; readonly visit_count: number }[];
  readonly keys: Readonly<Record<string, { readonly held_by: string }>>;
  readonly wishes?: JsonObject;
}

const { toDocument, fromDocument }: DocumentCodec<Visit> = documentCodec(
  z.object({
    guest_name: z.string(),
    at: timestamp,
    note: classic.string().nullable(),
    left_at: z.exactOptional(timestamp),
    visit_count: classic.int().default(0),
    rooms: z.array(z.object({ room_id: z.string(), visit_count: z.int() })),
    keys: z.record(z.string(), z.object({ held_by: z.string() })),
    wishes: z._default(z.nullable(jsonText), null),
  }),
);

const at = new Date(0);
const visit: Visit = { guest_name: 'Ada', at, visit_count: 2, rooms: [], keys: {} };
const full: Visit = {
  ...visit,
  note: '',
  left_at: at,
  rooms: [{ room_id: 'r1', visit_count: 1 }],
  keys: { front_door: { held_by: 'Ada' } },
  wishes: { nothing: null, lists: [[1], [2]] },
};

describe('codec of a Firestore document', () => {
  it('writes null for an absent value, and omits a field that the document may lack', () => {
    const fields = { guest_name: 'Ada', at, note: null, visit_count: 2, rooms: [], keys: {}, wishes: null };
    assert.deepEqual(toDocument(visit), fields);
  });

  it('renames fields at every depth, but never the keys of maps', () =>
    assert.deepEqual(toDocument(full), {
      guest_name: 'Ada',
      at,
      note: '',
      left_at: at,
      visit_count: 2,
      rooms: [{ room_id: 'r1', visit_count: 1 }],
      keys: { front_door: { held_by: 'Ada' } },
      wishes: '{"nothing":null,"lists":[[1],[2]]}',
    }));

  it('reads the documents that it writes, and ignores unknown fields', () => {
    for (const value of [visit, full]) {
      const times = { at: Timestamp.fromDate(at), ...(value.left_at && { left_at: Timestamp.fromDate(at) }) };
      assert.deepEqual(fromDocument({ ...toDocument(value), ...times, of_tomorrow: 1 }), value);
    }
  });

  it('returns the default value of a field that older documents lack', () => {
    const { visit_count, wishes, ...older } = toDocument(visit);
    assert.deepEqual(fromDocument({ ...older, at: Timestamp.fromDate(at) }), { ...visit, visit_count: 0 });
  });

  it('rejects a document that does not match its schema', () => {
    assert.throws(() => fromDocument({ ...toDocument(visit), at: 'today' }), z.core.$ZodError);
    assert.throws(() => fromDocument(undefined), z.core.$ZodError);
  });
});
