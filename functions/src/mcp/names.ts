/** What tools are called on the wire, and which one somebody meant who wrote another name. */
import type { KnownTool } from './callContext.ts';
import type { Catalogue } from './catalogue.ts';
import { shownName } from './validation.ts';

/**
 * What tools are called on the wire. Some clients refuse a dot in a tool's name and lose the whole server
 * with it, so dots are taken but never listed. Source: docs/semantics.md#the-endpoint.
 */

/** The four toolsets whose specification puts the toolset into every tool's name: `firebase.read`. */
export const NETWORK_TOOLSETS: readonly string[] = ['firebase', 'github', 'onboarding', 'system'];

/** `own`: as the toolset's specification writes it, at `/mcp/<toolset>`. `prefixed`: at `/mcp`. */
export type Dialect = 'own' | 'prefixed';

/** No listed name is longer, nor has other characters than `[A-Za-z0-9_]`. */
export const MAX_NAME_LENGTH = 50;

/** The name in logs, in idempotency records and in errors: `coordination.create_task`. */
export function fullName(toolset: string, name: string): string {
  return `${toolset}.${name}`;
}

/** The name in `tools/list`. */
export function wireName(toolset: string, name: string, dialect: Dialect): string {
  const bare = dialect === 'own' && !NETWORK_TOOLSETS.includes(toolset);
  return bare || name.startsWith(`${toolset}_`) ? name : `${toolset}_${name}`;
}

/** Every name under which `tools/call` finds the tool. */
export function acceptedNames(toolset: string, name: string, dialect: Dialect): readonly string[] {
  const names = [
    wireName(toolset, name, dialect),
    wireName(toolset, name, 'prefixed'),
    fullName(toolset, name),
  ];
  return [...new Set(names)];
}

// Which tool somebody meant who called it by a name that there is not.

interface Candidate {
  readonly fullName: string;
  /** What it is called where the call was made. */
  readonly shown: string;
}

/** No name is longer, whatever a client puts before it; comparing longer ones would only cost. */
const COMPARED_LENGTH = 100;

const MOST_SHOWN = 3;

/**
 * What to say of a name that finds no tool.
 * @param deployed every tool of the deployment, selected or not
 */
export function unknownTool(asked: string, listed: Catalogue, deployed: readonly KnownTool[]): string {
  const candidates = listed.methods.map((fullName) => ({
    fullName,
    shown: listed.directory.wireName(fullName) ?? fullName,
  }));
  const unknown = `Unknown tool: ${shownName(asked)}`;
  const meant = same(asked, candidates);
  if (meant.length > 0) return `${unknown}. ${didYouMean(meant)}`;
  const hidden = same(
    asked,
    deployed.map(({ fullName }) => ({ fullName, shown: fullName })),
  );
  const [tool] = deployed.filter(({ fullName }) => hidden.includes(fullName));
  if (tool !== undefined) return `${unknown}. ${whyHidden(tool, listed)}`;
  const near = similar(asked, candidates);
  return `${unknown}. ${near.length > 0 ? didYouMean(near) : 'tools/list names those that there are.'}`;
}

/** What a method of plain JSON-RPC may have meant. */
export function nearestMethods(asked: string, methods: readonly string[]): readonly string[] {
  const candidates = methods.map((fullName) => ({ fullName, shown: fullName }));
  const meant = same(asked, candidates);
  return meant.length > 0 ? meant : similar(asked, candidates);
}

export function didYouMean(names: readonly string[]): string {
  return `Did you mean ${names.join(' or ')}?`;
}

function whyHidden({ toolset, fullName }: KnownTool, { toolsets }: Catalogue): string {
  return toolsets.includes(toolset)
    ? `${fullName} writes, and this URL is read-only: use it without "readonly".`
    : `This URL does not select ${fullName}: /mcp/${toolset} does, and /mcp.`;
}

/** Those whose name it is but for dots, underscores, capitals, another toolset or none, or what a client puts before. */
function same(asked: string, candidates: readonly Candidate[]): readonly string[] {
  const key = keyOf(asked);
  const whole = candidates.filter(({ fullName }) => key.endsWith(keyOf(fullName)));
  const parts = [key, keyOf(bare(asked))];
  const found =
    whole.length > 0 ? whole : candidates.filter(({ fullName }) => parts.includes(keyOf(bare(fullName))));
  return found.map(({ shown }) => shown);
}

/** Those whose name it is but for a few letters, the nearest alone. */
function similar(asked: string, candidates: readonly Candidate[]): readonly string[] {
  const key = keyOf(asked);
  const most = Math.max(1, Math.floor(key.length / 5));
  const distances = candidates.map(({ fullName, shown }) => ({
    shown,
    distance: Math.min(distance(key, keyOf(fullName)), distance(key, keyOf(bare(fullName)))),
  }));
  const least = Math.min(most, ...distances.map((one) => one.distance));
  return distances
    .filter((one) => one.distance === least)
    .slice(0, MOST_SHOWN)
    .map(({ shown }) => shown);
}

function keyOf(name: string): string {
  return name
    .slice(-COMPARED_LENGTH)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/** `create_task` of `coordination.create_task`. */
function bare(fullName: string): string {
  return fullName.slice(fullName.indexOf('.') + 1);
}

/** How many letters have to be added, taken away or exchanged. Source: Wagner and Fischer, 1974. */
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
