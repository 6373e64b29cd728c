/** Finds code of the stores that no call executed. Such code could build a query that the tests miss. */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Observation {
  /** Returns branches and functions that were not executed, in modules whose URL ends with `suffix`. */
  end(suffix: string): Promise<readonly Untaken[]>;
}

export interface Untaken {
  readonly file: string;
  readonly text: string;
}

/** Code that may build a query: a method, a query call, or a branch that is a function name, as in `? inSession`. */
const QUERY_BUILDING = [
  /^(?:async\s+|get\s+|static\s+)*\w+\s*\(/,
  /\.(?:where|orderBy|collection|collectionGroup|count|stream)\(|\.get\(\)/,
  /\b(?:documents|this)\.(?:first|firstVersioned|slice|page|all)\(/,
  /^[?:]?\s*\w+$/,
];

/** Names that code contains if it sends queries. Code that only writes or converts has none of these names. */
const REACHES_QUERIES = /\b(?:database|documents|query)\b|\bthis\.\w+\(|\.(?:where|orderBy|count)\(|^[?:]?\s*\w+$/;

/** Text that contains no query: comments, and reads of a document by its path. */
const NO_QUERY = /\/\/.*|\/\*[\s\S]*?\*\/|\.doc\((?:[^()]|\([^()]*\))*\)\.get\(\)/g;

/** Returns whether the code can build a query. Code that only processes found documents cannot. */
export function isQueryBuilding({ text }: Untaken): boolean {
  const part = text.replace(NO_QUERY, '').trim();
  return QUERY_BUILDING.some((pattern) => pattern.test(part)) && REACHES_QUERIES.test(part);
}

/** Starts the observation. Call this before the modules are loaded: V8 counts only code that is compiled later. */
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
          const source = readFileSync(path, 'utf8'); // Node replaces types with spaces, so offsets stay valid.
          const ranges = functions.flatMap((one) => one.ranges).filter(({ count }) => count === 0);
          return ranges.map(({ startOffset, endOffset }) => ({
            file: basename(path),
            text: source.slice(startOffset, endOffset),
          }));
        });
    },
  };
}
