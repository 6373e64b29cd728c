/** Concrete paths for the rows of the permission table, and their contents. */
import { type QueryConstraint, where } from 'firebase/firestore/lite';
import type { Subject } from '../../functions/src/access/rules/decision.ts';
import { type Permission, permissions } from '../../functions/src/access/rules/permissions.ts';
import { IS_NIGHTLY } from '../support/nightly.ts';
import { OWNER } from './callers.ts';

/** Row of the table in a workspace. */
export interface Situation {
  readonly permission: Permission;
  /** Path of the row, or another path that must be treated alike. */
  readonly template: string;
  /** Undefined if the row names no workspace. */
  readonly workspace: string | undefined;
}

/** Required access of owned documents that are queried by owner. */
const OWNERS = 'owner and agents';

/** Initial value, change, and the field by which a query finds the documents visible to its caller. */
export interface Contents {
  readonly value: object;
  readonly change: object;
  readonly filter: readonly QueryConstraint[];
}

/** Valid contents of paths that do not accept arbitrary values. */
const SAMPLES: ReadonlyMap<string, Pick<Contents, 'value' | 'change'>> = new Map([
  ['preferences/{uid}', { value: { reminder_lead_minutes: 30, push: true }, change: { email: true } }],
  [
    'writers/{uid}/commits/{id}',
    {
      value: { expires_at: new Date('2026-11-22T12:00:00Z'), arguments_hash: 'hash' },
      change: { expires_at: new Date('2026-11-22T13:00:00Z') },
    },
  ],
  [
    'devices/{uid}/{device}',
    { value: { token: 'token-1', registered_at: 1, name: 'Phone' }, change: { token: 'token-2', registered_at: 2 } },
  ],
]);

/** Additional paths that a row covers. */
const ALSO: ReadonlyMap<string, readonly string[]> = new Map([
  ['bus/{log}', ['bus/{log}/log/{entry}']],
  ['metrics/minutes/{minute}', ['metrics/minutes/202611220124/tools/{tool}']],
  ['messages/{first}/{rest=**}', ['messages/{first}/team/notes/{rest=**}']],
  ['shared/{first}/{collection}/{document=**}', ['shared/{first}/team/notes/of/{document=**}']],
]);

const ELSEWHERE = {
  firestore: [
    'elsewhere/{id}',
    'elsewhere/team/messages/{id}',
    'agents/agent-1/shared/{id}',
    'workspaces/alpha/credentials/{id}',
  ],
  realtime: ['elsewhere/{id}', 'tasks/{id}', 'elsewhere/messages/{id}', 'metrics/{id}', 'workspaces/{id}'],
};

export function situationsOf(database: Permission['database']): Situation[] {
  return permissions
    .filter((permission) => permission.database === database)
    .flatMap((permission) =>
      templatesOf(permission).flatMap((template) =>
        workspacesOf(permission).map((workspace) => ({ permission, template, workspace })),
      ),
    );
}

function templatesOf({ database, path }: Permission): readonly string[] {
  return path === '{path=**}' ? ELSEWHERE[database] : [path, ...(ALSO.get(path) ?? [])];
}

function workspacesOf({ where: place, reads, writes }: Permission): readonly (string | undefined)[] {
  if (typeof place === 'string' || (reads === 'no one' && writes === 'no one')) return [undefined];
  return IS_NIGHTLY || 'variable' in place ? ['alpha', 'beta', 'default', 'unopened'] : ['alpha', 'beta', 'default'];
}

let documents = 0;

/** Returns a path that no other check uses, except where a workspace has only one. */
export function freshPath({ template, workspace = 'workspace-1' }: Situation): string {
  documents += 1;
  return (
    template
      .replace('{uid}', String(OWNER.uid))
      .replace('{workspace}/', `${workspace}/`)
      .replace(/^workspaces\/\{workspace\}$/, `workspaces/${workspace}`)
      // No workspace has this name, so the path belongs to `default`.
      .replace('{first}', workspace === 'default' ? 'conversations' : workspace)
      .replace(/\{\w+(=\*\*)?\}$/, `document-${documents}`)
      .replaceAll(/\{(\w+)\}/g, '$1-1')
  );
}

/** Returns the fields that decide access. A query names its workspace if the documents have one. */
export function subjectOf({ permission, workspace }: Situation, isList: boolean): Subject {
  const { where: place, ownerField, reads } = permission;
  const inField = typeof place === 'object' && 'field' in place;
  return {
    ...(inField && workspace !== undefined && { workspace }),
    ...(ownerField !== undefined && !(isList && inField && reads !== OWNERS) && { owner: String(OWNER.uid) }),
  };
}

export function contentsOf({ permission, workspace }: Situation): Contents {
  const { path, where: place, ownerField, database } = permission;
  const whose = ownerField === undefined ? {} : { [ownerField]: String(OWNER.uid) };
  const isNamed = typeof place === 'object' && 'field' in place;
  // The home workspace `default` is stored as null, or as nothing in the Realtime Database.
  const home = path === 'agents/{agentId}' && workspace === 'default' ? null : workspace;
  const named = isNamed && !(database === 'realtime' && workspace === 'default') ? { [place.field]: home } : {};
  const own = { ...whose, ...named };
  const isOwners = ownerField !== undefined && permission.reads === OWNERS;
  const filter = [
    ...(isNamed ? [where(place.field, '==', home)] : []),
    ...(isOwners ? [where(ownerField, '==', OWNER.uid)] : []),
  ];
  const sample = SAMPLES.get(path) ?? {
    value: { text: 'hello', at: 1, ...own },
    change: { text: 'hello again', ...own },
  };
  return { ...sample, filter };
}
