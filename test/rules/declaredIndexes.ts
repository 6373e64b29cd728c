/** Reads firestore.indexes.json. Source: https://firebase.google.com/docs/reference/firestore/indexes */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const scope = z.enum(['COLLECTION', 'COLLECTION_GROUP']);
const directed = z.strictObject({ fieldPath: z.string(), order: z.enum(['ASCENDING', 'DESCENDING']) });
const contained = z.strictObject({ fieldPath: z.string(), arrayConfig: z.literal('CONTAINS') });

const file = z.strictObject({
  indexes: z.array(
    z.strictObject({
      collectionGroup: z.string(),
      queryScope: scope,
      fields: z.array(z.union([directed, contained])).min(2),
    }),
  ),
  /** Fields whose automatic indexes are replaced by the listed indexes. */
  fieldOverrides: z.array(
    z.strictObject({
      collectionGroup: z.string(),
      fieldPath: z.string(),
      ttl: z.boolean().optional(),
      indexes: z.array(
        z
          .union([directed.omit({ fieldPath: true }), contained.omit({ fieldPath: true })])
          .and(z.object({ queryScope: scope })),
      ),
    }),
  ),
});

export type DeclaredIndexes = z.output<typeof file>;
export type CompositeIndex = DeclaredIndexes['indexes'][number];
export type IndexField = CompositeIndex['fields'][number];

export function declaredIndexes(): DeclaredIndexes {
  return file.parse(JSON.parse(readFileSync(new URL('../../firestore.indexes.json', import.meta.url), 'utf8')));
}

/** Returns a description of an index, such as `session ↑, tags ∋, created_at ↓`. */
export function describeFields(fields: readonly IndexField[]): string {
  return fields.map((field) => `${field.fieldPath} ${markOf(field)}`).join(', ');
}

function markOf(field: IndexField): string {
  if ('arrayConfig' in field) return '∋';
  return field.order === 'ASCENDING' ? '↑' : '↓';
}
