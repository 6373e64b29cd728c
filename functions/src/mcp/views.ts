/**
 * Views: pages with which chat apps draw the answers of some tools. A host that knows the extension reads the page by
 * the URI that the tool names, and hands it the answer; to any other the tool is what it was.
 * Source: MCP Apps, 2026-01-26; docs/decisions/0040-views-in-chat.md.
 */
import type { FoundResource } from './resources.ts';
import type { FoundTool } from './tool.ts';

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

/**
 * The pages of some tools. Whoever is shown a tool may read its page, whatever their role is: there is nothing in it
 * but what is in the repository, and a host that cannot read it shows nothing at all, without a word.
 */
export function viewsOf(tools: readonly FoundTool[]): readonly FoundResource[] {
  return tools.flatMap(({ toolset, tool: { view } }) => {
    if (view === undefined) return [];
    const uri = uriOf(view);
    return {
      what: uri,
      mimeType: MIME_TYPE,
      need: { toolset, what: uri, role: 'viewer', scope: 'anyone', writes: false },
      resource: { read: ({ services }) => services.view(view) },
      meta: CONTENT_META,
    };
  });
}

function uriOf(view: string): string {
  return `ui://muster/${view}`;
}
