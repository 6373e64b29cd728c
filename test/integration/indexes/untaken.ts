/** What of some modules was never executed, so that no variant of a query escapes notice. */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Observation {
  /** The source text of each branch and function not taken, of the modules whose URL ends with `suffix`. */
  end(suffix: string): Promise<readonly Untaken[]>;
}

export interface Untaken {
  readonly file: string;
  readonly text: string;
}

/** A method, a call that builds a query, or a branch that is nothing but the name of one: `? inSession`. */
const QUERY_BUILDING = [
  /^(?:async\s+|get\s+|static\s+)*\w+\s*\(/,
  /\.(?:where|orderBy|collection|collectionGroup|count|stream)\(|\.get\(\)/,
  /\b(?:documents|this)\.(?:first|firstVersioned|slice|page|all)\(/,
  /^[?:]?\s*\w+$/,
];

/** What a part has to name to reach a query: a store's writers and shapes name neither. */
const REACHES_QUERIES =
  /\b(?:database|documents|query)\b|\bthis\.\w+\(|\.(?:where|orderBy|count)\(|^[?:]?\s*\w+$/;

/** Comments, and a document that is read by its path. */
const NO_QUERY = /\/\/.*|\/\*[\s\S]*?\*\/|\.doc\((?:[^()]|\([^()]*\))*\)\.get\(\)/g;

/** Whether a query may hide in it; handling the documents that are found needs no index. */
export function isQueryBuilding({ text }: Untaken): boolean {
  const part = text.replace(NO_QUERY, '').trim();
  return QUERY_BUILDING.some((pattern) => pattern.test(part)) && REACHES_QUERIES.test(part);
}

/** Begin before the modules are loaded: V8 counts the branches only of what it compiles afterwards. */
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
          const source = readFileSync(path, 'utf8'); // types are stripped by blanking, so offsets stay right
          const ranges = functions.flatMap((one) => one.ranges).filter(({ count }) => count === 0);
          return ranges.map(({ startOffset, endOffset }) => ({
            file: basename(path),
            text: source.slice(startOffset, endOffset),
          }));
        });
    },
  };
}
