/** Options that select the operator's project, and the client for it. */
import { parseArgs } from 'node:util';
import { originIn } from '../google/apis.ts';
import { Google } from '../google/client.ts';
import { operatorsToken } from '../google/credentials.ts';
import { UsageError } from '../operator/deployment.ts';
import { type Declared, declaredFor } from './declared.ts';

/** Format of project ids. Source: https://cloud.google.com/resource-manager/docs/creating-managing-projects */
const PROJECT_ID = /^[a-z][a-z0-9-]{4,28}[a-z0-9]$/;

/**
 * @param more options in addition to --project
 * @throws UsageError
 */
export async function parsedSite(
  args: readonly string[],
  more: Readonly<Record<string, 'boolean' | 'string'>>,
): Promise<{ readonly options: Readonly<Record<string, unknown>>; readonly declared: Declared }> {
  const options = valuesOf(args, more);
  const project = options['project'];
  if (typeof project !== 'string') throw new UsageError('Missing project: specify --project <id>.');
  if (!PROJECT_ID.test(project)) throw new UsageError(`--project: ${project} is not a project id`);
  return { options, declared: await declaredFor(project) };
}

function valuesOf(
  args: readonly string[],
  more: Readonly<Record<string, 'boolean' | 'string'>>,
): Readonly<Record<string, unknown>> {
  const types = Object.entries({ project: 'string' as const, ...more });
  try {
    return parseArgs({ args: [...args], options: Object.fromEntries(types.map(([name, type]) => [name, { type }])) })
      .values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

export function googleOf(project: string): Google {
  return new Google({ project, token: operatorsToken(process.env), origin: originIn(process.env) });
}
