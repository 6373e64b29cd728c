/**
 * Which real services are asked. They cost money and change what is in them, so that each is asked only where
 * `MUSTER_REAL` names it and the environment has what reaches it. docs/guides/testing.md#real-services lists the variables.
 */

/** One of the sets of variables must be there. */
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

export const REAL_SERVICES = [
  'firebase',
  'github',
  'anthropic',
  'gemini',
] as const satisfies readonly RealService[];

type Environment = Readonly<Record<string, string | undefined>>;

export interface Standing {
  /** `ask` it; leave it `out`; or `fail`, since it was named and cannot be asked. */
  readonly what: 'ask' | 'out' | 'fail';
  /** One line, where somebody may want to know. */
  readonly why?: string;
}

const NAMES = REAL_SERVICES.join(', ');

/** What there is to say where nothing is asked at all; undefined where something is. */
export function nothingAsked({ MUSTER_REAL: wanted = '' }: Environment): string | undefined {
  if (wordsOf(wanted).length > 0) return undefined;
  return `test:real asks nothing: set MUSTER_REAL to all, or to some of ${NAMES}. docs/guides/testing.md#real-services tells the rest.`;
}

/** @throws Error where MUSTER_REAL names what there is not */
export function standingOf(service: RealService, environment: Environment): Standing {
  const wanted = wordsOf(environment['MUSTER_REAL'] ?? '');
  const unknown = wanted.find((word) => word !== 'all' && !REAL_SERVICES.some((one) => one === word));
  if (unknown !== undefined)
    throw new Error(`MUSTER_REAL names "${unknown}": name all, or some of ${NAMES}.`);
  const isNamed = wanted.includes(service);
  if (!isNamed && !wanted.includes('all')) return { what: 'out' };
  const missing = NEEDED[service].map((set) => set.filter((variable) => isUnset(environment[variable])));
  if (missing.some((set) => set.length === 0)) return { what: 'ask' };
  const why = `${service} cannot be asked: set ${missing.map((set) => set.join(' and ')).join(', or ')}.`;
  return { what: isNamed ? 'fail' : 'out', why };
}

/** Empty and `none` stand for nothing, as in a deployment. */
function isUnset(value = ''): boolean {
  return value.trim() === '' || value.trim() === 'none';
}

function wordsOf(list: string): readonly string[] {
  return list.split(/[\s,]+/).filter((word) => word !== '');
}
