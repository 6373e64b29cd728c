/** This repository's declarations for a deployment: its functions, parameters, secrets, indexes and regions. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type DeclaredModels, declaredModels } from '../models/file.ts';
import { root } from '../project.mjs';
import { parameterOf } from '../setup/parameters.mjs';

const parameters = z.object({
  strings: z.record(z.string(), z.unknown()),
  integers: z.record(z.string(), z.unknown()),
  secrets: z.record(z.string(), z.unknown()),
});

const field = z.object({ fieldPath: z.string(), order: z.string().optional(), arrayConfig: z.string().optional() });

const indexFile = z.object({
  indexes: z.array(z.object({ collectionGroup: z.string(), queryScope: z.string(), fields: z.array(field) })),
  fieldOverrides: z.array(
    z.object({
      collectionGroup: z.string(),
      fieldPath: z.string(),
      ttl: z.boolean().optional(),
      indexes: z.array(
        z.object({ order: z.string().optional(), arrayConfig: z.string().optional(), queryScope: z.string() }),
      ),
    }),
  ),
});
export type IndexFile = z.output<typeof indexFile>;

const firebaseFile = z.object({
  functions: z.tuple([z.object({ codebase: z.string(), runtime: z.string() })]),
  firestore: z.object({ database: z.string(), location: z.string().optional(), rules: z.string() }),
  database: z.tuple([z.object({ target: z.string(), rules: z.string() })]),
  hosting: z.looseObject({}).optional(),
});

/** Description that the Firebase SDK attaches to each function, for the tools that deploy the function. */
const endpoint = z.object({
  secretEnvironmentVariables: z.array(z.object({ key: z.string() })).default([]),
  eventTrigger: z.object({ eventFilters: z.object({ topic: z.string().optional() }), retry: z.boolean() }).optional(),
  scheduleTrigger: z.looseObject({}).optional(),
  taskQueueTrigger: z.looseObject({}).optional(),
  httpsTrigger: z.object({ invoker: z.array(z.string()).default([]) }).optional(),
});

const requiredApis = z.array(z.object({ api: z.string() })).default([]);

export interface DeclaredFunction {
  readonly name: string;
  readonly kind: 'event' | 'schedule' | 'queue' | 'https';
  /** Whether Cloud Run allows all callers. The function itself checks their credentials. */
  readonly isPublic: boolean;
  readonly topic?: string;
  readonly retries: boolean;
  readonly secrets: readonly string[];
  /** APIs that the SDK declares the function to need. */
  readonly apis: readonly string[];
}

export interface Declared {
  readonly project: string;
  readonly region: string;
  /** Name of the Firestore database, which is `(default)` unless the parameters specify another. */
  readonly databaseId: string;
  /** Name of the database under "firestore" in firebase.json, which gets the rules and indexes. */
  readonly ruledDatabase: string;
  /** Deploy target of the Realtime Database in firebase.json. Source: https://firebase.google.com/docs/cli/targets */
  readonly realtimeTarget: string;
  /** Location of Firestore in firebase.json, where the operator can choose a multi-region. */
  readonly firestoreLocation: string | undefined;
  /** Email address of the functions' service account; undefined for the project's default account. */
  readonly serviceAccount: string | undefined;
  /** Names and values of the functions' parameters, without secrets. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Hosted agents, from models.json. */
  readonly models: DeclaredModels;
  readonly functions: readonly DeclaredFunction[];
  readonly codebase: string;
  readonly runtime: string;
  readonly hasHosting: boolean;
  readonly rules: { readonly firestore: string; readonly realtime: string };
  readonly indexes: IndexFile['indexes'];
  readonly fieldOverrides: IndexFile['fieldOverrides'];
}

/** Reads what this repository declares. @param folder folder that contains the parameter files */
export async function declaredFor(project: string, folder?: string): Promise<Declared> {
  const { strings, integers, secrets } = parameters.parse(read('functions/src/config.json'));
  const firebase = firebaseFile.parse(read('firebase.json'));
  const { indexes, fieldOverrides } = indexFile.parse(read('firestore.indexes.json'));
  const names = [...Object.keys(strings), ...Object.keys(integers)];
  const values = Object.fromEntries(names.map((name) => [name, parameterOf(name, project, folder)]));
  const [{ codebase, runtime }] = firebase.functions;
  const [{ target }] = firebase.database;
  return {
    project,
    region: values['REGION'] ?? '',
    databaseId: values['DATABASE_ID'] || '(default)',
    ruledDatabase: firebase.firestore.database,
    realtimeTarget: target,
    firestoreLocation: firebase.firestore.location,
    serviceAccount: accountOf(values['SERVICE_ACCOUNT'] ?? '', project),
    parameters: values,
    secrets: Object.keys(secrets),
    models: declaredModels(project, folder),
    functions: await declaredFunctions(),
    codebase,
    runtime,
    hasHosting: firebase.hosting !== undefined,
    rules: { firestore: textOf(firebase.firestore.rules), realtime: textOf(firebase.database[0].rules) },
    indexes,
    fieldOverrides,
  };
}

/** Expands `muster@` to the email address of that service account in the project, as Firebase does. */
function accountOf(parameter: string, project: string): string | undefined {
  if (parameter === '' || parameter === 'default') return undefined;
  return parameter.endsWith('@') ? `${parameter}${project}.iam.gserviceaccount.com` : parameter;
}

/** Returns all functions that the code exports. A separate list would have to be kept current. */
async function declaredFunctions(): Promise<DeclaredFunction[]> {
  const exported: Readonly<Record<string, unknown>> = await import('../../functions/src/index.ts');
  return Object.entries(exported).map(([name, value]) => {
    if (typeof value !== 'function') throw new Error(`functions/src/index.ts: ${name} is not a function`);
    return functionOf(
      name,
      endpoint.parse(Reflect.get(value, '__endpoint')),
      requiredApis.parse(Reflect.get(value, '__requiredAPIs')),
    );
  });
}

function functionOf(
  name: string,
  { eventTrigger, scheduleTrigger, taskQueueTrigger, httpsTrigger, ...rest }: z.output<typeof endpoint>,
  apis: z.output<typeof requiredApis>,
): DeclaredFunction {
  const { topic } = eventTrigger?.eventFilters ?? {};
  const kind = eventTrigger ? 'event' : scheduleTrigger ? 'schedule' : taskQueueTrigger ? 'queue' : 'https';
  return {
    name,
    kind,
    isPublic: httpsTrigger?.invoker.includes('public') ?? false,
    retries: eventTrigger?.retry ?? false,
    secrets: rest.secretEnvironmentVariables.map(({ key }) => key),
    apis: apis.map(({ api }) => api),
    ...(topic !== undefined && { topic }),
  };
}

function read(file: string): unknown {
  return JSON.parse(textOf(file));
}

function textOf(file: string): string {
  return readFileSync(`${root}/${file}`, 'utf8');
}
