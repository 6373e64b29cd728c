/** Finds resources by their URIs: those with a fixed one, and those of templates. */

import { UriTemplate } from '@modelcontextprotocol/server';
import type { Need } from '../access/rules/gate.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { BoundResource, Resource, ResourceTemplate } from './resource.ts';
import type { FoundTool, Toolset } from './tool.ts';
import { isStorableText } from './validation.ts';

/** A resource that a URI names. */
export interface FoundResource {
  /** Its URI, or its template's: one word for the log, however many there are. */
  readonly what: string;
  readonly mimeType: string;
  readonly need: Need;
  readonly resource: BoundResource;
  readonly answersWhole?: true | undefined;
  /** What is said of the content beside it. */
  readonly meta?: JsonObject;
}

type ListedResource = Omit<Resource, 'role' | 'scope' | 'read'>;

type ListedTemplate = Omit<
  ResourceTemplate,
  'role' | 'scope' | 'watchable' | 'slashes' | 'completions' | 'bind'
>;

export interface FoundTemplate {
  readonly need: Need;
  readonly template: ResourceTemplate;
}

/** What a selection has of resources. */
export interface Resources {
  readonly listed: readonly ListedResource[];
  readonly templates: readonly ListedTemplate[];
  /** Whether there are views: they are read and not listed. */
  readonly hasViews: boolean;
  /** Whether any of them can be watched. */
  readonly watchable: boolean;
  /** Whether there is a variable that can be completed. */
  readonly completable: boolean;
  findTemplate(uriTemplate: string): FoundTemplate | undefined;
  find(uri: string): FoundResource | undefined;
}

/** None of ours is longer, and a match takes time. */
const MAX_URI_LENGTH = 2000;

/** `tools`: those of the selection, which bring their views. `named` writes tools as the endpoint lists them. */
export function resourcesOf(
  toolsets: readonly Toolset[],
  tools: readonly FoundTool[] = [],
  named = (text: string) => text,
): Resources {
  const fixed = toolsets.flatMap(({ name: toolset, resources }) =>
    resources.map((resource) => ({ toolset, resource })),
  );
  const families = toolsets.flatMap(({ name: toolset, templates = [] }) =>
    templates.map((template) => {
      const { uriTemplate, slashes } = template;
      // A value with slashes is RFC 6570's level 2, which clients need not know.
      const pattern = new UriTemplate(slashes ? uriTemplate.replaceAll('{', '{+') : uriTemplate);
      return { need: needOf(toolset, uriTemplate, template), template, pattern };
    }),
  );
  const views = viewsOf(tools);
  const byUri = new Map<string, FoundResource>(
    fixed.map(({ toolset, resource }) => {
      const { uri, mimeType } = resource;
      const need = needOf(toolset, uri, resource);
      return [uri, { what: uri, mimeType, need, resource }] as const;
    }),
  );
  for (const view of views) byUri.set(view.what, view);
  return {
    listed: fixed.map(({ resource: { role: _role, scope: _scope, read: _read, ...listed } }) => ({
      ...listed,
      description: named(listed.description),
    })),
    templates: families.map(({ template: { uriTemplate, name, title, description, mimeType } }) => ({
      uriTemplate,
      name,
      title,
      description: named(description),
      mimeType,
    })),
    hasViews: views.length > 0,
    watchable: families.some(({ template }) => template.watchable),
    completable: families.some(({ template }) => template.completions.size > 0),
    findTemplate: (uriTemplate) => families.find(({ template }) => template.uriTemplate === uriTemplate),
    find(uri) {
      const known = byUri.get(uri);
      if (known !== undefined || uri.length > MAX_URI_LENGTH) return known;
      for (const { need, template, pattern } of families) {
        const variables = variablesOf(pattern, uri);
        const resource = variables && template.bind(variables);
        if (resource === undefined) continue;
        const { uriTemplate: what, mimeType, answersWhole } = template;
        return { what, mimeType, need, resource, answersWhole };
      }
      return undefined;
    },
  };
}

function needOf(
  toolset: string,
  what: string,
  { role, scope = 'workspace' }: Pick<Resource, 'role' | 'scope'>,
): Need {
  return { toolset, what, role, scope, writes: false };
}

/** The template's variables, decoded; undefined where the URI is none of the template's. */
function variablesOf(pattern: UriTemplate, uri: string): Readonly<Record<string, string>> | undefined {
  const matched = Object.entries(pattern.match(uri) ?? {});
  if (matched.length === 0) return undefined;
  try {
    const decoded = matched.map(([name, value]) => [name, decodeURIComponent(String(value))] as const);
    // A database cannot look for such a text, and its client would try again for seconds.
    return decoded.every(([, value]) => isStorableText(value)) ? Object.fromEntries(decoded) : undefined;
  } catch {
    // A "%" that encodes nothing.
    return undefined;
  }
}

export const VIEWS_EXTENSION = 'io.modelcontextprotocol/ui';

const MIME_TYPE = 'text/html;profile=mcp-app';

/** What a host is told of each page: it asks the network for nothing, and stands out by a border. */
const CONTENT_META = { ui: { csp: {}, prefersBorder: true } };

/** What `tools/list` says of a tool's view. */
export interface ViewMeta {
  readonly resourceUri: string;
}

export function viewOf(view: string): ViewMeta {
  return { resourceUri: uriOf(view) };
}

/** The pages of tools, for any role: they hold only what the repository does, and hosts show nothing without them. */
export function viewsOf(tools: readonly FoundTool[]): readonly FoundResource[] {
  return tools.flatMap(({ toolset, tool: { view } }) => {
    if (view === undefined) return [];
    const uri = uriOf(view);
    return {
      what: uri,
      mimeType: MIME_TYPE,
      need: { toolset, what: uri, role: 'viewer', scope: 'anyone', writes: false },
      resource: { read: (context) => context.view(view) },
      meta: CONTENT_META,
    };
  });
}

function uriOf(view: string): string {
  return `ui://muster/${view}`;
}
