/** Checks of Firestore's indexes and expiry policies. */
import { type Check, type Finding, known, list, OK, problemUnless, type Site, waitsFor } from '../check.ts';
import type { IndexFile } from '../declared.ts';

type Index = NonNullable<(Site['seen']['indexes'] & { readonly ok: true })['value']>[number];
type Field = NonNullable<(Site['seen']['fields'] & { readonly ok: true })['value']>[number];
type IndexField = Index['fields'][number];

/** Returns a text that identifies an index, without the document's name, which Firestore adds as the last field. */
function keyOf(group: string, scope: string, fields: readonly IndexField[]): string {
  const own = fields.filter(({ fieldPath }) => fieldPath !== '__name__');
  const parts = own.map(({ fieldPath, order, arrayConfig }) => `${fieldPath} ${order ?? arrayConfig}`);
  return `${group} ${scope}: ${parts.join(', ')}`;
}

export function groupOf(name: string): string {
  return /\/collectionGroups\/([^/]+)\//.exec(name)?.[1] ?? '';
}

/** Returns the state of each declared index; undefined if the index does not exist. */
export function indexStates(
  declared: IndexFile['indexes'],
  indexes: readonly Index[],
): readonly { readonly key: string; readonly id: string; readonly state: string | undefined }[] {
  const there = new Map(indexes.map((one) => [keyOf(groupOf(one.name), one.queryScope, one.fields), one] as const));
  return declared.map(({ collectionGroup, queryScope, fields }) => {
    const key = keyOf(collectionGroup, queryScope, fields);
    const { name = '', state } = there.get(key) ?? {};
    return { key, id: name.replace(/^.*\//, ''), state };
  });
}

type Override = IndexFile['fieldOverrides'][number];

function fieldOf({ collectionGroup, fieldPath }: Override, fields: readonly Field[]): Field | undefined {
  return fields.find(({ name }) => name.endsWith(`/collectionGroups/${collectionGroup}/fields/${fieldPath}`));
}

/** Returns whether a field has the index settings that the file declares for it, not the collection's settings. */
function isOverridden(override: Override, fields: readonly Field[]): boolean {
  const config = fieldOf(override, fields)?.indexConfig;
  if (config === undefined || config.usesAncestorConfig) return false;
  const key = (scope: string, { order, arrayConfig }: Omit<IndexField, 'fieldPath'>) =>
    `${scope} ${order ?? arrayConfig}`;
  const there = config.indexes.flatMap(({ queryScope, fields: of }) => of.map((one) => key(queryScope, one)));
  const wanted = override.indexes.map((one) => key(one.queryScope, one));
  return there.length === wanted.length && wanted.every((one) => there.includes(one));
}

function deployIndexes({ declared }: Site): { readonly command: string } {
  return { command: `npx firebase deploy --only firestore:indexes --non-interactive --project ${declared.project}` };
}

/** Returns a command that deletes broken indexes first, because the Firebase CLI creates only missing indexes. */
function rebuild(site: Site, broken: readonly string[]): { readonly command: string } {
  const { databaseId, project } = site.declared;
  const deleting = broken.map(
    (id) => `gcloud firestore indexes composite delete ${id} --database='${databaseId}' --quiet --project ${project}`,
  );
  return { command: [...deleting, deployIndexes(site).command].join(' && ') };
}

/** Returns a command that sets the failed policies again, because Firestore does not retry them. */
function expire(site: Site, broken: readonly Override[]): { readonly command: string } {
  const { databaseId, project } = site.declared;
  const enabling = broken.map(
    ({ collectionGroup, fieldPath }) =>
      `gcloud firestore fields ttls update ${fieldPath} --collection-group=${collectionGroup} --enable-ttl --database='${databaseId}' --project ${project}`,
  );
  return enabling.length > 0 ? { command: enabling.join(' && ') } : deployIndexes(site);
}

function missing(site: Site): Finding {
  return waitsFor(`no Firestore database ${site.declared.databaseId}`);
}

export const indexChecks: readonly Check[] = [
  {
    name: 'indexes',
    find: (site) =>
      known(site, site.seen.indexes, (indexes) => {
        if (indexes === undefined) return missing(site);
        const states = indexStates(site.declared.indexes, indexes);
        const waiting = states.filter(({ state }) => state !== 'READY');
        if (waiting.length === 0) return OK;
        const absent = waiting.filter(({ state }) => state === undefined || state === 'NEEDS_REPAIR');
        const why = 'queries that need these indexes are refused until the indexes are ready';
        if (absent.length > 0)
          return {
            state: 'problem',
            what: `${absent.length} of ${states.length} indexes are missing or broken: ${list(absent.map(({ key }) => key))}`,
            why,
            fix: rebuild(
              site,
              absent.flatMap(({ id, state }) => (state === undefined ? [] : [id])),
            ),
          };
        const { databaseId, project } = site.declared;
        return {
          state: 'problem',
          what: `${waiting.length} of ${states.length} indexes are being built: ${list(waiting.map(({ key }) => key))}`,
          why,
          fix: {
            command: `gcloud firestore indexes composite list --database='${databaseId}' --filter=state=CREATING --project ${project}`,
          },
        };
      }),
  },
  {
    name: 'index exemptions',
    find: (site) =>
      known(site, site.seen.fields, (fields) => {
        if (fields === undefined) return missing(site);
        const lacking = site.declared.fieldOverrides.filter((one) => !isOverridden(one, fields));
        return problemUnless(lacking.length === 0, {
          what: `${lacking.length} fields have indexes that they should not have: ${list(lacking.map((one) => `${one.collectionGroup}.${one.fieldPath}`))}`,
          why: 'every index makes each write cost more, and an index on a time limits the writes per second',
          fix: deployIndexes(site),
        });
      }),
  },
  {
    name: 'expiry',
    find: (site) =>
      known(site, site.seen.fields, (fields) => {
        if (fields === undefined) return missing(site);
        const lacking = site.declared.fieldOverrides.filter(
          (one) => one.ttl === true && !['ACTIVE', 'CREATING'].includes(fieldOf(one, fields)?.ttlConfig?.state ?? ''),
        );
        return problemUnless(lacking.length === 0, {
          what: `no expiry policy for ${list(lacking.map(({ collectionGroup }) => collectionGroup))}`,
          why: 'documents that should be deleted after a day or a month would be kept, and billed, forever',
          fix: expire(
            site,
            lacking.filter((one) => fieldOf(one, fields)?.ttlConfig?.state === 'NEEDS_REPAIR'),
          ),
        });
      }),
  },
];
