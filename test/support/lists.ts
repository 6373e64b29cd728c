/** All distinct tool lists that a client can get, by address, role and kind of caller. */
import { ROLES } from '../../functions/src/identity/rules/role.ts';
import { Catalogs } from '../../functions/src/mcp/catalog.ts';
import { knownPaths, parseSelection } from '../../functions/src/mcp/urlSelection.ts';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import type { Schema } from '../contract/agreement.ts';
import { everywhere } from './principals.ts';

export interface Listed {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Schema & { readonly type: 'object' };
  readonly outputSchema?: Schema & { readonly type: 'object' };
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export interface List {
  /** Name of the list: `/mcp/todo?readonly=1 for the agent as worker`, for example. */
  readonly title: string;
  readonly address: string;
  readonly tools: readonly Listed[];
}

const catalogs = new Catalogs(toolsets);

/** Addresses that docs/guides/clients.md describes, with one example of each pattern. */
const ADDRESSES: readonly string[] = [
  ...knownPaths(catalogs.names),
  ...catalogs.names.flatMap((name) => [`/mcp?toolsets=${name}`, `/mcp?toolsets=${name}&readonly=1`]),
  '/mcp?toolsets=todo,coordination',
  '/mcp?toolsets=coordination,onboarding',
  '/mcp?toolsets=all',
  '/mcp?toolsets=all&readonly=1',
];

/** Returns the tool lists for all addresses, roles and kinds of caller. Equal lists appear once. */
export function everyList(): readonly List[] {
  const byTools = new Map<string, List>();
  for (const address of ADDRESSES) {
    const { pathname, searchParams } = new URL(address, 'http://hub');
    const selection = parseSelection({ path: pathname, query: searchParams, header: () => undefined }, catalogs.names);
    if (selection?.protocol !== 'mcp') continue;
    for (const role of ROLES)
      for (const kind of ['person', 'agent'] as const) {
        const { json } = catalogs.of(selection).listFor(everywhere(role), kind);
        const text = json.toString();
        const title = `${address} for the ${kind} as ${role}`;
        if (!byTools.has(text)) byTools.set(text, { title, address, tools: JSON.parse(text) });
      }
  }
  return [...byTools.values()];
}

/** A schema inside a tool's schema, such as the schema of one argument. */
export interface Place {
  readonly path: string;
  readonly schema: Schema;
  /** Whether the schema describes an argument or field that may be absent. */
  readonly optional: boolean;
  /** Whether the schema describes an argument or field that must be present. */
  readonly required: boolean;
}

/** Returns a schema and every schema inside it. */
export function placesIn(schema: Schema, path: string): readonly Place[] {
  return within({ path, schema, optional: false, required: false });
}

function within(place: Place): readonly Place[] {
  const { schema, path } = place;
  const inner = (part: unknown, name: string, known: Partial<Place> = {}) =>
    isSchema(part) ? within({ path: `${path}/${name}`, schema: part, optional: false, required: false, ...known }) : [];
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, part]) => {
    const required = schema.required?.includes(name) === true;
    return inner(part, name, { required, optional: !required });
  });
  const alternatives = (schema.anyOf ?? []).flatMap((part, at) => inner(part, `anyOf/${at}`));
  const others = ['items', 'additionalProperties', 'propertyNames', 'not'].flatMap((keyword) =>
    inner(schema[keyword], keyword),
  );
  return [place, ...properties, ...alternatives, ...others];
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
