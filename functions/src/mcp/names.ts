/** Names of tools at the endpoints, and suggestions for misspelled names. */
import { shownName } from '../kernel/errors.ts';
import { lazy } from '../kernel/memoCache.ts';
import type { Directory, ListedToolInfo } from './callContext.ts';
import { fullName } from './tool.ts';
import { type Dialect, NETWORK_TOOLSETS } from './urlSelection.ts';

/** Maximum length of a tool name in lists. Such names consist of letters, digits and underscores. */
export const MAX_NAME_LENGTH = 50;

/** Returns a tool's name at an endpoint. Some clients reject dots. Source: docs/semantics.md#the-endpoint. */
export function wireName(toolset: string, name: string, dialect: Dialect): string {
  if (dialect === 'dotted') return fullName(toolset, name);
  const bare = dialect === 'own' && !NETWORK_TOOLSETS.includes(toolset);
  return bare || name.startsWith(`${toolset}_`) ? name : `${toolset}_${name}`;
}

/** Returns all names by which `tools/call` finds the tool. */
export function acceptedNames(toolset: string, name: string, dialect: Dialect): readonly string[] {
  const listed = [wireName(toolset, name, dialect), wireName(toolset, name, 'prefixed')];
  return [...new Set([...listed, fullName(toolset, name)])];
}

/**
 * Returns a function that replaces full tool names in a text by the names at an endpoint. If the endpoint does not
 * serve a tool, the address of an endpoint that does is appended.
 * @param deployed returns all tools of the deployment
 * @param wireNames names of the tools at the endpoint, by full name
 */
export function toolNaming(
  deployed: () => readonly ListedToolInfo[],
  wireNames: ReadonlyMap<string, string>,
): (text: string) => string {
  const toolsets = lazy(() => new Map(deployed().map(({ fullName, toolset }) => [fullName, toolset])));
  const nameOf = (full: string) => {
    const listed = wireNames.get(full);
    if (listed !== undefined) return listed;
    const toolset = toolsets().get(full);
    return toolset === undefined ? full : `${full}${OTHER_ENDPOINT}${toolset})`;
  };
  return (text) => text.replace(FULL_NAMES, nameOf);
}

/** Beginning of the address that is appended to the name of a tool of another endpoint. */
export const OTHER_ENDPOINT = ' (at /mcp/';

/** Matches full tool names, unless they are part of a path, an address or a longer name. */
const FULL_NAMES = /(?<![\w./:-])[a-z]+\.[a-z]\w*(?!\w|\.\w)/g;

interface ServedNames {
  readonly toolsets: readonly string[];
  readonly methods: readonly string[];
  readonly directory: Pick<Directory, 'wireName'>;
}

/** Returns the error message for an unknown tool name. @param deployed all tools of the deployment */
export function unknownTool(asked: string, listed: ServedNames, deployed: readonly ListedToolInfo[]): string {
  const unknown = `Unknown tool: ${shownName(asked)}`;
  const shown = (names: readonly string[]) => didYouMean(names.map((name) => listed.directory.wireName(name) ?? name));
  const meant = sameNamed(asked, listed.methods);
  if (meant.length > 0) return `${unknown}. ${shown(meant)}`;
  const everywhere = deployed.map((tool) => tool.fullName);
  const hidden = sameNamed(asked, everywhere);
  const tool = deployed.find(({ fullName }) => hidden.includes(fullName));
  if (tool !== undefined) return `${unknown}. ${whyHidden(tool, listed)}`;
  const near = similarNames(asked, listed.methods);
  return `${unknown}. ${near.length > 0 ? shown(near) : 'Call tools/list for the available tools.'}`;
}

/** Returns the names of the JSON-RPC methods that the caller may have meant. */
export function nearestMethods(asked: string, methods: readonly string[]): readonly string[] {
  const meant = sameNamed(asked, methods);
  return meant.length > 0 ? meant : similarNames(asked, methods);
}

export function didYouMean(names: readonly string[]): string {
  return `Did you mean ${names.join(' or ')}?`;
}

function whyHidden({ toolset, fullName }: ListedToolInfo, { toolsets }: ServedNames): string {
  return toolsets.includes(toolset)
    ? `${fullName} changes data, but this URL is read-only. Use the URL without "readonly".`
    : `This URL does not select ${fullName}. Use /mcp/${toolset} or /mcp.`;
}

/** Returns the names that differ from `asked` only in dots, underscores, case, the toolset or a client's prefix. */
function sameNamed(asked: string, fullNames: readonly string[]): readonly string[] {
  const key = keyOf(asked);
  const whole = fullNames.filter((name) => key.endsWith(keyOf(name)));
  const parts = [key, keyOf(bare(asked))];
  return whole.length > 0 ? whole : fullNames.filter((name) => parts.includes(keyOf(bare(name))));
}

const MAX_SUGGESTIONS = 3;

/** Returns the names that differ from `asked` in the fewest letters, if only a few letters differ. */
function similarNames(asked: string, fullNames: readonly string[]): readonly string[] {
  const key = keyOf(asked);
  const distances = fullNames.map((name) => Math.min(distance(key, keyOf(name)), distance(key, keyOf(bare(name)))));
  const lowest = Math.min(Math.max(1, Math.floor(key.length / 5)), ...distances);
  return fullNames.filter((_, index) => distances[index] === lowest).slice(0, MAX_SUGGESTIONS);
}

/** Number of characters to compare: more than any name has. Comparing long texts would be slow. */
const COMPARED_LENGTH = 100;

function keyOf(name: string): string {
  return name
    .slice(-COMPARED_LENGTH)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/** Returns the name without its toolset: `create_task` for `coordination.create_task`. */
function bare(fullName: string): string {
  return fullName.slice(fullName.indexOf('.') + 1);
}

/** Returns the edit distance of two texts. Source: Wagner and Fischer, 1974. */
function distance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...one].entries()) {
    const current = [row + 1];
    for (const [column, compared] of [...other].entries()) {
      const exchanged = (previous[column] ?? 0) + (letter === compared ? 0 : 1);
      current.push(Math.min((previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1, exchanged));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
