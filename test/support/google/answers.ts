/** Responses of Google's APIs about a project: recorded as JSON, or derived from this repository's declarations. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type Declared, declaredFor } from '../../../scripts/doctor/declared.ts';
import { DEPLOYING, neededApis } from '../../../scripts/doctor/needs.ts';

export const PROJECT = 'muster-team';
export const NUMBER = '415104041262';
export const DATABASE_URL = 'https://muster-team-default-rtdb.firebaseio.com';
const AGENT = `serviceAccount:service-${NUMBER}@gcp-sa-pubsub.iam.gserviceaccount.com`;

const recorded = z.object({
  /** Describes the state of the recorded project, and what caused this state. */
  about: z.string(),
  parameters: z.record(z.string(), z.string()),
  /** Responses by API and path: `firestore.googleapis.com/v1/…`. A text like `$indexes` means a derived response. */
  answers: z.record(z.string(), z.unknown()),
});

export interface Recording {
  readonly declared: Declared;
  /** Folder that contains the project's `.env` files. */
  readonly folder: string;
  readonly answers: Map<string, unknown>;
}

export type RecordedProject = 'fresh' | 'organization' | 'half' | 'forgotten' | 'healthy';

/** Loads a recorded project. Its parameters are written to `.env` files, and read from there as in a deployment. */
export async function recordingOf(name: RecordedProject): Promise<Recording> {
  const file = fileURLToPath(new URL(`../../unit/doctor/projects/${name}.json`, import.meta.url));
  const { parameters, answers } = recorded.parse(JSON.parse(readFileSync(file, 'utf8')));
  const folder = mkdtempSync(join(tmpdir(), 'muster-parameters-'));
  const standard = fileURLToPath(new URL('../../../functions/.env', import.meta.url));
  writeFileSync(join(folder, '.env'), readFileSync(standard));
  const lines = Object.entries(parameters).map(([key, value]) => `${key}=${value}\n`);
  writeFileSync(join(folder, `.env.${PROJECT}`), lines.join(''));
  const declared = await declaredFor(PROJECT, folder);
  const all = new Map(Object.entries(answers));
  for (const [path, value] of all) if (typeof value === 'string') all.set(path, declaredAnswer(value, declared));
  for (const [path, policy] of policiesOf(declared)) if (all.has('$policies')) all.set(path, policy);
  all.delete('$policies');
  return { declared, folder, answers: all };
}

/** Returns the response after a deployment of the declared resources, for a text such as `$indexes`. */
export function declaredAnswer(text: string, declared: Declared): unknown {
  const make = MAKERS[text];
  if (make === undefined) throw new Error(`Unknown derived response: ${text}`);
  return make(declared);
}

const place = ({ region }: Declared): string => `projects/${PROJECT}/locations/${region}`;
const firestore = ({ databaseId }: Declared): string => `projects/${PROJECT}/databases/${databaseId}/collectionGroups`;

export const RULESET = `firebaserules.googleapis.com/v1/projects/${PROJECT}/rulesets/5e1f`;
export const RELEASES = `firebaserules.googleapis.com/v1/projects/${PROJECT}/releases`;
export const REALTIME_RULES = `${new URL(DATABASE_URL).host}/.settings/rules.json`;

const MAKERS: Readonly<Record<string, (declared: Declared) => unknown>> = {
  $apis: (declared) => ({
    services: neededApis(declared).map((api) => ({
      name: `projects/${NUMBER}/services/${api}`,
      parent: `projects/${NUMBER}`,
      state: 'ENABLED',
      config: { name: api },
    })),
  }),
  // A project's owner has all permissions that a deployment needs.
  $permissions: () => ({ permissions: DEPLOYING }),
  $releases: ({ databaseId }) => ({
    releases: [
      {
        name: `projects/${PROJECT}/releases/cloud.firestore/${databaseId}`,
        rulesetName: `projects/${PROJECT}/rulesets/5e1f`,
      },
    ],
  }),
  $firestoreRules: ({ rules }) => ({
    name: `projects/${PROJECT}/rulesets/5e1f`,
    source: { files: [{ name: 'firestore.rules', content: rules.firestore }] },
  }),
  $realtimeRules: ({ rules }) => JSON.parse(rules.realtime),
  $indexes: (declared) => ({
    indexes: declared.indexes.map(({ collectionGroup, queryScope, fields }, position) => ({
      name: `${firestore(declared)}/${collectionGroup}/indexes/CICAgN${position}`,
      queryScope,
      fields: [...fields, { fieldPath: '__name__', order: fields.at(-1)?.order ?? 'ASCENDING' }],
      state: 'READY',
    })),
  }),
  $fields: (declared) => ({
    fields: [
      { name: `${firestore(declared)}/__default__/fields/*`, indexConfig: { indexes: [] } },
      ...declared.fieldOverrides.map(({ collectionGroup, fieldPath, ttl, indexes }) => ({
        name: `${firestore(declared)}/${collectionGroup}/fields/${fieldPath}`,
        indexConfig: {
          indexes: indexes.map(({ queryScope, ...how }) => ({
            queryScope,
            fields: [{ fieldPath, ...how }],
            state: 'READY',
          })),
          ancestorField: `${firestore(declared)}/__default__/fields/*`,
        },
        ...(ttl && { ttlConfig: { state: 'ACTIVE' } }),
      })),
    ],
  }),
  $functions: (declared) => ({ functions: functionsOf(declared, { projectId: PROJECT, databaseURL: DATABASE_URL }) }),
  // Functions that were deployed before the Realtime Database was created.
  $functionsWithoutDatabase: (declared) => ({ functions: functionsOf(declared, { projectId: PROJECT }) }),
  $services: (declared) => ({
    services: declared.functions.map(({ name }) => ({
      name: `${place(declared)}/services/${name.toLowerCase()}`,
      uri: `https://${name.toLowerCase()}-x1y2z3-uc.a.run.app`,
    })),
  }),
  $queues: (declared) => ({
    queues: of(declared, 'queue').map((name) => ({ name: `${place(declared)}/queues/${name}`, state: 'RUNNING' })),
  }),
  $jobs: (declared) => ({
    jobs: of(declared, 'schedule').map((name) => ({
      name: `${place(declared)}/jobs/firebase-schedule-${name}-${declared.region}`,
      schedule: 'every 1 minutes',
      state: 'ENABLED',
    })),
  }),
  $topics: (declared) => ({ topics: topicsOf(declared).map(({ topic }) => ({ name: topic })) }),
  $subscriptions: (declared) => ({
    subscriptions: topicsOf(declared).map(({ topic, subscription, retries }) => ({
      name: subscription,
      topic,
      ...(retries && {
        deadLetterPolicy: { deadLetterTopic: `projects/${PROJECT}/topics/dead-letters`, maxDeliveryAttempts: 20 },
      }),
    })),
  }),
  // Eventarc's default subscriptions retry without a dead-letter topic.
  $plainSubscriptions: (declared) => ({
    subscriptions: topicsOf(declared).map(({ topic, subscription }) => ({ name: subscription, topic })),
  }),
};

/** Returns the deployed functions. @param config Firebase configuration in the functions' environment */
function functionsOf(declared: Declared, config: object) {
  return declared.functions.map(({ name, secrets }) => ({
    name: `${place(declared)}/functions/${name}`,
    state: 'ACTIVE',
    environment: 'GEN_2',
    labels: { 'deployment-tool': 'cli-firebase', 'firebase-functions-codebase': declared.codebase },
    buildConfig: { runtime: declared.runtime, entryPoint: name },
    serviceConfig: {
      service: `${place(declared)}/services/${name.toLowerCase()}`,
      uri: `https://${name.toLowerCase()}-x1y2z3-uc.a.run.app`,
      serviceAccountEmail: declared.serviceAccount ?? `${NUMBER}-compute@developer.gserviceaccount.com`,
      maxInstanceCount: name === 'mcp' ? Number(declared.parameters['MAX_INSTANCES']) : 100,
      environmentVariables: {
        ...declared.parameters,
        FIREBASE_CONFIG: JSON.stringify(config),
        GCLOUD_PROJECT: PROJECT,
      },
      secretEnvironmentVariables: secrets.map((key) => ({ key, projectId: PROJECT, secret: key, version: '1' })),
    },
  }));
}

function of(declared: Declared, kind: string): readonly string[] {
  return declared.functions.filter((one) => one.kind === kind).map(({ name }) => name);
}

export function topicsOf(declared: Declared) {
  return declared.functions.flatMap(({ name, topic, retries }) =>
    topic === undefined
      ? []
      : [
          {
            topic: `projects/${PROJECT}/topics/${topic}`,
            subscription: `projects/${PROJECT}/subscriptions/eventarc-${declared.region}-${name.toLowerCase()}-sub-001`,
            retries,
          },
        ],
  );
}

/** Returns the IAM policies of single resources: functions, subscriptions, the dead-letter topic and secrets. */
function policiesOf(declared: Declared): readonly (readonly [string, unknown])[] {
  const account = `serviceAccount:${declared.serviceAccount ?? `${NUMBER}-compute@developer.gserviceaccount.com`}`;
  const granting = (role: string, member: string) => ({
    version: 1,
    etag: 'BwYx',
    bindings: [{ role, members: [member] }],
  });
  return [
    ...declared.functions.map(
      ({ name, isPublic }) =>
        [
          `run.googleapis.com/v2/${place(declared)}/services/${name.toLowerCase()}:getIamPolicy`,
          granting('roles/run.invoker', isPublic ? 'allUsers' : account),
        ] as const,
    ),
    ...topicsOf(declared).map(
      ({ subscription }) =>
        [`pubsub.googleapis.com/v1/${subscription}:getIamPolicy`, granting('roles/pubsub.subscriber', AGENT)] as const,
    ),
    [
      `pubsub.googleapis.com/v1/projects/${PROJECT}/topics/dead-letters:getIamPolicy`,
      granting('roles/pubsub.publisher', AGENT),
    ],
    ...declared.secrets.flatMap((name) => {
      const secret = `secretmanager.googleapis.com/v1/projects/${PROJECT}/secrets/${name}`;
      const version = { name: `projects/${NUMBER}/secrets/${name}/versions/1`, state: 'ENABLED' };
      return [
        [`${secret}/versions`, { versions: [version], totalSize: 1 }],
        [`${secret}:getIamPolicy`, granting('roles/secretmanager.secretAccessor', account)],
      ] as const;
    }),
  ];
}
