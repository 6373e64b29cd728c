/**
 * Selects the real services that tests call. Calls cost money and change data, so a service is called only if
 * `MUSTER_REAL` names it and its variables are set. docs/guides/testing.md#real-services lists the variables.
 */

/** Environment variables of each service, in alternative sets. All variables of one of the sets are required. */
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
  /** `ask`: call the service. `out`: skip it. `fail`: the service was named, but its variables are missing. */
  readonly what: 'ask' | 'out' | 'fail';
  /** One line that names the missing variables. */
  readonly why?: string;
}

const NAMES = REAL_SERVICES.join(', ');

/** Returns a message that explains `MUSTER_REAL` if it names no service, otherwise undefined. */
export function nothingAsked({ MUSTER_REAL: wanted = '' }: Environment): string | undefined {
  if (wordsOf(wanted).length > 0) return undefined;
  return `test:real calls no service. Set MUSTER_REAL to all, or to some of ${NAMES}. See docs/guides/testing.md#real-services.`;
}

/** @throws Error if MUSTER_REAL names an unknown service */
export function standingOf(service: RealService, environment: Environment): Standing {
  const wanted = wordsOf(environment['MUSTER_REAL'] ?? '');
  const unknown = wanted.find((word) => word !== 'all' && !REAL_SERVICES.some((one) => one === word));
  if (unknown !== undefined) throw new Error(`Unknown service "${unknown}" in MUSTER_REAL. Known: all, ${NAMES}.`);
  const isNamed = wanted.includes(service);
  if (!isNamed && !wanted.includes('all')) return { what: 'out' };
  const missing = NEEDED[service].map((set) => set.filter((variable) => isUnset(environment[variable])));
  if (missing.some((set) => set.length === 0)) return { what: 'ask' };
  const why = `Cannot test ${service}: set ${missing.map((set) => set.join(' and ')).join(', or ')}.`;
  return { what: isNamed ? 'fail' : 'out', why };
}

/** Whether the variable counts as unset. As in a deployment, an empty value and `none` do. */
function isUnset(value = ''): boolean {
  return value.trim() === '' || value.trim() === 'none';
}

function wordsOf(list: string): readonly string[] {
  return list.split(/[\s,]+/).filter((word) => word !== '');
}
