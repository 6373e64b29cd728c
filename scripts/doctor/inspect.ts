/** Reads everything that the checks need from a project, concurrently and without changing anything. */
import type { z } from 'zod';
import type { Api } from '../google/apis.ts';
import type { Google } from '../google/client.ts';
import { type Failure, optional, type Result } from '../google/failure.ts';
import { policy } from '../google/policy.ts';
import type { Declared } from './declared.ts';
import { DEPLOYING, deadLetterTopic, defaultAccountOf, isConsumers, realtimeOf } from './needs.ts';
import * as shapes from './shapes.ts';

/** Thrown if the project does not exist or the operator cannot access it. */
export class NoProject extends Error {}

export interface Identity {
  readonly id: string;
  readonly number: string;
  readonly parent: string | undefined;
  readonly state: string;
  readonly isFirebase: Result<boolean>;
}

export type Inspected = Awaited<ReturnType<typeof inspect>>;

export async function inspect(google: Google, declared: Declared) {
  const project = await findProject(google);
  const account = declared.serviceAccount ?? defaultAccountOf(project.number);
  const [base, databases, identity, deployed, events, secrets, signIn] = await Promise.all([
    inspectProject(google, project),
    inspectDatabases(google, declared),
    inspectIdentity(google, account, declared),
    inspectDeployed(google, declared),
    inspectEvents(google, declared),
    inspectSecrets(google, declared.secrets),
    inspectSignIn(google),
  ]);
  const [rules, deployer] = await Promise.all([
    inspectRules(google, declared, databases.realtimeInstances),
    inspectDeployer(google),
  ]);
  return {
    project,
    account,
    ...base,
    ...databases,
    ...identity,
    ...deployed,
    ...events,
    ...secrets,
    ...signIn,
    ...rules,
    deployer,
  };
}

/** Returns the project from the API of Resource Manager or, if that API is disabled, from the Firebase API. */
async function findProject(google: Google): Promise<Identity> {
  const [cloud, firebase] = await Promise.all([
    google.get({
      api: 'cloudresourcemanager.googleapis.com',
      path: `v3/projects/${google.project}`,
      schema: shapes.project,
    }),
    google.get({
      api: 'firebase.googleapis.com',
      path: `v1beta1/projects/${google.project}`,
      schema: shapes.firebaseProject,
    }),
  ]);
  const isFirebase = present(firebase);
  if (cloud.ok) {
    const { name, parent, state = '' } = cloud.value;
    return { id: google.project, number: name.replace('projects/', ''), parent, state, isFirebase };
  }
  if (!firebase.ok || cloud.failure.reason !== 'SERVICE_DISABLED') throw unknownProject(google.project, cloud.failure);
  return { id: google.project, number: firebase.value.projectNumber, parent: undefined, state: 'ACTIVE', isFirebase };
}

function unknownProject(id: string, { status, message }: Failure): NoProject {
  if (status === 0) return new NoProject(`Google is unreachable: ${message}.`);
  if (status === 401) return new NoProject(`Google rejected your credentials: ${message}`);
  return new NoProject(
    `Project ${id} not found, or your credentials cannot access it (${message}). List yours with gcloud projects list. The owner can grant you roles/viewer and roles/serviceusage.serviceUsageConsumer.`,
  );
}

async function inspectProject(google: Google, { number, id }: Identity) {
  const [billing, services] = await Promise.all([
    google.get({ api: 'cloudbilling.googleapis.com', path: `v1/projects/${id}/billingInfo`, schema: shapes.billing }),
    google.list(
      {
        api: 'serviceusage.googleapis.com',
        path: `v1/projects/${number}/services`,
        query: { filter: 'state:ENABLED', pageSize: '200' },
        schema: shapes.service,
      },
      'services',
    ),
  ]);
  const account = billing.ok ? billing.value.billingAccountName : '';
  const budgets: Result<z.output<typeof shapes.budget>[]> =
    account === ''
      ? { ok: true, value: [] }
      : await google.list(
          { api: 'billingbudgets.googleapis.com', path: `v1/${account}/budgets`, schema: shapes.budget },
          'budgets',
        );
  return { billing, services, budgets };
}

async function inspectDatabases(google: Google, { databaseId }: Declared) {
  const firestore = `v1/projects/${google.project}/databases`;
  const database = `${firestore}/${databaseId}`;
  const api: Api = 'firestore.googleapis.com';
  const [firestores, indexes, fields, schedules, instances, sdk] = await Promise.all([
    google.list({ api, path: firestore, schema: shapes.firestoreDatabase }, 'databases'),
    google.list(
      { api, path: `${database}/collectionGroups/-/indexes`, query: { pageSize: '1000' }, schema: shapes.index },
      'indexes',
    ),
    google.list(
      {
        api,
        path: `${database}/collectionGroups/-/fields`,
        // Firestore accepts only these conditions in a filter of fields.
        query: { filter: 'indexConfig.usesAncestorConfig=false OR ttlConfig:*', pageSize: '1000' },
        schema: shapes.indexedField,
      },
      'fields',
    ),
    google.list({ api, path: `${database}/backupSchedules`, schema: shapes.backupSchedule }, 'backupSchedules'),
    google.list(
      {
        api: 'firebasedatabase.googleapis.com',
        path: `v1beta/projects/${google.project}/locations/-/instances`,
        schema: shapes.realtimeInstance,
      },
      'instances',
    ),
    google.get({
      api: 'firebase.googleapis.com',
      path: `v1beta1/projects/${google.project}/adminSdkConfig`,
      schema: shapes.adminSdkConfig,
    }),
  ]);
  return {
    firestores,
    indexes: optional(indexes),
    fields: optional(fields),
    backupSchedules: optional(schedules),
    realtimeInstances: instances,
    adminSdkConfig: sdk,
  };
}

async function inspectRules(
  google: Google,
  { databaseId }: Declared,
  instances: Result<z.output<typeof shapes.realtimeInstance>[]>,
) {
  const api: Api = 'firebaserules.googleapis.com';
  const place = `projects/${google.project}`;
  const firestoreRules = async (): Promise<Result<string | undefined>> => {
    const releases = await google.list({ api, path: `v1/${place}/releases`, schema: shapes.release }, 'releases');
    if (!releases.ok) return releases;
    const names = [`cloud.firestore/${databaseId}`, ...(databaseId === '(default)' ? ['cloud.firestore'] : [])];
    const [released] = names.flatMap((name) =>
      releases.value.filter((one) => one.name === `${place}/releases/${name}`),
    );
    if (released === undefined) return { ok: true, value: undefined };
    const ruleset = await google.get({ api, path: `v1/${released.rulesetName}`, schema: shapes.ruleset });
    if (!ruleset.ok) return ruleset;
    return { ok: true, value: ruleset.value.source.files.map(({ content }) => content).join('\n') };
  };
  const realtimeRules = async (): Promise<Result<string | undefined>> => {
    if (!instances.ok) return instances;
    const { databaseUrl } = realtimeOf(instances.value) ?? {};
    if (databaseUrl === undefined) return { ok: true, value: undefined };
    return google.text(`${databaseUrl}/.settings/rules.json`);
  };
  const [firestore, realtime] = await Promise.all([firestoreRules(), realtimeRules()]);
  return { firestoreRules: firestore, realtimeRules: realtime };
}

/** Maximum number of permissions that Google checks in one request. */
const PERMISSION_BATCH = 100;

/** Returns which of the permissions that a deployment needs the operator has. */
async function inspectDeployer(google: Google): Promise<Result<readonly string[]>> {
  const starts = Array.from(
    { length: Math.ceil(DEPLOYING.length / PERMISSION_BATCH) },
    (_, index) => index * PERMISSION_BATCH,
  );
  const answers = await Promise.all(
    starts.map((from) =>
      google.send({
        method: 'POST',
        api: 'cloudresourcemanager.googleapis.com',
        path: `v1/projects/${google.project}:testIamPermissions`,
        body: { permissions: DEPLOYING.slice(from, from + PERMISSION_BATCH) },
        schema: shapes.heldPermissions,
      }),
    ),
  );
  const held: string[] = [];
  for (const answer of answers) {
    if (!answer.ok) return answer;
    held.push(...answer.value.permissions);
  }
  return { ok: true, value: held };
}

async function inspectIdentity(google: Google, email: string, { region }: Declared) {
  const account = `v1/projects/${google.project}/serviceAccounts/${email}`;
  const effective = (constraint: string) =>
    google.get({
      api: 'orgpolicy.googleapis.com',
      path: `v2/projects/${google.project}/policies/${constraint}:getEffectivePolicy`,
      schema: shapes.effectivePolicy,
    });
  const [projectPolicy, serviceAccount, accountPolicy, memberDomains, defaultGrants, builder] = await Promise.all([
    google.send({
      method: 'POST',
      api: 'cloudresourcemanager.googleapis.com',
      path: `v3/projects/${google.project}:getIamPolicy`,
      body: {},
      schema: policy,
    }),
    google.get({ api: 'iam.googleapis.com', path: account, schema: shapes.serviceAccount }),
    google.send({
      method: 'POST',
      api: 'iam.googleapis.com',
      path: `${account}:getIamPolicy`,
      body: {},
      schema: policy,
    }),
    effective('iam.allowedPolicyMemberDomains'),
    effective('iam.automaticIamGrantsForDefaultServiceAccounts'),
    google.get({
      api: 'cloudbuild.googleapis.com',
      path: `v1/projects/${google.project}/locations/${region}/defaultServiceAccount`,
      schema: shapes.buildAccount,
    }),
  ]);
  return {
    projectPolicy,
    serviceAccount: optional(serviceAccount),
    accountPolicy: optional(accountPolicy),
    memberDomains: optional(memberDomains),
    defaultGrants: optional(defaultGrants),
    builder,
  };
}

async function inspectDeployed(google: Google, { region, functions }: Declared) {
  const place = `projects/${google.project}/locations/${region}`;
  const [deployed, services, queues, jobs, repository, invokers] = await Promise.all([
    google.list(
      {
        api: 'cloudfunctions.googleapis.com',
        path: `v2/projects/${google.project}/locations/-/functions`,
        schema: shapes.deployedFunction,
      },
      'functions',
    ),
    google.list({ api: 'run.googleapis.com', path: `v2/${place}/services`, schema: shapes.runService }, 'services'),
    google.list({ api: 'cloudtasks.googleapis.com', path: `v2/${place}/queues`, schema: shapes.queue }, 'queues'),
    google.list({ api: 'cloudscheduler.googleapis.com', path: `v1/${place}/jobs`, schema: shapes.job }, 'jobs'),
    google.get({
      api: 'artifactregistry.googleapis.com',
      path: `v1/${place}/repositories/gcf-artifacts`,
      schema: shapes.repository,
    }),
    byName(
      functions.map(({ name }) => name),
      (name) =>
        google
          .get({
            api: 'run.googleapis.com',
            path: `v2/${place}/services/${name.toLowerCase()}:getIamPolicy`,
            schema: policy,
          })
          .then(optional),
    ),
  ]);
  return { functions: deployed, runServices: services, queues, jobs, repository: optional(repository), invokers };
}

async function inspectEvents(google: Google, declared: Declared) {
  const api: Api = 'pubsub.googleapis.com';
  const place = `v1/projects/${google.project}`;
  const deadLetters = deadLetterTopic(declared);
  const [topics, subscriptions, deadLetterPolicy] = await Promise.all([
    google.list({ api, path: `${place}/topics`, schema: shapes.topic }, 'topics'),
    google.list({ api, path: `${place}/subscriptions`, schema: shapes.subscription }, 'subscriptions'),
    google.get({ api, path: `${place}/topics/${deadLetters}:getIamPolicy`, schema: policy }),
  ]);
  const all = subscriptions.ok ? subscriptions.value : [];
  const names = all.filter((one) => isConsumers(declared, one)).map(({ name }) => name);
  const subscriptionPolicies = await byName(names, (name) =>
    google.get({ api, path: `v1/${name}:getIamPolicy`, schema: policy }),
  );
  return { topics, subscriptions, subscriptionPolicies, deadLetterPolicy: optional(deadLetterPolicy) };
}

/** Reads whether each secret has a value and who can read it. The values themselves are never read. */
async function inspectSecrets(google: Google, names: readonly string[]) {
  const api: Api = 'secretmanager.googleapis.com';
  const path = (name: string) => `v1/projects/${google.project}/secrets/${name}`;
  const [secretVersions, secretPolicies] = await Promise.all([
    byName(names, (name) =>
      google
        .list(
          { api, path: `${path(name)}/versions`, query: { filter: 'state:ENABLED' }, schema: shapes.secretVersion },
          'versions',
        )
        .then(optional),
    ),
    byName(names, (name) => google.get({ api, path: `${path(name)}:getIamPolicy`, schema: policy }).then(optional)),
  ]);
  return { secretVersions, secretPolicies };
}

async function inspectSignIn(google: Google) {
  const place = `v1beta1/projects/${google.project}`;
  const [authConfig, webApps, sites, logExclusions] = await Promise.all([
    google.get({
      api: 'identitytoolkit.googleapis.com',
      path: `v2/projects/${google.project}/config`,
      schema: shapes.authConfig,
    }),
    google.list({ api: 'firebase.googleapis.com', path: `${place}/webApps`, schema: shapes.webApp }, 'apps'),
    google.list({ api: 'firebasehosting.googleapis.com', path: `${place}/sites`, schema: shapes.site }, 'sites'),
    google.list(
      { api: 'logging.googleapis.com', path: `v2/projects/${google.project}/exclusions`, schema: shapes.logExclusion },
      'exclusions',
    ),
  ]);
  return { authConfig: optional(authConfig), webApps, sites, logExclusions };
}

function present(result: Result<unknown>): Result<boolean> {
  const found = optional(result);
  return found.ok ? { ok: true, value: found.value !== undefined } : found;
}

async function byName<Value>(
  names: readonly string[],
  read: (name: string) => Promise<Result<Value>>,
): Promise<ReadonlyMap<string, Result<Value>>> {
  return new Map(await Promise.all(names.map(async (name) => [name, await read(name)] as const)));
}
