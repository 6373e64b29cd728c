/** Paths and contents for testing the rows of the permission table. */
import { type QueryConstraint, where } from 'firebase/firestore/lite';
import type { Subject } from '../../functions/src/access/rules/decision.ts';
import { type Permission, permissions } from '../../functions/src/access/rules/permissions.ts';
import { IS_NIGHTLY } from '../support/nightly.ts';
import { OWNER } from './callers.ts';

/** A row of the permission table, applied to one workspace. */
export interface Situation {
  readonly permission: Permission;
  /** The path of the row, or an additional path that the row covers. */
  readonly template: string;
  /** Undefined if the path of the row does not depend on a workspace. */
  readonly workspace: string | undefined;
}

/** In the permission table, `reads` has this value if the owner can query the documents. */
const OWNERS = 'owner and agents';

/** A document, a change of it, and conditions with which a query finds only documents that the caller may read. */
export interface Contents {
  readonly value: object;
  readonly change: object;
  readonly filter: readonly QueryConstraint[];
}

/** Valid contents for paths at which the rules allow only certain fields and values. */
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

/** Additional paths to test for a row, by the path of the row. */
const ALSO: ReadonlyMap<string, readonly string[]> = new Map([
  ['bus/{log}', ['bus/{log}/log/{entry}']],
  ['metrics/minutes/{minute}', ['metrics/minutes/202611220124/tools/{tool}']],
  ['metrics/days/{day}', ['metrics/days/20261122/tools/{tool}']],
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

/** Returns an unused path that matches the template, or the only matching path. */
export function freshPath({ template, workspace = 'workspace-1' }: Situation): string {
  documents += 1;
  return (
    template
      .replace('{uid}', String(OWNER.uid))
      .replace('{workspace}/', `${workspace}/`)
      .replace(/^workspaces\/\{workspace\}$/, `workspaces/${workspace}`)
      // No workspace is named `conversations`. Paths without a workspace's name belong to the workspace `default`.
      .replace('{first}', workspace === 'default' ? 'conversations' : workspace)
      .replace(/\{\w+(=\*\*)?\}$/, `document-${documents}`)
      .replaceAll(/\{(\w+)\}/g, '$1-1')
  );
}

/** Returns the fields on which the decision depends. A query for a list must name the workspace. */
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
  // The home of a stored agent in the workspace `default` is null. The Realtime Database omits such a field.
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
