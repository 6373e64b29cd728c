/** Selects the deployment for an operator's command, and configures the command's clients. */
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { devDirectory } from '../project.mjs';
import { endpointOf, parameterOf } from '../setup/parameters.mjs';

export class UsageError extends Error {}

/** Command-line options that select the deployment. */
export const deployment = { project: z.string().min(1).optional(), emulator: z.boolean().default(false) };

export interface Deployment {
  readonly project?: string | undefined;
  readonly emulator: boolean;
  readonly databaseUrl?: string | undefined;
}

type OptionType = 'string' | 'boolean';

/**
 * Reads a command line by a schema of its options.
 * @param options types of the options, by their names on the command line
 * @throws UsageError
 */
export function parsedLine<Schema extends z.ZodType>(
  args: readonly string[],
  types: Readonly<Record<string, OptionType>>,
  schema: Schema,
): { readonly options: z.output<Schema>; readonly words: readonly string[] } {
  const options = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]));
  const { values, positionals } = orUsageError(() => parseArgs({ args: [...args], allowPositionals: true, options }));
  const checked = schema.safeParse(values);
  if (!checked.success) throw new UsageError(checked.error.issues.map(({ message }) => message).join('\n'));
  return { options: checked.data, words: positionals };
}

function orUsageError<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

const endpointFile = z.object({
  projectId: z.string(),
  mcpUrl: z.string(),
  emulators: z.object({ firestore: z.string(), auth: z.string(), database: z.string() }),
});

/**
 * Sets the clients' environment variables for the deployment. Import the clients afterwards, because a client reads
 * its variables when it is imported.
 * @returns the URL of the deployment's endpoint
 */
export function reach({ emulator, project, databaseUrl }: Deployment): string {
  if (emulator) return reachEmulators();
  const projectId = project ?? process.env['GOOGLE_CLOUD_PROJECT'];
  if (!projectId) throw new UsageError('Missing deployment: specify --project <id> or --emulator.');
  setProject(projectId, databaseUrl ?? `https://${projectId}-default-rtdb.firebaseio.com`);
  return endpointOf(projectId);
}

function reachEmulators(): string {
  const file = `${devDirectory}/endpoint.json`;
  if (!existsSync(file)) throw new UsageError('No emulators are running. Start them with npm start.');
  const { projectId, mcpUrl, emulators } = endpointFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  setProject(projectId, `https://${projectId}.firebaseio.com`);
  process.env['FIRESTORE_EMULATOR_HOST'] = emulators.firestore;
  process.env['FIREBASE_AUTH_EMULATOR_HOST'] = emulators.auth;
  process.env['FIREBASE_DATABASE_EMULATOR_HOST'] = emulators.database;
  // Otherwise, Google's client would search for the credentials of a machine in Google's cloud.
  process.env['METADATA_SERVER_DETECTION'] = 'none';
  return mcpUrl;
}

const firebaseConfig = z.object({ projectId: z.string() });

/** Keeps variables that are already set for the same project, as they are in tests with emulators. */
function setProject(projectId: string, databaseURL: string): void {
  process.env['GCLOUD_PROJECT'] = projectId;
  process.env['GOOGLE_CLOUD_PROJECT'] = projectId;
  process.env['DATABASE_ID'] ??= parameterOf('DATABASE_ID', projectId);
  const { FIREBASE_CONFIG: known } = process.env;
  if (known?.startsWith('{') && firebaseConfig.safeParse(JSON.parse(known)).data?.projectId === projectId) return;
  process.env['FIREBASE_CONFIG'] = JSON.stringify({ projectId, databaseURL });
}

/** Runs a command and exits: with 0, or with 1 after printing the error's message without its stack. */
export async function runCommand(usage: string, command: () => Promise<void>): Promise<never> {
  const end = (error: unknown): never => {
    console.error(explained(error, usage));
    return process.exit(1);
  };
  // If credentials are missing, Google's client throws an error outside of any promise that could be awaited.
  process.once('unhandledRejection', end);
  try {
    await command();
    return process.exit(0);
  } catch (error) {
    return end(error);
  }
}

function explained(error: unknown, usage: string): string {
  if (error instanceof UsageError) return `${error.message}\n\n${usage}`;
  const message = error instanceof Error ? error.message : String(error);
  return /default credentials|UNAUTHENTICATED/i.test(message)
    ? 'No Google credentials: run `gcloud auth application-default login` first.'
    : message;
}
