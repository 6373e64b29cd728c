/**
 * Selection of real services. They cost money and their data changes, so each is used only if `MUSTER_REAL` names it
 * and the environment has its variables. docs/guides/testing.md#real-services lists the variables.
 */

/** Alternative sets of variables; one set must be complete. */
const NEEDED = {
  firebase: [['MUSTER_URL', 'MUSTER_TOKEN']],
  github: [
    ['MUSTER_REAL_REPOSITORY', 'GITHUB_TOKEN'],
    ['MUSTER_REAL_REPOSITORY', 'GITHUB_APP_ID', 'GITHUB_APP_PRIVATE_KEY'],
  ],
  anthropic: [['ANTHROPIC_API_KEY']],
  gemini: [['GEMINI_API_KEY']],
} as const satisfies Readonly<Record<string, readonly (readonly string[])[]>>;

export type RealService = keyof typeof NEEDED;

export const REAL_SERVICES = ['firebase', 'github', 'anthropic', 'gemini'] as const satisfies readonly RealService[];

type Environment = Readonly<Record<string, string | undefined>>;

export interface Standing {
  /** `ask` it, leave it `out`, or `fail`, because it was named but its variables are missing. */
  readonly what: 'ask' | 'out' | 'fail';
  /** One line with the reason, if useful. */
  readonly why?: string;
}

const NAMES = REAL_SERVICES.join(', ');

/** Returns the message if no service is enabled, otherwise undefined. */
export function nothingAsked({ MUSTER_REAL: wanted = '' }: Environment): string | undefined {
  if (wordsOf(wanted).length > 0) return undefined;
  return `test:real asks nothing: set MUSTER_REAL to all, or to some of ${NAMES}. docs/guides/testing.md#real-services tells the rest.`;
}

/** @throws Error if MUSTER_REAL names an unknown service */
export function standingOf(service: RealService, environment: Environment): Standing {
  const wanted = wordsOf(environment['MUSTER_REAL'] ?? '');
  const unknown = wanted.find((word) => word !== 'all' && !REAL_SERVICES.some((one) => one === word));
  if (unknown !== undefined) throw new Error(`MUSTER_REAL names "${unknown}": name all, or some of ${NAMES}.`);
  const isNamed = wanted.includes(service);
  if (!isNamed && !wanted.includes('all')) return { what: 'out' };
  const missing = NEEDED[service].map((set) => set.filter((variable) => isUnset(environment[variable])));
  if (missing.some((set) => set.length === 0)) return { what: 'ask' };
  const why = `${service} cannot be asked: set ${missing.map((set) => set.join(' and ')).join(', or ')}.`;
  return { what: isNamed ? 'fail' : 'out', why };
}

/** Empty and `none` mean unset, as in a deployment. */
function isUnset(value = ''): boolean {
  return value.trim() === '' || value.trim() === 'none';
}

function wordsOf(list: string): readonly string[] {
  return list.split(/[\s,]+/).filter((word) => word !== '');
}
