/** Finds resources by URI: fixed resources, and resources that a template describes. */
import { UriTemplate } from '@modelcontextprotocol/server';
import type { RequiredPermission } from '../access/rules/permissionCheck.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { BoundResource, Resource, ResourceTemplate } from './resource.ts';
import type { FoundTool, Toolset } from './tool.ts';
import { isStorableText } from './validation.ts';

export interface FoundResource {
  /** Listed URI of the resource, or else of its template, so that the log has few different values. */
  readonly what: string;
  readonly mimeType: string;
  readonly need: RequiredPermission;
  readonly resource: BoundResource;
  readonly returnsWhole?: true | undefined;
  readonly meta?: JsonObject;
}

type ListedResource = Omit<Resource, 'role' | 'scope' | 'read'>;
type ListedTemplate = Omit<ResourceTemplate, 'role' | 'scope' | 'watchable' | 'slashes' | 'completions' | 'bind'>;

export interface Resources {
  readonly listed: readonly ListedResource[];
  readonly templates: readonly ListedTemplate[];
  /** Whether tools have views. Clients can read the pages of views, but resource lists omit these pages. */
  readonly hasViews: boolean;
  readonly watchable: boolean;
  /** Whether values of any template's variable can be completed. */
  readonly completable: boolean;
  findTemplate(
    uriTemplate: string,
  ): { readonly need: RequiredPermission; readonly template: ResourceTemplate } | undefined;
  find(uri: string): FoundResource | undefined;
}

/** Maximum length of a URI. No existing URI is longer, and matching a longer one would be slow. */
const MAX_URI_LENGTH = 2000;

/** Returns the resources of toolsets and the views of tools. `named` replaces tool names by those of the endpoint. */
export function resourcesOf(
  toolsets: readonly Toolset[],
  tools: readonly FoundTool[] = [],
  named = (text: string) => text,
): Resources {
  const fixed = toolsets.flatMap(({ name: toolset, resources }) =>
    resources.map((resource) => {
      const { uri: what, mimeType } = resource;
      return { what, mimeType, need: permissionOf(toolset, what, resource), resource };
    }),
  );
  const families = toolsets.flatMap(({ name: toolset, templates = [] }) =>
    templates.map((template) => {
      const { uriTemplate, slashes } = template;
      // Values with slashes need an expression of RFC 6570, level 2. Lists show level 1, which all clients support.
      const pattern = new UriTemplate(slashes ? uriTemplate.replaceAll('{', '{+') : uriTemplate);
      return { need: permissionOf(toolset, uriTemplate, template), template, pattern };
    }),
  );
  const views = viewsOf(tools);
  const byUri = new Map<string, FoundResource>([...fixed, ...views].map((one) => [one.what, one]));
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
        const { uriTemplate: what, mimeType, returnsWhole } = template;
        return { what, mimeType, need, resource, returnsWhole };
      }
      return undefined;
    },
  };
}

function permissionOf(
  toolset: string,
  what: string,
  { role, scope = 'workspace' }: Pick<Resource, 'role' | 'scope'>,
): RequiredPermission {
  return { toolset, what, role, scope, writes: false };
}

/** Returns the decoded values of variables; undefined if the URI does not match the template. */
function variablesOf(pattern: UriTemplate, uri: string): Readonly<Record<string, string>> | undefined {
  const matched = Object.entries(pattern.match(uri) ?? {});
  if (matched.length === 0) return undefined;
  try {
    const decoded = matched.map(([name, value]) => [name, decodeURIComponent(String(value))] as const);
    // The databases reject such a text, and their clients would retry for seconds.
    return decoded.every(([, value]) => isStorableText(value)) ? Object.fromEntries(decoded) : undefined;
  } catch {
    // The URI contains a "%" that is not followed by two hexadecimal digits.
    return undefined;
  }
}

export const VIEWS_EXTENSION = 'io.modelcontextprotocol/ui';
const MIME_TYPE = 'text/html;profile=mcp-app';

/** Metadata of each view's page: no network access, and a border. */
const CONTENT_META = { ui: { csp: {}, prefersBorder: true } };

/** Returns the pages of the tools' views. All roles may read them, because they contain only public code. */
function viewsOf(tools: readonly FoundTool[]): readonly FoundResource[] {
  return tools.flatMap(({ toolset, tool: { view } }) => {
    if (view === undefined) return [];
    const uri = viewUri(view);
    return {
      what: uri,
      mimeType: MIME_TYPE,
      need: { toolset, what: uri, role: 'viewer', scope: 'anyone', writes: false },
      resource: { read: (context) => context.view(view) },
      meta: CONTENT_META,
    };
  });
}

export function viewUri(view: string): string {
  return `ui://muster/${view}`;
}
