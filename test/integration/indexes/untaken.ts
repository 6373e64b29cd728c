/** Code of some modules that was never executed, so that no variant of a query is missed. */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Observation {
  /** Returns the source of each branch and function not executed in modules whose URL ends with `suffix`. */
  end(suffix: string): Promise<readonly Untaken[]>;
}

export interface Untaken {
  readonly file: string;
  readonly text: string;
}

/** A method, a call that builds a query, or a branch that is only a function's name: `? inSession`. */
const QUERY_BUILDING = [
  /^(?:async\s+|get\s+|static\s+)*\w+\s*\(/,
  /\.(?:where|orderBy|collection|collectionGroup|count|stream)\(|\.get\(\)/,
  /\b(?:documents|this)\.(?:first|firstVersioned|slice|page|all)\(/,
  /^[?:]?\s*\w+$/,
];

/** Names through which code reaches a query: writers and shapes of a store contain none. */
const REACHES_QUERIES = /\b(?:database|documents|query)\b|\bthis\.\w+\(|\.(?:where|orderBy|count)\(|^[?:]?\s*\w+$/;

/** Comments, and reads of a document by its path. */
const NO_QUERY = /\/\/.*|\/\*[\s\S]*?\*\/|\.doc\((?:[^()]|\([^()]*\))*\)\.get\(\)/g;

/** Returns whether the code can contain a query; code that handles found documents needs no index. */
export function isQueryBuilding({ text }: Untaken): boolean {
  const part = text.replace(NO_QUERY, '').trim();
  return QUERY_BUILDING.some((pattern) => pattern.test(part)) && REACHES_QUERIES.test(part);
}

/** Call it before the modules are loaded: V8 counts branches only of code compiled afterwards. */
export async function observe(): Promise<Observation> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return {
    async end(suffix) {
      const { result } = await session.post('Profiler.takePreciseCoverage');
      await session.post('Profiler.stopPreciseCoverage');
      session.disconnect();
      return result
        .filter(({ url }) => url.endsWith(suffix))
        .flatMap(({ url, functions }) => {
          const path = fileURLToPath(url.slice(0, -suffix.length));
          const source = readFileSync(path, 'utf8'); // Node strips types by blanking, so offsets stay valid.
          const ranges = functions.flatMap((one) => one.ranges).filter(({ count }) => count === 0);
          return ranges.map(({ startOffset, endOffset }) => ({
            file: basename(path),
            text: source.slice(startOffset, endOffset),
          }));
        });
    },
  };
}
